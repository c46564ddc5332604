// SPDX-License-Identifier: Apache-2.0
#include "export_zip.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../base/utf8.h"
#include "cmd.h"

#define NAME_BYTES    128
#define HOST_BYTES    512
#define CHUNK	      65536
#define ZIP_BYTES_MAX 0xf0000000ULL /* beyond 4 GiB the format is another one */
#define ZIP_VERSION   20
#define ZIP_DATE      0x0021 /* 1 January 1980: no file in it has a date */
#define ZIP_FLAG_UTF8 0x0800
#define MANIFEST      "perfetto_manifest.json"

/* As in the file: little-endian, as all machines that dwell runs on. */
struct zip_local {
	u32 signature;
	u16 version, flags, method, time, date;
	u32 crc, packed_bytes, bytes;
	u16 name_bytes, extra_bytes;
} __attribute__((packed));

struct zip_central {
	u32 signature;
	u16 made_by, version, flags, method, time, date;
	u32 crc, packed_bytes, bytes;
	u16 name_bytes, extra_bytes, comment_bytes, disk, internal;
	u32 external, offset;
} __attribute__((packed));

struct zip_end {
	u32 signature;
	u16 disk, central_disk, entries_here, entries;
	u32 central_bytes, central_offset;
	u16 comment_bytes;
} __attribute__((packed));

struct entry {
	char name[NAME_BYTES];
	u64 offset, bytes;
	u32 crc;
};

struct zip {
	int fd;
	u64 at; /* where the next byte goes */
	struct entry entries[EXPORT_SESSIONS_MAX + 1];
	size_t count;
};

static int write_all(int fd, const void *bytes, size_t size, u64 at)
{
	const char *next = bytes;

	while (size) {
		ssize_t written = pwrite(fd, next, size, (off_t)at);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written <= 0)
			continue;
		next += written;
		at += (u64)written;
		size -= (size_t)written;
	}
	return 0;
}

static int put(struct zip *zip, const void *bytes, size_t size)
{
	int err = write_all(zip->fd, bytes, size, zip->at);

	zip->at += size;
	return err;
}

static struct zip_local local_of(const struct entry *entry)
{
	return (struct zip_local){
		.signature = 0x04034b50,
		.version = ZIP_VERSION,
		.flags = ZIP_FLAG_UTF8,
		.date = ZIP_DATE,
		.crc = entry->crc,
		.packed_bytes = (u32)entry->bytes,
		.bytes = (u32)entry->bytes,
		.name_bytes = (u16)strlen(entry->name),
	};
}

/* What somebody else wrote behind the header: how much it is, and its CRC. */
static int measure(struct zip *zip, struct entry *entry)
{
	_cleanup_free_ u8 *chunk = malloc(CHUNK);
	struct stat st;
	u64 end;

	if (!chunk || fstat(zip->fd, &st))
		return chunk ? -errno : -ENOMEM;
	end = (u64)st.st_size;
	if (end > ZIP_BYTES_MAX)
		return -EFBIG;
	entry->crc = (u32)crc32(0, NULL, 0);
	for (u64 at = zip->at; at < end;) {
		ssize_t got = pread(zip->fd, chunk, CHUNK, (off_t)at);

		if (got <= 0)
			return got ? -errno : -EIO;
		entry->crc = (u32)crc32(entry->crc, chunk, (uInt)got);
		at += (u64)got;
	}
	entry->bytes = end > zip->at ? end - zip->at : 0;
	zip->at += entry->bytes;
	return 0;
}

static struct entry *begin_entry(struct zip *zip, const char *name)
{
	struct entry *entry = &zip->entries[zip->count++];

	text_copy(entry->name, sizeof(entry->name), name);
	entry->offset = zip->at;
	zip->at += sizeof(struct zip_local) + strlen(entry->name);
	return entry;
}

static int end_entry(struct zip *zip, const struct entry *entry)
{
	struct zip_local local = local_of(entry);
	int err = write_all(zip->fd, &local, sizeof(local), entry->offset);

	return err ? err
		   : write_all(zip->fd, entry->name, strlen(entry->name),
			       entry->offset + sizeof(local));
}

static int put_directory(struct zip *zip)
{
	struct zip_end end = {
		.signature = 0x06054b50,
		.entries_here = (u16)zip->count,
		.entries = (u16)zip->count,
		.central_offset = (u32)zip->at,
	};
	u64 begin = zip->at;
	int err = 0;

	for (size_t i = 0; !err && i < zip->count; i++) {
		const struct entry *entry = &zip->entries[i];
		struct zip_central central = {
			.signature = 0x02014b50,
			.made_by = ZIP_VERSION,
			.version = ZIP_VERSION,
			.flags = ZIP_FLAG_UTF8,
			.date = ZIP_DATE,
			.crc = entry->crc,
			.packed_bytes = (u32)entry->bytes,
			.bytes = (u32)entry->bytes,
			.name_bytes = (u16)strlen(entry->name),
			.offset = (u32)entry->offset,
		};

		err = put(zip, &central, sizeof(central));
		if (!err)
			err = put(zip, entry->name, strlen(entry->name));
	}
	end.central_bytes = (u32)(zip->at - begin);
	return err ? err : put(zip, &end, sizeof(end));
}

/* A name that is the only one of its kind, without folders or anything that a shell would mind. */
static void name_entry(size_t number, const char *path, char name[NAME_BYTES])
{
	const char *slash = strrchr(path, '/'), *from = slash ? slash + 1 : path;
	char plain[NAME_BYTES / 2];
	size_t length = 0;

	for (; *from && length < sizeof(plain) - 1; from++) {
		bool is_plain = (*from >= '0' && *from <= '9') || (*from >= 'a' && *from <= 'z') ||
				(*from >= 'A' && *from <= 'Z') || *from == '-' || *from == '_' ||
				*from == '.';

		plain[length++] = is_plain ? *from : '_';
	}
	plain[length] = '\0';
	snprintf(name, NAME_BYTES, "%zu-%s.pftrace", number + 1, plain);
}

/* Runs the session's own process with its output in fd. */
static int run_into(int fd, const struct export_request *request)
{
	struct export_request copy = *request;
	int before = dup(STDOUT_FILENO), status = EXIT_FAILED;

	if (before >= 0 && dup2(fd, STDOUT_FILENO) >= 0)
		status = export_session(&copy);
	else
		log_error("cannot export %s: %s", request->path, strerror(errno));
	if (before >= 0) {
		dup2(before, STDOUT_FILENO);
		close(before);
	}
	return status;
}

/* Which host a session is of: its process says so, in JSON. */
static int read_host(const struct export_request *request, char host[HOST_BYTES])
{
	_cleanup_close_ int fd = memfd_create("host", MFD_CLOEXEC);
	struct export_request only_host = *request;
	char text[HOST_BYTES];
	json_t *name;
	ssize_t got;

	if (fd < 0)
		return -errno;
	only_host.exporter = NULL;
	if (run_into(fd, &only_host))
		return -EIO;
	got = pread(fd, text, sizeof(text), 0);
	name = got > 0 ? json_loadb(text, (size_t)got, JSON_DECODE_ANY, NULL) : NULL;
	text_copy(host, HOST_BYTES, json_is_string(name) ? json_string_value(name) : "");
	json_decref(name);
	return 0;
}

static int add_to_manifest(json_t *files, const struct export_request *request, const char *name)
{
	char host[HOST_BYTES];
	json_t *file;
	int err = read_host(request, host);

	if (err)
		return err;
	file = json_pack("{s:s, s:{s:s}}", "path", name, "machine", "name",
			 *host ? host : "unknown host");
	return file && !json_array_append_new(files, file) ? 0 : -ENOMEM;
}

static int put_manifest(struct zip *zip, json_t *files)
{
	struct entry *entry = begin_entry(zip, MANIFEST);
	json_t *manifest =
		json_pack("{s:{s:i, s:O}}", "perfetto_manifest", "version", 1, "files", files);
	_cleanup_free_ char *text = manifest ? json_dumps(manifest, JSON_INDENT(2)) : NULL;
	int err;

	json_decref(manifest);
	if (!text)
		return -ENOMEM;
	entry->bytes = strlen(text);
	entry->crc = (u32)crc32(crc32(0, NULL, 0), (const Bytef *)text, (uInt)entry->bytes);
	err = put(zip, text, strlen(text));
	return err ? err : end_entry(zip, entry);
}

static int put_session(struct zip *zip, const struct export_request *request, json_t *files)
{
	struct entry *entry;
	char name[NAME_BYTES];
	int err;

	name_entry(zip->count, request->path, name);
	err = add_to_manifest(files, request, name);
	if (err)
		return err;
	entry = begin_entry(zip, name);
	/* Its process appends, so what is to come first has to be there. */
	err = end_entry(zip, entry);
	if (!err && lseek(zip->fd, (off_t)zip->at, SEEK_SET) < 0)
		err = -errno;
	if (!err && run_into(zip->fd, request))
		err = -EIO;
	if (!err)
		err = measure(zip, entry);
	return err ? err : end_entry(zip, entry);
}

int export_zip(struct export_request *requests, size_t count)
{
	struct zip *zip = calloc(1, sizeof(*zip));
	json_t *files = json_array();
	int err = zip && files ? 0 : -ENOMEM;

	if (zip)
		zip->fd = STDOUT_FILENO;
	for (size_t i = 0; !err && i < count; i++)
		err = put_session(zip, &requests[i], files);
	if (!err)
		err = put_manifest(zip, files);
	if (!err)
		err = put_directory(zip);
	if (err == -EFBIG)
		log_error("cannot put the sessions in one file: it would be larger than 4 GB; take "
			  "fewer, or parts of them, as FILE@10s-20s");
	else if (err && err != -EIO)
		log_error("cannot put the sessions in one file: %s", strerror(-err));
	json_decref(files);
	free(zip);
	return err ? EXIT_FAILED : EXIT_OK;
}
