# sbxc: a compiler for sandboxes. Read top to bottom; `make help` lists the targets.
#
# All that is generated stands in build/VARIANT: release (default) or san (ASan + UBSan).

VARIANT ?= release
B       := build/$(VARIANT)
PREFIX  ?= /usr/local
DESTDIR ?=

CC      ?= cc
# The runtime is linked static. musl starts about 0.3 ms faster than static glibc; use it where it is.
RT_CC   ?= $(shell command -v musl-gcc || echo $(CC))

WARN    := -Wall -Wextra -Wshadow -Wconversion -Wswitch-enum -Wvla -Wwrite-strings -Wstrict-prototypes \
           -Wmissing-prototypes -Wpointer-arith -Werror
COMMON  := -std=c11 -D_GNU_SOURCE $(WARN) -fno-common -fstack-protector-strong
RT_LINK := -static

ifeq ($(VARIANT),san)
CFLAGS  ?= -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Sanitizers need the dynamic libraries of the ordinary C library.
RT_CC   := $(CC)
RT_LINK :=
else
CFLAGS  ?= -O2 -g
COMMON  += -D_FORTIFY_SOURCE=2
endif

# ---- What is built from what -------------------------------------------------------------------------
BASE_SRC := src/arena.c src/buf.c src/sha256.c src/source.c src/diag.c
SBXC_SRC := $(sort $(wildcard src/*.c src/frontend/*.c src/backends/*.c))
RT_SRC   := $(sort $(wildcard src/runtime/*.c)) src/sha256.c
GEN_SRC  := $(B)/gen/policy.tab.c $(B)/gen/policy.lex.c $(B)/gen/presets.c $(B)/gen/filters.c

SBXC_OBJ := $(SBXC_SRC:%.c=$(B)/%.o) $(GEN_SRC:.c=.o)
RT_OBJ   := $(RT_SRC:%.c=$(B)/rt/%.o) $(B)/rt/gen/filters.o

INC      := -Isrc -I$(B)/gen

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all
all: $(B)/sbxc $(B)/sbxrun ## build sbxc and sbxrun

$(B)/sbxc: $(SBXC_OBJ)
	$(CC) $(CFLAGS) -o $@ $^ -lyaml

$(B)/sbxrun: $(RT_OBJ)
	$(RT_CC) $(CFLAGS) $(RT_LINK) -o $@ $^

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(COMMON) $(CFLAGS) $(INC) -MMD -MP -c -o $@ $<

$(B)/rt/%.o: %.c
	@mkdir -p $(@D)
	$(RT_CC) $(COMMON) $(CFLAGS) $(INC) -MMD -MP -c -o $@ $<

# Generated code follows its generator's style, not our warnings.
$(B)/gen/%.o: $(B)/gen/%.c
	$(CC) $(COMMON) -Wno-error -w $(CFLAGS) $(INC) -Igrammar -MMD -MP -c -o $@ $<

$(B)/rt/gen/%.o: $(B)/gen/%.c
	@mkdir -p $(@D)
	$(RT_CC) $(COMMON) $(CFLAGS) $(INC) -MMD -MP -c -o $@ $<

$(B)/gen/policy.tab.c: grammar/policy.y
	@mkdir -p $(@D)
	bison -Wall -Werror --defines=$(B)/gen/policy.tab.h -o $@ $<

$(B)/gen/policy.lex.c: grammar/policy.l $(B)/gen/policy.tab.c
	flex --header-file=$(B)/gen/policy.lex.h -o $@ $<

$(B)/src/frontend/dsl.o: $(B)/gen/policy.lex.c

# Presets are written in the DSL and embedded as text.
$(B)/gen/presets.c: $(sort $(wildcard presets/*.sbx)) tools/embed.sh
	@mkdir -p $(@D)
	sh tools/embed.sh presets/*.sbx > $@

# Seccomp programs come from libseccomp at build time; nothing links it afterwards.
$(B)/gen/genfilter: tools/genfilter.c src/filters.h
	@mkdir -p $(@D)
	$(CC) $(COMMON) -O1 $(INC) -o $@ $< -lseccomp

$(B)/gen/filters.c: $(B)/gen/genfilter
	$(B)/gen/genfilter > $@

-include $(shell find $(B) -name '*.d' 2>/dev/null)
