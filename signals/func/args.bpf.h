/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What a place tells: its arguments, what it returned, and what ties two ends together.
 */
#ifndef DWELL_FUNC_ARGS_BPF_H
#define DWELL_FUNC_ARGS_BPF_H

#define MINUS_ERRNO_MAX (-4095LL)
#define POINTER_LEAST	(1LL << 32)
#define KERNEL_MOST	(-(1LL << 30)) /* addresses of the kernel are below, as numbers with a sign */

/*
 * What a program is given: the registers, or, by fentry and fexit, an array of the arguments, and
 * behind them what was returned. Of each program it is a constant, so that the verifier sees but
 * the one.
 */
enum func_form { FORM_REGS, FORM_ARRAY };

/* By its place, which only the spec knows: a context itself is read at fixed places alone. */
static __always_inline u64 register_at(const struct cpu_regs *regs, u32 place)
{
	u64 value = 0;

	if (place < sizeof(*regs) / sizeof(value))
		bpf_probe_read_kernel(&value, sizeof(value), (const void *)regs + place * 8);
	return value;
}

/* So many bytes of a number, with its sign. */
static __always_inline u64 cut_to_size(u64 value, s8 size)
{
	switch (size) {
	case 1:
		return (u8)value;
	case 2:
		return (u16)value;
	case 4:
		return (u32)value;
	case -1:
		return (u64)(s64)(s8)value;
	case -2:
		return (u64)(s64)(s16)value;
	case -4:
		return (u64)(s64)(s32)value;
	default:
		return value;
	}
}

static __always_inline u64 read_arg(const struct cpu_regs *regs, const struct func_arg *arg)
{
	u64 value = 0;

	switch (arg->kind) {
	case FUNC_ARG_REGISTER:
		value = register_at(regs, arg->place);
		break;
	case FUNC_ARG_MEMORY:
		bpf_probe_read_user(&value, sizeof(value),
				    (const void *)(register_at(regs, arg->place) + arg->value));
		break;
	case FUNC_ARG_CONSTANT:
		value = (u64)arg->value;
		break;
	default:
		break;
	}
	return cut_to_size(value, arg->size);
}

/* Read as memory: as the context it could be read at fixed places alone, and pointers as such. */
static __always_inline u64 slot_at(const void *slots, u32 place)
{
	u64 value = 0;

	if (place <= FUNC_ARGS_MAX)
		bpf_probe_read_kernel(&value, sizeof(value), slots + place * 8);
	return value;
}

/* Argument n, from 1 on. Before 6.6 an array has no more of an argument than its type has. */
static __always_inline u64 arg_of(const void *ctx, const struct func_spec *spec, u32 n,
				  enum func_form form)
{
	u32 place = n - 1;

	if (place >= FUNC_ARGS_MAX)
		return 0;
	if (form == FORM_REGS)
		return read_arg(ctx, &spec->args[place]);
	return place < spec->slots ? cut_to_size(slot_at(ctx, place), spec->args[place].size) : 0;
}

static __always_inline u64 returned_of(const void *ctx, const struct func_spec *spec,
				       enum func_form form)
{
	if (form == FORM_REGS)
		return REGS_RESULT((const struct cpu_regs *)ctx);
	return slot_at(ctx, spec->slots);
}

/* Where the return address is, or was; of a function of the kernel nobody asks. */
static __always_inline u64 sp_of(const void *ctx, const struct func_spec *spec, u64 popped,
				 enum func_form form)
{
	if (form == FORM_ARRAY || spec->is_kernel)
		return 0;
	return REGS_SP((const struct cpu_regs *)ctx) - popped;
}

/* An int may be all that was meant, and then the upper half of the register is anything. */
static __always_inline u32 class_of(u64 returned)
{
	s64 value = (s64)returned;

	if (!value)
		return FUNC_RETURNS_ZERO;
	if (returned >> 32 == 0 && (s32)value < 0)
		value = (s32)value;
	if (value == -1)
		return FUNC_RETURNS_MINUS_ONE;
	if (value < 0 && value >= MINUS_ERRNO_MAX)
		return FUNC_RETURNS_ERRNO;
	if (value < 0)
		return value < KERNEL_MOST ? FUNC_RETURNS_POINTER : FUNC_RETURNS_NEGATIVE;
	return value >= POINTER_LEAST ? FUNC_RETURNS_POINTER : FUNC_RETURNS_POSITIVE;
}

#endif
