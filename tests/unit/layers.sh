#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The layer rule is held, and its check fails where it is broken: shown in a copy.
. tests/lib.sh

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# with_include FILE INCLUDE: the check's verdict on a copy in which FILE has this include too
with_include() {
	rm -rf "${copy:?}"/*
	cp -r abi bpf records signals src "$copy"
	sed -i "0,/^#include/s||#include \"$2\"\n&|" "$copy/$1"
	tests/layers.sh "$copy" >"$copy/out" 2>&1
}
accepts() { with_include "$@"; }
refuses() { ! with_include "$@" && grep -q "^$1:[0-9]*: " "$copy/out"; }

check "the sources follow the layer rule" tests/layers.sh .
check "base may not include model" refuses src/base/text.c ../model/queue.h
check "model may not include capture" refuses src/model/queue.c ../capture/capture.h
check "capture may not include worker" refuses src/capture/capture.c ../worker/worker.h
check "doctor may not include cmd" refuses src/doctor/doctor.c ../cmd/cmd.h
check "abi may not include base" refuses abi/records.h ../src/base/text.h
check "a probe may include common.bpf.h only" refuses signals/canary/canary.bpf.c ../../bpf/emit.bpf.h
check "a signal may not include capture" refuses signals/canary/canary.c ../../src/capture/capture.h
check "a signal may include base" accepts signals/canary/canary.c ../../src/base/text.h
check "a record type may not include capture" refuses records/slow/slow.c ../../src/capture/capture.h
check "a record type may not include a signal" refuses records/slow/slow.c ../../signals/canary/canary.h
check "a signal may not include a record type" refuses signals/canary/canary.c ../../records/slow/slow.h
finish
