--- What the benchmarks have in C: bench/*.c, which make bench builds.
local ffi = require "chute.lib".ffi

ffi.cdef [[
int unrolled_add(chute_buffer *buffer, const chute_cells *cells);

typedef struct streamed streamed;
streamed *streamed_new(int level);
void streamed_free(streamed *);
void streamed_begin(streamed *);
int streamed_add(streamed *, const char *row, size_t len, int flush);
size_t streamed_end(streamed *);
]]

return ffi.load(os.getenv "CHUTE_BENCH" or "build/bench/libbench.so")
