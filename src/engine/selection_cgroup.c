// SPDX-License-Identifier: Apache-2.0
/*
 * --cgroup and --container: paths and ids into cgroups of the kernel's, in whichever hierarchies
 * they are.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../abi/records.h"
#include "../base/cgroup.h"
#include "../base/cgroup_name.h"
#include "../base/log.h"
#include "selection.h"

struct trees {
	struct cgroup_mount mounts[CGROUP_MOUNTS_MAX];
	int count;
};

static int find_trees(struct trees *trees, const char *what)
{
	trees->count = cgroup_list_mounts(trees->mounts, CGROUP_MOUNTS_MAX);
	if (trees->count > 0)
		return 0;
	log_error("cannot look for cgroup '%s': %s; mount -t cgroup2 none /sys/fs/cgroup", what,
		  trees->count ? strerror(-trees->count) : "no cgroup file system is mounted");
	return trees->count ? trees->count : -ENOENT;
}

static int add(struct selection *selection, const struct cgroup_mount *mount, u64 id,
	       const char *word)
{
	return select_add(selection, (struct filter_key){FILTER_BY_CGROUP, {id, mount->hierarchy}},
			  word);
}

/* A path that leads into a cgroup file system by itself: 0, or -ENOENT if it does not. */
static int take_whole_path(struct selection *selection, const struct trees *trees, const char *path)
{
	struct stat st;

	if (path[0] != '/' || stat(path, &st) || !S_ISDIR(st.st_mode))
		return -ENOENT;
	for (int i = 0; i < trees->count; i++)
		if (trees->mounts[i].device == st.st_dev)
			return add(selection, &trees->mounts[i], st.st_ino, path);
	return -ENOENT;
}

int select_take_cgroup(struct selection *selection, const char *path)
{
	struct trees trees;
	size_t found = 0;
	int err = find_trees(&trees, path);

	if (err)
		return err;
	err = take_whole_path(selection, &trees, path);
	if (err != -ENOENT)
		return err;
	/* As /proc/PID/cgroup has it: v1 has the same path in several hierarchies. */
	for (int i = 0; i < trees.count; i++) {
		u64 id;

		if (cgroup_id(&trees.mounts[i], path, &id))
			continue;
		err = add(selection, &trees.mounts[i], id, found++ ? NULL : path);
		if (err)
			return err;
	}
	if (found)
		return 0;
	log_error("there is no cgroup '%s', neither as it stands nor below %s%s; "
		  "/proc/PID/cgroup has those of a process",
		  path, trees.mounts[0].at, trees.count > 1 ? " and the other hierarchies" : "");
	return -ENOENT;
}

/* The search for one container, over all trees. */
struct search {
	struct selection *selection;
	const struct cgroup_mount *mount;
	const char *id;
	char found[sizeof(((struct cgroup_name *)0)->container)];
	char second[sizeof(((struct cgroup_name *)0)->container)]; /* matches too */
	size_t seen;
	int err;
};

static enum cgroup_step look(void *context, const char *path, u64 id)
{
	struct search *search = context;
	struct cgroup_name name;

	search->seen++;
	cgroup_name_parse(path, &name);
	if (!name.container[0] || strncmp(name.container, search->id, strlen(search->id)))
		return CGROUP_WALK_ON;
	if (search->found[0] && strcmp(search->found, name.container)) {
		memcpy(search->second, name.container, sizeof(search->second));
		return CGROUP_WALK_END;
	}
	search->err = add(search->selection, search->mount, id, search->found[0] ? NULL : path);
	memcpy(search->found, name.container, sizeof(search->found));
	return search->err ? CGROUP_WALK_END : CGROUP_WALK_PAST; /* descendants are included */
}

static int tell_search(const struct search *search, int trees)
{
	if (search->err)
		return search->err;
	if (search->second[0]) {
		log_error("several containers match '%s': %.*s, %.*s; type more of the id",
			  search->id, CONTAINER_ID_SHORT * 2, search->found, CONTAINER_ID_SHORT * 2,
			  search->second);
		return -ENOTUNIQ;
	}
	if (search->found[0])
		return 0;
	log_error(
		"no container matches '%s': looked at %zu cgroups of %d hierarchies; does it "
		"run? 'docker ps', 'podman ps' and 'crictl ps' show ids; names are not known here",
		search->id, search->seen, trees);
	return -ENOENT;
}

int select_take_container(struct selection *selection, const char *id)
{
	struct search search = {.selection = selection, .id = id};
	struct trees trees;
	int err;

	if (!isalnum((unsigned char)id[0])) {
		log_error("--container takes an id or its beginning, not '%s'", id);
		return -EINVAL;
	}
	err = find_trees(&trees, id);
	for (int i = 0; !err && i < trees.count && !search.second[0] && !search.err; i++) {
		search.mount = &trees.mounts[i];
		if (cgroup_walk(search.mount, look, &search) == -E2BIG)
			log_info("%s has more cgroups than %d: not all were looked at",
				 search.mount->at, CGROUP_WALK_MAX);
	}
	return err ? err : tell_search(&search, trees.count);
}
