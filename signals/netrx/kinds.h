/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What is measured of soft interrupts: KIND(NAME, "name", unit, from when to when), and which there
 * are: VECTOR("name"), in the kernel's own order. Both sides read it.
 */
#ifndef DWELL_NETRX_KINDS_H
#define DWELL_NETRX_KINDS_H

#define NETRX_KINDS(KIND)                                                                          \
	KIND(TO_SOCKET, "to_socket", UNIT_NS, "from the device until the socket is readable")      \
	KIND(RAISED, "raised", UNIT_NS, "from raise until the soft interrupt runs")                \
	KIND(SOFTIRQ, "softirq", UNIT_NS, "one run of a soft interrupt")                           \
	KIND(PACKETS, "packets", UNIT_COUNT, "packets taken from devices in one run of net_rx")

enum netrx_kind {
#define KIND(NAME, ...) NETRX_KIND_##NAME,
	NETRX_KINDS(KIND)
#undef KIND
		NETRX_KIND_COUNT
};

#define NETRX_VECTORS(VECTOR)                                                                      \
	VECTOR("hi")                                                                               \
	VECTOR("timer")                                                                            \
	VECTOR("net_tx")                                                                           \
	VECTOR("net_rx")                                                                           \
	VECTOR("block")                                                                            \
	VECTOR("irq_poll")                                                                         \
	VECTOR("tasklet")                                                                          \
	VECTOR("sched")                                                                            \
	VECTOR("hrtimer")                                                                          \
	VECTOR("rcu")

#define NETRX_VECTOR_NET_RX 3
#define NETRX_VECTOR_COUNT  10

#endif
