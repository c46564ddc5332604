/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places of an ELF file at which a probe can be put: functions by name or pattern, an offset that
 * somebody gives, and USDT probes of .note.stapsdt. For each: where in the file it is, what its
 * first instruction makes a probe cost, and whether a return probe may be there at all. Owns the
 * list. The file is hostile, everything is bounded. Runs in the unprivileged process.
 */
#ifndef DWELL_SYMBOLIZE_SITES_H
#define DWELL_SYMBOLIZE_SITES_H

#include "elf_file.h"
#include "spans.h"

#define SITES_MAX	 4096 /* matches that are looked at; more are counted */
#define SITE_NAME_MAX	 128  /* bytes, with the NUL; longer ones are cut */
#define SITE_ARGS_MAX	 6
#define SITE_RETURNS_MAX 16 /* instructions of a function at which it returns */

enum site_kind {
	SITE_FUNCTION, /* a symbol that says so */
	SITE_RESOLVER, /* an IFUNC: what is at this address only chooses the function, once */
	SITE_LABEL,    /* a symbol of code that is not said to be a function */
	SITE_OFFSET,   /* as it was given; no symbol begins there */
	SITE_USDT,
};

/* What a uprobe costs there, told by the first instruction: see site_price(). */
enum site_price {
	PRICE_UNKNOWN,
	PRICE_NOP5,	/* replaced by a call into the kernel, where that can be done */
	PRICE_EMULATED, /* one trap: nop, push, jumps, calls */
	PRICE_STEPPED,	/* two traps: it is executed elsewhere, by single step */
};

/* Why a return probe, which replaces the return address on the stack, would do harm there. */
enum site_return {
	RETURN_MAY,
	RETURN_GO,	 /* Go moves its stacks, and checks return addresses */
	RETURN_NO_START, /* not known to be where a function begins: on top of the stack is data */
	RETURN_TWICE,	 /* it returns twice, or to elsewhere: setjmp, vfork, _start */
	RETURN_THROWS,	 /* C++ or Rust: an exception that passes ends the process */
	RETURN_BY_INSTRUCTION, /* the same, but all instructions are known at which it returns */
};

/* One argument of a USDT probe: as 8@%rdi, -4@-12(%rbp), 8@$5 say. */
enum site_arg_kind { ARG_NONE, ARG_REGISTER, ARG_MEMORY, ARG_CONSTANT, ARG_ODD };

struct site_arg {
	u8 kind;  /* enum site_arg_kind */
	u8 place; /* of the register, in words of the kernel's struct pt_regs */
	s8 size;  /* in bytes; negative: it has a sign */
	u8 unused[5];
	s64 value; /* the constant, or what is added to the register */
};

/* No holes, no pointers: it goes from the worker to the privileged side. */
struct site {
	u64 offset;		       /* in the file */
	u64 semaphore;		       /* USDT: offset of its counter in the file; 0: none */
	u32 size;		       /* of the function; 0: not known */
	u8 kind;		       /* enum site_kind */
	u8 price;		       /* enum site_price */
	u8 at_return;		       /* enum site_return */
	u8 arg_count;		       /* of args; USDT */
	u64 returns[SITE_RETURNS_MAX]; /* RETURN_BY_INSTRUCTION, RETURN_GO: offsets in the file */
	u8 return_count;
	u8 is_nop5; /* the instruction there is the 5-byte nop of x86 */
	u8 unused[6];
	struct site_arg args[SITE_ARGS_MAX];
	char name[SITE_NAME_MAX]; /* demangled; UTF-8, but not escaped. USDT: provider:name
				   */
};

struct sites {
	struct site *items; /* by offset, each offset once */
	size_t count;
	u64 matched; /* all that fit the pattern, also those beyond SITES_MAX */
};

/* What is to be known of the file itself. */
struct sites_facts {
	bool is_go;
	bool is_full;	     /* it, or its debug file, has all symbols, not only exported ones */
	bool has_dwarf;	     /* so that "inlined" can be told */
	bool has_exceptions; /* of C++ or Rust, that may pass any of its functions */
	bool is_position_independent;
};

void sites_facts(const struct elf_file *file, const struct elf_file *debug_file,
		 struct sites_facts *ret_facts);

/*
 * Functions whose name, mangled or not, fits a pattern of * and ?; 0, also if there are none, or
 * -errno. debug_file may be NULL.
 */
int sites_find(const struct elf_file *file, const struct elf_file *debug_file, const char *pattern,
	       struct sites *ret_sites);

/*
 * The functions of a symbol's own name, as the file has it: nothing is demangled. All names of the
 * file are read with the first call and kept in *names, which begins zeroed, for the next ones: 0,
 * also if there are none, or -errno.
 */
int sites_find_symbol(const struct elf_file *file, const struct elf_file *debug_file,
		      struct spans *names, const char *name, struct sites *ret_sites);

/* One place by its offset: 0, or -ERANGE if it is in no executable segment. */
int sites_at(const struct elf_file *file, const struct elf_file *debug_file, u64 offset,
	     struct sites *ret_sites);

/* USDT probes that fit "provider:name", where both may have * and ?: 0 or -errno. */
int sites_find_usdt(const struct elf_file *file, const char *pattern, struct sites *ret_sites);

void sites_free(struct sites *sites);

/* By the instruction that begins with these bytes. */
enum site_price site_price(const u8 *code, size_t size);

/* Nanoseconds of one hit of a uprobe, and of a return probe, without our programs; docs/func.md. */
u32 site_trap_ns(u32 price);
#define SITE_RETURN_TRAP_NS 600

/* An argument as its text says, which need not end with NUL. */
struct site_arg site_parse_arg(const char *text, size_t length);

/* Is there a function of this name that the compiler has inlined? Needs DWARF; bounded in time. */
bool sites_is_inlined(const struct elf_file *file, const char *name);

/* --- the parts of it, for each other --- */

void sites_look_at_code(const struct elf_file *file, struct site *site); /* at its offset */
/* 0, -E2BIG (it is counted as matched) or -ENOMEM. */
int sites_add(struct sites *sites, const struct site *site);
/* Sorted, and each offset once. */
void sites_settle(struct sites *sites);

#endif
