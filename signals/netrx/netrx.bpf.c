// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Soft interrupts: how long after they were asked for they began, and how long they ran; and how
 * long packets took from their device to a socket. A soft interrupt runs to its end on one CPU, so
 * what is under way is kept by CPU. All of it is the host's: no process is in the keys.
 */
#include "../../bpf/common.bpf.h"

#include "kinds.h"

#define CPU_GROUPS_MAX 32 /* CPUs that are told apart; of more, neighbours share */
#define PLACES_MAX     16 /* at least NETRX_VECTOR_COUNT, and a power of two */

struct netrx_cpu {
	u64 begin_ns;  /* of the one under way; 0: none */
	u64 packet_ns; /* the packet that is being worked on; 0: none, or it has reached a socket */
	u64 device;    /* object of its device; also the last one whose name was told */
	u64 packets;   /* of this run */
	u64 round_ns;  /* when the first of those began that the kernel took up together */
	u64 vector;    /* the last of these that began */
	u64 known;     /* a bit for each vector that has begun since we look */
	u64 group;     /* 1 + the first CPU of this one's group; 0: not yet known */
	u64 raised_ns[NETRX_VECTOR_COUNT];	  /* asked for, and has not begun; 0: not */
	u64 again_ns[NETRX_VECTOR_COUNT];	  /* asked for once more since; 0: not */
	u32 places[NETRX_KIND_COUNT][PLACES_MAX]; /* where their series were found, by vector */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct netrx_cpu);
} netrx_cpus SEC(".maps");

static __always_inline struct netrx_cpu *here(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&netrx_cpus, &zero);
}

/* The first CPU of this one's group. */
static __always_inline u64 cpu_group(struct netrx_cpu *cpu)
{
	u32 shift = 0;

	if (cpu->group)
		return cpu->group - 1;
	for (u32 i = 0; i < 8; i++)
		shift += (cfg_cpus - 1) >> shift >= CPU_GROUPS_MAX;
	cpu->group = 1 + (bpf_get_smp_processor_id() >> shift << shift);
	return cpu->group - 1;
}

/* Mostly it is where it was: a CPU has few of these, and they come again and again. */
static __always_inline u32 series_here(struct netrx_cpu *cpu, enum netrx_kind kind, u32 vector,
				       u64 device)
{
	struct series_key key = {.signal = SIG_NETRX};
	u64 place = vector;

	key.kind = (u8)kind;
	key.detail = (u16)vector;
	key.object = device;
	key.more = cpu_group(cpu);
	ledger_bound(place, PLACES_MAX - 1);
	return series_find_again(&key, &cpu->places[kind][place]);
}

/* --- soft interrupts --- */

/*
 * The kernel takes up all that were asked for at once, and then runs them in the order of their
 * numbers: a round. One that is asked for once more before its round has begun runs once; if after,
 * it runs again in the next one.
 */
SEC("?tp_btf/softirq_raise")
int BPF_PROG(netrx_raise, unsigned int vector)
{
	struct netrx_cpu *cpu = here();
	u64 now = bpf_ktime_get_ns();

	if (!cpu || vector >= NETRX_VECTOR_COUNT)
		return 0;
	if (!cpu->raised_ns[vector])
		cpu->raised_ns[vector] = now;
	else if (cpu->again_ns[vector] <= cpu->round_ns)
		cpu->again_ns[vector] = now;
	return 0;
}

/* When it was asked for; 0: that was not seen. What was asked for since its round began stays. */
static __always_inline u64 take_raised(struct netrx_cpu *cpu, u32 vector, u64 now)
{
	u64 raised_ns = cpu->raised_ns[vector], again_ns = cpu->again_ns[vector];

	/* One that was asked for in a round is not in it. */
	if (vector <= cpu->vector || raised_ns > cpu->round_ns)
		cpu->round_ns = now;
	cpu->vector = vector;
	cpu->raised_ns[vector] = again_ns > cpu->round_ns ? again_ns : 0;
	cpu->again_ns[vector] = 0;
	return raised_ns;
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(netrx_entry, unsigned int vector)
{
	struct netrx_cpu *cpu = here();
	u64 now = bpf_ktime_get_ns(), raised_ns, bit;
	u32 slot;

	if (!cpu || vector >= NETRX_VECTOR_COUNT)
		return 0;
	cpu->begin_ns = now;
	cpu->packet_ns = 0;
	cpu->packets = 0;
	raised_ns = take_raised(cpu, vector, now);
	/* The first may have been asked for before the one that we did not see begin. */
	bit = 1ULL << vector;
	if (!(cpu->known & bit)) {
		cpu->known |= bit;
		return 0;
	}
	slot = series_here(cpu, NETRX_KIND_RAISED, vector, 0);
	if (raised_ns)
		series_add_span(slot, raised_ns, now);
	else
		series_count(slot, orphan_ends);
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(netrx_exit, unsigned int vector)
{
	struct netrx_cpu *cpu = here();
	u64 now = bpf_ktime_get_ns();

	if (!cpu || vector >= NETRX_VECTOR_COUNT || !cpu->begin_ns)
		return 0;
	series_add_span(series_here(cpu, NETRX_KIND_SOFTIRQ, vector, 0), cpu->begin_ns, now);
	if (vector == NETRX_VECTOR_NET_RX)
		series_add(series_here(cpu, NETRX_KIND_PACKETS, vector, 0), cpu->packets);
	cpu->begin_ns = 0;
	cpu->packet_ns = 0;
	return 0;
}

/* --- packets --- */

static __always_inline void name_device(u64 id, struct net_device *device)
{
	struct rec_object *rec;

	if (object_is_sent(id))
		return;
	rec = EMIT_RESERVE(OBJECT, object, current_task());
	if (!rec)
		return; /* counted; the next packet tries again */
	EMIT_CLEAR(rec);
	rec->object = id;
	rec->kind = OBJECT_DEVICE;
	bpf_core_read_str(rec->name, sizeof(device->name), &device->name);
	EMIT_SUBMIT(rec);
	object_set_sent(id);
}

SEC("?tp_btf/netif_receive_skb")
int BPF_PROG(netrx_packet, struct sk_buff *skb)
{
	struct netrx_cpu *cpu = here();
	struct net_device *device = skb->dev;
	u64 id;

	/* A thread of the device's own, or one that polls, may do it too: it is not followed. */
	if (!cpu || !cpu->begin_ns || !device)
		return 0;
	id = object_mix((u32)device->ifindex, device->nd_net.net->ns.inum);
	if (cpu->device != id) {
		cpu->device = id;
		name_device(id, device);
	}
	cpu->packets++;
	cpu->packet_ns = bpf_ktime_get_ns();
	return 0;
}

/* The first socket that a packet reaches: it may go to several. */
static __always_inline void reach_socket(const struct sock *sk)
{
	u32 family = sk->__sk_common.skc_family;
	struct netrx_cpu *cpu = here();

	if ((family != FAMILY_INET && family != FAMILY_INET6) || !cpu || !cpu->packet_ns)
		return;
	series_add_span(series_here(cpu, NETRX_KIND_TO_SOCKET, NETRX_VECTOR_NET_RX, cpu->device),
			cpu->packet_ns, bpf_ktime_get_ns());
	cpu->packet_ns = 0;
}

SEC("?tp_btf/sk_data_ready")
int BPF_PROG(netrx_ready, struct sock *sk)
{
	reach_socket(sk);
	return 0;
}

/* Before 6.3: TCP alone, and also what has no data. */
SEC("?tp_btf/tcp_probe")
int BPF_PROG(netrx_segment, struct sock *sk)
{
	reach_socket(sk);
	return 0;
}
