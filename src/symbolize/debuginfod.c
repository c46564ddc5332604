// SPDX-License-Identifier: Apache-2.0
#include "debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/log.h"
#include "elf_file.h"

#define FIRST_WORD_NS (2 * NS_PER_S) /* before nobody wonders */
#define WORDS_NS      (5 * NS_PER_S)

/* What we use of <elfutils/debuginfod.h>, which need not be there. */
struct client;
typedef int (*progress_fn)(struct client *client, long done, long total);

struct library {
	struct client *(*begin)(void);
	void (*end)(struct client *client);
	int (*find)(struct client *client, const u8 *build_id, int build_id_size, char **path);
	void (*set_progress)(struct client *client, progress_fn progress);
	void (*set_user_data)(struct client *client, void *data);
	void *(*get_user_data)(struct client *client);
};

/* The library stays loaded: what it brings with it cannot be unloaded safely. */
static int load(struct library *ret_library)
{
	void *handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return -ENOSYS;
	*(void **)&ret_library->begin = dlsym(handle, "debuginfod_begin");
	*(void **)&ret_library->end = dlsym(handle, "debuginfod_end");
	*(void **)&ret_library->find = dlsym(handle, "debuginfod_find_debuginfo");
	*(void **)&ret_library->set_progress = dlsym(handle, "debuginfod_set_progressfn");
	*(void **)&ret_library->set_user_data = dlsym(handle, "debuginfod_set_user_data");
	*(void **)&ret_library->get_user_data = dlsym(handle, "debuginfod_get_user_data");
	if (!ret_library->begin || !ret_library->end || !ret_library->find ||
	    !ret_library->set_progress || !ret_library->set_user_data ||
	    !ret_library->get_user_data)
		return -ENOSYS;
	return 0;
}

struct wait {
	const char *name;
	u64 deadline_ns, next_word_ns;
};

static void tell(struct wait *wait, u64 now_ns, long done)
{
	if (now_ns < wait->next_word_ns)
		return;
	wait->next_word_ns = now_ns + WORDS_NS;
	log_info("debuginfod: waiting for the debug file of %s: %ld KiB so far; %" PRIu64
		 " s more at most",
		 wait->name, done / 1024, (uint64_t)((wait->deadline_ns - now_ns) / NS_PER_S));
}

/* It has nothing but the client to find the rest by, so it loads the library once more. */
static int is_enough(struct client *client, long done, long total)
{
	u64 now_ns = clock_now_ns();
	struct library library;
	struct wait *wait;

	(void)total;
	if (load(&library))
		return 1;
	wait = library.get_user_data(client);
	if (now_ns >= wait->deadline_ns)
		return 1;
	tell(wait, now_ns, done > 0 ? done : 0);
	return 0;
}

bool debuginfod_has_servers(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");

	return servers && *servers;
}

int debuginfod_fetch(const u8 *build_id, size_t build_id_size, const char *name, u64 limit_ms)
{
	u64 now_ns = clock_now_ns();
	struct wait wait = {name, now_ns + limit_ms * NS_PER_MS, now_ns + FIRST_WORD_NS};
	struct library library;
	struct client *client;
	int fd, err;

	if (!debuginfod_has_servers() || !build_id_size || build_id_size > BUILD_ID_MAX)
		return -ENOENT;
	err = load(&library);
	if (err)
		return err;
	client = library.begin();
	if (!client)
		return -ENOMEM;
	library.set_user_data(client, &wait);
	library.set_progress(client, is_enough);
	fd = library.find(client, build_id, (int)build_id_size, NULL);
	if (fd < 0 && clock_now_ns() >= wait.deadline_ns)
		fd = -ETIMEDOUT;
	if (fd >= 0) {
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		lseek(fd, 0, SEEK_SET); /* it was just written */
	}
	library.end(client);
	return fd;
}
