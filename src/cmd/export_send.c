// SPDX-License-Identifier: Apache-2.0
#include "export_send.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/child.h"
#include "../base/cleanup.h"
#include "../base/log.h"
#include "../base/text.h"
#include "../base/utf8.h"
#include "../worker/privileges.h"
#include "cmd.h"
#include "export_reply.h"

#define SEND_TIMEOUT_S 10 /* for each step of it */
#define HEAD_BYTES     1024
#define DEFAULT_PORT   "4318"
#define TEXT_OF(x)     #x
#define TEXT(x)	       TEXT_OF(x)

static int refuse_url(const char *url, const char *why)
{
	char shown[300];

	utf8_escape(shown, sizeof(shown), url);
	log_error("--to takes http://HOST[:PORT][/PREFIX], not '%s': %s", shown, why);
	return -EINVAL;
}

/* What may stand in a line of HTTP, and as it is. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text >= 0x7f || *text == '"' || *text == '<' || *text == '>')
			return false;
	return true;
}

/* "host", "host:port", "[::1]:port"; it is cut to pieces. */
static int split_host(char *authority, struct export_target *target)
{
	char *host = authority, *colon = strrchr(authority, ':'), *bracket = strchr(authority, ']');

	if (*authority == '[' && bracket) {
		host++;
		*bracket = '\0';
		colon = bracket[1] == ':' ? bracket + 1 : NULL;
	}
	if (colon) {
		u64 port;

		*colon = '\0';
		if (text_parse_u64(colon + 1, 1, 65535, &port))
			return -EINVAL;
		snprintf(target->port, sizeof(target->port), "%u", (unsigned)port);
	}
	text_copy(target->host, sizeof(target->host), host);
	return *host ? 0 : -EINVAL;
}

int export_target_parse(const char *url, struct export_target *ret_target)
{
	static const char scheme[] = "http://";
	char authority[sizeof(ret_target->host)];
	const char *from = url + strlen(scheme), *slash;
	size_t length;

	*ret_target = (struct export_target){.port = DEFAULT_PORT};
	if (!strncmp(url, "https://", 8))
		return refuse_url(url, "TLS is left to a collector; send to one on this host");
	if (strncmp(url, scheme, strlen(scheme)) != 0 || !is_plain(url))
		return refuse_url(url, "it is no such address");
	slash = strchr(from, '/');
	length = slash ? (size_t)(slash - from) : strlen(from);
	if (length >= sizeof(authority) || (slash && strlen(slash) >= sizeof(ret_target->prefix)))
		return refuse_url(url, "it is too long");
	memcpy(authority, from, length);
	authority[length] = '\0';
	if (split_host(authority, ret_target))
		return refuse_url(url, "it has no host, or a port that is none");
	text_copy(ret_target->prefix, sizeof(ret_target->prefix), slash ? slash : "");
	length = strlen(ret_target->prefix);
	if (length && ret_target->prefix[length - 1] == '/')
		ret_target->prefix[length - 1] = '\0';
	return 0;
}

/* A step that takes longer than SEND_TIMEOUT_S ends with one of these. */
static const char *why_not(int err)
{
	return err == EAGAIN || err == EINPROGRESS ? "no answer within " TEXT(SEND_TIMEOUT_S) " s"
						   : strerror(err);
}

static int connect_to(const struct export_target *target, const char **ret_why)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
	const struct timeval limit = {.tv_sec = SEND_TIMEOUT_S};
	struct addrinfo *found = NULL;
	int sock = -1, failed = getaddrinfo(target->host, target->port, &hints, &found);

	if (failed) {
		*ret_why = gai_strerror(failed);
		return -1;
	}
	for (const struct addrinfo *at = found; at && sock < 0; at = at->ai_next) {
		sock = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
		if (sock < 0)
			continue;
		setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
		setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (!connect(sock, at->ai_addr, at->ai_addrlen))
			break;
		*ret_why = why_not(errno);
		close(sock);
		sock = -1;
	}
	freeaddrinfo(found);
	return sock;
}

static int send_all(int sock, const char *bytes, size_t size)
{
	while (size) {
		ssize_t sent = send(sock, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return -1;
		bytes += sent;
		size -= (size_t)sent;
	}
	return 0;
}

/*
 * The whole answer, as the receiver closes after it; or its first bytes. How many; 0: none, and
 * errno says why, unless it closed without one.
 */
static size_t read_reply(int sock, struct export_reply *ret_reply)
{
	char reply[EXPORT_REPLY_MAX];
	size_t have = 0;

	errno = 0;
	while (have < sizeof(reply)) {
		ssize_t got = recv(sock, reply + have, sizeof(reply) - have, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	export_reply_parse(reply, have, ret_reply);
	return have;
}

/* Says what became of it: an exit status. */
static int judge_reply(const struct export_request *request, const struct export_target *target,
		       size_t size, const struct export_reply *reply)
{
	const char *name = request->exporter->name;

	if (reply->status < 200 || reply->status >= 300) {
		log_error("the receiver at %s port %s did not take %s%s: it answered '%s'%s",
			  target->host, target->port, target->prefix, request->exporter->post_path,
			  reply->line,
			  reply->status == 404 ? ". Is it one that takes this signal?" : "");
		return EXIT_FAILED;
	}
	if (reply->rejected) {
		log_error("the receiver at %s port %s rejected %llu %s of %s: '%s'", target->host,
			  target->port, (unsigned long long)reply->rejected,
			  reply->rejected == 1 ? "item" : "items", name, reply->text);
		return EXIT_FAILED;
	}
	log_info("%s: %zu bytes sent to %s port %s%s%s", name, size, target->host, target->port,
		 *reply->text ? "; the receiver says: " : "", reply->text);
	return EXIT_OK;
}

static int post(const struct export_request *request, const struct export_target *target,
		const char *body, size_t size)
{
	const char *why = "no address", *brackets = strchr(target->host, ':') ? "[]" : "";
	_cleanup_close_ int sock = connect_to(target, &why);
	struct export_reply reply;
	char head[HEAD_BYTES];
	int length, err;

	if (sock < 0) {
		log_error("cannot send to %s port %s: %s. Does a receiver of OTLP listen there?",
			  target->host, target->port, why);
		return EXIT_FAILED;
	}
	length = snprintf(head, sizeof(head),
			  "POST %s%s HTTP/1.1\r\nHost: %.1s%s%s:%s\r\n"
			  "Content-Type: application/x-protobuf\r\nContent-Encoding: gzip\r\n"
			  "Content-Length: %zu\r\nUser-Agent: dwell\r\nConnection: close\r\n\r\n",
			  target->prefix, request->exporter->post_path, brackets, target->host,
			  *brackets ? brackets + 1 : "", target->port, size);
	err = send_all(sock, head, (size_t)length) || send_all(sock, body, size) ? errno : 0;
	/* Also after a failure: who refuses so large a body says so before it has all of it. */
	if (!read_reply(sock, &reply) || (err && reply.status < 300)) {
		err = err ? err : errno;
		log_error("cannot send to %s port %s: %s", target->host, target->port,
			  err ? why_not(err) : "it was closed without an answer");
		return EXIT_FAILED;
	}
	return judge_reply(request, target, size, &reply);
}

/* In a child, for which nothing is left to lose: an answer comes from anywhere. */
static int post_without_privileges(const struct export_request *request,
				   const struct export_target *target, const char *body,
				   size_t size)
{
	int status = 0;
	pid_t child;

	signal(SIGCHLD, SIG_DFL);
	fflush(NULL);
	child = fork();
	if (child < 0) {
		log_error("cannot start the process that sends: %s", strerror(errno));
		return EXIT_FAILED;
	}
	if (!child) {
		int err = privileges_drop();

		if (!err)
			err = child_die_with_parent();
		if (!err)
			_exit(post(request, target, body, size));
		log_error("cannot make a process without privileges: %s", strerror(-err));
		_exit(EXIT_FAILED);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* Gzip of nothing: it ends with how many bytes there were. */
static bool is_empty(const char *body, size_t size)
{
	static const char nothing[4];

	return size >= sizeof(nothing) &&
	       !memcmp(body + size - sizeof(nothing), nothing, sizeof(nothing));
}

static int send_body(const struct export_request *request, const struct export_target *target,
		     int fd)
{
	struct stat st;
	void *body;
	int status;

	if (fstat(fd, &st) || st.st_size <= 0 || (u64)st.st_size > EXPORT_BODY_MAX) {
		log_error("cannot send %s: it has %lld bytes, and at most %u are sent; take less "
			  "with --pid or a part of the session, as FILE@10s-20s",
			  request->exporter->name, (long long)st.st_size, EXPORT_BODY_MAX);
		return EXIT_FAILED;
	}
	body = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (body == MAP_FAILED) {
		log_error("cannot send %s: %s", request->exporter->name, strerror(errno));
		return EXIT_FAILED;
	}
	if (is_empty(body, (size_t)st.st_size)) {
		log_info("%s: not sent, as the session has nothing for it",
			 request->exporter->name);
		status = EXIT_OK;
	} else {
		status = post_without_privileges(request, target, body, (size_t)st.st_size);
	}
	munmap(body, (size_t)st.st_size);
	return status;
}

int export_send(struct export_request *request, const struct export_target *target)
{
	_cleanup_close_ int fd = memfd_create("body", MFD_CLOEXEC), before = dup(STDOUT_FILENO);
	int status = EXIT_FAILED;

	if (fd < 0 || before < 0 || dup2(fd, STDOUT_FILENO) < 0) {
		log_error("cannot send %s: %s", request->exporter->name, strerror(errno));
		return EXIT_FAILED;
	}
	request->export.is_gzip = true;
	status = export_session(request);
	dup2(before, STDOUT_FILENO);
	return status ? status : send_body(request, target, fd);
}
