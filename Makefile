# sbxc: a compiler for sandboxes. Read top to bottom; `make help` lists the targets.
#
# All that is generated stands in build/VARIANT: release (default) or san (ASan + UBSan).

VARIANT ?= release
ifeq ($(filter release san,$(VARIANT)),)
$(error VARIANT is release or san, not $(VARIANT))
endif
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
RT_SRC   := $(sort $(wildcard src/runtime/*.c)) src/sha256.c src/units.c
GEN_SRC  := $(B)/gen/policy.tab.c $(B)/gen/policy.lex.c $(B)/gen/presets.c $(B)/gen/filters.c

SBXC_OBJ := $(SBXC_SRC:%.c=$(B)/%.o) $(GEN_SRC:.c=.o)
RT_OBJ   := $(RT_SRC:%.c=$(B)/rt/%.o) $(B)/rt/gen/filters.o

INC      := -Isrc -I$(B)/gen
# Static archives: a short policy compiles faster than the loader finds four libraries.
SBXC_LIBS := -l:libyaml.a -l:libjansson.a -l:libidn2.a -l:libunistring.a

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all
all: $(B)/sbxc $(B)/sbxrun ## build sbxc and sbxrun

$(B)/sbxc: $(SBXC_OBJ)
	$(CC) $(CFLAGS) -o $@ $^ $(SBXC_LIBS)

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

# The JSON Schema of the YAML, for editors: from the table of clauses.
SCHEMA_SRC := src/frontend/keys.c src/env_names.c src/network.c src/units.c src/diag.c src/source.c src/buf.c src/arena.c
$(B)/gen/genschema: tools/genschema.c $(SCHEMA_SRC:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	$(CC) $(COMMON) $(CFLAGS) $(INC) -o $@ $^ $(SBXC_LIBS)

.PHONY: schema
schema: $(B)/gen/genschema ## rewrite docs/declaration.schema.json
	$(B)/gen/genschema > docs/declaration.schema.json

# ---- Tests ------------------------------------------------------------------------------------------
PYTHON  ?= python3
ENGINES ?= 0
export PYTHON ENGINES
export PYTHONDONTWRITEBYTECODE := 1

# The first comment of tests/unit/test_x.c says what it links: /* LINK: src/x.c gen/filters.c -Wl,--wrap=y */
UNIT_SRC := $(sort $(wildcard tests/unit/test_$(or $(TEST),*).c))
UNIT     := $(UNIT_SRC:%.c=$(B)/%)
unit_link = $(shell sed '/\*\//q' $(1) | tr '\n' ' ' | sed -n 's|^/\* LINK:\(.*\)\*/.*|\1|p')
define unit_rule
$(B)/$(1:.c=): $(B)/$(1:.c=.o) $(patsubst %.c,$(B)/%.o,$(filter %.c,$(call unit_link,$(1))))
	$$(CC) $$(CFLAGS) -o $$@ $$^ $(filter -W%,$(call unit_link,$(1))) -lcmocka $(SBXC_LIBS)
endef
$(foreach t,$(UNIT_SRC),$(eval $(call unit_rule,$(t))))

# Probes stand in foreign views and read nothing there, so they are static; the sanitizers cannot be.
$(B)/tests/probe: tests/enforce/probe.c
	@mkdir -p $(@D)
	$(CC) $(COMMON) -O1 -static -MMD -MP -o $@ $<

.PHONY: deps demo check unit golden golden-update enforce bench bench-compile layers lint san install help
deps: ## install missing Debian packages (ENGINES=1: container engines too)
	@sh tools/deps.sh

demo: ## compile a skill for all four targets and run it confined
	@sh tools/deps.sh
	@$(MAKE) --no-print-directory all
	@sh examples/demo.sh $(B)

check: ## install, build and run every test; ends with a count (ENGINES=1, VARIANT=san)
	@sh tools/deps.sh
	@$(MAKE) --no-print-directory all $(UNIT) $(B)/tests/probe $(B)/gen/genschema $(BENCH)
	@sh tests/check.sh $(B) $(UNIT)

unit: $(UNIT) ## cmocka tests of single modules [TEST=module]
	@sh tests/unit.sh $(UNIT)

golden: $(B)/sbxc ## compare artifacts with tests/golden/*/expect [CASE=name]
	@$(PYTHON) tests/golden/run.py $(B) $(CASE)

golden-update: $(B)/sbxc ## rewrite tests/golden/*/expect [CASE=name]; review with git diff
	@$(PYTHON) tests/golden/run.py --update $(B) $(CASE)

enforce: all $(B)/tests/probe ## try to escape from Landlock and bwrap sandboxes
	@$(PYTHON) tests/enforce/run.py $(B)

# What compiling costs, with what flex and libyaml cost beside it. Nothing is judged but in the table's last lines.
BENCH := $(addprefix $(B)/tests/bench/,spawn stages flex libyaml)
$(B)/tests/bench/stages: $(B)/tests/bench/stages.o $(filter-out $(B)/src/main.o $(B)/src/options.o,$(SBXC_OBJ))
$(B)/tests/bench/flex: $(B)/tests/bench/flex.o $(B)/gen/policy.lex.o
$(B)/tests/bench/libyaml: $(B)/tests/bench/libyaml.o
$(B)/tests/bench/spawn: $(B)/tests/bench/spawn.o
$(B)/tests/bench/flex.o: $(B)/gen/policy.lex.c
$(BENCH):
	$(CC) $(CFLAGS) -o $@ $^ $(SBXC_LIBS)

bench: bench-compile ## every benchmark

bench-compile: $(B)/sbxc $(BENCH) ## what compiling costs, by stage [LARGEST=100000]
	@$(PYTHON) tests/bench/compile.py $(B) $(LARGEST)

lint: $(GEN_SRC) ## headers alone, cppcheck, shellcheck, mandoc
	@sh tests/lint.sh $(B)

layers: ## check that includes follow the architecture
	@sh tests/layers.sh

san: ## build with ASan and UBSan, and run the same tests
	@$(MAKE) --no-print-directory check VARIANT=san

# ---- Installing --------------------------------------------------------------------------------------
MAN1 := $(sort $(wildcard docs/*.1))
MAN5 := $(sort $(wildcard docs/*.5))
DEST := $(DESTDIR)$(PREFIX)
install: all ## install programs, manuals and documents [DESTDIR= PREFIX=]
	install -d $(DEST)/bin $(DEST)/share/doc/sbxc $(if $(MAN1),$(DEST)/share/man/man1) $(if $(MAN5),$(DEST)/share/man/man5)
	install -m 755 $(B)/sbxc $(B)/sbxrun $(DEST)/bin
	install -m 644 LICENSE README.md CONTRIBUTING.md $(sort $(wildcard docs/*.md docs/*.json)) $(DEST)/share/doc/sbxc
	$(if $(MAN1),install -m 644 $(MAN1) $(DEST)/share/man/man1)
	$(if $(MAN5),install -m 644 $(MAN5) $(DEST)/share/man/man5)

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | sort | while IFS="$$(printf '\t')" read -r name text; do \
	    printf '  %-14s %s\n' "$$name" "$$text"; done

-include $(shell find $(B) -name '*.d' 2>/dev/null)
