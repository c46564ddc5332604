/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What both sides of the signal know: what is measured, how operations and failures are numbered,
 * and where the bytes of a disk are counted.
 */
#ifndef DWELL_SIGNAL_BLOCK_H
#define DWELL_SIGNAL_BLOCK_H

enum block_kind {
	BLOCK_QUEUE,
	BLOCK_SERVICE,
	BLOCK_TOTAL,
	BLOCK_SUBMITTED,
	BLOCK_CGROUP, /* the object is a cgroup */
};

/* An object that is a cgroup: this bit, and the cgroup's id. Devices have 32 bits. */
#define BLOCK_CGROUP_BIT (1ULL << 62)
#define BLOCK_NAME_CGROUP                                                                          \
	(~0U) /* the device of a record that has a cgroup's name: its id is in `bytes` */

enum block_sum { BLOCK_BYTES }; /* beside the times of BLOCK_TOTAL */

enum block_op { BLOCK_READ, BLOCK_WRITE, BLOCK_FLUSH, BLOCK_DISCARD, BLOCK_OTHER, BLOCK_OPS };

/*
 * How a request ended: STATUS(errno, its name after an operation's). Up to the last but one they
 * are in the order of the kernel's blk_status_t; what it has beyond is the last. A key's detail is
 * operation + BLOCK_OPS * status.
 */
#define BLOCK_STATUSES(STATUS)                                                                     \
	STATUS(0, "")                                                                              \
	STATUS(95, " EOPNOTSUPP")                                                                  \
	STATUS(110, " ETIMEDOUT")                                                                  \
	STATUS(28, " ENOSPC")                                                                      \
	STATUS(67, " ENOLINK")                                                                     \
	STATUS(121, " EREMOTEIO")                                                                  \
	STATUS(52, " EBADE")                                                                       \
	STATUS(61, " ENODATA")                                                                     \
	STATUS(84, " EILSEQ")                                                                      \
	STATUS(12, " ENOMEM")                                                                      \
	STATUS(5, " EIO")                                                                          \
	STATUS(78, " EREMCHG")                                                                     \
	STATUS(11, " EAGAIN")                                                                      \
	STATUS(16, " EBUSY")                                                                       \
	STATUS(~0, " failed")

#define STATUS_ONE(...) +1
enum { BLOCK_STATUS_COUNT = BLOCK_STATUSES(STATUS_ONE) };
#undef STATUS_ONE

/* Regions are kept in sets; within one, the least makes room for a new one. */
#define REGION_SETS   32
#define REGION_WAYS   8
#define REGIONS_MAX   (REGION_SETS * REGION_WAYS)
#define REGION_SHIFT  20 /* log2 of a region's bytes */
#define DISKS_MAX     256
#define CGROUPS_MAX   256
#define NAMES_MAX     (DISKS_MAX + CGROUPS_MAX) /* what the kernel side may have sent */
#define REGIONS_SHOWN 64			/* the largest, that a session has of each window */

#endif
