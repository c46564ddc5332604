// SPDX-License-Identifier: Apache-2.0
#include "cgroup_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define POD_UID_LENGTH	    36 /* 8-4-4-4-12 */
#define POD_HASH_LENGTH	    32 /* static pods have a hash of their file instead */
#define CONTAINER_ID_LENGTH 64

/* A part of the path: not ended by NUL. */
struct span {
	const char *text;
	size_t length;
};

static bool ends_with(struct span span, const char *end)
{
	size_t length = strlen(end);

	return span.length > length && !memcmp(span.text + span.length - length, end, length);
}

static bool starts_with(struct span span, const char *start)
{
	size_t length = strlen(start);

	return span.length > length && !memcmp(span.text, start, length);
}

static bool is(struct span span, const char *text)
{
	return span.length == strlen(text) && !memcmp(span.text, text, span.length);
}

static struct span without_end(struct span span, const char *end)
{
	if (ends_with(span, end))
		span.length -= strlen(end);
	return span;
}

static struct span from(struct span span, size_t at)
{
	return (struct span){span.text + at, span.length - at};
}

static size_t hex_run(struct span span)
{
	size_t length = 0;

	while (length < span.length && isxdigit((unsigned char)span.text[length]))
		length++;
	return length;
}

/* What systemd and LXC allow in a name. Whatever else stands there, nobody will see it. */
static bool is_plain(struct span span)
{
	for (size_t i = 0; i < span.length; i++)
		if (!isalnum((unsigned char)span.text[i]) && !strchr(":-_.\\@", span.text[i]))
			return false;
	return span.length > 0 && !memchr(span.text, '\0', span.length);
}

static void keep(char *to, size_t size, struct span span)
{
	if (span.length < size) {
		memcpy(to, span.text, span.length);
		to[span.length] = '\0';
	}
}

/* podUID or kubepods-burstable-podUID.slice, whose uid has underscores for dashes. */
static bool take_pod(struct span part, struct cgroup_name *name)
{
	struct span bare = without_end(part, ".slice");

	for (size_t at = 0; at + 3 < bare.length; at++) {
		struct span uid = from(bare, at);

		if ((at && bare.text[at - 1] != '-') || !starts_with(uid, "pod"))
			continue;
		uid = from(uid, 3);
		if (uid.length != POD_UID_LENGTH && uid.length != POD_HASH_LENGTH)
			continue;
		for (size_t i = 0; i < uid.length; i++)
			if (!isxdigit((unsigned char)uid.text[i]) && !strchr("-_", uid.text[i]))
				return false;
		if (memchr(uid.text, '\0', uid.length))
			return false;
		keep(name->pod, sizeof(name->pod), uid);
		for (char *dash = name->pod; (dash = strchr(dash, '_'));)
			*dash = '-';
		return true;
	}
	return false;
}

/* docker-ID.scope, cri-containerd-ID.scope, slice:cri-containerd:ID, plain ID. */
static bool take_id(struct span part, struct cgroup_name *name)
{
	struct span bare = without_end(part, ".scope");
	const char *colon;
	struct span id;

	if (bare.length < CONTAINER_ID_LENGTH)
		return false;
	id = from(bare, bare.length - CONTAINER_ID_LENGTH);
	if (hex_run(id) != CONTAINER_ID_LENGTH)
		return false;
	bare.length -= CONTAINER_ID_LENGTH;
	if (bare.length && bare.text[bare.length - 1] != '-' && bare.text[bare.length - 1] != ':')
		return false;
	/* The container's keeper has a cgroup of its own, named after it. */
	if (ends_with(bare, "-conmon-") || is(bare, "conmon-"))
		return true;
	keep(name->container, sizeof(name->container), id);
	colon = memchr(bare.text, ':', bare.length); /* then the slice is in the same part */
	if (colon)
		take_pod((struct span){bare.text, (size_t)(colon - bare.text)}, name);
	return true;
}

/* Amazon's ECS: below /ecs/TASK, 32 digits, a dash, and decimal ones. */
static bool take_ecs(struct span part, struct cgroup_name *name)
{
	size_t at = POD_HASH_LENGTH;

	if (part.length < at + 2 || hex_run(part) != at || part.text[at] != '-')
		return false;
	while (++at < part.length)
		if (!isdigit((unsigned char)part.text[at]))
			return false;
	if (part.length < sizeof(name->container))
		keep(name->container, sizeof(name->container), part);
	return true;
}

/* lxc.payload.NAME, and /lxc/NAME or /lxc.payload/NAME. */
static bool take_lxc(struct span before, struct span part, struct cgroup_name *name)
{
	if (starts_with(part, "lxc.payload."))
		part = from(part, strlen("lxc.payload."));
	else if (!is(before, "lxc") && !is(before, "lxc.payload"))
		return false;
	if (is_plain(part))
		keep(name->container, sizeof(name->container), part);
	return true;
}

static void take_unit(struct span part, struct cgroup_name *name)
{
	static const char *const ends[] = {".service", ".scope", ".socket", ".mount", ".swap"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_with(part, ends[i]) && is_plain(part))
			keep(name->unit, sizeof(name->unit), part);
}

void cgroup_name_parse(const char *path, struct cgroup_name *ret_name)
{
	struct span before = {path, 0};

	*ret_name = (struct cgroup_name){0};
	while (*path) {
		struct span part = {path, strcspn(path, "/")};

		if (part.length && !take_id(part, ret_name) && !take_ecs(part, ret_name) &&
		    !take_lxc(before, part, ret_name) && !take_pod(part, ret_name))
			take_unit(part, ret_name);
		before = part;
		path += part.length;
		path += *path == '/';
	}
}

static const char *last_part(const char *exe)
{
	const char *slash = strrchr(exe, '/');

	return slash ? slash + 1 : exe;
}

void cgroup_name_service(const struct cgroup_name *name, const char *exe, char *ret_service,
			 size_t size)
{
	bool is_id = strlen(name->container) == CONTAINER_ID_LENGTH;
	int shown = is_id ? CONTAINER_ID_SHORT : (int)sizeof(name->container);

	if (name->pod[0])
		snprintf(ret_service, size, "pod %s%s%.*s", name->pod,
			 name->container[0] ? "/" : "", shown, name->container);
	else if (name->container[0])
		snprintf(ret_service, size, "container %.*s", shown, name->container);
	else
		snprintf(ret_service, size, "%s", name->unit[0] ? name->unit : last_part(exe));
}
