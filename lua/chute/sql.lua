--- SQL texts: names and values written so that they stand for themselves.
local M = {}

local ESCAPES = { ["\\"] = "\\\\", ["'"] = "\\'", ["`"] = "\\`", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t", ["\0"] = "\\0" }

local function escape(text) return (text:gsub("[\\'`\n\r\t%z]", ESCAPES)) end

--- A name in backquotes.
function M.name(text) return "`" .. escape(text) .. "`" end

-- A part in backquotes at `at`: its name, backquotes in it doubled or escaped; and what is behind.
local function quoted_part(text, at)
  local name = {}
  at = at + 1
  while at <= #text do
    local plain = text:match("^[^`\\]+", at)
    local pair = text:match("^\\(.)", at) or text:match("^``", at)
    if plain then
      name[#name + 1], at = plain, at + #plain
    elseif pair then
      name[#name + 1], at = pair:sub(1, 1), at + 2
    else
      return table.concat(name), at + 1
    end
  end
end

-- The parts of "db.table"; a part in backquotes may hold dots. Nil where it is no such name.
local function split(text)
  local parts, at = {}, 1
  repeat
    local part, stop
    if text:sub(at, at) == "`" then
      part, stop = quoted_part(text, at)
    else
      part, stop = text:match("^([^`%.]+)()", at)
    end
    local behind = part and text:sub(stop, stop)
    if not part or part == "" or (behind ~= "" and behind ~= ".") then return nil end
    parts[#parts + 1] = part
    at = stop + 1
  until behind == ""
  return #parts <= 2 and parts or nil
end

--- A text as a literal.
function M.text(text) return "'" .. escape(text) .. "'" end

--- The names in "table" or "db.table", bare: one or two; nil where it is no such name.
M.parts = split

--- A name as M.parts reads it: in backquotes only where it has to be.
function M.part(name)
  return name:find "^[%a_][%w_]*$" and name or M.name(name)
end

--- "table" or "db.table", quoted; nil where it is no such name.
function M.table(text)
  local parts = split(text)
  if not parts then return nil end
  for i, part in ipairs(parts) do parts[i] = M.name(part) end
  return table.concat(parts, ".")
end

--- INSERT INTO table (columns) FORMAT format; nil where the table has no such name.
function M.insert(name, columns, format)
  local target = M.table(name)
  if not target then return nil end
  local quoted = {}
  for i, column in ipairs(columns) do quoted[i] = M.name(column) end
  return ("INSERT INTO %s (%s) FORMAT %s"):format(target, table.concat(quoted, ", "), format)
end

return M
