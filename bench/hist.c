// SPDX-License-Identifier: Apache-2.0
/*
 * hist: runs the programs of hist.bpf.c in the kernel, in turns, some million times each, and
 * prints "NAME ns" for a run of each: the least of its turns, as others may be in the way.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../abi/series.h"
#include "hist.skel.h"

#define REPEAT 200000
#define TURNS  15

/* Times as disks have them: log-normal around 100 us, so that each bucket of many is met. */
static void fill(struct hist_bpf *skeleton)
{
	srand48(1);
	for (size_t i = 0; i < sizeof(skeleton->bss->values) / sizeof(skeleton->bss->values[0]);
	     i++)
		skeleton->bss->values[i] = (u64)exp(log(1e5) + 1.5 * sqrt(-2 * log(1 - drand48())) *
								       cos(2 * M_PI * drand48()));
}

struct contender {
	const char *name;
	const struct bpf_program *program;
	double least_ns;
};

static int run(struct contender *contender)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = REPEAT);
	struct timespec begin, end;
	double ns;

	/* The kernel's own average is a whole number. */
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (bpf_prog_test_run_opts(bpf_program__fd(contender->program), &options)) {
		perror("hist: cannot run its programs");
		return -1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	ns = ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
	     REPEAT;
	contender->least_ns =
		contender->least_ns && contender->least_ns < ns ? contender->least_ns : ns;
	return 0;
}

int main(void)
{
	const struct series_key key = {.signal = 1, .tgid = 4711, .start_ns = 1};
	struct hist_bpf *skeleton;
	u32 slot = 3;

	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	skeleton = hist_bpf__open_and_load();
	if (!skeleton ||
	    bpf_map_update_elem(bpf_map__fd(skeleton->maps.hist_index), &key, &slot, BPF_ANY)) {
		fprintf(stderr, "hist: cannot load its programs: run it as root\n");
		return 77;
	}
	fill(skeleton);
	struct contender contenders[] = {
		{"empty", skeleton->progs.hist_empty, 0},
		{"floor", skeleton->progs.hist_floor, 0},
		{"log2", skeleton->progs.hist_log2_add, 0},
		{"ours", skeleton->progs.hist_ours_add, 0},
	};
	for (int turn = 0; turn < TURNS; turn++)
		for (size_t i = 0; i < sizeof(contenders) / sizeof(contenders[0]); i++)
			if (run(&contenders[i]))
				return 1;
	for (size_t i = 0; i < sizeof(contenders) / sizeof(contenders[0]); i++)
		printf("%s %.2f\n", contenders[i].name, contenders[i].least_ns);
	hist_bpf__destroy(skeleton);
	return 0;
}
