# chute: build, test and install. `make help` lists the targets.
.DEFAULT_GOAL := build

BUILD   ?= build
CACHE   ?= .cache
CC      ?= cc
CFLAGS  ?= -O2 -g
LUAJIT  ?= luajit
PREFIX  ?= /usr/local
DESTDIR ?=

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wconversion
ALL_CFLAGS := -std=gnu11 -fPIC -fvisibility=hidden -D_GNU_SOURCE $(WARNINGS) $(CFLAGS)
LIBS := -lcurl -lzstd -llz4 -ldl -lm -lpthread
# nodelete: the threads run this code, so lua_close must not unmap it.
LINK := -shared -Wl,-z,nodelete -Wl,-z,defs

SOURCES := $(wildcard core/*.c)
HEADERS := $(wildcard core/*.h)
OBJECTS := $(SOURCES:core/%.c=$(BUILD)/core/%.o)
LIBRARY := $(BUILD)/libchute.so
CDEF    := $(BUILD)/lua/chute/cdef.lua

# Debian 12's packages; COMMAND:PACKAGE where any provider of the command will do.
DEPS := cc:gcc libc6-dev luajit:luajit2 libluajit2-5.1-dev libcurl4-openssl-dev libzstd-dev \
  liblz4-dev lua-cjson lua-argparse tzdata ca-certificates npm:npm
DEPS_TEST := lua-busted lua-check luarocks git libmicrohttpd-dev libssl-dev nginx \
  libnginx-mod-http-lua clickhouse-server libzookeeper-java java:default-jre-headless clang \
  clang-format valgrind wrk

# npm's packages, with what npm view NAME@VERSION dist.integrity says of them.
CHDB := @chdb/lib-linux-x64-gnu@26.5.3
CHDB_SHA := sha512-fPrLmRt5Moor9yGz4mazbrNje4t7X9KB2mTGkXFWRxRBs2iKy8yh6jx11xsa0Qr3iDFMU/yHqd+bVdYJXu3QaQ==
VEGA := vega-datasets@3.2.1
VEGA_SHA := sha512-lTSwZA6yq6qSU2YZm+6bqILiIvTPPxn4itir7jPGFmHIdPvUfQ9pCzzcrklYywMJgLUbaIeSkZQdiJd6wBxPug==

TESTS := $(patsubst spec/core/%.c,$(BUILD)/spec/%,$(wildcard spec/core/*_test.c))
SPECS := $(sort $(wildcard spec/*_spec.lua))
CHSERVER := build/spec/chserver
BENCH_LIBRARY = $(BUILD)/bench/libbench.so
FAULTS := build/spec/faultproxy build/spec/resolver_shim.so
LUA := $(shell find lua -name '*.lua')
FUZZERS := $(patsubst spec/fuzz/%_fuzz.c,%,$(wildcard spec/fuzz/*_fuzz.c))
C_EXTRAS := $(wildcard spec/core/*.[ch] spec/support/*.[ch] spec/fuzz/*.[ch] bench/*.[ch])

# Paths for using the built checkout: build/lua has the generated module, lua/ the others.
TREE_LUA_PATH  := $(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;$(CURDIR)/$(BUILD)/lua/?.lua;;
TREE_LUA_CPATH := $(CURDIR)/$(BUILD)/?.so;;
TREE_LIBCHDB   := $(abspath $(CACHE))/chdb/libchdb.so
IN_TREE := LUA_PATH="$(TREE_LUA_PATH)" LUA_CPATH="$(TREE_LUA_CPATH)" PATH="$(CURDIR)/bin:$$PATH" \
  CHUTE_LIBCHDB="$${CHUTE_LIBCHDB:-$(TREE_LIBCHDB)}"

## build: the library and the Lua declarations made from its header
build: $(LIBRARY) $(CDEF)

$(LIBRARY): $(OBJECTS)
	$(CC) $(ALL_CFLAGS) $(LINK) $(OBJECTS) $(LDFLAGS) $(LIBS) -o $@

$(BUILD)/core/%.o: core/%.c $(HEADERS) Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

# The region of the public header between the two marks, in a Lua long string.
$(CDEF): core/chute.h Makefile
	@mkdir -p $(@D)
	{ echo 'return [==['; \
	  sed -n '/^\/\* cdef begin \*\/$$/,/^\/\* cdef end \*\/$$/p' core/chute.h; \
	  echo ']==]'; } > $@.new && mv $@.new $@

## deps: install what build and demo need: Debian packages, ClickHouse as a library, data
deps:
	@.ci/debian install $(DEPS)
	@$(MAKE) --no-print-directory downloads

## deps-test: install what test and check need
deps-test:
	@.ci/debian install $(DEPS) $(DEPS_TEST)
	@$(MAKE) --no-print-directory downloads plain-luajit

# The package's name and version are in the stamp's name: another version is another stamp.
CHDB_STAMP := $(CACHE)/chdb/.is-$(notdir $(CHDB))
VEGA_STAMP := $(CACHE)/vega-datasets/.is-$(VEGA)
downloads: $(CHDB_STAMP) $(VEGA_STAMP)
	@:

$(CHDB_STAMP):
	@.ci/npm $(CHDB) $(CHDB_SHA) $(@D) && touch $@

$(VEGA_STAMP):
	@.ci/npm $(VEGA) $(VEGA_SHA) $(@D) && touch $@

# LuaJIT as it is without OpenResty's additions: the package conflicts with luajit2.
plain-luajit: $(CACHE)/luajit/usr/bin/luajit
	@:

$(CACHE)/luajit/usr/bin/luajit:
	@.ci/debian unpack luajit $(CACHE)/luajit

## demo: real flights and bird strikes, by schema scripts into an embedded ClickHouse
demo: deps
	@$(MAKE) --no-print-directory build
	@$(IN_TREE) $(LUAJIT) examples/demo.lua

## test: every test; the last line is the total (ORDER=--shuffle: in random order)
test: deps-test
	@$(MAKE) --no-print-directory spec

## spec: the tests, nothing installed before
spec: build $(TESTS) $(CHSERVER) $(FAULTS) fuzzers
	@$(IN_TREE) spec/run $(ORDER) $(TESTS) $(SPECS)

$(BUILD)/spec/%_test: spec/core/%_test.c $(wildcard spec/core/*.h) $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Icore $< $(OBJECTS) $(LDFLAGS) $(LIBS) -o $@

# A process of its own, never under a sanitizer (libchdb crashes there): always in build/.
$(CHSERVER): $(wildcard spec/support/chserver*.[ch]) Makefile
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -g $(filter %.c,$^) \
	  -lmicrohttpd -lzstd -llz4 -ldl -lpthread -o $@

build/spec/faultproxy: $(wildcard spec/support/faultproxy*.[ch]) spec/support/chserver_buf.c \
  spec/support/chserver.h Makefile
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -g $(filter %.c,$^) \
	  -lssl -lcrypto -lpthread -o $@

build/spec/resolver_shim.so: spec/support/resolver_shim.c Makefile
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -O2 -fPIC -fvisibility=hidden -shared $< -ldl -o $@

## soak: processes and servers that die and return, for minutes (CHUTE_SOAK_SECONDS=600: longer)
SOAK_SECONDS := $(or $(CHUTE_SOAK_SECONDS),120)
soak: build $(BUILD)/spec/slotfile_test $(CHSERVER) $(FAULTS)
	@$(IN_TREE) CHUTE_SOAK_SECONDS=$(SOAK_SECONDS) CHUTE_SOAK_REPORT="$(abspath $(BUILD))/soak" \
	  CHUTE_TEST_SECONDS=$$(($(SOAK_SECONDS) * 3 + 300)) \
	  CHUTE_LIVES=$$(($(SOAK_SECONDS) * 5)) CHUTE_MIXES=1500 \
	  spec/run spec/pool_hosts_spec.lua spec/delivery_replicated_spec.lua \
	  $(BUILD)/spec/slotfile_test spec/kill_spec.lua spec/disk_spec.lua
	@cat $(BUILD)/soak

## env: what to eval for using the built checkout uninstalled: eval "$(make -s env)"
env:
	@echo 'export LUA_PATH="$(TREE_LUA_PATH)"'
	@echo 'export LUA_CPATH="$(TREE_LUA_CPATH)"'
	@echo 'export PATH="$(CURDIR)/bin:$$PATH"'
	@echo 'export CHUTE_LIBCHDB="$${CHUTE_LIBCHDB:-$(TREE_LIBCHDB)}"'

## bench: every benchmark, a table each (BENCH="pageview columns": those)
bench: build $(BENCH_LIBRARY) $(CHSERVER)
	@$(IN_TREE) CHUTE_BENCH="$(abspath $(BENCH_LIBRARY))" bench/run $(BENCH)

$(BENCH_LIBRARY): $(wildcard bench/*.c) $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LINK) -Icore $^ $(LDFLAGS) $(LIBS) -o $@

# Clang's fuzzers, under the sanitizers; FUZZ is also where inputs that are new are kept.
FUZZ := build/fuzz
RUNS ?= 20000000
FUZZ_CFLAGS := -O2 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
  -fno-omit-frame-pointer

## fuzz: the fuzzers, RUNS (20000000) inputs each (FUZZERS="type date": those), then rows by chance
fuzz: build fuzzers $(CHSERVER)
	@for f in $(FUZZERS); do spec/fuzz/run $$f $(RUNS) || exit; done
	@$(IN_TREE) CHUTE_PROPERTY_SECONDS=600 CHUTE_TEST_SECONDS=900 spec/run spec/property_spec.lua

fuzzers:
	@$(MAKE) --no-print-directory BUILD=$(FUZZ) CC=clang CFLAGS="$(FUZZ_CFLAGS)" \
	  $(FUZZERS:%=$(FUZZ)/%_fuzz)

$(FUZZ)/%_fuzz: spec/fuzz/%_fuzz.c spec/fuzz/fuzz.h $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -Icore $< $(OBJECTS) $(LDFLAGS) $(LIBS) -o $@

## check: warnings by gcc and clang, format, luacheck, and the tests under sanitizers
check: deps-test
	@$(MAKE) --no-print-directory lint sanitize

# The C tests are built but not run here: for their warnings.
lint: build $(TESTS) $(CHSERVER) $(FAULTS)
	@$(MAKE) --no-print-directory BUILD=build/clang CC=clang build c-tests \
	  build/clang/bench/libbench.so
	clang-format --dry-run -Werror $(SOURCES) $(HEADERS) $(C_EXTRAS)
	luacheck --quiet . bin/chute

c-tests: $(TESTS)

# Leaks are looked for in C alone: the sanitizer does not see what LuaJIT's heap points at. Specs
# tagged #chdb load libchdb in the process, those tagged #rock test the installation, those tagged
# #preload preload what the sanitizers would hide.
ASAN := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
TSAN := -O1 -g -fsanitize=thread
sanitize: $(CHSERVER) $(FAULTS) fuzzers
	@$(MAKE) --no-print-directory BUILD=build/tsan CC=gcc CFLAGS="$(TSAN)" SANITIZER=libtsan.so \
	  SPECS="$(THREADED)" LEFT_OUT=chdb,rock,preload,shell sanitized
	@$(MAKE) --no-print-directory BUILD=build/asan CC=gcc CFLAGS="$(ASAN)" SANITIZER=libasan.so sanitized

# The specs that drive threads of the engine. Those tagged #shell use os.execute or io.popen, which
# crash under ThreadSanitizer.
LEFT_OUT := chdb,rock,preload
THREADED := $(wildcard spec/*pool*_spec.lua spec/*stream*_spec.lua spec/delivery_spec.lua)

sanitized: build $(TESTS)
	@TSAN_OPTIONS=halt_on_error=1 spec/run $(TESTS)
	@$(IN_TREE) LUAJIT="env LD_PRELOAD=$$($(CC) -print-file-name=$(SANITIZER)) \
	  TSAN_OPTIONS=halt_on_error=1 ASAN_OPTIONS=detect_leaks=0 $(LUAJIT)" \
	  spec/run --exclude-tags=$(LEFT_OUT) $(SPECS)

## install: under PREFIX (/usr/local), where Debian's luajit finds it; DESTDIR for packagers
LUADIR ?= $(PREFIX)/share/lua/5.1
LIBDIR ?= $(PREFIX)/lib/lua/5.1
BINDIR ?= $(PREFIX)/bin
install: build
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR) $(sort $(dir $(LUA:lua/%=$(LUADIR)/%))))
	install -m 755 bin/chute $(DESTDIR)$(BINDIR)/
	install -m 755 $(LIBRARY) $(DESTDIR)$(LIBDIR)/
	for f in $(LUA:lua/%=%); do install -m 644 lua/$$f $(DESTDIR)$(LUADIR)/$$f; done
	install -m 644 $(CDEF) $(DESTDIR)$(LUADIR)/chute/

# What luarocks calls: built outside the source tree, which it may share with others.
rock-install:
	@build=$$(mktemp -d) && trap 'rm -rf "$$build"' EXIT && \
	  $(MAKE) --no-print-directory BUILD="$$build" install

## fmt: format the C sources
fmt:
	clang-format -i $(SOURCES) $(HEADERS) $(C_EXTRAS)

## clean: remove what was built (the downloads in .cache stay)
clean:
	rm -rf $(BUILD)

## help: this list
help:
	@sed -n 's/^## //p' Makefile | sort

.PHONY: fuzz fuzzers build deps deps-test downloads plain-luajit demo test spec soak env bench check lint c-tests \
  sanitize sanitized install rock-install fmt clean help
