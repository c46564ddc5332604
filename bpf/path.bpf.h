/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The path of an open file, as its own mount namespace sees it, from the dentries and mounts above
 * it. By probe reads, so that any program can do it: the kernel's own way is for few of them.
 * What has no room, or too many parts, loses its beginning.
 *
 * A text of N bytes, a power of two, is filled from its end backwards. Behind it are N bytes more,
 * in which the verifier sees room for any one name. Where the path starts stands in memory, not in
 * a register: the verifier would follow each value apart.
 */
#ifndef DWELL_PATH_BPF_H
#define DWELL_PATH_BPF_H

#define PATH_PART_BYTES 8 /* room for so many bytes lets the walk take one step more */

/* An index below `bytes`, a constant, where every verifier sees it. */
static __always_inline u64 path_index(u64 value, const u64 bytes)
{
	__asm__ volatile("" : "+r"(value)); /* or the compiler, which knows better, leaves it out */
	value &= bytes - 1;
	__asm__ volatile("" : "+r"(value));
	return value;
}

static __always_inline struct mount *mount_of(struct vfsmount *inner)
{
	return (void *)inner - bpf_core_field_offset(struct mount, mnt);
}

/* Puts "/name", or as much of its end as fits, before what is there: false if that was not all. */
static __always_inline bool path_prepend(u8 *text, const u64 bytes, volatile u32 *start,
					 struct dentry *dentry)
{
	const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);
	u64 length = BPF_CORE_READ(dentry, d_name.len);
	u64 room = *start, at;
	bool fits = length < room;

	if (!fits) {
		name += length - room;
		length = room;
	}
	at = room - length;
	if (!length ||
	    bpf_probe_read_kernel(&text[path_index(at, bytes)], path_index(length, bytes), name))
		return false;
	if (fits)
		text[path_index(--at, bytes)] = '/';
	*start = at;
	return fits;
}

/*
 * text from *start on is the path; it ends at bytes - 1, with NUL. False if its beginning is
 * missing. A file that is in no folder, such as a memfd, has its name only.
 */
static __always_inline bool path_of_file(u8 *text, const u64 bytes, volatile u32 *start,
					 struct file *file)
{
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	struct vfsmount *mount = BPF_CORE_READ(file, f_path.mnt);

	*start = bytes - 1;
	text[bytes - 1] = '\0';
	for (u32 i = 0; i < bytes / PATH_PART_BYTES && dentry; i++) {
		struct dentry *parent = BPF_CORE_READ(dentry, d_parent);

		if (dentry == BPF_CORE_READ(mount, mnt_root)) {
			struct mount *real = mount_of(mount);
			struct mount *above = BPF_CORE_READ(real, mnt_parent);

			if (!above || above == real)
				return above != NULL;
			dentry = BPF_CORE_READ(real, mnt_mountpoint);
			mount = __builtin_preserve_access_index(&above->mnt);
			continue;
		}
		if (!path_prepend(text, bytes, start, dentry))
			return false;
		if (parent == dentry)
			return true;
		dentry = parent;
	}
	return false;
}

/*
 * The same for an inode, by one of its names, within its file system: where that is mounted it does
 * not say.
 */
static __always_inline bool path_of_inode(u8 *text, const u64 bytes, volatile u32 *start,
					  struct inode *inode)
{
	void *alias = BPF_CORE_READ(inode, i_dentry.first);
	struct dentry *dentry = dentry_of_alias(alias);

	*start = bytes - 1;
	text[bytes - 1] = '\0';
	if (!alias)
		return false;
	for (u32 i = 0; i < bytes / PATH_PART_BYTES; i++) {
		struct dentry *parent = BPF_CORE_READ(dentry, d_parent);

		if (parent == dentry)
			return true;
		if (!path_prepend(text, bytes, start, dentry))
			return false;
		dentry = parent;
	}
	return false;
}

#endif
