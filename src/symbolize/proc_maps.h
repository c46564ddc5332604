/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/maps, read from a descriptor: executable mappings only. Paths in it are whatever
 * somebody named a file. Owns nothing. Runs in the unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_PROC_MAPS_H
#define DWELL_SYMBOLIZE_PROC_MAPS_H

#include <stdbool.h>
#include <sys/types.h>

#include "../../abi/types.h"

#define MAPS_PATH_BYTES 256

struct proc_mapping {
	u64 begin, end;
	u64 offset; /* in the file */
	u64 inode;  /* 0: no file */
	u32 major, minor;
	bool is_vdso;
	bool is_deleted;
	char path[MAPS_PATH_BYTES]; /* its end, if it is longer; "" of anonymous code; as the kernel
				       writes it: a newline in it is \012 */
};

/* One line without its newline: false if it is not one, or not of executable memory. */
bool proc_maps_parse(const char *line, size_t length, struct proc_mapping *ret_mapping);

/*
 * At most max of them, in the order of the file, which is that of addresses: how many there are in
 * all, or -errno. More than max are counted, not kept.
 */
ssize_t proc_maps_read(int fd, struct proc_mapping *ret_mappings, size_t max);

#endif
