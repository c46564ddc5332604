/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * Names for what series have as a number, sent once each: errors, and directories as they stand in
 * a path that a thread asked for.
 */
#ifndef DWELL_LABEL_BPF_H
#define DWELL_LABEL_BPF_H

#define LABEL_WORDS (NAME_BYTES / 8)
#define LABEL_PATH  (1ULL << 62) /* in the id of one that is no error */

/* A path from user space, and what of it is its directory: up to the last slash. */
struct label_path {
	u64 words[LABEL_WORDS];
	u64 id;
	u64 length; /* of the directory */
	u64 is_cut;
};

/* Which bytes of a word are a slash: the highest bit of each that is. */
static __always_inline u64 label_slashes(u64 word)
{
	const u64 low = 0x7f7f7f7f7f7f7f7fULL;
	u64 x = word ^ 0x2f2f2f2f2f2f2f2fULL;

	return ~(((x & low) + low) | x | low);
}

static __always_inline u64 label_mix(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 32);
}

/*
 * By words, as it is done for each look-up in vain: a byte at a time takes longer than the call. A
 * name without a slash is looked for where the thread is, or in the directory that it has open.
 */
static __always_inline void label_split(struct label_path *path, u64 bytes)
{
	u64 hash = 0, before = 0, slashed = 0, slashes_of = 0;
	u32 at = 0;

	for (u32 i = 0; i < LABEL_WORDS; i++) {
		u64 rest = bytes - i * 8, word = path->words[i], slashes;

		if (i * 8 >= bytes)
			break;
		if (rest < 8)
			word &= (1ULL << (rest * 8)) - 1;
		slashes = label_slashes(word);
		if (slashes) {
			before = hash;
			slashed = word;
			slashes_of = slashes;
			at = i;
		}
		hash = label_mix(hash, word);
	}
	path->length = 0;
	hash = 0;
	if (slashes_of) {
		u32 last = hist_log2(slashes_of);

		hash = label_mix(before, slashed & ((2ULL << last) - 1));
		path->length = at * 8 + last / 8 + 1;
	}
	path->id = (hash & (LABEL_PATH - 1)) | LABEL_PATH;
}

/* False if it cannot be read without a fault: it was paged out, or never was a path. */
static __always_inline bool label_read(struct label_path *path, u64 address)
{
	long bytes = bpf_probe_read_user_str(path->words, NAME_BYTES, (const void *)address);

	if (bytes <= 0 || bytes > NAME_BYTES)
		return false;
	path->is_cut = bytes == NAME_BYTES;
	label_split(path, (u64)bytes - 1);
	return true;
}

/* Only the directory goes out: what was looked for there is nobody's business. */
static __always_inline void label_fill(struct rec_label *rec, const struct label_path *path)
{
	u64 *name = (u64 *)rec->name;

	for (u32 i = 0; i < LABEL_WORDS; i++) {
		u64 rest = path->length - i * 8;

		if (i * 8 >= path->length)
			name[i] = 0;
		else if (rest < 8)
			name[i] = path->words[i] & ((1ULL << (rest * 8)) - 1);
		else
			name[i] = path->words[i];
	}
}

/* The name of a label, unless it was sent before. An error has none here: path is NULL. */
static __always_inline void label_send(struct task_struct *task, u32 signal, u64 id,
				       const struct label_path *path)
{
	u64 known = object_mix(id, signal);
	struct rec_label *rec;

	if (object_is_sent(known))
		return;
	rec = EMIT_RESERVE(LABEL, label, task);
	if (!rec)
		return; /* counted; the next one that has it tries again */
	rec->id = id;
	rec->signal = signal;
	rec->of = 0;
	rec->is_cut = path ? (u32)path->is_cut : 0;
	if (path)
		label_fill(rec, path);
	else
		__builtin_memset(rec->name, 0, sizeof(rec->name));
	EMIT_SUBMIT(rec);
	object_set_sent(known);
}

#endif
