rockspec_format = "3.0"
package = "chute"
version = "scm-1"
-- luarocks make builds the tree that it is run in, wherever that came from.
source = { url = "file://." }
description = {
  summary = "ClickHouse ingestion engine for LuaJIT and OpenResty",
  detailed = [[
    Rows go in as Lua tables, and arrive in ClickHouse in large, compressed, exactly described
    batches. The engine is C: a compiled encoder, buffers, threads that compress and send.
    Runs under LuaJIT only.
  ]],
  license = "MIT",
}
supported_platforms = { "linux" }
-- The two modules are for the command line. LuaJIT itself is no rock.
dependencies = { "lua == 5.1", "lua-cjson >= 2.1.0", "argparse >= 0.7.0" }
-- By library: where Debian keeps headers by architecture, luarocks does not find them.
external_dependencies = {
  CURL = { library = "curl" },
  ZSTD = { library = "zstd" },
  LZ4 = { library = "lz4" },
}
build = {
  type = "make",
  -- One target builds and installs: it builds in a temporary folder, not in the source tree.
  build_pass = false,
  install_target = "rock-install",
  variables = {
    CFLAGS = "$(CFLAGS)",
    LUADIR = "$(LUADIR)",
    LIBDIR = "$(LIBDIR)",
    BINDIR = "$(BINDIR)",
    LDFLAGS = "-L$(CURL_LIBDIR) -L$(ZSTD_LIBDIR) -L$(LZ4_LIBDIR)",
  },
}
