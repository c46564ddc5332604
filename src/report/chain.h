/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait, who held it up, what that thread did meanwhile, who held that up, and so on: at most four
 * links, with exact sums. Owned by the findings. Composed from the session's table chains.
 */
#ifndef DWELL_REPORT_CHAIN_H
#define DWELL_REPORT_CHAIN_H

#include "digest.h"

#define CHAIN_LINKS_MAX 4
#define CHAIN_PARTS_MAX 12
#define CHAINS_MAX	20
#define CHAIN_TEXT	1024

/* What a culprit did for a part of the wait. */
struct link_part {
	u32 culprit; /* tid of who held up the culprit itself; 0: nobody, or not known */
	u16 call;
	u8 state;
	u8 unused;
	u64 object;
	/* the key ends here */
	u64 ns;
};

struct chain_link {
	u32 pid, tid;
	char comm[DIGEST_COMM];
	struct link_part parts[CHAIN_PARTS_MAX]; /* longest first */
	size_t part_count;
	u64 ns;		/* of the wait that it explains: parts, other and unknown */
	u64 other_ns;	/* parts that are too many to list */
	u64 unknown_ns; /* nobody knows what it did */
	size_t next;	/* the part that the next link explains; part_count: none */
};

struct chain {
	u32 thread; /* index */
	u8 state;
	u64 object;
	u64 ns;
	struct chain_link links[CHAIN_LINKS_MAX];
	size_t link_count;
	u64 alike; /* other threads with the same wait for the same culprit */
	u64 alike_ns;
	bool is_told; /* in the sentence of the wait itself */
	char sentence[CHAIN_TEXT];
};

/* The longest chains, longest first; the caller frees them: 0 or -ENOMEM. */
int chains_compose(const struct digest *digest, struct chain **ret_chains, size_t *ret_count);

#endif
