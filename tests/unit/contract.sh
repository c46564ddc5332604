#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The contract defends itself: what breaks it does not compile, or does not link. In a copy.
. tests/lib.sh

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
CC=${CC:-gcc}
CLANG=${CLANG:-clang}
GEN=${BUILD:-build}/gen

fresh() {
	rm -rf "${copy:?}"/*
	cp -r abi bpf records signals src "$copy"
}

user_compiles() { $CC -std=gnu11 -fsyntax-only -x c "$copy/abi/records.h"; }
kernel_compiles() {
	$CLANG -target bpf -g -O2 -D__TARGET_ARCH_x86 -I"$copy/bpf" -I"/usr/include/$(gcc -print-multiarch)" \
		-c "$copy/bpf/core.bpf.c" -o "$copy/core.o"
}
both_compile() { user_compiles && kernel_compiles; }
both_refuse() { ! user_compiles 2>/dev/null && ! kernel_compiles 2>/dev/null; }

fresh
check "the contract compiles on both sides" both_compile
sed -i 's/	u64 token;/	u32 hole;\n&/' "$copy/abi/records.h"
check "a record with hidden padding is refused by both compilers" both_refuse

fresh
sed -i '/^struct rec_canary {/,/^}/ { s/	struct rec_hdr hdr;/	u64 before;\n&/ }' "$copy/abi/records.h"
check "a record whose header is not first is refused by both" both_refuse

fresh
echo 'SIGNAL(63, GHOST, ghost, 1, SAMPLE, WHOLE)' >>"$copy/abi/signals.def"
check "a row without its record is refused by both" both_refuse

fresh
sed -i 's/^SIGNAL(1, /SIGNAL(64, /' "$copy/abi/signals.def"
check "an id out of range is refused by both" both_refuse

fresh
echo 'SIGNAL(1, CANARY2, canary, 1, SAMPLE, WHOLE)' >>"$copy/abi/signals.def"
check "an id given twice is refused by both" both_refuse

# With its record, the row compiles; without its handler it must not link.
fresh
echo 'SIGNAL(63, GHOST, ghost, 1, SAMPLE, WHOLE)' >>"$copy/abi/signals.def"
sed -i 's/^#pragma GCC diagnostic pop/struct rec_ghost { struct rec_hdr hdr; };\n&/' "$copy/abi/records.h"
check "with its record, the row compiles" both_compile
printf '#include "src/model/signal.h"\nint main(void) { return signal_rows[63].signal != 0; }\n' >"$copy/main.c"
links() {
	local signals
	mapfile -t signals < <(find "$copy/signals" "$copy/records" -name '*.c' ! -name '*.bpf.c')
	$CC -std=gnu11 -D_GNU_SOURCE -I"$copy" -I"$GEN" "$copy/main.c" "$copy"/src/model/{hist,labels,signal,source,stack_ids,view}.c "$copy"/src/base/*.c \
		"${signals[@]}" "$@" -o "$copy/a.out" -lm -lcap
}
does_not_link() { ! links -w 2>/dev/null; }
check "a signal without its handler does not link" does_not_link
printf '#include "src/model/signal.h"\nconst struct signal signal_ghost;\n' >"$copy/ghost.c"
check "with its handler it does" links "$copy/ghost.c"
finish
