#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A symbol that two objects define is found: shown with objects made for it.
. tests/lib.sh

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=${CC:-cc}

object() { $cc -c -x c - -o "$dir/$1.o" <<<"$2" || exit 1; }
verdict() { tests/duplicate_symbols.sh "${@/#/$dir/}" >"$dir/out" 2>&1 || { cat "$dir/out"; return 1; }; }
refuses() { ! verdict "${@:2}" >/dev/null && grep -qxF "$1" "$dir/out"; }

object a 'static int own(void) { return 1; } int a(void) { return own(); }'
object b 'static int own(void) { return 2; } extern int data; int a(void); int b(void) { return a() + own() + data; }'
object data 'int data = 1;'
object function 'int a(void) { return 3; }'
object variable 'int b = 4;'
object weak '__attribute__((weak)) int a(void) { return 5; }'

check "functions and data that are defined once" verdict a.o b.o data.o
check "a function that is defined twice" refuses "a: defined in $dir/a.o and in $dir/function.o" a.o b.o data.o function.o
check "a function and a variable of one name" refuses "b: defined in $dir/b.o and in $dir/variable.o" b.o variable.o
check "a weak one, too: in an archive the first that is found stays" refuses \
	"a: defined in $dir/a.o and in $dir/weak.o" a.o weak.o
check "a file that is no object" refuses "no symbol was found: are these objects?" out
finish
