# SPDX-License-Identifier: Apache-2.0
#
# The whole build, top to bottom:
#
#   make                  build/dwell
#   make V=asan|tsan|cov|fuzz  the same under a sanitizer, with coverage, for the fuzzer, in build/V/
#   make check            unit tests and the fuzzers' corpora, no root needed
#   make check-live       tests on the running kernel, as root
#   make check-mysteries  hidden problems that the report has to solve, as root
#   make check-vm         tests on Debian's 5.10, 6.1, 6.12 and 7.x kernels, in QEMU
#   make check-layers     who may include whom; no cycles between the files of a folder; no symbol that is
#                         defined twice; no large files
#   make check-format     clang-format has nothing to say
#   make bench            what dwell costs, as ratios; as root, on a quiet machine
#   make check-long       what takes longer than CI has: fuzzing, soak, all that guests can do
#   make bpf-arm64        the kernel side compiles for arm64
#   make GEN_VMLINUX=1 bpf  the same against a generated vmlinux.h, as a check of ours
#   make man              the man pages, from docs/
#   make dist             a tarball of the release, with the page built
#   make install DESTDIR= PREFIX=
#
# The page of 'dwell report --html' is built from web/ by npm; WEB=0 builds a dwell without it.
# VERBOSE=1 shows each command; WERROR= lets warnings pass, for compilers newer than ours.

V ?= release
CC ?= cc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PROTOC_C ?= protoc-c
PKG_CONFIG ?= pkg-config
CLANG_FORMAT ?= clang-format
PREFIX ?= /usr/local
DESTDIR ?=

ifeq ($(origin CC),default)
CC := gcc
endif

# --- variants ----------------------------------------------------------------------------

B := build$(if $(filter-out release,$(V)),/$(V))$(if $(GEN_VMLINUX),/generated-vmlinux)

VARIANT_release := -O2
VARIANT_asan := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
VARIANT_tsan := -O1 -fsanitize=thread
VARIANT_cov := -O0 --coverage
# gcc defines it by itself: what the sanitizer's runtime needs, sandboxes allow.
VARIANT_fuzz := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -D__SANITIZE_ADDRESS__
ifeq ($(VARIANT_$(V)),)
$(error V=$(V) is not a variant: release, asan, tsan, cov or fuzz)
endif
ifeq ($(V),fuzz)
CC := $(CLANG)
endif

LIBS := libbpf libelf libdw liblzma zlib jansson libcap sqlite3 libprotobuf-c yaml-0.1 ncursesw
BUILD_LIBS := libseccomp # of a program that the build runs; dwell does without
MISSING := $(shell for lib in $(LIBS) $(BUILD_LIBS); do $(PKG_CONFIG) --exists $$lib || echo $$lib; done)
ifneq ($(MISSING),)
$(error not found by $(PKG_CONFIG): $(MISSING). README.md has the list of packages)
endif
ifeq ($(shell command -v $(PROTOC_C)),)
$(error not found: $(PROTOC_C), which makes C of proto/. README.md has the list of packages)
endif
WERROR ?= -Werror
WARN := -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CFLAGS ?= -g
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WARN) $(VARIANT_$(V)) $(CFLAGS) -fPIE \
	-fstack-protector-strong -I$(B)/gen $(shell $(PKG_CONFIG) --cflags $(LIBS))
ALL_LDFLAGS := $(VARIANT_$(V)) -pie -Wl,--build-id -Wl,-z,relro,-z,now $(LDFLAGS)
LDLIBS := $(shell $(PKG_CONFIG) --libs $(LIBS)) -liberty -lpthread -lm

# --- sources: the folders are the list ---------------------------------------------------

BPF_SRC := $(wildcard bpf/*.bpf.c signals/*/*.bpf.c)
BPF_KFUNC_SRC := $(wildcard signals/*/*.kfunc.bpf.c)
BPF_MAIN_SRC := $(filter-out $(BPF_KFUNC_SRC),$(BPF_SRC))
USER_SRC := $(filter-out %.bpf.c src/main.c,$(wildcard src/*/*.c signals/*/*.c records/*/*.c))
TEST_SRC := $(wildcard tests/unit/*_test.c)
TOOL_SRC := $(filter-out %.bpf.c,$(wildcard tests/live/*.c))
FUZZ_SRC := $(wildcard fuzz/*_fuzz.c)

# A file that disappears must be missed too: this one changes with the lists, and only then.
SOURCES := $(B)/gen/sources
$(shell mkdir -p $(B)/gen && echo '$(BPF_SRC) $(USER_SRC)' | cmp -s - $(SOURCES) || \
	echo '$(BPF_SRC) $(USER_SRC)' > $(SOURCES))

Q := $(if $(VERBOSE),,@)
say = @printf '  %-8s %s\n' $(1) $@

all: $(B)/dwell

# --- the kernel side ---------------------------------------------------------------------

BPF_ARCH := $(subst aarch64,arm64,$(subst x86_64,x86,$(shell uname -m)))
MULTIARCH := $(shell $(CC) -print-multiarch)
VMLINUX_DIR := $(if $(GEN_VMLINUX),$(B)/gen,bpf)
# A program's parameters are its hook's, needed or not: hence no -Wunused-parameter.
BPF_CFLAGS = -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(BPF_ARCH) $(WARN) \
	-Wno-unused-parameter -Wno-missing-prototypes -I$(VMLINUX_DIR) -Ibpf \
	-I/usr/include/$(MULTIARCH) -MMD -MP

$(B)/gen/vmlinux.h: /sys/kernel/btf/vmlinux
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)$(BPFTOOL) btf dump file /sys/kernel/btf/vmlinux format c > $@

$(B)/bpf/%.bpf.o: %.bpf.c $(if $(GEN_VMLINUX),$(B)/gen/vmlinux.h)
	@mkdir -p $(@D)
	$(call say,BPF)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

bpf_object = $(patsubst %.bpf.c,$(B)/bpf/%.bpf.o,$(1))

# The main object, and one per user of kernel functions (libbpf refuses such an object whole).
$(B)/gen/dwell.bpf.o: $(call bpf_object,$(BPF_MAIN_SRC)) $(SOURCES)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(BPFTOOL) gen object $@ $(filter %.o,$^)

define kfunc_object
$(B)/gen/$(1)_kfunc.bpf.o: $(call bpf_object,bpf/core.bpf.c signals/$(1)/$(1).kfunc.bpf.c)
	@mkdir -p $$(@D)
	$$(call say,LINK)
	$$(Q)$$(BPFTOOL) gen object $$@ $$^
endef
KFUNC_SIGNALS := $(patsubst %.kfunc.bpf.c,%,$(notdir $(BPF_KFUNC_SRC)))
$(foreach signal,$(KFUNC_SIGNALS),$(eval $(call kfunc_object,$(signal))))

BPF_SOURCES := dwell $(addsuffix _kfunc,$(KFUNC_SIGNALS))
SKELETONS := $(BPF_SOURCES:%=$(B)/gen/%.skel.h)

$(B)/gen/%.skel.h: $(B)/gen/%.bpf.o
	$(call say,GEN)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# By itself: libbpf's trials (src/capture/trial.c).
$(B)/gen/trial.bpf.o: $(B)/bpf/bpf/trial/trial.bpf.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(BPFTOOL) gen object $@ $<
$(B)/obj/src/capture/trial.o: $(B)/gen/trial.skel.h

$(B)/gen/bpf_sources.inc: $(SKELETONS) $(SOURCES)
	$(call say,GEN)
	$(Q)printf 'BPF_SOURCE(%s)\n' $(BPF_SOURCES) > $@
	$(Q)printf '#include "%s.skel.h"\n' $(BPF_SOURCES) > $(@D)/bpf_skeletons.inc

# All of it, without the user side: what else there is does not depend on vmlinux.h.
bpf: $(SKELETONS) $(B)/gen/trial.skel.h

bpf-arm64:
	$(MAKE) BPF_ARCH=arm64 B=$(B)/arm64 $(patsubst %.bpf.c,$(B)/arm64/bpf/%.bpf.o,$(BPF_SRC))

# --- the user side -----------------------------------------------------------------------

user_object = $(patsubst %.c,$(B)/obj/%.o,$(1))

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# The skeleton is generated, so its user waits for it; the rest is found by -MMD.
$(B)/obj/src/capture/source.o: $(B)/gen/bpf_sources.inc

# System calls by name, as the compiler's own headers have them: their names out of the macros, then
# the preprocessor puts the numbers in. The 32-bit ones exist where the machine has such programs.
syscall_rows = printf '\#include <asm/$(1).h>\n' | $(CC) -E -dM - 2>/dev/null | \
	sed -n 's/^\#define __NR_\([a-z_][a-z0-9_]*\) .*/$(2)(__NR_\1, "\1")/p' | \
	grep -v -e '"syscalls"' -e '"arch_specific_syscall"' | sort | \
	{ printf '\#include <asm/$(1).h>\n'; cat; } | $(CC) -E -P - 2>/dev/null | grep '^$(2)([0-9]'
$(B)/gen/syscalls.inc: Makefile
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)$(call syscall_rows,unistd,SYSCALL) > $@
	$(Q)$(call syscall_rows,unistd_32,SYSCALL_COMPAT) >> $@ || :
$(B)/obj/src/base/sandbox.o $(B)/obj/src/model/syscall.o $(B)/obj/src/store/tables.o: $(B)/gen/syscalls.inc

# The filters of the sandboxes.
$(B)/tools/sandbox_filters: $(B)/obj/tools/sandbox_filters.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(shell $(PKG_CONFIG) --libs $(BUILD_LIBS))
$(B)/gen/sandbox_filters.inc: $(B)/tools/sandbox_filters
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)$< > $@
$(B)/obj/src/base/sandbox.o: $(B)/gen/sandbox_filters.inc

# What goes into each flame graph, as bytes of the program.
$(B)/gen/flame_%.inc: src/export/flame.%
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g' > $@
$(B)/obj/src/export/svg.o: $(B)/gen/flame_css.inc $(B)/gen/flame_js.inc

# The page of the HTML report: one for all variants. A release has it built (web/dist); elsewhere npm
# builds it, or there is none.
WEB ?= 1
WEB_BUILT := build/web/page.html
WEB_SRC := $(shell find web -name node_modules -prune -o -path web/dist -prune -o -type f -print 2>/dev/null)
ifneq ($(WEB),0)
ifneq ($(wildcard web/dist/page.html),)
PAGE_FILE := web/dist/page.html
else ifneq ($(and $(wildcard web/package-lock.json),$(shell command -v npm)),)
PAGE_FILE := $(WEB_BUILT)
else
PAGE_FILE := $(wildcard $(WEB_BUILT))
endif
endif

# Versions are those of the lock file either way; 'npm ci' also wants packages of all other platforms in
# it, which not every registry has.
web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	$(call say,NPM)
	$(Q)cd web && { npm ci --no-audit --no-fund --loglevel=silent || \
		npm install --no-save --no-audit --no-fund --loglevel=error; } || { \
		echo "npm could not install what web/ needs: make WEB=0 builds without the page" >&2; exit 1; }
	$(Q)touch $@

ifneq ($(wildcard web/package-lock.json),)
$(WEB_BUILT): $(WEB_SRC) web/node_modules/.package-lock.json
	@mkdir -p $(@D)
	$(call say,NPM)
	$(Q)cd web && npm run --silent build
	$(Q)test -s $@
endif

# Changes with the choice, so that the object does.
HASH := \#
$(shell mkdir -p $(B)/gen && { [ -z '$(PAGE_FILE)' ] || echo '$(HASH)define PAGE_FILE "$(PAGE_FILE)"'; } > \
	$(B)/gen/page_file.new; cmp -s $(B)/gen/page_file.new $(B)/gen/page_file.inc || \
	cp $(B)/gen/page_file.new $(B)/gen/page_file.inc)
$(B)/obj/src/page/template.o: $(B)/gen/page_file.inc $(PAGE_FILE)

VERSION = $(shell sed -n 's/^\#define DWELL_VERSION "\(.*\)"/\1/p' src/base/version.h)

dist: $(WEB_BUILT)
	@mkdir -p build/dist/dwell-$(VERSION)/web/dist
	$(Q)cp $(WEB_BUILT) build/dist/dwell-$(VERSION)/web/dist/page.html
	$(Q)git archive --prefix=dwell-$(VERSION)/ -o build/dist/dwell-$(VERSION).tar HEAD
	$(Q)tar -rf build/dist/dwell-$(VERSION).tar -C build/dist --owner=0 --group=0 \
		dwell-$(VERSION)/web/dist/page.html
	$(Q)gzip -nf build/dist/dwell-$(VERSION).tar
	$(Q)rm -r build/dist/dwell-$(VERSION)
	@echo build/dist/dwell-$(VERSION).tar.gz

# The formats of other tools in protobuf: proto/x.proto becomes proto/x.pb-c.h and an object. The code is the
# compiler's, so our warnings are not for it.
PROTO_SRC := $(wildcard proto/*.proto)
PROTO_OBJ := $(PROTO_SRC:%.proto=$(B)/obj/gen/%.o)
PROTO_HEADERS := $(PROTO_SRC:%.proto=$(B)/gen/%.pb-c.h)

$(B)/gen/proto/%.pb-c.c $(B)/gen/proto/%.pb-c.h &: proto/%.proto
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)$(PROTOC_C) --c_out=$(B)/gen $<

$(B)/obj/gen/proto/%.o: $(B)/gen/proto/%.pb-c.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -w -c $< -o $@

$(call user_object,$(wildcard src/export/*.c) src/cmd/export_reply.c): | $(PROTO_HEADERS)

$(B)/libdwell.a: $(call user_object,$(USER_SRC)) $(PROTO_OBJ) $(SOURCES)
	$(call say,AR)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

$(B)/dwell: $(B)/obj/src/main.o $(B)/libdwell.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

MAN := $(patsubst docs/%.md,$(B)/man/%,$(wildcard docs/*.1.md))

$(B)/man/%: docs/%.md
	@mkdir -p $(@D)
	$(call say,MAN)
	$(Q)lowdown -s --out-no-smarty --parse-no-intraemph -t man $< -o $@

man: $(MAN)

# The man pages need lowdown; without it the rest is installed all the same.
install: $(B)/dwell $(if $(shell command -v lowdown),man)
	install -D -m 755 $(B)/dwell $(DESTDIR)$(PREFIX)/bin/dwell
	for page in $(MAN); do \
		[ ! -e $$page ] || install -D -m 644 $$page \
			$(DESTDIR)$(PREFIX)/share/man/man1/$$(basename $$page); \
	done
	for schema in diff doctor doctor-session report; do \
		install -D -m 644 docs/$$schema.schema.json \
			$(DESTDIR)$(PREFIX)/share/dwell/$$schema.schema.json; \
	done

# --- tests -------------------------------------------------------------------------------

UNIT_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/%,$(TEST_SRC))
LIVE_TOOLS := $(patsubst tests/live/%.c,$(B)/tests/%,$(TOOL_SRC))
LIVE_TESTS := $(filter %_test,$(LIVE_TOOLS)) # these run by themselves, the rest for a script
REPLAYS := $(patsubst fuzz/%_fuzz.c,$(B)/replay/%,$(FUZZ_SRC))

$(B)/tests/%: $(B)/obj/tests/unit/%.o $(B)/libdwell.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka

$(B)/tests/%: $(B)/obj/tests/live/%.o $(B)/libdwell.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# A fuzz target and its corpus, without a fuzzer.
$(B)/replay/%: $(B)/obj/fuzz/%_fuzz.o $(B)/obj/fuzz/replay.o $(B)/libdwell.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# dwell with processes that try what they may not, for tests/live/sandbox.sh.
HOOKED := $(B)/tests/dwell-forbidden
$(HOOKED): $(B)/obj/src/main.o $(B)/obj/tests/hooks/forbidden.o $(B)/libdwell.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# dwell with a page of the test's own, for tests/unit/page.sh.
ANY_PAGE := $(B)/tests/dwell-any-page
$(ANY_PAGE): $(B)/obj/src/main.o $(B)/obj/tests/hooks/any_page.o $(B)/libdwell.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# Our walk of stacks, at an event of the test's own.
$(B)/gen/agree.bpf.o: $(call bpf_object,bpf/core.bpf.c bpf/stack.bpf.c tests/live/agree.bpf.c)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(BPFTOOL) gen object $@ $^
$(B)/obj/tests/live/agree.o: $(B)/gen/agree.skel.h

# The samples as they were if programs in NMI used the others' ring buffers: nmi_test must see it.
define nmi_variant
$(B)/bpf/nmi_$(1)/sample.bpf.o: signals/sample/sample.bpf.c
	@mkdir -p $$(@D)
	$$(call say,BPF)
	$$(Q)$$(CLANG) $$(BPF_CFLAGS) -D$(2)_nmi=$(2) -c $$< -o $$@
$(B)/gen/nmi_$(1).bpf.o: $(call bpf_object,bpf/core.bpf.c bpf/stack.bpf.c) $(B)/bpf/nmi_$(1)/sample.bpf.o
	@mkdir -p $$(@D)
	$$(call say,LINK)
	$$(Q)$$(BPFTOOL) gen object $$@ $$^
$(B)/obj/tests/unit/nmi_test.o: $(B)/gen/nmi_$(1).skel.h
endef
$(eval $(call nmi_variant,records,records))
$(eval $(call nmi_variant,requests,unwind_requests))
$(B)/obj/tests/unit/nmi_test.o: $(B)/gen/bpf_sources.inc

# Every struct of our vmlinux.h, in an object whose BTF vmlinux_test holds against a kernel's.
TYPES_CFLAGS := -g -O2 -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -DBPF_NO_PRESERVE_ACCESS_INDEX \
	-Ibpf -I/usr/include/$(MULTIARCH)
$(B)/gen/vmlinux_types.bpf.c: bpf/vmlinux.h bpf/flavours.h
	@mkdir -p $(@D)
	$(call say,GEN)
	$(Q)printf '#include "%s"\n' $(^F) > $@.in && cp $@.in $@
	$(Q)$(CLANG) $(TYPES_CFLAGS) -x c -E $@.in | awk '/^# / { ours = $$3 ~ /(vmlinux|flavours)\.h"$$/ } \
		ours && /^struct [a-z_0-9]+ \{/ { print "struct " $$2 " ref_" $$2 ";" }' >> $@
$(B)/gen/vmlinux_types.bpf.o: $(B)/gen/vmlinux_types.bpf.c
	$(call say,BPF)
	$(Q)$(CLANG) $(TYPES_CFLAGS) -c $< -o $@
$(B)/gen/vmlinux_types.inc: $(B)/gen/vmlinux_types.bpf.o
	$(call say,GEN)
	$(Q)od -An -v -tx1 $< | sed 's/ \(..\)/0x\1,/g' > $@
$(B)/obj/tests/unit/vmlinux_test.o: $(B)/gen/vmlinux_types.inc
$(B)/obj/tests/unit/object_test.o: $(B)/gen/bpf_sources.inc

# A program that knows its own truth; it has nothing of dwell's in it. Its plugins it loads itself.
# Loops are aligned: one whose jump crosses 32 bytes takes twice as long on some CPUs, and shares lie.
WORKLOAD_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -falign-loops=32
WORKLOAD_SRC := $(wildcard tests/workloads/*.c)
WORKLOADS := $(B)/tests/workloads/oracle $(B)/tests/workloads/recursion \
	$(patsubst tests/%.c,$(B)/tests/%.so,$(wildcard tests/workloads/plugin/*.c))

$(B)/tests/workloads/oracle: $(WORKLOAD_SRC) $(wildcard tests/workloads/*.h tests/workloads/*.def)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) $(WORKLOAD_SRC) -o $@ -lpthread -ldl

$(B)/tests/workloads/recursion: tests/workloads/recursion.cc
	@mkdir -p $(@D)
	$(call say,CXX)
	$(Q)$(CXX) -O2 -g -fomit-frame-pointer $< -o $@

$(B)/tests/workloads/plugin/%.so: tests/workloads/plugin/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(WORKLOAD_CFLAGS) -fPIC -shared $< -o $@

# The mysteries' programs, each named as its file; they have nothing of dwell's in them either.
MYSTERY_SRC := $(wildcard tests/mysteries/*/*.c)
MYSTERY_CXX := $(wildcard tests/mysteries/*/*.cc)
MYSTERY_LIB := $(wildcard tests/mysteries/*/lib/*.c)
MYSTERIES := $(patsubst %.c,$(B)/tests/mysteries/%,$(notdir $(MYSTERY_SRC))) \
	$(patsubst %.cc,$(B)/tests/mysteries/%,$(notdir $(MYSTERY_CXX))) \
	$(patsubst %.c,$(B)/tests/mysteries/%.so,$(notdir $(MYSTERY_LIB)))

define mystery
$(B)/tests/mysteries/$(basename $(notdir $(1)))$(3): $(1) $(wildcard tests/mysteries/*.h)
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(Q)$(2) $$< -o $$@ -lpthread -ldl
endef
$(foreach file,$(MYSTERY_SRC),$(eval $(call mystery,$(file),$$(CC) $$(WORKLOAD_CFLAGS))))
$(foreach file,$(MYSTERY_CXX),$(eval $(call mystery,$(file),$$(CXX) -Wall -Wextra $$(WERROR) -O2 -g)))
$(foreach file,$(MYSTERY_LIB),$(eval $(call mystery,$(file),$$(CC) $$(WORKLOAD_CFLAGS) -fPIC -shared,.so)))

# Fails one call of a program that it is preloaded into: tests/fail_nth/run.py chooses which.
FAIL_CALLS := $(B)/tests/fail_calls.so

$(FAIL_CALLS): tests/fail_nth/fail_calls.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O1 -g -fPIC -shared $< -o $@ -ldl

# Programs that cost the least, to compare with, and the histogram by itself.
BENCH_TOOLS := $(B)/bench/floor $(B)/bench/hooks $(B)/bench/hist $(B)/bench/empty \
	$(B)/bench/nothing

# A server that publishes trace contexts in each way that a thread can have variables.
PUBLISHER_SRC := tests/live/requests_links
# By gcc in all builds: clang has -mtls-dialect from 19 on.
PUBLISHER_CC := gcc
PUBLISHER_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WARN) -O1 -g -pthread
TLS_DESCRIPTORS := $(if $(filter aarch64,$(shell uname -m)),desc,gnu2)
TLS_CALLS := $(if $(filter aarch64,$(shell uname -m)),trad,gnu)
PUBLISHERS := $(addprefix $(B)/tests/publisher/,executable loads slot.so descriptor.so large_descriptor.so module.so)

$(B)/tests/publisher/executable: CONTEXT = $(PUBLISHER_SRC)/publisher.c -rdynamic
$(B)/tests/publisher/loads: CONTEXT = -DCONTEXT_IN_LIBRARY
$(B)/tests/publisher/slot.so: CONTEXT = -ftls-model=initial-exec
$(B)/tests/publisher/descriptor.so: CONTEXT = -mtls-dialect=$(TLS_DESCRIPTORS)
$(B)/tests/publisher/large_descriptor.so: CONTEXT = -mtls-dialect=$(TLS_DESCRIPTORS) -DLARGE=65536
$(B)/tests/publisher/module.so: CONTEXT = -mtls-dialect=$(TLS_CALLS)
$(B)/tests/publisher/loads: $(PUBLISHER_SRC)/publisher.c $(PUBLISHER_SRC)/context.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(PUBLISHER_CC) $(PUBLISHER_CFLAGS) $(CONTEXT) $< -o $@ -ldl
$(B)/tests/publisher/executable: $(PUBLISHER_SRC)/context.c $(PUBLISHER_SRC)/publisher.c $(PUBLISHER_SRC)/context.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(PUBLISHER_CC) $(PUBLISHER_CFLAGS) $(CONTEXT) $< -o $@
$(B)/tests/publisher/%.so: $(PUBLISHER_SRC)/context.c $(PUBLISHER_SRC)/context.h
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(PUBLISHER_CC) $(PUBLISHER_CFLAGS) $(CONTEXT) -fPIC -shared $< -o $@ -Wl,--no-as-needed -lc

tests: $(UNIT_TESTS) $(REPLAYS) $(LIVE_TOOLS) $(HOOKED) $(ANY_PAGE) $(FAIL_CALLS) $(WORKLOADS) $(MYSTERIES) \
	$(PUBLISHERS) $(BENCH_TOOLS)

# Scripts that run nothing of what is built test the same whatever the variant is: the release has them.
# They come before the programs, which are short, so that both lanes end at the same time.
UNIT_SCRIPTS := $(sort $(wildcard tests/unit/*.sh))
ifneq ($(V),release)
UNIT_SCRIPTS := $(shell grep -lE '\$$DWELL|\$$TOOLS|BUILD' $(UNIT_SCRIPTS))
endif

check: $(B)/dwell $(UNIT_TESTS) $(REPLAYS) $(FAIL_CALLS) $(ANY_PAGE)
	BUILD=$(B) tests/run --parallel $(UNIT_SCRIPTS) $(UNIT_TESTS)

check-live: $(B)/dwell $(LIVE_TOOLS) $(HOOKED) $(FAIL_CALLS) $(WORKLOADS)
	BUILD=$(B) tests/run --again $(LIVE_TESTS) $(sort $(wildcard tests/live/*.sh))

# Hidden problems that the report has to solve; ROUNDS=3 runs each three times.
check-mysteries: $(B)/dwell $(MYSTERIES)
	BUILD=$(B) tests/run tests/mysteries/run.sh

VM_GUEST := $(addprefix tests/vm/,commands trace signals network storage disk preempt smp)

check-vm: $(B)/dwell $(B)/tests/vmlinux_test $(LIVE_TOOLS) $(WORKLOADS)
	OUT=$(B)/vm tests/run -- tests/vm/run.sh $(B)/dwell $(VM_GUEST) \
		$(B)/tests/workloads/oracle:/bin/oracle $(shell command -v jq):/bin/jq \
		$(B)/tests/private_stack:/bin/private_stack $(VM_MORE) \
		$(B)/tests/vmlinux_test $(LIVE_TESTS)

DWELL_OBJECTS := $(call user_object,$(USER_SRC) src/main.c) $(PROTO_OBJ)
check-layers: $(DWELL_OBJECTS)
	tests/layers.sh .
	tests/cycles.py $(B)/obj tests/cycles.allowed
	$(Q)tests/duplicate_symbols.sh $(DWELL_OBJECTS)
	tests/file_sizes.sh .

check-format:
	git ls-files -co --exclude-standard '*.c' '*.h' | xargs $(CLANG_FORMAT) --dry-run -Werror

format:
	git ls-files -co --exclude-standard '*.c' '*.h' | xargs $(CLANG_FORMAT) -i

# --- fuzzing -----------------------------------------------------------------------------

FUZZERS := $(patsubst fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))
FUZZ_SECONDS ?= 600

$(B)/fuzz/%: $(B)/obj/fuzz/%.o $(B)/libdwell.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

fuzzers: $(FUZZERS)

check-long:
	$(MAKE) V=fuzz fuzzers
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run -- fuzz/run.sh build/fuzz/fuzz
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run -- fuzz/run.sh build/fuzz/fuzz protocols
	$(MAKE) all tests
	BUILD=build tests/run tests/repeat.sh
	BUILD=build tests/run tests/large_session.sh
	BUILD=build SOAK_SECONDS=3600 tests/run tests/live/soak.sh
	ROUNDS=3 $(MAKE) check-mysteries
	BUILD=build tests/run tests/diff_pairs.sh
	BUILD=build PREEMPT_SECONDS=60 tests/run tests/live/preempt.sh
	BUILD=build REPLACED_PAUSE=1 tests/run tests/live/replaced.sh
	BUILD=build FAIL_SAMPLE=0 tests/run tests/live/fail_nth.sh
	BUILD=build LONG=1 tests/run tests/live/requests_links.sh tests/live/losses.sh
	BUILD=build DWARF_MB=1024 tests/run tests/live/late_names.sh
	BUILD=build TOP_COST_ROUNDS=5 tests/run tests/live/top_cost.sh
	$(MAKE) check-vm VM_MORE=tests/vm/long:/long

# --- bench -------------------------------------------------------------------------------

$(BENCH_TOOLS:$(B)/bench/%=$(B)/gen/%.bpf.o): $(B)/gen/%.bpf.o: $(B)/bpf/bench/%.bpf.o
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(BENCH_TOOLS:$(B)/bench/%=$(B)/obj/bench/%.o): $(B)/obj/bench/%.o: $(B)/gen/%.skel.h

$(BENCH_TOOLS): $(B)/bench/%: $(B)/obj/bench/%.o
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

bench-tools: $(B)/dwell $(BENCH_TOOLS) $(B)/tests/names $(WORKLOADS)

bench: bench-tools
	BUILD=$(B) bench/run

clean:
	rm -rf build

.PHONY: all dist tests check check-live check-mysteries check-vm check-layers check-format check-long format fuzzers \
	bench bench-tools bpf bpf-arm64 man install clean
.DELETE_ON_ERROR:
.SECONDARY:

-include $(shell find $(B)/obj $(B)/bpf -name '*.d' 2>/dev/null)
