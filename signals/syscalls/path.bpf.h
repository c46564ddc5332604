/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * System calls that look for a file by its path, and where they have that: the registers still hold
 * it when the call ends. Those of which the first argument makes room for the result (arm64) and
 * 32-bit ones are left out.
 */
#ifndef DWELL_SYSCALLS_PATH_BPF_H
#define DWELL_SYSCALLS_PATH_BPF_H

#if defined(__TARGET_ARCH_x86)
/* open, stat, lstat, access, execve, chdir, readlink, statfs */
#define CALLS_OF_PATH(CALL) CALL(2) CALL(4) CALL(6) CALL(21) CALL(59) CALL(80) CALL(89) CALL(137)
/* openat, newfstatat, readlinkat, faccessat, execveat, statx, openat2, faccessat2 */
#define CALLS_AT_PATH(CALL)                                                                        \
	CALL(257) CALL(262) CALL(267) CALL(269) CALL(322) CALL(332) CALL(437) CALL(439)
#define FIRST_ARGUMENT(regs)  ((regs)->di)
#define SECOND_ARGUMENT(regs) ((regs)->si)
#elif defined(__TARGET_ARCH_arm64)
#define CALLS_OF_PATH(CALL)
/* faccessat, openat, readlinkat, newfstatat, execveat, statx, openat2, faccessat2 */
#define CALLS_AT_PATH(CALL)                                                                        \
	CALL(48) CALL(56) CALL(78) CALL(79) CALL(281) CALL(291) CALL(437) CALL(439)
#define FIRST_ARGUMENT(regs)  0
#define SECOND_ARGUMENT(regs) ((regs)->user_regs.regs[1])
#endif

/* 0: it looks for none. */
static __always_inline u64 path_of_call(const struct pt_regs *regs, u32 call)
{
	switch (call) {
#define CALL(number) case number + 1:
		CALLS_AT_PATH(CALL)
		return SECOND_ARGUMENT(regs);
#if defined(__TARGET_ARCH_x86)
		CALLS_OF_PATH(CALL)
		return FIRST_ARGUMENT(regs);
#endif
#undef CALL
	}
	return 0;
}

#endif
