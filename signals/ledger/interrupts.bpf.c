// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Interrupts: the context of a wake-up, and what they took of the CPU's time: soft ones always,
 * hard ones in Tier B. Not every end of one reaches us: each beginning, and each switch, puts it
 * right.
 */
#include "../../bpf/common.bpf.h"

static __always_inline int irq_entry(u16 kind)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (!cpu)
		return 0;
	cpu->irq = kind;
	if (cfg_split)
		cpu->irq_since_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int irq_exit(void)
{
	struct ledger_cpu *cpu = this_cpu_account();
	u64 took;

	if (!cpu || !cpu->irq)
		return 0;
	cpu->irq = 0;
	if (!cfg_split)
		return 0;
	took = bpf_ktime_get_ns() - cpu->irq_since_ns;
	cpu->stolen.irq_ns += took;
	if (cpu->softirq)
		cpu->softirq_since_ns += took; /* it was interrupted itself */
	return 0;
}

SEC("?tp_btf/softirq_entry")
int BPF_PROG(ledger_softirq_entry, unsigned int vector)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (!cpu)
		return 0;
	cpu->irq = 0; /* a soft one is not served within a hard one */
	cpu->softirq = (u16)vector + 1;
	cpu->event.sock = 0;
	cpu->softirq_since_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?tp_btf/softirq_exit")
int BPF_PROG(ledger_softirq_exit, unsigned int vector)
{
	struct ledger_cpu *cpu = this_cpu_account();

	if (!cpu || !cpu->softirq)
		return 0;
	cpu->softirq = 0;
	cpu->event.sock = 0;
	cpu->stolen.softirq_ns += bpf_ktime_get_ns() - cpu->softirq_since_ns;
	return 0;
}

SEC("?tp_btf/irq_handler_entry")
int BPF_PROG(ledger_irq_entry)
{
	return irq_entry(CPU_IRQ_DEVICE);
}

SEC("?tp_btf/irq_handler_exit")
int BPF_PROG(ledger_irq_exit)
{
	return irq_exit();
}

/* Work that an interrupt was asked to do, and the CPU's own timer, do not come as an irq on x86. */
SEC("?tp_btf/irq_work_entry")
int BPF_PROG(ledger_work_entry)
{
	return irq_entry(CPU_IRQ_DEVICE);
}

SEC("?tp_btf/irq_work_exit")
int BPF_PROG(ledger_work_exit)
{
	return irq_exit();
}

SEC("?tp_btf/local_timer_entry")
int BPF_PROG(ledger_timer_entry)
{
	return irq_entry(CPU_IRQ_TIMER);
}

SEC("?tp_btf/local_timer_exit")
int BPF_PROG(ledger_timer_exit)
{
	return irq_exit();
}
