// SPDX-License-Identifier: Apache-2.0
/*
 * flood ADDRESS PORT PER_MS: sends this many small UDP packets a millisecond.
 * flood service PORT: computes without end, and adds up the times in which it did not run: gaps of
 * its clock. A long packet filter drops what arrives at its port: a packet costs some
 * tens of microseconds, so that they come faster than they are handled, and few interrupts are
 * needed.
 */
#include <linux/filter.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>

#include "../net.h"
#include "../truth.h"

enum { LOOPS, GAP_NS };

#define FILTER_STEPS 4000

static void filter_packets(int port)
{
	static struct sock_filter steps[FILTER_STEPS];
	struct sock_fprog program = {.len = FILTER_STEPS, .filter = steps};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (int i = 0; i < FILTER_STEPS - 1; i++)
		steps[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 3);
	steps[FILTER_STEPS - 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)))
		abort();
}

/* This thread alone: the one that writes the truth stays as it is. */
static void run_first_on(int cpu)
{
	struct sched_param param = {.sched_priority = 1};
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || sched_setscheduler(0, SCHED_FIFO, &param))
		abort();
}

static void serve(int port)
{
	uint64_t last = now_ns();

	filter_packets(port);
	prctl(PR_SET_NAME, "calculator");
	truth_start("loops", "gap_ns", NULL);
	run_first_on(1);
	for (;;) {
		uint64_t now = now_ns();

		if (now - last > 1000)
			truth_add(GAP_NS, now - last);
		last = now;
		truth_add(LOOPS, 1);
	}
}

static int send_packets(const char *to, int port, int per_ms)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t next = now_ns();
	char text[32] = {0};

	inet_pton(AF_INET, to, &address.sin_addr);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return 1;
	truth_start("sent", NULL);
	for (;;) {
		for (int i = 0; i < per_ms; i++)
			if (send(fd, text, sizeof(text), MSG_DONTWAIT) > 0)
				truth_add(0, 1);
		next += 1000000;
		if (now_ns() < next)
			sleep_ns(next - now_ns());
		else
			next = now_ns();
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "service"))
		serve(atoi(argv[2]));
	return argc == 4 ? send_packets(argv[1], atoi(argv[2]), atoi(argv[3])) : 64;
}
