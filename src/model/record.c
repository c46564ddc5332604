// SPDX-License-Identifier: Apache-2.0
#include "record.h"

#include "signal.h"

enum record_verdict record_check(const void *data, size_t size, const struct rec_hdr **ret_hdr)
{
	const struct rec_hdr *hdr = data;
	const struct signal_row *row;

	if (size < sizeof(*hdr) || hdr->size != size || hdr->ts_ns == 0 || hdr->seq == 0)
		return RECORD_MALFORMED;
	if (!signal_is_known(hdr->type))
		return RECORD_UNKNOWN;
	row = &signal_rows[hdr->type];
	if (hdr->version != row->version)
		return RECORD_UNKNOWN;
	if (size > row->record_size || size < row->least_size || size % 8)
		return RECORD_MALFORMED;
	*ret_hdr = hdr;
	return RECORD_OK;
}

static int compare_u64(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

int record_compare(const void *a, const void *b)
{
	const struct rec_hdr *x = a, *y = b;

	if (x->cpu != y->cpu)
		return compare_u64(x->cpu, y->cpu);
	if (x->ts_ns != y->ts_ns)
		return compare_u64(x->ts_ns, y->ts_ns);
	return compare_u64(x->seq, y->seq);
}
