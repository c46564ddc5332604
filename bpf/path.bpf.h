/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The path of an open file, as its own mount namespace sees it, from the dentries and mounts above
 * it. By probe reads, so that any program can do it: the kernel's own way is for few of them.
 * What has no room, or lies deeper than PATH_DEPTH_MAX, loses its beginning.
 */
#ifndef DWELL_PATH_BPF_H
#define DWELL_PATH_BPF_H

#define PATH_DEPTH_MAX 24

/*
 * Filled from the middle backwards; the rest is room that the verifier sees for any one name. Where
 * it starts stands in memory, not in a register: the verifier would follow each value apart.
 */
struct path_scratch {
	volatile u64 start;
	u8 text[2 * PATH_BYTES];
};

/* An index below PATH_BYTES, where every verifier sees it. */
static __always_inline u64 path_index(u64 value)
{
#ifdef __bpf__
	__asm__ volatile("%0 &= %1" : "+r"(value) : "i"(PATH_BYTES - 1));
	return value;
#else
	return value & (PATH_BYTES - 1);
#endif
}

static __always_inline struct mount *mount_of(struct vfsmount *inner)
{
	return (void *)inner - bpf_core_field_offset(struct mount, mnt);
}

/* Puts "/name" before what is there: false if it does not fit. */
static __always_inline bool path_prepend(struct path_scratch *scratch, struct dentry *dentry)
{
	const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);
	u64 length = BPF_CORE_READ(dentry, d_name.len);
	u64 start = scratch->start;

	if (!length || length + 1 > start)
		return false;
	start -= length + 1;
	if (bpf_probe_read_kernel(&scratch->text[path_index(start) + 1], path_index(length), name))
		return false;
	scratch->text[path_index(start)] = '/';
	scratch->start = start;
	return true;
}

/* scratch->text from scratch->start on is the path; it ends at PATH_BYTES, with NUL. */
static __always_inline void path_of_file(struct path_scratch *scratch, struct file *file)
{
	struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	struct vfsmount *mount = BPF_CORE_READ(file, f_path.mnt);

	scratch->start = PATH_BYTES - 1;
	scratch->text[PATH_BYTES - 1] = '\0';
	for (u32 i = 0; i < PATH_DEPTH_MAX && dentry; i++) {
		if (dentry == BPF_CORE_READ(mount, mnt_root)) {
			struct mount *real = mount_of(mount);
			struct mount *above = BPF_CORE_READ(real, mnt_parent);

			if (!above || above == real)
				break;
			dentry = BPF_CORE_READ(real, mnt_mountpoint);
			mount = __builtin_preserve_access_index(&above->mnt);
			continue;
		}
		if (!path_prepend(scratch, dentry))
			break;
		dentry = BPF_CORE_READ(dentry, d_parent);
	}
}

#endif
