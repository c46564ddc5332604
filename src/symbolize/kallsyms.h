/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's functions, its modules' and its BPF programs', from /proc/kallsyms; the descriptor
 * was opened by someone who may see addresses. Owns the arrays. Runs in the unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_KALLSYMS_H
#define DWELL_SYMBOLIZE_KALLSYMS_H

#include <stdbool.h>

#include "../../abi/types.h"

struct kallsyms;

/* 0 or -errno; -EPERM: all addresses are hidden. */
int kallsyms_read(int fd, struct kallsyms **ret_kallsyms);
/* The same, of variables instead of functions; -ENODATA: this kernel does not tell them. */
int kallsyms_read_data(int fd, struct kallsyms **ret_kallsyms);
/* Are there addresses, as its first lines have it? 0 or -errno; -EPERM: they are hidden. */
int kallsyms_check(int fd);
void kallsyms_close(struct kallsyms *kallsyms);
u64 kallsyms_text(const struct kallsyms *kallsyms); /* address of _text, or _stext */

/* NULL: in no function. *ret_module is NULL for the kernel itself, "bpf" for BPF programs. */
const char *kallsyms_find(const struct kallsyms *kallsyms, u64 address, const char **ret_module,
			  u64 *ret_offset);

/*
 * Is the address in the code by which an interrupt or a fault enters the kernel? Its caller was
 * interrupted at the very address that its frame has, instead of calling it.
 */
bool kallsyms_is_interrupt(const struct kallsyms *kallsyms, u64 address);

#endif
