// SPDX-License-Identifier: Apache-2.0
/*
 * What the numbers of connections say: who churns, refuses, loses packets, answers late.
 */
#include <string.h>

#include "../../src/model/signal.h"
#include "kinds.h"
#include "tcp.h"

#define CHURN_PER_SECOND 10   /* so many connections a second, ... */
#define CHURN_MEAN_MS	 1000 /* ... that live less than this, are worth a sentence */
#define RETRANSMITS_MANY 10
#define SYN_AGAIN_NS	 (900 * 1000 * 1000ULL) /* the kernel waits a second before it asks again */
#define SLOW_REPLY_NS	 (10 * 1000 * 1000ULL)
#define SLOW_REPLY_TIMES 10 /* the round trip: then it is not the network that takes the time */

/* Of the same process, and the same peer or listener. */
static bool is_place_of(const struct series_row *one, const struct series_row *other)
{
	return one->key.tgid == other->key.tgid && one->key.start_ns == other->key.start_ns &&
	       one->key.object == other->key.object;
}

static void judge_retransmits(const struct series_row *row, struct remarks *remarks)
{
	if (row->hist.sum >= RETRANSMITS_MANY)
		remark(remarks, "%s, %s: %llu segments were retransmitted", row->process,
		       row->object_name, (unsigned long long)row->hist.sum);
}

static void judge_drops(const struct series_row *row, struct remarks *remarks)
{
	if (row->hist.sum)
		remark(remarks,
		       "%s: %s dropped %llu connection requests, as its accept queue was full: "
		       "accept "
		       "faster, or raise the backlog of listen() and net.core.somaxconn",
		       row->process, row->object_name, (unsigned long long)row->hist.sum);
}

/*
 * Connections that a process makes to one peer, or accepts, again and again, and that do not last:
 * however they ended. The first series of such a place speaks for all of them.
 */
static void judge_churn(const struct series_set *set, size_t at, struct remarks *remarks)
{
	const struct series_row *row = set->rows[at];
	bool is_accepted = !strncmp(row->object_name, "listening", strlen("listening"));
	double seconds = (double)set->span_ns / 1e9, count = 0, sum_ms = 0;

	for (size_t i = 0; i < set->count; i++) {
		if (set->rows[i]->key.kind != row->key.kind || !is_place_of(set->rows[i], row))
			continue;
		if (i < at)
			return;
		count += (double)set->rows[i]->hist.count;
		sum_ms += (double)set->rows[i]->hist.sum / 1e6;
	}
	if (seconds <= 0 || count / seconds < CHURN_PER_SECOND || sum_ms / count >= CHURN_MEAN_MS)
		return;
	if (is_accepted)
		remark(remarks,
		       "%s, %s: %.0f connections a second closed, after %.2f ms on average",
		       row->process, row->object_name, count / seconds, sum_ms / count);
	else
		remark(remarks,
		       "%s: %.0f connections a second to %s closed, after %.2f ms on average: keep "
		       "them open to save the handshakes",
		       row->process, count / seconds, row->object_name, sum_ms / count);
}

/* A second is what the kernel waits for an answer to a SYN. */
static void judge_connect(const struct series_row *row, struct remarks *remarks)
{
	u64 late = 0;

	for (u32 place = hist_place(SYN_AGAIN_NS); place < HIST_BUCKETS; place++)
		late += row->hist.buckets[place];
	if (late)
		remark(remarks,
		       "%s: %llu of %llu connections to %s took 0.9 s or more to be established: a "
		       "packet of the handshake was lost or dropped, as by a listener whose queue "
		       "is "
		       "full, or the peer is far or slow",
		       row->process, (unsigned long long)late, (unsigned long long)row->hist.count,
		       row->object_name);
}

/* Who answers late though its network is fast. */
static void judge_reply(const struct series_set *set, const struct series_row *row,
			struct remarks *remarks)
{
	u64 reply_ns = hist_percentile(&row->hist, 0.5), rtt_ns = 0;

	if (row->key.object == SERIES_OTHER)
		return; /* many peers are no one */
	for (size_t i = 0; i < set->count; i++)
		if (set->rows[i]->key.kind == TCP_KIND_RTT && is_place_of(set->rows[i], row))
			rtt_ns = hist_percentile(&set->rows[i]->hist, 0.5);
	if (!rtt_ns || reply_ns < SLOW_REPLY_NS || reply_ns < rtt_ns * SLOW_REPLY_TIMES)
		return;
	remark(remarks,
	       "%s: %s sent its first reply after %.1f ms (p50), at a round trip of %.3f ms (p50): "
	       "the peer takes the time, not the network",
	       row->process, row->object_name, (double)reply_ns / 1e6, (double)rtt_ns / 1e6);
}

void tcp_judge(const struct series_set *set, struct remarks *remarks)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct series_row *row = set->rows[i];

		if (!row->hist.count)
			continue;
		switch (row->key.kind) {
		case TCP_KIND_CONNECT:
			judge_connect(row, remarks);
			break;
		case TCP_KIND_FIRST_REPLY:
			judge_reply(set, row, remarks);
			break;
		case TCP_KIND_LIFETIME:
			judge_churn(set, i, remarks);
			break;
		case TCP_KIND_CONNECT_FAILED:
			remark(remarks, "%s: %llu connections to %s failed: %s", row->process,
			       (unsigned long long)row->hist.count, row->object_name,
			       strerror(row->key.detail));
			break;
		case TCP_KIND_RETRANSMITS:
			judge_retransmits(row, remarks);
			break;
		case TCP_KIND_LISTEN_DROPS:
			judge_drops(row, remarks);
			break;
		}
	}
}
