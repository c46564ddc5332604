/* SPDX-License-Identifier: Apache-2.0 */
/*
 * USDT probes as <sys/sdt.h> writes them: a nop, and a note that says where it is and where two
 * arguments are then: a number of 8 bytes, and one of 4 with a sign. Of our own, so that tests need
 * no package for it.
 */
#ifndef DWELL_WORKLOADS_USDT_H
#define DWELL_WORKLOADS_USDT_H

#define USDT(provider, name, number, signed_number)                                                \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt,\"?\",\"note\"\n"                             \
			 ".balign 4\n .4byte 992f-991f, 994f-993f, 3\n"                            \
			 "991: .asciz \"stapsdt\"\n992: .balign 4\n"                               \
			 "993: .8byte 990b\n .8byte _.stapsdt.base\n .8byte 0\n"                   \
			 ".asciz \"" #provider "\"\n .asciz \"" #name "\"\n"                       \
			 ".asciz \"8@%0 -4@%1\"\n"                                                 \
			 "994: .balign 4\n.popsection\n"                                           \
			 ".ifndef _.stapsdt.base\n"                                                \
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"   \
			 ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                          \
			 "_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n"        \
			 ".endif\n"                                                                \
			 :                                                                         \
			 : "nor"((long)(number)), "nor"((int)(signed_number)))

#endif
