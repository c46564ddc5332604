/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Fixed-width names that both compilers share.
 * In the kernel they come from vmlinux.h; here from the UAPI headers.
 */
#ifndef DWELL_ABI_TYPES_H
#define DWELL_ABI_TYPES_H

#ifndef __bpf__
#include <linux/types.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
#endif

#endif
