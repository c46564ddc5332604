// SPDX-License-Identifier: Apache-2.0
#include "hot_function.h"

#include <errno.h>
#include <string.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../model/calltree.h"
#include "format.h"
#include "short_name.h"

#define NAME_COLUMNS 60

static u32 first_sample(const struct digest *digest, u32 group)
{
	return group < digest->groups.count ? digest->first_samples[group] : PROFILE_NONE;
}

static void set(const struct profile *profile, u32 function, u64 part, u64 whole,
		struct hot_function *ret_place)
{
	char name[2 * PROFILE_NAME_BYTES];

	short_name(profile_function_name(profile, function), NAME_COLUMNS, name, sizeof(name));
	text_copy(ret_place->function, sizeof(ret_place->function), name);
	ret_place->share = percent(part, whole);
}

/* Of functions that every program passes through nobody learns anything. */
static bool is_entry(const char *name)
{
	static const char *const names[] = {
		"_start",	  "__libc_start_main", "__libc_start_call_main",
		"main",		  "start_thread",      "clone3",
		"clone",	  "__clone3",	       "entry_SYSCALL_64_after_hwframe",
		"do_syscall_64",  "x64_sys_call",      "asm_exc_page_fault",
		"exc_page_fault", "ret_from_fork",     "ret_from_fork_asm",
		"kthread",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* How the kernel, or the C library, waits is not what is asked. */
static bool is_wrapper(const char *name)
{
	static const char *const prefixes[] = {
		"schedule",  "__schedule", "rwsem_",	 "__mutex",	  "mutex_",	 "down_",
		"__down",    "rt_mutex",   "__rt_mutex", "osq_",	  "io_schedule", "percpu_",
		"_raw_spin", "preempt_",   "queued_",	 "native_queued",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void innermost_of_half(const struct profile *profile, const struct calltree *tree,
			      struct hot_function *ret_place)
{
	u64 whole = calltree_node(tree, 0)->sum.weight_ns;
	u32 index = calltree_node(tree, 0)->first_child;

	for (; index != PROFILE_NONE; index = calltree_node(tree, index)->first_child) {
		const struct calltree_node *node = calltree_node(tree, index);
		u32 look = profile_function(profile, node->function)->look;

		if (node->sum.weight_ns < whole / 2 || !whole)
			break;
		if (look != FUNCTION_MARK && look != FUNCTION_PROCESS &&
		    !is_entry(profile_function_name(profile, node->function)) &&
		    !is_wrapper(profile_function_name(profile, node->function)))
			set(profile, node->function, node->sum.weight_ns, whole, ret_place);
	}
}

int hot_function_on_cpu(const struct digest *digest, u32 group, u32 tid, u32 state,
			struct hot_function *ret_place)
{
	const struct profile *profile = &digest->profile;
	struct calltree tree;
	int err = calltree_init(&tree);

	*ret_place = (struct hot_function){0};
	if (err)
		return err;
	for (u32 i = first_sample(digest, group); i != PROFILE_NONE; i = digest->next_samples[i]) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		if (sample->kind == SAMPLE_CPU && (!tid || sample->tid == tid) &&
		    (!state || sample->state == state))
			calltree_add(&tree, profile, sample, false);
	}
	err = calltree_sort(&tree, profile, false);
	if (!err)
		innermost_of_half(profile, &tree, ret_place);
	calltree_free(&tree);
	return err;
}

/* Whether a stack is inside a system call: the kernel's function for it is in it. */
static bool is_in_call(const struct profile *profile, const struct profile_sample *sample,
		       const char *call)
{
	struct profile_step steps[PROFILE_STEPS_MAX];
	size_t count = profile_steps(profile, sample->stack, sample->stop, steps);
	char name[64];

	snprintf(name, sizeof(name), "_sys_%s", call);
	for (size_t i = 0; i < count; i++) {
		const char *function = profile_function_name(profile, steps[i].function);
		size_t length = strlen(function), end = strlen(name);

		if (profile_function(profile, steps[i].function)->look == FUNCTION_KERNEL &&
		    length > end && !strcmp(function + length - end, name))
			return true;
	}
	return false;
}

/* Who makes the call: the caller of its wrapper, and the outermost function that tells something.
 */
static void callers_of_half(const struct profile *profile, const struct calltree *tree,
			    struct hot_function *ret_place)
{
	u64 whole = calltree_node(tree, 0)->sum.weight_ns, inner_ns = 0;
	u32 index = calltree_node(tree, 0)->first_child;
	const char *outer = NULL, *inner = NULL, *last = NULL;

	for (; index != PROFILE_NONE; index = calltree_node(tree, index)->first_child) {
		const struct calltree_node *node = calltree_node(tree, index);
		u32 look = profile_function(profile, node->function)->look;
		const char *name = profile_function_name(profile, node->function);

		if (!whole || node->sum.weight_ns < whole / 2 || look == FUNCTION_KERNEL)
			break;
		if ((look != FUNCTION_USER && look != FUNCTION_JIT) || is_entry(name))
			continue;
		outer = outer ? outer : name;
		inner = last;
		last = name;
		inner_ns = node->sum.weight_ns;
	}
	if (!outer)
		return;
	inner = inner ? inner : outer;
	snprintf(ret_place->function, sizeof(ret_place->function), "%.80s%s%.80s", inner,
		 inner == outer ? "" : ", called by ", inner == outer ? "" : outer);
	ret_place->share = percent(inner_ns, whole);
}

int hot_function_in_call(const struct digest *digest, u32 group, const char *call, bool in_kernel,
			 struct hot_function *ret_place)
{
	const struct profile *profile = &digest->profile;
	struct calltree tree;
	int err = calltree_init(&tree);

	*ret_place = (struct hot_function){0};
	if (err)
		return err;
	for (u32 i = first_sample(digest, group); i != PROFILE_NONE; i = digest->next_samples[i]) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);

		if (sample->kind == SAMPLE_CPU && is_in_call(profile, sample, call))
			calltree_add(&tree, profile, sample, false);
	}
	err = calltree_sort(&tree, profile, false);
	if (!err)
		(in_kernel ? innermost_of_half : callers_of_half)(profile, &tree, ret_place);
	calltree_free(&tree);
	return err;
}

static bool is_library(const char *module)
{
	static const char *const prefixes[] = {"libc.",	   "libc-",   "libpthread",
					       "ld-linux", "ld-musl", "[vdso]"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(module, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

bool hot_function_is_telling(const struct profile *profile, u32 function, bool in_kernel)
{
	const struct profile_function *of = profile_function(profile, function);
	const char *name = profile_function_name(profile, function);

	if (in_kernel)
		return of->look == FUNCTION_KERNEL && !is_wrapper(name) && !is_entry(name);
	return (of->look == FUNCTION_USER || of->look == FUNCTION_JIT) && !is_entry(name) &&
	       !is_library(profile_module_name(profile, of->module));
}

enum { NOT_KNOWN, NOT_TELLING, FIRST_FUNCTION }; /* of digest.telling_functions */

/*
 * The innermost function of a stack that tells something, or PROFILE_NONE. Remembered by stack:
 * hundreds of findings look at the same ones.
 */
static u32 telling_function(const struct digest *digest, const struct profile_sample *sample,
			    bool in_kernel)
{
	const struct profile *profile = &digest->profile;
	const struct profile_stack *stack = hash_find(&profile->stacks, &sample->stack);
	struct profile_step steps[PROFILE_STEPS_MAX];
	u32 *memo, function = PROFILE_NONE;
	size_t count;

	if (!stack)
		return PROFILE_NONE;
	memo = &digest->telling_functions[in_kernel][stack - (const struct profile_stack *)(void *)
								     profile->stacks.items];
	if (*memo != NOT_KNOWN)
		return *memo == NOT_TELLING ? PROFILE_NONE : *memo - FIRST_FUNCTION;
	count = profile_steps(profile, sample->stack, sample->stop, steps);
	for (size_t i = 0; i < count && function == PROFILE_NONE; i++)
		if (hot_function_is_telling(profile, steps[i].function, in_kernel))
			function = steps[i].function;
	*memo = function == PROFILE_NONE ? NOT_TELLING : function + FIRST_FUNCTION;
	return function;
}

struct weight {
	u64 function; /* the key */
	u64 ns;
};

static int find_in_state(const struct digest *digest, u32 group, u32 state, bool in_kernel,
			 struct hot_function *ret_place)
{
	const struct profile *profile = &digest->profile;
	u32 kind = state <= STATE_CPU_SOFTIRQ ? SAMPLE_CPU : SAMPLE_BLOCKED;
	const struct weight *best = NULL;
	struct hash weights;
	u64 whole = 0;
	int err = 0;

	*ret_place = (struct hot_function){0};
	hash_init(&weights, sizeof(struct weight), sizeof(u64), PROFILE_FRAMES_MAX);
	for (u32 i = first_sample(digest, group); i != PROFILE_NONE; i = digest->next_samples[i]) {
		const struct profile_sample *sample = hash_item(&profile->samples, i);
		u64 function;

		if (sample->kind != kind || sample->state != state)
			continue;
		whole = profile_add(whole, sample->weight_ns);
		function = telling_function(digest, sample, in_kernel);
		if (function != PROFILE_NONE) {
			struct weight *weight = hash_add(&weights, &function);

			if (weight)
				weight->ns = profile_add(weight->ns, sample->weight_ns);
			else
				err = -ENOMEM;
		}
	}
	for (size_t i = 0; i < weights.count; i++) {
		const struct weight *weight = hash_item(&weights, i);

		best = !best || weight->ns > best->ns ? weight : best;
	}
	if (best)
		set(profile, (u32)best->function, best->ns, whole, ret_place);
	hash_free(&weights);
	return err;
}

/* Opens with its key. */
struct known_place {
	u32 group, state, in_kernel, unused;
	/* the key ends here */
	struct hot_function place;
};

_Static_assert(__builtin_offsetof(struct known_place, place) == 4 * sizeof(u32),
	       "a key has no hole");

void hot_functions_init(struct hash *known)
{
	hash_init(known, sizeof(struct known_place), __builtin_offsetof(struct known_place, place),
		  DIGEST_THREADS_MAX);
}

int hot_function_in_state(const struct digest *digest, u32 group, u32 state, bool in_kernel,
			  struct hash *known, struct hot_function *ret_place)
{
	const u32 key[] = {group, state, in_kernel, 0};
	struct known_place *place = hash_find(known, key);
	int err = 0;

	if (place) {
		*ret_place = place->place;
		return 0;
	}
	err = find_in_state(digest, group, state, in_kernel, ret_place);
	place = err ? NULL : hash_add(known, key);
	if (place)
		place->place = *ret_place;
	return err;
}
