/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Files and sockets that threads wait for: a stable id, cheap enough for every block, and the
 * name, sent once when the id is new to its thread.
 */
#ifndef DWELL_OBJECT_BPF_H
#define DWELL_OBJECT_BPF_H

#define MODE_TYPE   0170000
#define MODE_SOCKET 0140000
#define MODE_FIFO   0010000
#define MODE_CHAR   0020000

#define FAMILY_UNIX	1
#define FAMILY_INET	2
#define FAMILY_INET6	10
#define SOCK_STREAM	1
#define TCP_SYN_SENT	2
#define TCP_ESTABLISHED 1
#define TCP_CLOSE	7
#define TCP_CLOSE_WAIT	8
#define TCP_LISTEN	10

/*
 * Ids whose name was sent: in one of the few entries that a hash chooses. A new one replaces the
 * oldest of these, whose name is then sent again when it comes back. So the table is never full,
 * however many files and peers a long recording sees, and nobody has to delete.
 */
#define OBJECT_SETS_BITS 12
#define OBJECT_WAYS	 4u

struct object_set {
	u64 ids[OBJECT_WAYS];
	u64 next; /* the oldest; programs that interrupt each other may both take it: no harm */
};

struct object_ids_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << OBJECT_SETS_BITS);
	__type(key, u32);
	__type(value, struct object_set);
};

extern struct object_ids_map object_ids SEC(".maps");

static __always_inline struct object_set *object_set_of(u64 id)
{
	u32 place = id * 0x9e3779b97f4a7c15ULL >> (64 - OBJECT_SETS_BITS);

	return bpf_map_lookup_elem(&object_ids, &place);
}

static __always_inline bool object_is_sent(u64 id)
{
	const struct object_set *set = object_set_of(id);

	return set &&
	       (set->ids[0] == id || set->ids[1] == id || set->ids[2] == id || set->ids[3] == id);
}

static __always_inline void object_set_sent(u64 id)
{
	struct object_set *set = object_set_of(id);

	if (set)
		set->ids[set->next++ & (OBJECT_WAYS - 1)] = id;
}

/* What is read of an open file to tell what it is. */
struct object {
	u64 id;
	struct file *file;
	struct inode *inode;
	struct sock *sock; /* NULL: not a socket */
	u32 mode;	   /* its type, as MODE_* */
	u64 mmap_lock;	   /* id of a memory map's lock, which is no file; 0: it is none */
	u32 is_served;	   /* of a socket: it was accepted, and goes by its listener's name */
};

static __always_inline u64 object_mix(u64 a, u64 b)
{
	/* Multiply and fold; the sign bit stays clear, since readers have signed integers. */
	u64 mixed = (a ^ (b << 32) ^ (b >> 32)) * 0x9e3779b97f4a7c15ULL;

	return (mixed ^ (mixed >> 29)) & ~(1ULL << 63);
}

static __always_inline struct sock *object_sock(struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);

	return BPF_CORE_READ(socket, sk);
}

/* The object of who listens on a port: all that were accepted there have it. */
static __always_inline u64 object_id_of_port(u64 port, u32 family)
{
	return object_mix(0, (1ULL << 16 | port) << 8 | family);
}

/* By the peer: all connections to one server are one object. A listening one by its own port. */
static __always_inline u64 object_id_of_sock(struct sock *sock, u64 inode_number)
{
	u32 family = BPF_CORE_READ(sock, __sk_common.skc_family);

	if (family == FAMILY_INET || family == FAMILY_INET6) {
		u64 ports = (u64)BPF_CORE_READ(sock, __sk_common.skc_dport);
		u64 high = 0, low = 0;

		if (BPF_CORE_READ(sock, __sk_common.skc_state) == TCP_LISTEN)
			ports = 1ULL << 16 | BPF_CORE_READ(sock, __sk_common.skc_num);
		if (family == FAMILY_INET)
			return object_mix(BPF_CORE_READ(sock, __sk_common.skc_daddr),
					  ports << 8 | FAMILY_INET);
		if (bpf_core_field_exists(sock->__sk_common.skc_v6_daddr)) {
			bpf_core_read(&high, sizeof(high), &sock->__sk_common.skc_v6_daddr);
			bpf_probe_read_kernel(&low, sizeof(low),
					      (void *)__builtin_preserve_access_index(
						      &sock->__sk_common.skc_v6_daddr) +
						      sizeof(high));
		}
		return object_mix(high ^ low * 31, ports << 8 | FAMILY_INET6);
	}
	return object_mix(inode_number, family);
}

/* A thread's open file by its number: what kind it is. False if there is none. */
static __always_inline bool object_of_fd(struct task_struct *task, u32 fd, struct object *ret)
{
	struct fdtable *table = task->files->fdt;
	struct file **slot = table->fd;
	struct file *file = NULL;
	struct inode *inode;

	if (fd >= table->max_fds || bpf_probe_read_kernel(&file, sizeof(file), slot + fd) || !file)
		return false;
	ret->file = file;
	inode = BPF_CORE_READ(file, f_inode);
	ret->inode = inode;
	ret->mode = BPF_CORE_READ(inode, i_mode) & MODE_TYPE;
	return true;
}

/* And which one. The number of one that was deleted is soon another's, of another generation. */
static __always_inline void object_identify(struct object *object)
{
	struct inode *inode = object->inode;
	u64 number = BPF_CORE_READ(inode, i_ino);

	object->sock = object->mode == MODE_SOCKET ? object_sock(object->file) : NULL;
	if (object->sock)
		object->id = object_id_of_sock(object->sock, number);
	else
		object->id =
			object_mix(number, BPF_CORE_READ(inode, i_sb, s_dev) |
						   (u64)BPF_CORE_READ(inode, i_generation) << 32);
}

static __always_inline u16 object_kind(const struct object *object, u32 family, u32 type)
{
	switch (object->mode) {
	case MODE_SOCKET:
		if (family == FAMILY_UNIX)
			return OBJECT_UNIX;
		if (family != FAMILY_INET && family != FAMILY_INET6)
			return OBJECT_SOCKET;
		return type == SOCK_STREAM ? OBJECT_TCP : OBJECT_UDP;
	case MODE_FIFO:
		return OBJECT_PIPE;
	case MODE_CHAR:
		return OBJECT_DEVICE;
	case 0:
		return OBJECT_EVENT;
	default:
		return OBJECT_FILE;
	}
}

static __always_inline void object_fill_sock(struct rec_object *rec, struct sock *sock,
					     bool is_served)
{
	bool listens = is_served || BPF_CORE_READ(sock, __sk_common.skc_state) == TCP_LISTEN;

	rec->family = BPF_CORE_READ(sock, __sk_common.skc_family);
	rec->is_listening = listens;
	if (rec->family == FAMILY_UNIX) {
		struct pid *peer = BPF_CORE_READ(sock, sk_peer_pid);

		rec->peer_pid = peer ? pid_nr_in_own_ns(peer) : 0;
		return;
	}
	if (rec->family == FAMILY_INET) {
		u32 address = listens ? BPF_CORE_READ(sock, __sk_common.skc_rcv_saddr)
				      : BPF_CORE_READ(sock, __sk_common.skc_daddr);

		__builtin_memcpy(rec->address, &address, sizeof(address));
	} else if (rec->family == FAMILY_INET6 &&
		   bpf_core_field_exists(sock->__sk_common.skc_v6_daddr)) {
		if (listens)
			bpf_core_read(rec->address, sizeof(rec->address),
				      &sock->__sk_common.skc_v6_rcv_saddr);
		else
			bpf_core_read(rec->address, sizeof(rec->address),
				      &sock->__sk_common.skc_v6_daddr);
	}
	rec->port = listens ? BPF_CORE_READ(sock, __sk_common.skc_num)
			    : __builtin_bswap16(BPF_CORE_READ(sock, __sk_common.skc_dport));
}

/* Sends the name of what a thread waits for, unless it was sent before. */
static __always_inline void object_send(struct task_struct *task, const struct object *object)
{
	struct inode *inode = object->inode;
	struct sock *sock = object->sock;
	struct rec_object *rec;
	u64 id = object->id;

	if (object_is_sent(id))
		return;
	rec = EMIT_RESERVE(OBJECT, object, task);
	if (!rec)
		return; /* counted; the next thread that waits for it tries again */
	EMIT_CLEAR(rec);
	rec->object = id;
	rec->inode = BPF_CORE_READ(inode, i_ino);
	rec->device = BPF_CORE_READ(inode, i_sb, s_dev);
	if (sock)
		object_fill_sock(rec, sock, object->is_served);
	rec->kind = object_kind(object, rec->family, sock ? BPF_CORE_READ(sock, sk_type) : 0);
	/* Straight into the record: programs that interrupt each other share no place for it. */
	if (rec->kind == OBJECT_FILE || rec->kind == OBJECT_DEVICE)
		rec->is_cut = !path_of_file(rec->name, NAME_BYTES, &rec->name_at, object->file);
	EMIT_SUBMIT(rec);
	object_set_sent(id);
}

/* A record of an object that is not known yet, but for its name; NULL: it is, or is lost. */
static __always_inline struct rec_object *object_begin(struct task_struct *task, u64 id)
{
	struct rec_object *rec;

	if (object_is_sent(id))
		return NULL;
	rec = EMIT_RESERVE(OBJECT, object, task);
	if (!rec)
		return NULL; /* counted; the next one tries again */
	EMIT_CLEAR(rec);
	rec->object = id;
	object_set_sent(id);
	return rec;
}

/* The lock on a process's memory map. */
static __always_inline void object_send_mmap_lock(struct task_struct *task, u64 id)
{
	struct rec_object *rec = object_begin(task, id);

	if (!rec)
		return;
	rec->kind = OBJECT_MMAP_LOCK;
	EMIT_SUBMIT(rec);
}

/* A file of which only the inode is known: its path within its file system. */
static __always_inline void object_send_inode(struct task_struct *task, const struct object *object)
{
	struct rec_object *rec = object_begin(task, object->id);
	struct inode *inode = object->inode;

	if (!rec)
		return;
	rec->kind = OBJECT_FILE;
	rec->inode = BPF_CORE_READ(inode, i_ino);
	rec->device = BPF_CORE_READ(inode, i_sb, s_dev);
	rec->is_cut = !path_of_inode(rec->name, NAME_BYTES, &rec->name_at, inode);
	EMIT_SUBMIT(rec);
}

/* The same of a socket whose file is not known, such as one that has just got data. */
static __always_inline void object_send_sock(struct task_struct *task, u64 id, struct sock *sock,
					     bool is_served)
{
	struct rec_object *rec = object_begin(task, id);

	if (!rec)
		return;
	object_fill_sock(rec, sock, is_served);
	rec->kind = BPF_CORE_READ(sock, sk_type) == SOCK_STREAM ? OBJECT_TCP : OBJECT_UDP;
	EMIT_SUBMIT(rec);
}

#endif
