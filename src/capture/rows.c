// SPDX-License-Identifier: Apache-2.0
/*
 * Rows that are read out of the kernel when we ask, by iterators and from maps, on their way to the
 * worker. They take the reader's way into the queue, but unlike records of the ring they can wait.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../abi/records.h"
#include "../base/cleanup.h"
#include "../base/clock.h"
#include "internal.h"

/* Whole records at the start of buf go to the worker: how many bytes they were. */
static size_t take_rows(struct capture *capture, const char *buf, size_t size)
{
	size_t at = 0;

	reader_begin(capture->reader);
	while (size - at >= sizeof(struct rec_hdr)) {
		const struct rec_hdr *hdr = (const struct rec_hdr *)(buf + at);

		if (hdr->size < sizeof(*hdr) || hdr->size > size - at)
			break;
		if (capture->config.on_row)
			capture->config.on_row(capture->config.row_context, hdr);
		reader_push(capture->reader, hdr, hdr->size);
		capture->rows++;
		at += hdr->size;
	}
	reader_end(capture->reader);
	return at;
}

void rows_send(struct capture *capture, const struct rec_hdr *row)
{
	take_rows(capture, (const char *)row, row->size);
}

bool rows_wait(struct capture *capture, u64 *patience_ns)
{
	return reader_wait_for_room(capture->reader, patience_ns);
}

/*
 * Rows can wait for the worker, within a bound; records of the ring cannot. A row that the kernel
 * has written counts as told there: so room comes first, and each read takes all that is written,
 * of which the kernel holds ITER_PAGES at most.
 */
#define ITER_PAGES 8

/*
 * An account whose writer lost its CPU is shown again after a pause
 * (is_read_again() of signals/ledger). However many there are, a read-out does not wait for longer.
 */
#define TORN_PAUSE_NS (1 * NS_PER_MS)
#define TORN_PAUSES   20

static void pause_for_torn(u32 *pauses)
{
	const struct timespec pause = {.tv_nsec = TORN_PAUSE_NS};

	if (++*pauses <= TORN_PAUSES)
		nanosleep(&pause, NULL);
}

/* All that the iterator has to say: 0 or -errno. */
static int read_iter(struct capture *capture, int fd, char *buf, size_t size)
{
	u64 patience_ns = SEND_WAIT_NS;
	size_t held = 0;
	u32 pauses = 0;

	for (;;) {
		ssize_t got;
		size_t taken;

		if (!reader_wait_for_room(capture->reader, &patience_ns))
			return -EAGAIN;
		got = read(fd, buf + held, size - held);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (got == 0)
			return held ? -EBADMSG : 0; /* a row is never cut */
		if (got < 0 && errno == EAGAIN)
			pause_for_torn(&pauses);
		if (got < 0)
			continue;
		held += (size_t)got;
		taken = take_rows(capture, buf, held);
		memmove(buf, buf + taken, held - taken);
		held -= taken;
	}
}

int capture_run_iter(struct capture *capture, size_t i)
{
	struct capture_probe *probe = &capture->probes[i];
	size_t size = ITER_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	_cleanup_free_ char *buf = malloc(size);
	_cleanup_close_ int fd = -1;
	int err;

	if (!buf)
		return -ENOMEM;
	if (!probe->link_count)
		return -ENOENT;
	fd = bpf_iter_create(bpf_link__fd(probe->links[0].link));
	if (fd < 0)
		return -errno;
	err = read_iter(capture, fd, buf, size);
	reader_wake(capture->reader);
	return err;
}

int capture_send_map(struct capture *capture, const char *name)
{
	const struct bpf_map *map = object_map(capture, name);
	_Alignas(8) char key[64], value[RECORD_SIZE_MAX];
	u64 patience_ns = SEND_WAIT_NS;
	void *previous = NULL;

	if (!map || bpf_map__fd(map) < 0)
		return -ENOENT;
	if (bpf_map__key_size(map) > sizeof(key) || bpf_map__value_size(map) > sizeof(value))
		return -E2BIG;
	/* A key that goes while we look sends us back to the first: hence the bound. */
	for (u32 i = 0; i < bpf_map__max_entries(map); i++) {
		if (bpf_map_get_next_key(bpf_map__fd(map), previous, key))
			break;
		previous = key;
		if (!reader_wait_for_room(capture->reader, &patience_ns))
			return -EAGAIN;
		if (!bpf_map_lookup_elem(bpf_map__fd(map), key, value))
			take_rows(capture, value, bpf_map__value_size(map));
	}
	reader_wake(capture->reader);
	return 0;
}

int capture_send(struct capture *capture, const struct rec_hdr *record)
{
	u64 patience_ns = SEND_WAIT_NS;

	if (!capture->reader)
		return -EINVAL;
	if (!rows_wait(capture, &patience_ns))
		return -EAGAIN;
	rows_send(capture, record);
	reader_wake(capture->reader);
	return 0;
}
