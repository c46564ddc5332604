// SPDX-License-Identifier: Apache-2.0
#include "cgroup.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "cleanup.h"
#include "text.h"

#define HIERARCHIES_BYTES 4096

/* A word of a comma-separated list. */
static bool has_word(const char *list, const char *word, size_t length)
{
	while (*list) {
		size_t here = strcspn(list, ", \n");

		if (here == length && !strncmp(list, word, length))
			return true;
		list += here;
		list += *list != '\0';
	}
	return false;
}

/* "4:cpu,cpuacct:/path" is the mount whose options have one of these words. */
static bool is_line_of(const char *line, const char *options, u32 *ret_hierarchy)
{
	char *words;
	unsigned long number = strtoul(line, &words, 10);

	if (words == line || *words != ':' || number == 0)
		return false;
	*ret_hierarchy = (u32)number;
	for (words++; *words && *words != ':' && *words != '\n';) {
		size_t length = strcspn(words, ",:\n");

		if (length && has_word(options, words, length))
			return true;
		words += length + (words[length] == ',');
	}
	return false;
}

static bool find_hierarchy(const char *hierarchies, const char *options, u32 *ret_hierarchy)
{
	while (*hierarchies) {
		if (is_line_of(hierarchies, options, ret_hierarchy))
			return true;
		hierarchies += strcspn(hierarchies, "\n");
		hierarchies += *hierarchies == '\n';
	}
	return false;
}

/* mountinfo writes a space, a tab, a newline and a backslash as \ooo. */
static void unescape(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
				       (text[3] - '0'));
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

bool cgroup_parse_mount(const char *line, const char *hierarchies, struct cgroup_mount *ret_mount)
{
	unsigned int major_nr, minor_nr;
	const char *dash = strstr(line, " - ");
	char type[16], options[256];

	*ret_mount = (struct cgroup_mount){0};
	if (!dash ||
	    sscanf(line, "%*u %*u %u:%u %*s %255s", &major_nr, &minor_nr, ret_mount->at) != 3)
		return false;
	if (sscanf(dash + 3, "%15s %*s %255s", type, options) != 2)
		return false;
	unescape(ret_mount->at);
	ret_mount->device = makedev(major_nr, minor_nr);
	if (!strcmp(type, "cgroup2"))
		return true;
	return !strcmp(type, "cgroup") &&
	       find_hierarchy(hierarchies, options, &ret_mount->hierarchy);
}

static bool is_known(const struct cgroup_mount *mounts, size_t count, u32 hierarchy)
{
	for (size_t i = 0; i < count; i++)
		if (mounts[i].hierarchy == hierarchy)
			return true;
	return false;
}

int cgroup_list_mounts(struct cgroup_mount *mounts, size_t max)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	char hierarchies[HIERARCHIES_BYTES];
	size_t room = 0, count = 0;
	int err;

	if (!file)
		return -errno;
	err = text_read_file("/proc/self/cgroup", hierarchies, sizeof(hierarchies));
	if (err < 0)
		return err;
	while (count < max && getline(&line, &room, file) > 0)
		if (cgroup_parse_mount(line, hierarchies, &mounts[count]) &&
		    !is_known(mounts, count, mounts[count].hierarchy))
			count++;
	return (int)count;
}

int cgroup_id(const struct cgroup_mount *mount, const char *path, u64 *ret_id)
{
	char whole[sizeof(mount->at) + CGROUP_PATH_BYTES];
	struct stat st;

	if (snprintf(whole, sizeof(whole), "%s/%s", mount->at, path) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	if (stat(whole, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode) || st.st_dev != mount->device)
		return -ENOTDIR;
	*ret_id = st.st_ino;
	return 0;
}

struct walk {
	cgroup_visit visit;
	void *context;
	size_t seen;
	bool is_cut;
	char path[CGROUP_PATH_BYTES];
};

static bool walk_dir(struct walk *walk, int parent, const char *name, size_t length, int depth);

/* False when the visitor has had enough. */
static bool walk_entries(struct walk *walk, DIR *dir, size_t length, int depth)
{
	struct dirent *entry;

	while ((entry = readdir(dir))) {
		int wrote;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		wrote = snprintf(walk->path + length, sizeof(walk->path) - length, "/%s",
				 entry->d_name);
		if (depth == CGROUP_DEPTH_MAX || wrote >= (int)(sizeof(walk->path) - length) ||
		    walk->seen == CGROUP_WALK_MAX) {
			walk->is_cut = true;
			continue;
		}
		if (!walk_dir(walk, dirfd(dir), entry->d_name, length + (size_t)wrote, depth + 1))
			return false;
	}
	return true;
}

/* One that goes away under our eyes is no error. */
static bool walk_dir(struct walk *walk, int parent, const char *name, size_t length, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	enum cgroup_step step;
	struct stat st;
	bool goes_on;
	DIR *dir;

	if (fd < 0)
		return true;
	dir = fdopendir(fd);
	if (!dir || fstat(fd, &st)) {
		close(fd);
		return true;
	}
	walk->seen++;
	walk->path[length] = '\0';
	step = walk->visit(walk->context, length ? walk->path : "/", st.st_ino);
	goes_on = step == CGROUP_WALK_ON ? walk_entries(walk, dir, length, depth)
					 : step != CGROUP_WALK_END;
	closedir(dir);
	return goes_on;
}

int cgroup_walk(const struct cgroup_mount *mount, cgroup_visit visit, void *context)
{
	struct walk walk = {.visit = visit, .context = context};

	walk_dir(&walk, AT_FDCWD, mount->at, 0, 0);
	if (!walk.seen)
		return -EACCES;
	return walk.is_cut ? -E2BIG : 0;
}

bool cgroup_pick_path(const char *text, char *ret_path, size_t size)
{
	size_t longest = 1;

	while (*text) {
		size_t end = strcspn(text, "\n");
		const char *path =
			memchr(text, '/', end); /* controllers have none in their names */
		size_t length = path ? end - (size_t)(path - text) : 0;

		if (length > longest && length < size) {
			snprintf(ret_path, size, "%.*s", (int)length, path);
			longest = length;
		}
		text += end;
		text += *text == '\n';
	}
	return longest > 1;
}
