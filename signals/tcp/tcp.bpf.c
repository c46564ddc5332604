// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * TCP connections: how long they took to be made, accepted and answered, how long they lived, what
 * was sent twice, and how they ended. Nothing is done for a packet: what the kernel counts itself
 * is read when a connection closes.
 */
#include "../../bpf/common.bpf.h"

#include "conn.bpf.h"
#include "open.bpf.h"

enum { ERROR_PIPE = 32, ERROR_RESET = 104, ERROR_TIMEOUT = 110, ERROR_CANCELED = 125 };

#if defined(__TARGET_ARCH_x86)
enum { CALL_ACCEPT = 43, CALL_ACCEPT4 = 288 };
#elif defined(__TARGET_ARCH_arm64)
enum { CALL_ACCEPT = 202, CALL_ACCEPT4 = 242 };
#endif

/* --- states --- */

/* In connect(), or in the send that does it too. The peer's address is there by now. */
static __always_inline void begin_out(struct sock *sk)
{
	const struct ledger_task *account = account_of_current();
	struct tcp_conn conn = {.direction = TCP_OUT};

	if (!account)
		return;
	conn_own(&conn, account);
	conn.begin_ns = bpf_ktime_get_ns();
	conn.object = object_id_of_sock(sk, 0);
	conn_keep(sk, &conn);
	name_object(conn.object, sk, NAME_OF_PEER);
}

/* Made in an interrupt: whose it is, is known when it is accepted. */
static __always_inline void begin_in(struct sock *sk)
{
	struct tcp_conn conn = {.direction = TCP_IN};

	conn.begin_ns = bpf_ktime_get_ns();
	conn.object = listen_object(sk);
	conn_keep(sk, &conn);
}

static __always_inline void begin_listen(struct sock *sk)
{
	const struct ledger_task *account = account_of_current();

	if (account)
		listen_begin(sk, account);
}

static __always_inline void establish(struct sock *sk)
{
	struct tcp_conn *conn = conn_of(sk);

	if (!conn)
		return;
	conn->established_ns = bpf_ktime_get_ns();
	if (conn->direction == TCP_OUT && conn->begin_ns)
		conn_add_time(conn, TCP_KIND_CONNECT, conn->established_ns - conn->begin_ns, 0);
}

static __always_inline void begin_end(struct sock *sk, u8 end)
{
	struct tcp_conn *conn = conn_of(sk);

	if (conn && !conn->end)
		conn->end = end;
}

/* A reset has the last word: it may come after a FIN. */
static __always_inline u8 end_of(const struct tcp_conn *conn, int error)
{
	if (error == ERROR_RESET || error == ERROR_PIPE)
		return TCP_END_RESET_PEER;
	if (error == ERROR_TIMEOUT)
		return TCP_END_TIMEOUT;
	if (conn->end)
		return conn->end;
	return error ? TCP_END_OTHER : TCP_END_RESET_US;
}

static __noinline int miss_connect(const struct tcp_conn *conn)
{
	struct series_key key = {};

	conn_key(conn, TCP_KIND_CONNECT, &key);
	series_count(conn_series(&key), orphan_starts);
	return 0;
}

static __noinline int fail_connect(struct tcp_conn *conn, struct sock *sk, u64 now, int error)
{
	conn->end = TCP_END_FAILED;
	/* Without an error, it was given up before there was an answer. */
	conn_add_time(conn, TCP_KIND_CONNECT_FAILED, now - conn->begin_ns,
		      error ? error : ERROR_CANCELED);
	return conn_send(conn, sk, now);
}

static __always_inline void end_conn(struct tcp_conn *conn, struct sock *sk, u64 now)
{
	int error = sk->sk_err;
	u64 srtt_ns = conn_srtt_ns(sk);

	conn_take_retransmits(conn, sk);
	if (conn->direction == TCP_OUT && conn->begin_ns && !conn->established_ns) {
		if (!srtt_ns) {
			fail_connect(conn, sk, now, error);
			return;
		}
		miss_connect(conn); /* it had a round trip, so it was made */
	}
	conn->end = end_of(conn, error);
	if (srtt_ns)
		conn_add(conn, TCP_KIND_RTT, srtt_ns);
	if (conn->established_ns)
		conn_add(conn, TCP_KIND_LIFETIME, now - conn->established_ns);
	conn_add(conn, TCP_KIND_SENT, socket_sent_bytes(sk));
	conn_add(conn, TCP_KIND_RECEIVED, socket_received_bytes(sk));
	conn_send(conn, sk, now);
}

/* It closed before anyone accepted it: the listener's. */
static __always_inline void end_unaccepted(struct tcp_conn *conn)
{
	struct tcp_owner *owner = bpf_map_lookup_elem(&tcp_listens, &conn->object);
	struct series_key key = {};

	if (!owner || !conn->established_ns)
		return;
	conn->tgid = owner->tgid;
	conn->start_ns = owner->start_ns;
	conn_key(conn, TCP_KIND_ACCEPT_WAIT, &key);
	series_count(series_find(&key), orphan_starts);
}

static __always_inline void close_conn(struct sock *sk)
{
	struct tcp_conn *conn = conn_of(sk);
	u64 address = (u64)sk;

	if (!conn)
		return;
	if (conn->direction == TCP_LISTENING) {
		take_drops(conn, sk);
		return; /* those that wait in its queue are closed after it: until it is destroyed
			 */
	}
	if (conn->is_owned) {
		end_conn(conn, sk, bpf_ktime_get_ns());
	} else {
		end_unaccepted(conn);
	}
	bpf_map_delete_elem(&tcp_conns, &address);
}

static __noinline int change_state(struct sock *sk, int before, int now)
{
	if (sk->sk_protocol != PROTOCOL_TCP)
		return 0;
	switch (now) {
	case STATE_SYN_SENT:
		begin_out(sk);
		break;
	case STATE_SYN_RECV:
		if (before == STATE_LISTEN)
			begin_in(sk);
		break;
	case STATE_ESTABLISHED:
		establish(sk);
		break;
	case STATE_FIN_WAIT1:
		begin_end(sk, TCP_END_FIN_US);
		break;
	case STATE_CLOSE_WAIT:
		begin_end(sk, TCP_END_FIN_PEER);
		break;
	case STATE_LISTEN:
		begin_listen(sk);
		break;
	case STATE_CLOSE:
		close_conn(sk);
		break;
	}
	return 0;
}

static __always_inline bool is_soft_interrupt(void)
{
	struct ledger_cpu *cpu = this_cpu_account();

	return cpu && cpu->softirq;
}

/*
 * The kernel does not run a program that runs already on this CPU, and a thread's change of a state
 * can be interrupted by another's: so each of the two contexts has a program. What is missed still,
 * as the other one's run is short but not none, shows later: tcp_destroy, miss_connect().
 */
SEC("?tp_btf/inet_sock_set_state")
int BPF_PROG(tcp_state, struct sock *sk, int before, int now)
{
	return is_soft_interrupt() ? 0 : change_state(sk, before, now);
}

SEC("?tp_btf/inet_sock_set_state")
int BPF_PROG(tcp_state_soft, struct sock *sk, int before, int now)
{
	return is_soft_interrupt() ? change_state(sk, before, now) : 0;
}

/* One whose close was missed is there still. */
SEC("?tp_btf/tcp_destroy_sock")
int BPF_PROG(tcp_destroy, struct sock *sk)
{
	struct tcp_conn *conn = conn_of(sk);
	u64 address = (u64)sk;

	unsettle(sk);
	if (!conn)
		return 0;
	if (conn->direction != TCP_LISTENING) {
		close_conn(sk);
		return 0;
	}
	bpf_map_delete_elem(&tcp_listens, &conn->object);
	bpf_map_delete_elem(&tcp_conns, &address);
	return 0;
}

SEC("?tp_btf/tcp_retransmit_skb")
int BPF_PROG(tcp_retransmit, struct sock *sk)
{
	struct tcp_conn *conn = conn_of(sk);

	if (conn && conn->is_owned)
		conn_take_retransmits(conn, sk);
	return 0;
}

/* --- accept --- */

static __always_inline void accept_conn(struct sock *sk)
{
	const struct ledger_task *account = account_of_current();
	struct tcp_conn *conn = conn_of(sk);
	u64 address = (u64)sk, now = bpf_ktime_get_ns(), since;

	if (!conn || conn->is_owned || conn->direction != TCP_IN)
		return;
	if (!account) {
		bpf_map_delete_elem(&tcp_conns, &address);
		return;
	}
	conn_own(conn, account);
	/* Fast open: it can be accepted before it is established. */
	since = conn->established_ns ? conn->established_ns : conn->begin_ns;
	conn->accept_wait_ns = now > since ? now - since : 0;
	conn_add_time(conn, TCP_KIND_ACCEPT_WAIT, conn->accept_wait_ns, 0);
	name_object(conn->object, sk, NAME_OF_ITS_LISTENER);
}

/* First choice, as it costs nothing but for those who accept; io_uring's are seen, too. */
SEC("?kretprobe")
int tcp_accept(struct pt_regs *ctx)
{
	struct sock *sk = (struct sock *)PT_REGS_RC(ctx);

	if (sk)
		accept_conn(sk);
	return 0;
}

static __always_inline int accept_fd(long fd)
{
	struct fdtable *table = BPF_CORE_READ(current_task(), files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = NULL;
	struct sock *sk;

	if (fd < 0 || fd >= BPF_CORE_READ(table, max_fds) ||
	    bpf_probe_read_kernel(&file, sizeof(file), files + fd) || !file)
		return 0;
	sk = tcp_sock_of(file);
	if (sk)
		accept_conn(sk);
	return 0;
}

/* As the kernel hands it to those who look at the ends of one system call. */
struct call_exit {
	u64 common;
	s64 number;
	s64 result;
};

/* Second choice: others' system calls cost a look at a bit of the kernel's own, and no program. */
SEC("?tracepoint")
int tcp_accept_call(struct call_exit *ctx)
{
	return accept_fd(ctx->result);
}

/* Where these two are not to be had, each system call is looked at. */
SEC("?tp_btf/sys_exit")
int BPF_PROG(tcp_accept_exit, struct pt_regs *regs, long result)
{
	long call = CALL_NUMBER(regs);

	return call == CALL_ACCEPT || call == CALL_ACCEPT4 ? accept_fd(result) : 0;
}

/* --- the first words --- */

/* One that was accepted, but not by a way that we see, is whose first word it is. */
static __always_inline bool own_by_speaker(struct tcp_conn *conn)
{
	const struct ledger_task *account = account_of_current();

	if (account)
		conn_own(conn, account);
	return account;
}

/* What asks, and what answers, the direction says. */
static __always_inline void speak(const struct sock *sk, u32 asking_direction, u32 reply_kind)
{
	struct tcp_conn *conn;
	u64 now;

	if (is_settled(sk))
		return;
	conn = conn_of(sk);
	if (!conn || !conn->begin_ns || conn->reply_ns) {
		settle(sk);
		return;
	}
	if (!conn->is_owned && !own_by_speaker(conn))
		return;
	now = bpf_ktime_get_ns();
	if (conn->direction == asking_direction) {
		if (!conn->asked_ns)
			conn->asked_ns = now;
	} else if (conn->asked_ns) {
		conn->reply_ns = now > conn->asked_ns ? now - conn->asked_ns : 1;
		conn_add_time(conn, reply_kind, conn->reply_ns, 0);
	}
}

SEC("?tp_btf/sock_send_length")
int BPF_PROG(tcp_send, struct sock *sk, int result)
{
	if (result > 0 && sk->sk_protocol == PROTOCOL_TCP)
		speak(sk, TCP_OUT, TCP_KIND_FIRST_ANSWER);
	return 0;
}

SEC("?tp_btf/sock_recv_length")
int BPF_PROG(tcp_receive, struct sock *sk, int result)
{
	if (result > 0 && sk->sk_protocol == PROTOCOL_TCP)
		speak(sk, TCP_IN, TCP_KIND_FIRST_REPLY);
	return 0;
}

/* Before 6.3 there are no such tracepoints. */
SEC("?kprobe")
int tcp_send_begin(struct pt_regs *ctx)
{
	speak((struct sock *)PT_REGS_PARM1(ctx), TCP_OUT, TCP_KIND_FIRST_ANSWER);
	return 0;
}

/* After data was copied to who reads. */
SEC("?tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(tcp_receive_copy, struct sock *sk)
{
	speak(sk, TCP_IN, TCP_KIND_FIRST_REPLY);
	return 0;
}
