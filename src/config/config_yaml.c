// SPDX-License-Identifier: Apache-2.0
/* YAML into entries: one mapping of option names to values, or to lists of values. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/person.h"
#include "../base/utf8.h"
#include "config.h"

/* What is expected next. */
enum place { AT_BEGIN, AT_KEY, AT_VALUE, IN_LIST, AT_END };

struct reading {
	struct config *config;
	enum place place;
	char *key; /* its value follows; ours */
	unsigned int key_count;
	bool has_ended;
};

static int refuse(const struct reading *reading, size_t line, const char *why)
{
	char name[256];

	utf8_escape(name, sizeof(name), reading->config->name);
	log_error("%s:%zu: %s", name, line, why);
	return -EINVAL;
}

#define SHAPE "a line is OPTION: VALUE, or OPTION: [VALUE, VALUE]"

/* A text with a NUL in it ends early for everybody else. */
static int take_value(struct reading *reading, const yaml_event_t *event, size_t line)
{
	const char *text = (const char *)event->data.scalar.value;
	struct config *config = reading->config;
	struct config_entry *entry;
	int err;

	if (strlen(text) != event->data.scalar.length)
		return refuse(reading, line, "a value has a NUL byte");
	err = config_add(config, reading->key, text, (unsigned int)line);
	if (err)
		return err;
	entry = &config->entries[config->count - 1];
	entry->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	entry->nth = reading->key_count;
	return 0;
}

static void end_key(struct reading *reading)
{
	free(reading->key);
	reading->key = NULL;
	reading->place = AT_KEY;
}

static int take_key(struct reading *reading, const yaml_event_t *event, size_t line)
{
	const char *text = (const char *)event->data.scalar.value;

	if (!*text || strlen(text) != event->data.scalar.length)
		return refuse(reading, line, "a key is empty, or has a NUL byte; " SHAPE);
	reading->key = strdup(text);
	reading->key_count++;
	reading->place = AT_VALUE;
	return reading->key ? 0 : refuse(reading, line, "not enough memory");
}

static int take_scalar(struct reading *reading, const yaml_event_t *event, size_t line)
{
	int err;

	if (event->data.scalar.anchor || event->data.scalar.tag)
		return refuse(reading, line, "anchors and tags are not supported; write the value");
	switch (reading->place) {
	case AT_KEY:
		return take_key(reading, event, line);
	case AT_VALUE:
		err = take_value(reading, event, line);
		end_key(reading);
		return err;
	case IN_LIST:
		return take_value(reading, event, line);
	case AT_BEGIN: /* an empty file, or one of comments */
		reading->place = AT_END;
		return event->data.scalar.length ? refuse(reading, line, SHAPE) : 0;
	default:
		return refuse(reading, line, SHAPE);
	}
}

static int take_begin(struct reading *reading, bool is_list, bool is_marked, size_t line)
{
	if (is_marked)
		return refuse(reading, line, "anchors and tags are not supported; write the value");
	if (is_list && reading->place == AT_VALUE)
		reading->place = IN_LIST;
	else if (!is_list && reading->place == AT_BEGIN)
		reading->place = AT_KEY;
	else
		return refuse(reading, line, SHAPE "; values are not nested further");
	return 0;
}

static int take_event(struct reading *reading, const yaml_event_t *event)
{
	size_t line = event->start_mark.line + 1;

	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return reading->place == AT_BEGIN
			       ? 0
			       : refuse(reading, line, "a second document; use one file for each");
	case YAML_SCALAR_EVENT:
		return take_scalar(reading, event, line);
	case YAML_MAPPING_START_EVENT:
		return take_begin(reading, false,
				  event->data.mapping_start.anchor || event->data.mapping_start.tag,
				  line);
	case YAML_SEQUENCE_START_EVENT:
		return take_begin(
			reading, true,
			event->data.sequence_start.anchor || event->data.sequence_start.tag, line);
	case YAML_SEQUENCE_END_EVENT:
		end_key(reading);
		return 0;
	case YAML_MAPPING_END_EVENT:
		reading->place = AT_END;
		return 0;
	case YAML_ALIAS_EVENT:
		return refuse(reading, line, "aliases are not supported; write the value");
	case YAML_STREAM_END_EVENT:
		reading->has_ended = true;
		return 0;
	default:
		return 0;
	}
}

static int refuse_syntax(const struct reading *reading, const yaml_parser_t *parser)
{
	size_t line = parser->problem_mark.line + 1;

	if (parser->error == YAML_MEMORY_ERROR)
		return refuse(reading, line, "not enough memory");
	/* Of bytes that are no text the parser knows the place, not the line. */
	return refuse(reading, line, parser->problem ? parser->problem : "it is not YAML");
}

int config_parse(const char *name, const void *bytes, size_t size, struct config *ret_config)
{
	struct reading reading = {.config = ret_config};
	yaml_parser_t parser;
	int err = 0;

	*ret_config = (struct config){.name = name};
	if (size > CONFIG_BYTES_MAX) {
		log_error("cannot read %s: it is larger than %u KiB; a configuration is smaller",
			  name, CONFIG_BYTES_MAX >> 10);
		return -EFBIG;
	}
	if (!yaml_parser_initialize(&parser)) {
		log_error("cannot read %s: not enough memory", name);
		return -ENOMEM;
	}
	yaml_parser_set_input_string(&parser, bytes, size);
	while (!err && !reading.has_ended) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			err = refuse_syntax(&reading, &parser);
			break;
		}
		err = take_event(&reading, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	free(reading.key);
	return err;
}

static int open_as_person(const char *path)
{
	struct person person;
	int fd, err;

	person_find(&person);
	err = person_begin(&person);
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	err = fd < 0 ? -errno : 0;
	person_end(&person);
	return err ? err : fd;
}

/* One byte more than there may be: whether it is too large is seen by what was read. */
static ssize_t read_whole(int fd, char *bytes, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t got = read(fd, bytes + used, size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

int config_read(const char *path, struct config *ret_config)
{
	_cleanup_close_ int fd = open_as_person(path);
	_cleanup_free_ char *bytes = malloc(CONFIG_BYTES_MAX + 1);
	struct stat st;
	ssize_t size = fd < 0 ? fd : -ENOMEM;

	*ret_config = (struct config){.name = path};
	if (fd >= 0 && bytes) {
		bool is_plain = !fstat(fd, &st) && S_ISREG(st.st_mode);

		size = is_plain ? read_whole(fd, bytes, CONFIG_BYTES_MAX + 1) : -EINVAL;
	}
	if (size < 0) {
		log_error("cannot read %s: %s; 'dwell config --print' writes such a file", path,
			  size == -EINVAL ? "it is not a regular file" : strerror((int)-size));
		return (int)size;
	}
	return config_parse(path, bytes, (size_t)size, ret_config);
}
