std = "luajit"
max_line_length = 120
exclude_files = { ".cache", "build" }
files["spec"] = { std = "+busted" }
