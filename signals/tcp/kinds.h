/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What is measured of TCP: KIND(NAME, "name", unit, from when to when). Their order is that of the
 * keys' kinds; both sides read it.
 */
#ifndef DWELL_TCP_KINDS_H
#define DWELL_TCP_KINDS_H

#define TCP_KINDS(KIND)                                                                            \
	KIND(CONNECT, "connect", UNIT_NS, "from our SYN until the SYN of the peer")                \
	KIND(CONNECT_FAILED, "connect_failed", UNIT_NS, "from our SYN until the failure")          \
	KIND(ACCEPT_WAIT, "accept_wait", UNIT_NS, "from established until accepted")               \
	KIND(FIRST_REPLY, "first_reply", UNIT_NS,                                                  \
	     "from the first send until the first receive after it")                               \
	KIND(FIRST_ANSWER, "first_answer", UNIT_NS,                                                \
	     "accepted connections: from the first receive until the first send after it")         \
	KIND(RTT, "rtt", UNIT_NS,                                                                  \
	     "smoothed round-trip time, once a window if active, and at the end")                  \
	KIND(LIFETIME, "lifetime", UNIT_NS, "from established until closed")                       \
	KIND(SENT, "sent", UNIT_BYTES, "payload of a connection, when it closes")                  \
	KIND(RECEIVED, "received", UNIT_BYTES, "likewise")                                         \
	KIND(RETRANSMITS, "retransmits", UNIT_COUNT, "retransmitted segments")                     \
	KIND(LISTEN_DROPS, "listen_drops", UNIT_COUNT,                                             \
	     "connections that a listener dropped in a window, mostly as its queue was full")

enum tcp_kind {
#define KIND(NAME, ...) TCP_KIND_##NAME,
	TCP_KINDS(KIND)
#undef KIND
		TCP_KIND_COUNT
};

#endif
