#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The sequence counters under ThreadSanitizer: no race as they are; a race with compiler barriers
# alone, and with any one of the four orders taken away, so that the test is known to see them. And
# on arm64, which keeps no order by itself, each order is an instruction.
. tests/lib.sh

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
CC=${CC:-gcc}
CLANG=${CLANG:-clang}

mkdir -p "$copy/src" "$copy/tests"
cp -r abi bpf "$copy"
cp -r src/base "$copy/src"
cp -r tests/unit "$copy/tests"

build() {
	$CC -std=gnu11 -D_GNU_SOURCE -O1 -g -fsanitize=thread -w "$@" "$copy/tests/unit/order_test.c" \
		-lcmocka -lpthread -o "$copy/order"
}

# Without random addresses: the library fails where the kernel's are more random than it expects.
run() { TSAN_OPTIONS=halt_on_error=1 setarch -R "$copy/order" 2>&1; }
has_race() { run | grep -q 'WARNING: ThreadSanitizer: data race'; }
# shellcheck disable=SC2120
races() { build "$@" && has_race; }

# weakened MACRO FROM: with MACRO's order FROM taken away there is a race
weakened() {
	sed "/^#define $1(place.*__atomic\|^#define $1(place)  *\\\\$/,/)$/ s/$2/RELAXED/" bpf/order.bpf.h \
		>"$copy/bpf/order.bpf.h"
	! cmp -s bpf/order.bpf.h "$copy/bpf/order.bpf.h" && races
}

# fences FILE: how many fully ordered instructions it has
fences() {
	$CLANG -g -O2 -target bpf -mcpu=v3 -D__TARGET_ARCH_arm64 -Ibpf \
		-I"/usr/include/$($CC -print-multiarch)" -c "$1" -o "$copy/arm64.o" &&
		llvm-objdump -d "$copy/arm64.o" | grep -c 'atomic_fetch_add'
}
arm64_is_ordered() { [ "$(fences signals/ledger/ledger.bpf.c)" -gt 8 ]; }

check "it compiles with ThreadSanitizer" build
check "sequence counters order what they cover" run
check "with compiler barriers alone there are races" races -DORDER_BY_COMPILER_ONLY
check "without acquire in the first look there is a race" weakened ledger_load_acquire ACQUIRE
check "without release in the last look there is a race" weakened ledger_load_last ACQ_REL
check "without release at the end of a write there is a race" weakened ledger_store_release RELEASE
check "without acquire at its beginning there is a race" weakened ledger_store_first ACQ_REL
check "on arm64 the ledger's orders are instructions" arm64_is_ordered
finish
