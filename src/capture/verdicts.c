// SPDX-License-Identifier: Apache-2.0
/*
 * What the kernel refused is remembered for this boot and this build, so that the next capture
 * does not ask again. One small text file, in a directory that only its owner can write:
 *
 *	<boot id>
 *	<program> TAB <errno> TAB <v: the verifier's words, once: likewise, not believed yet> TAB
 *<excerpt>
 *
 * Only what the verifier itself said is kept, and only of a program that was itself named: a lack
 * of privilege, memory or types may pass, and what libbpf refuses by itself is cheap to ask again.
 * A lack of memory or descriptors can also lead to the verifier's words: libbpf takes a feature
 * for absent if its trial fails, whatever the reason, and loads programs in another way. So a
 * refusal is believed when a second capture meets it too, and is forgotten when one does not.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../base/version.h"
#include "internal.h"

#define BOOT_ID	       "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_BYTES  64
#define PATH_BYTES     256
#define FILE_BYTES_MAX 65536
#define LINE_BYTES     512

#define BELIEVED "v"
#define ONCE	 "once"

/* libbpf's own words, in the verifier's place: a map that it did not make is the cause. */
static bool is_from_libbpf(const struct failure *failure)
{
	return strstr(failure->excerpt, "is referenced but wasn't created");
}

/* What is said of a program that serves any function may be about the one that was chosen. */
static bool is_final(const struct capture_probe *probe)
{
	const struct failure *failure = &probe->failure;

	if (probe->spec->kind == PROBE_FENTRY || failure->gate != GATE_LOAD || !failure->is_named ||
	    !failure->from_verifier || is_from_libbpf(failure))
		return false;
	switch (failure->err) {
	case EINVAL:
	case ENOENT:
	case ESRCH:
	case E2BIG:
	case EOPNOTSUPP:
	case EACCES: /* the verifier's way to say no; without a log it is a want of privilege */
		return true;
	default:
		return false;
	}
}

/* The same objects are other programs in another form. */
static void verdict_path(const struct capture *capture, char *path)
{
	snprintf(path, PATH_BYTES, "%s/refused-%016llx-%s-%d%d", capture->config.verdict_dir,
		 (unsigned long long)source_build_hash(), DWELL_VERSION, capture->has_task_storage,
		 capture->has_task_regs);
}

static struct capture_probe *find_probe(const struct capture *capture, const char *program)
{
	for (size_t i = 0; i < capture->config.probe_count; i++)
		if (!strcmp(capture->probes[i].spec->program, program))
			return &capture->probes[i];
	return NULL;
}

static void apply_line(struct capture *capture, char *line)
{
	char *rest = line;
	const char *program = strsep(&rest, "\t");
	const char *number = strsep(&rest, "\t");
	const char *origin = strsep(&rest, "\t");
	struct capture_probe *probe = find_probe(capture, program);
	u64 err;

	if (!probe || !origin || !rest || text_parse_u64(number, 1, 4095, &err))
		return;
	if (strcmp(origin, BELIEVED)) {
		probe->is_refused_once = true;
		return;
	}
	probe->failure = (struct failure){
		.gate = GATE_LOAD,
		.err = (int)err,
		.from_verifier = true,
		.is_named = true,
		.from_cache = true,
	};
	text_copy(probe->failure.excerpt, sizeof(probe->failure.excerpt), rest);
	log_verbose("%s: refused before on this boot: %s", program, rest);
}

/* Ours alone, or not believed. */
static FILE *open_trusted(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	FILE *file;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 022) ||
	    st.st_size > FILE_BYTES_MAX || !(file = fdopen(fd, "r"))) {
		close(fd);
		return NULL;
	}
	return file;
}

/* The file of this boot, at its second line, or NULL. */
static FILE *open_verdicts(const struct capture *capture)
{
	char boot[BOOT_ID_BYTES], line[LINE_BYTES], path[PATH_BYTES];
	FILE *file;

	if (!capture->config.verdict_dir || text_read_file(BOOT_ID, boot, sizeof(boot)) <= 0)
		return NULL;
	verdict_path(capture, path);
	file = open_trusted(path);
	if (!file)
		return NULL;
	if (!fgets(line, sizeof(line), file)) {
		fclose(file);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	if (!strcmp(line, boot))
		return file;
	fclose(file);
	return NULL;
}

void verdicts_read(struct capture *capture)
{
	_cleanup_fclose_ FILE *file = open_verdicts(capture);
	char line[LINE_BYTES];

	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		apply_line(capture, line);
	}
}

/* What other captures found about other programs stays. */
static void keep_other_lines(const struct capture *capture, FILE *to)
{
	_cleanup_fclose_ FILE *from = open_verdicts(capture);
	char line[LINE_BYTES], program[LINE_BYTES];

	while (from && fgets(line, sizeof(line), from)) {
		snprintf(program, sizeof(program), "%.*s", (int)strcspn(line, "\t"), line);
		if (!find_probe(capture, program))
			fputs(line, to);
	}
}

static void write_lines(const struct capture *capture, FILE *file)
{
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		const struct capture_probe *probe = &capture->probes[i];
		const struct failure *failure = &probe->failure;
		bool is_believed = failure->from_cache || probe->is_refused_once;

		if (is_final(probe))
			fprintf(file, "%s\t%d\t%s\t%.*s\n", probe->spec->program, failure->err,
				is_believed ? BELIEVED : ONCE, (int)strcspn(failure->excerpt, "\n"),
				failure->excerpt);
	}
}

/* A refusal that was not known, or one that is not there any more. */
static bool found_something_new(const struct capture *capture)
{
	for (size_t i = 0; i < capture->config.probe_count; i++) {
		const struct capture_probe *probe = &capture->probes[i];

		if (is_final(probe) ? !probe->failure.from_cache
				    : probe->is_refused_once && !probe->failure.err)
			return true;
	}
	return false;
}

/* A new file takes the old one's place in one step, so that no reader sees half of it. */
void verdicts_write(const struct capture *capture)
{
	char boot[BOOT_ID_BYTES], path[PATH_BYTES], draft[PATH_BYTES + 16];
	FILE *file;
	int fd;

	if (!capture->config.verdict_dir || !found_something_new(capture) ||
	    text_read_file(BOOT_ID, boot, sizeof(boot)) <= 0)
		return;
	verdict_path(capture, path);
	snprintf(draft, sizeof(draft), "%s.%d", path, getpid());
	mkdir(capture->config.verdict_dir, 0700);
	fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		log_verbose("verdicts are not kept: %s: %s", draft, strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	fprintf(file, "%s\n", boot);
	keep_other_lines(capture, file);
	write_lines(capture, file);
	if (fclose(file) || rename(draft, path))
		unlink(draft);
}
