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
LIBS := -lcurl -lzstd -llz4 -ldl -lpthread
# nodelete: the threads run this code, so lua_close must not unmap it.
LINK := -shared -Wl,-z,nodelete -Wl,-z,defs

SOURCES := $(wildcard core/*.c)
HEADERS := $(wildcard core/*.h)
OBJECTS := $(SOURCES:core/%.c=$(BUILD)/core/%.o)
LIBRARY := $(BUILD)/libchute.so
CDEF    := $(BUILD)/lua/chute/cdef.lua

# Paths for using the built checkout: build/lua has the generated module, lua/ the others.
TREE_LUA_PATH  := $(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;$(CURDIR)/$(BUILD)/lua/?.lua;;
TREE_LUA_CPATH := $(CURDIR)/$(BUILD)/?.so;;
IN_TREE := LUA_PATH="$(TREE_LUA_PATH)" LUA_CPATH="$(TREE_LUA_CPATH)" PATH="$(CURDIR)/bin:$$PATH"

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

## env: what to eval for using the built checkout uninstalled: eval "$(make -s env)"
env:
	@echo 'export LUA_PATH="$(TREE_LUA_PATH)"'
	@echo 'export LUA_CPATH="$(TREE_LUA_CPATH)"'
	@echo 'export PATH="$(CURDIR)/bin:$$PATH"'

## bench: every benchmark, a table each
bench: build
	$(IN_TREE) bench/run

## fmt: format the C sources
fmt:
	clang-format -i $(SOURCES) $(HEADERS) $(C_EXTRAS)

## clean: remove what was built (the downloads in .cache stay)
clean:
	rm -rf $(BUILD)

## help: this list
help:
	@sed -n 's/^## //p' Makefile | sort

.PHONY: build env bench fmt clean help
