# SPDX-License-Identifier: MIT
# wakewatt. `make help` lists the targets.
#
# Everything is built below $(B). A second configuration is a second $(B):
#   make B=build/asan SAN=1      address and undefined-behaviour sanitizers
#   make B=build/clang CC=clang

VERSION := 0.1.0
SOMAJOR := 0
B       ?= build
CC      ?= cc
PREFIX  ?= /usr/local
PKGCONF ?= pkg-config

bindir   = $(PREFIX)/bin
libdir   = $(PREFIX)/lib
incdir   = $(PREFIX)/include
mandir   = $(PREFIX)/share/man
datadir  = $(PREFIX)/share/wakewatt
udevdir ?= $(PREFIX)/lib/udev/rules.d
compdir  = $(PREFIX)/share/bash-completion/completions
PYTHON  ?= /usr/bin/python3
PYDIR   ?= $(shell $(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

comma := ,
# `make V=1` shows the commands.
ifeq ($(V),1)
say = $(2)
else
say = @printf '  %-7s %s\n' '$(1)' '$(patsubst $(CURDIR)/%,%,$(3))'; $(2)
endif

have = $(shell $(PKGCONF) --exists $(1) 2>/dev/null && echo 1 || echo 0)
WITH_USB   ?= $(call have,libusb-1.0)
WITH_FTDI  ?= $(call have,libftdi1)
WITH_GPIOD ?= $(call have,libgpiod)
WITH_CURL  ?= $(call have,libcurl)
WITH_JANSSON ?= $(call have,jansson)
WITH_NETTLE ?= $(call have,nettle)
WITH_ZLIB  ?= $(call have,zlib)
WITH_LZMA  ?= $(call have,liblzma)

# Reports are compared byte for byte between compilers: no fused operations.
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
          -Wpointer-arith -Wwrite-strings -Wvla
OPT    ?= -O2 -g
CFLAGS ?=
ALLC   := -std=c11 -D_GNU_SOURCE $(WARN) $(OPT) -ffp-contract=off -fno-strict-aliasing \
          -fvisibility=hidden -fPIC -pthread -Iinclude -Ilib
LDLIBS := -lm -pthread
PKGS   := sqlite3 libzstd
ifeq ($(WITH_USB),1)
PKGS += libusb-1.0
ALLC += -DWW_WITH_USB=1
endif
ifeq ($(WITH_FTDI),1)
PKGS += libftdi1
ALLC += -DWW_WITH_FTDI=1
endif
ifeq ($(WITH_GPIOD),1)
PKGS += libgpiod
ALLC += -DWW_WITH_GPIOD=$(shell $(PKGCONF) --modversion libgpiod | cut -d. -f1)
endif
ifeq ($(WITH_CURL),1)
PKGS += libcurl
ALLC += -DWW_WITH_CURL=1
endif
ifeq ($(WITH_JANSSON),1)
PKGS += jansson
ALLC += -DWW_WITH_JANSSON=1
endif
ifeq ($(WITH_NETTLE),1)
PKGS += nettle
ALLC += -DWW_WITH_NETTLE=1
endif
ifeq ($(WITH_ZLIB),1)
PKGS += zlib
ALLC += -DWW_WITH_ZLIB=1
endif
ifeq ($(WITH_LZMA),1)
PKGS += liblzma
ALLC += -DWW_WITH_LZMA=1
endif
ALLC   += $(shell $(PKGCONF) --cflags $(PKGS) 2>/dev/null)
LDLIBS := $(shell $(PKGCONF) --libs $(PKGS) 2>/dev/null) $(LDLIBS)
ifeq ($(SAN),1)
ALLC += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifeq ($(FUZZ),1)
ALLC += -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
endif
ifeq ($(WERROR),1)
ALLC += -Werror
endif
ALLC += $(CFLAGS)

LIBSRC  := $(wildcard lib/*/*.c)
# Style and script of the page that reports are, as one source of C.
PAGE_JS := $(patsubst %,lib/report/page%.js,_table _axis _timeline _input) lib/report/page.js
LIBOBJ  := $(LIBSRC:%.c=$(B)/obj/%.o) $(B)/obj/lib/report/page_assets.o
SO      := $(B)/lib/libwakewatt.so.$(VERSION)
AR_LIB  := $(B)/lib/libwakewatt.a
COMMON  := $(patsubst %,$(B)/obj/tools/%.o,common keys live outfile place reading recording typed watcher window)
PROGS   := pwrlog resumetime wwtrace
BINS    := $(PROGS:%=$(B)/bin/%) $(B)/bin/ttybeat
MAN     := $(wildcard tools/man/*.[1-8])

TESTSRC := $(wildcard tests/*/test_*.c)
TESTS   := $(TESTSRC:tests/%.c=$(B)/tests/%)
EMUSRC  := $(wildcard tests/emu/*.c)
# Models of meters, written from what their makers say and not from the drivers.
MODELS  := $(wildcard tests/emu/models/*.c)
EMU_LIB := $(B)/tests/libmodels.a
EMUS    := $(EMUSRC:tests/%.c=$(B)/tests/%)
FUZZSRC := $(wildcard tests/fuzz/fuzz_*.c)
FUZZERS := $(FUZZSRC:tests/%.c=$(B)/tests/%)
EXAMPLES := $(patsubst %.c,$(B)/%,$(wildcard examples/*.c))
BENCHSRC := $(wildcard tests/bench/bench_*.c)
BENCHES := $(BENCHSRC:tests/%.c=$(B)/tests/%)

.PHONY: all help deps check check-units demo bench fuzz fuzzers lint format install uninstall \
        install-python uninstall-python examples tests static symbols step-table FORCE
.SECONDARY:
all: $(BINS) $(SO) $(B)/lib/wakewatt.pc ## library and programs into build/

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1: /p' Makefile

# Objects of other flags are rebuilt: libraries may have been installed since.
FLAGS := $(strip $(CC) $(filter-out -Werror,$(ALLC)))
ifneq ($(FLAGS),$(shell cat $(B)/flags 2>/dev/null))
$(B)/flags: FORCE
endif
$(B)/flags:
	@mkdir -p $(@D)
	@echo '$(FLAGS)' > $@

$(B)/obj/%.o: %.c Makefile $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$(CC) $(ALLC) -MMD -MP -c -o $@ $<,$<)

AS_C = od -An -v -to1 | sed 's/  */\\/g; s/.*/"&"/'
$(B)/gen/page_assets.c: lib/report/page.css $(PAGE_JS) Makefile
	@mkdir -p $(@D)
	@{ echo '#include "report/page.h"'; \
	   echo 'const char ww_page_css[] ='; cat lib/report/page.css | $(AS_C); echo ';'; \
	   echo 'const char ww_page_js[] ='; cat $(PAGE_JS) | $(AS_C); echo ';'; } > $@
$(B)/obj/lib/report/page_assets.o: $(B)/gen/page_assets.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$(CC) $(ALLC) -MMD -MP -c -o $@ $<,$<)

LINK_SO = $(CC) $(ALLC) -shared -Wl,-soname,libwakewatt.so.$(SOMAJOR) \
          -Wl,--version-script=lib/libwakewatt.map -Wl,--no-undefined -o $@ $(LIBOBJ) $(LDLIBS)
$(SO): $(LIBOBJ) lib/libwakewatt.map
	@mkdir -p $(@D)
	$(call say,LINK,$(LINK_SO),$@)
	@ln -sf libwakewatt.so.$(VERSION) $(B)/lib/libwakewatt.so.$(SOMAJOR)
	@ln -sf libwakewatt.so.$(SOMAJOR) $(B)/lib/libwakewatt.so

$(AR_LIB): $(LIBOBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR,ar rcs $@ $(LIBOBJ),$@)

# Programs use the public header and the shared library only.
define prog
$(B)/bin/$(1): $(B)/obj/tools/$(1).o $(patsubst %.c,$(B)/obj/%.o,$(wildcard tools/$(1)-*.c)) $(COMMON) $(SO)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$(CC) $$(ALLC) -o $$@ $$(filter %.o,$$^) -L$(B)/lib -lwakewatt -lm \
	    -Wl$$(comma)-rpath$$(comma)'$$$$ORIGIN/../lib',$$@)
endef
$(foreach p,$(PROGS),$(eval $(call prog,$(p))))

# The DUT's side: one C99 file, no library of ours.
$(B)/bin/ttybeat: tools/ttybeat.c Makefile
	@mkdir -p $(@D)
	$(call say,CC,$(CC) -std=c99 -D_GNU_SOURCE $(WARN) $(OPT) $(CFLAGS) -o $@ tools/ttybeat.c,$@)
$(B)/obj/tools/resumetime-beat.o: tools/ttybeat.c

# Static builds for the DUT: musl where a compiler for the target is there.
STATIC_CC_x86_64 ?= musl-gcc
static: $(B)/static/ttybeat-x86_64 ## ttybeat, static, for a DUT
	@tests/static.sh $(B)/static
$(B)/static/ttybeat-x86_64: tools/ttybeat.c
	@mkdir -p $(@D)
	$(call say,CC,$(STATIC_CC_x86_64) -std=c99 -D_GNU_SOURCE -Os -s -static -Wall -Wextra -o $@ $<,$@)

# Anew each time: PREFIX may be another one now.
$(B)/lib/wakewatt.pc: lib/wakewatt.pc.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g' \
	    -e 's|@REQUIRES@|$(PKGS)|g' $< > $@

# --- tests
$(EMU_LIB): $(MODELS:%.c=$(B)/obj/%.o)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR,ar rcs $@ $^,$@)
$(B)/tests/%: $(B)/obj/tests/%.o $(AR_LIB) $(EMU_LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$(CC) $(ALLC) -o $@ $< $(EMU_LIB) $(AR_LIB) $(LDLIBS) -lcmocka -lutil $(TESTLD_$(notdir $*)),$@)
# Tests that fail every allocation once put their own functions before ours.
WRAP := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
$(foreach t,$(filter %_alloc.c,$(TESTSRC)),$(eval TESTLD_$(notdir $(t:.c=)) := $(WRAP)))
# A resolver that answers when the test wants it to.
TESTLD_test_lookup := -Wl,--wrap=getaddrinfo,--wrap=getaddrinfo_a,--wrap=gai_error,--wrap=gai_cancel
# A meter of the test's own.
FAKEMETER := -Wl,--wrap=ww_meter_find
TESTLD_test_redecode := $(FAKEMETER)
FAKEPORT := $(patsubst %,-Wl$(comma)--wrap=ww_port_%,open_setup write listing ready flush close transport)
TESTLD_test_meter := $(FAKEMETER) $(FAKEPORT)
TESTLD_test_redecode_alloc += $(FAKEMETER)
# Serial ports in a /sys and a /dev of the test.
TESTLD_test_ttyback := -Wl,--wrap=open,--wrap=ww_tty_ident,--wrap=ww_tty_find_again

# The independent peer of our Modbus.
TESTLD_test_modbus_peer := -lmodbus

$(B)/tests/emu/%: $(B)/obj/tests/emu/%.o $(EMU_LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$(CC) $(ALLC) -o $@ $< $(EMU_LIB) $(LDLIBS) -lutil -lm,$@)
# Only in the configuration that `make fuzz` makes for itself.
$(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(AR_LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$(CC) $(ALLC) -fsanitize=fuzzer -o $@ $< $(AR_LIB) $(LDLIBS),$@)

# Examples are what a program of somebody else is: public header, shared library.
$(B)/examples/%: examples/%.c Makefile $(SO)
	@mkdir -p $(@D)
	$(call say,CC,$(CC) $(filter-out -Ilib,$(ALLC)) -o $@ $< -L$(B)/lib -lwakewatt -lm \
	    -Wl$(comma)-rpath$(comma)'$$ORIGIN/../lib',$@)
examples: $(EXAMPLES) ## build the examples

tests: $(TESTS) $(EMUS) $(EXAMPLES) ## build the tests
deps: ## install what is missing (apt; sudo unless root)
	@tests/deps.sh all
check: ## all tests, with the sanitizers, the virtual machine and the lint
	@tests/deps.sh all
	@tests/check.sh $(CHECK)
check-units: tests all ## the unit tests of this configuration
	@python3 tests/runner.py $(TESTS)
demo: ## boots a machine that really suspends, and measures it
	@tests/deps.sh demo
	@$(MAKE) --no-print-directory all $(B)/static/ttybeat-x86_64
	@WW_BUILD=$(abspath $(B)) tests/lab/demo.sh
bench: ## benchmarks, side by side with named peers
	@tests/deps.sh all
	@$(MAKE) --no-print-directory all $(BENCHES) $(EMUS)
	@tests/bench/run.sh $(B)
step-table: $(B)/tests/analysis/test_steps_rough ## the limits of step detection, measured anew
	@$< --table
fuzz: ## run each fuzzer for FUZZ_SECONDS (20)
	@$(MAKE) --no-print-directory B=$(B)/fuzz CC=clang FUZZ=1 OPT='-O1 -g' fuzzers
	@tests/fuzz/run.sh $(B)/fuzz/tests/fuzz
fuzzers: $(FUZZERS)
lint: ## formatting, clang-tidy, cppcheck, layers, symbols, man pages
	@tests/lint.sh
format: ## clang-format in place
	clang-format -i $(shell git ls-files '*.c' '*.h')

install: all ## PREFIX=/usr/local DESTDIR=
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(libdir)/pkgconfig $(DESTDIR)$(incdir) \
	    $(DESTDIR)$(udevdir) $(DESTDIR)$(compdir)
	install -m755 $(BINS) $(DESTDIR)$(bindir)
	install -m644 $(SO) $(DESTDIR)$(libdir)
	ln -sf libwakewatt.so.$(VERSION) $(DESTDIR)$(libdir)/libwakewatt.so.$(SOMAJOR)
	ln -sf libwakewatt.so.$(SOMAJOR) $(DESTDIR)$(libdir)/libwakewatt.so
	install -m644 include/wakewatt.h $(DESTDIR)$(incdir)
	install -m644 $(B)/lib/wakewatt.pc $(DESTDIR)$(libdir)/pkgconfig
	for m in $(MAN); do s=$${m##*.}; install -d $(DESTDIR)$(mandir)/man$$s; \
	    install -m644 $$m $(DESTDIR)$(mandir)/man$$s; done
	install -m644 lib/bus/60-wakewatt.rules $(DESTDIR)$(udevdir)
	install -m644 tools/completion.bash $(DESTDIR)$(compdir)/pwrlog
	ln -sf pwrlog $(DESTDIR)$(compdir)/resumetime
	ln -sf pwrlog $(DESTDIR)$(compdir)/wwtrace
	[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

# The package finds the installed library by its soname. In a virtual environment rather:
# pip install ./bindings/python.
install-python: ## the Python package where PYTHON (/usr/bin/python3) looks, or into PYDIR=
	install -d $(DESTDIR)$(PYDIR)/wakewatt
	install -m644 bindings/python/wakewatt/*.py bindings/python/wakewatt/py.typed \
	    $(DESTDIR)$(PYDIR)/wakewatt
uninstall-python: ## what install-python put there
	[ -z "$(PYDIR)" ] || rm -rf "$(DESTDIR)$(PYDIR)/wakewatt"

uninstall: ## what install put there
	rm -f $(addprefix $(DESTDIR)$(bindir)/,$(notdir $(BINS))) \
	    $(DESTDIR)$(libdir)/libwakewatt.so* $(DESTDIR)$(incdir)/wakewatt.h \
	    $(DESTDIR)$(libdir)/pkgconfig/wakewatt.pc $(DESTDIR)$(udevdir)/60-wakewatt.rules \
	    $(addprefix $(DESTDIR)$(compdir)/,pwrlog resumetime wwtrace)
	for m in $(MAN); do rm -f $(DESTDIR)$(mandir)/man$${m##*.}/$${m##*/}; done

clean: ## remove build/
	rm -rf $(B)

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)
