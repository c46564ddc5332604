// SPDX-License-Identifier: Apache-2.0
/*
 * server PORT DATABASE_PORT FILE CONNECTIONS: a server of one thread per connection that knows
 * where its time goes. Each endpoint sleeps, burns CPU, waits for a lock, reads a cold file and
 * asks PostgreSQL to sleep, so and so often each. It ends when as many connections were closed.
 *
 * It prints a line of JSON for each request. Times are nanoseconds, moments those of
 * CLOCK_MONOTONIC.
 *
 * - port, number: the client's port, and which request of its connection this is
 * - path, thread, holder: what was asked for, who answered, and who held the lock
 * - begin: when it had been received
 * - window, cpu, runq: what it took, ran, and waited for a CPU; until it answers, and has answered
 * - sleep, lock, disk, net, signalled: what its thread waited so, by the clock around the one thing
 *   that does. What it ran and waited for a CPU there is left out
 * - burn: what it ran in order to run
 * - database, backend: the port of its connection to PostgreSQL, and the process at the other end
 * - calls: begin and end of each query, and what its thread waited for a CPU between them
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MS	1000000LL
#define READ_NS 100000 /* to read some clocks, at most */

enum {
	SLEEP_MS = 20,
	BURN_MS = 10,
	LOCK_MS = 15,
	CONNECTIONS_MAX = 16,
	CALLS_MAX = 4,
	PIECE_BYTES = 512 << 10,
	PIECES = 16, /* of the file */
};
static const char query[] = "SELECT pg_sleep(0.03)";

enum part { SLEEP, BURN, LOCK, DISK, NET, SIGNALLED, PARTS };
static const char *const part_names[PARTS] = {"sleep", "burn", "lock", "disk", "net", "signalled"};

/* How often it does what. */
static const struct recipe {
	const char *path;
	int sleeps, burns, locks, reads, queries;
} recipes[] = {
	{"/sleep", 1, 0, 0, 0, 0},    {"/burn", 0, 1, 0, 0, 0}, {"/lock", 0, 0, 1, 0, 0},
	{"/file", 0, 0, 0, 1, 0},     {"/ask", 0, 0, 0, 0, 1},	{"/all", 1, 1, 1, 1, 1},
	{"/checkout", 0, 2, 3, 0, 2},
};

/* Where the calling thread's time has gone so far. */
struct moment {
	long long wall, cpu, runq;
};

struct call {
	long long begin, end, runq;
};

struct request {
	struct moment begin, end, sent;
	long long parts[PARTS];
	struct call calls[CALLS_MAX];
	int call_count;
};

struct connection {
	int index, there, database, file, schedstat;
	unsigned int backend, thread, holder;
	int port, database_port;
	pthread_t served;
	/* Its holder has the lock from is_wanted on, and says so by is_held. */
	pthread_mutex_t lock;
	sem_t is_wanted, is_held;
	sem_t was_read, is_cold; /* its file */
};

static struct connection connections[CONNECTIONS_MAX];
static const char *file_path;
static int database_port;

static void must(bool worked, const char *what)
{
	if (worked)
		return;
	perror(what);
	exit(1);
}

static long long clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000 * MS + ts.tv_nsec;
}

/* Again, if the clocks were not read at once: its CPU was taken meanwhile. */
static struct moment here(const struct connection *own)
{
	struct moment moment;
	char text[64] = "";
	long long ran;

	do {
		moment.wall = clock_ns(CLOCK_MONOTONIC);
		must(pread(own->schedstat, text, sizeof(text) - 1, 0) > 0, "schedstat");
		must(sscanf(text, "%lld %lld", &ran, &moment.runq) == 2, "schedstat");
		moment.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	} while (clock_ns(CLOCK_MONOTONIC) - moment.wall > READ_NS);
	return moment;
}

static void name_thread(const char *what, int index)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%d", what, index);
	pthread_setname_np(pthread_self(), name);
}

static void sleep_ms(int ms)
{
	struct timespec ts = {.tv_nsec = ms * MS};

	nanosleep(&ts, NULL);
}

/* --- the parts --- */

/* What it waited since then, but for what it ran and waited for a CPU. */
static struct moment add_wait(struct connection *own, struct request *request, enum part part,
			      struct moment begin)
{
	struct moment end = here(own);

	request->parts[part] +=
		end.wall - begin.wall - (end.cpu - begin.cpu) - (end.runq - begin.runq);
	return end;
}

static void do_sleep(struct connection *own, struct request *request)
{
	struct moment begin = here(own);

	sleep_ms(SLEEP_MS);
	add_wait(own, request, SLEEP, begin);
}

static void do_burn(struct connection *own, struct request *request)
{
	struct moment begin = here(own);
	long long ran;

	do
		ran = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin.cpu;
	while (ran < BURN_MS * MS);
	request->parts[BURN] += ran;
}

static void *hold(void *argument)
{
	struct connection *own = argument;

	own->holder = (unsigned int)gettid();
	name_thread("holder", own->index);
	for (;;) {
		sem_wait(&own->is_wanted);
		pthread_mutex_lock(&own->lock);
		sem_post(&own->is_held);
		sleep_ms(LOCK_MS);
		pthread_mutex_unlock(&own->lock);
	}
	return NULL;
}

static void do_lock(struct connection *own, struct request *request)
{
	struct moment begin = here(own);

	sem_post(&own->is_wanted);
	sem_wait(&own->is_held);
	add_wait(own, request, SIGNALLED, begin);
	begin = here(own);
	pthread_mutex_lock(&own->lock);
	add_wait(own, request, LOCK, begin);
	pthread_mutex_unlock(&own->lock);
}

/* By another thread: it can wait for work of the kernel on another CPU, which is like a lock. */
static void *make_cold(void *argument)
{
	struct connection *own = argument;

	name_thread("evictor", own->index);
	for (;;) {
		sem_wait(&own->was_read);
		must(!posix_fadvise(own->file, 0, 0, POSIX_FADV_DONTNEED), "posix_fadvise");
		sem_post(&own->is_cold);
	}
	return NULL;
}

/*
 * Without read-ahead, so that all of it is waited for, and in few waits: the way of a wake-up to
 * another CPU, some microseconds, is runq for dwell and no time of the thread's for the kernel.
 */
static void do_read(struct connection *own, struct request *request)
{
	static __thread char piece[PIECE_BYTES];
	struct moment begin = here(own);

	sem_wait(&own->is_cold);
	add_wait(own, request, SIGNALLED, begin);
	begin = here(own);
	for (off_t i = 0; i < PIECES; i++)
		must(pread(own->file, piece, PIECE_BYTES, i * PIECE_BYTES) == PIECE_BYTES, "pread");
	add_wait(own, request, DISK, begin);
	sem_post(&own->was_read);
}

/* --- PostgreSQL's protocol --- */

/* Up to "ready for query", most of it with one receive. */
static void receive_answer(struct connection *own)
{
	static __thread char buffer[8192];
	size_t have = 0, at = 0;

	for (;;) {
		ssize_t more = recv(own->database, buffer + have, sizeof(buffer) - have, 0);

		must(more > 0, "PostgreSQL");
		have += (size_t)more;
		while (have - at >= 5) {
			uint32_t length;

			memcpy(&length, buffer + at + 1, sizeof(length));
			length = ntohl(length);
			if (have - at < length + 1)
				break;
			must(buffer[at] != 'E', "PostgreSQL refuses it");
			if (buffer[at] == 'K') {
				memcpy(&own->backend, buffer + at + 5, sizeof(own->backend));
				own->backend = ntohl(own->backend);
			}
			if (buffer[at] == 'Z')
				return;
			at += length + 1;
		}
	}
}

static void send_all(int fd, const void *data, size_t size)
{
	must(send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size, "send");
}

static void open_database(struct connection *own)
{
	static const char startup[] = "\0\0\0\x29\0\3\0\0user\0postgres\0database\0postgres\0";
	struct sockaddr_in place = {.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)database_port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(place);
	int one = 1;

	_Static_assert(sizeof(startup) == 0x29, "the startup message has its own length");
	own->database = socket(AF_INET, SOCK_STREAM, 0);
	must(!connect(own->database, (struct sockaddr *)&place, size), "connect to PostgreSQL");
	must(!getsockname(own->database, (struct sockaddr *)&place, &size), "getsockname");
	setsockopt(own->database, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	own->database_port = ntohs(place.sin_port);
	send_all(own->database, startup, sizeof(startup));
	receive_answer(own);
}

static void do_query(struct connection *own, struct request *request)
{
	char message[5 + sizeof(query)] = "Q";
	uint32_t length = htonl(sizeof(message) - 1);
	struct moment begin, end;

	memcpy(message + 1, &length, sizeof(length));
	memcpy(message + 5, query, sizeof(query));
	begin = here(own);
	send_all(own->database, message, sizeof(message));
	receive_answer(own);
	end = add_wait(own, request, NET, begin);
	request->calls[request->call_count++] =
		(struct call){begin.wall, end.wall, end.runq - begin.runq};
}

/* --- requests --- */

static void repeat(int count, void (*part)(struct connection *, struct request *),
		   struct connection *own, struct request *request)
{
	while (count--)
		part(own, request);
}

static const struct recipe *asked_for(const char *request)
{
	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
		size_t length = strlen(recipes[i].path);

		if (!strncmp(request, "GET ", 4) &&
		    !strncmp(request + 4, recipes[i].path, length) && request[4 + length] == ' ')
			return &recipes[i];
	}
	return NULL;
}

static void tell_span(const char *what, long long begin, long long end, long long sent)
{
	printf(",\"%s\":[%lld,%lld]", what, end - begin, sent - begin);
}

static void tell(const struct connection *own, const struct request *request, const char *path,
		 int number)
{
	const struct moment *begin = &request->begin, *end = &request->end, *sent = &request->sent;

	flockfile(stdout);
	printf("{\"port\":%d,\"number\":%d,\"path\":\"%s\",\"thread\":%u,\"holder\":%u,\"begin\":%"
	       "lld,"
	       "\"database\":%d,\"backend\":%u",
	       own->port, number, path, own->thread, own->holder, begin->wall, own->database_port,
	       own->backend);
	tell_span("window", begin->wall, end->wall, sent->wall);
	tell_span("cpu", begin->cpu, end->cpu, sent->cpu);
	tell_span("runq", begin->runq, end->runq, sent->runq);
	for (int i = 0; i < PARTS; i++)
		printf(",\"%s\":%lld", part_names[i], request->parts[i]);
	printf(",\"calls\":[");
	for (int i = 0; i < request->call_count; i++)
		printf("%s[%lld,%lld,%lld]", i ? "," : "", request->calls[i].begin,
		       request->calls[i].end, request->calls[i].runq);
	printf("]}\n");
	funlockfile(stdout);
}

static void answer(struct connection *own, const struct recipe *recipe, int number)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
	struct request request = {.begin = here(own)};

	repeat(recipe->sleeps, do_sleep, own, &request);
	repeat(recipe->burns, do_burn, own, &request);
	repeat(recipe->locks, do_lock, own, &request);
	repeat(recipe->reads, do_read, own, &request);
	repeat(recipe->queries, do_query, own, &request);
	request.end = here(own);
	send_all(own->there, text, sizeof(text) - 1);
	request.sent = here(own);
	tell(own, &request, recipe->path, number);
}

static void *serve(void *argument)
{
	struct connection *own = argument;
	pthread_t holder, evictor;
	char request[1024];
	ssize_t length;

	own->thread = (unsigned int)gettid();
	name_thread("request", own->index);
	own->schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
	own->file = open(file_path, O_RDONLY);
	must(own->schedstat >= 0 && own->file >= 0, "open");
	must(!posix_fadvise(own->file, 0, 0, POSIX_FADV_RANDOM), "posix_fadvise");
	pthread_mutex_init(&own->lock, NULL);
	sem_init(&own->is_wanted, 0, 0);
	sem_init(&own->is_held, 0, 0);
	sem_init(&own->was_read, 0, 1);
	sem_init(&own->is_cold, 0, 0);
	must(!pthread_create(&holder, NULL, hold, own), "pthread_create");
	must(!pthread_create(&evictor, NULL, make_cold, own), "pthread_create");
	open_database(own);
	for (int number = 1; (length = recv(own->there, request, sizeof(request) - 1, 0)) > 0;
	     number++) {
		const struct recipe *recipe;

		request[length] = '\0';
		recipe = asked_for(request);
		must(recipe, "the client asks for something else");
		answer(own, recipe, number);
	}
	return NULL;
}

static int listen_at(int port)
{
	struct sockaddr_in place = {.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	must(!bind(fd, (struct sockaddr *)&place, sizeof(place)), "bind");
	must(!listen(fd, CONNECTIONS_MAX), "listen");
	return fd;
}

static void make_file(void)
{
	static char data[PIECES * PIECE_BYTES];
	int fd = open(file_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(data, 'x', sizeof(data));
	must(fd >= 0 && write(fd, data, sizeof(data)) == sizeof(data) && !fsync(fd), "the file");
	close(fd);
}

int main(int argc, char **argv)
{
	int listener, count;

	must(argc == 5, "usage: server PORT DATABASE_PORT FILE CONNECTIONS");
	database_port = atoi(argv[2]);
	file_path = argv[3];
	count = atoi(argv[4]);
	must(count <= CONNECTIONS_MAX, "so many connections");
	make_file();
	listener = listen_at(atoi(argv[1]));
	for (int i = 0; i < count; i++) {
		struct connection *own = &connections[i];
		struct sockaddr_in peer;
		socklen_t size = sizeof(peer);
		int one = 1;

		own->index = i + 1;
		own->there = accept(listener, (struct sockaddr *)&peer, &size);
		must(own->there >= 0, "accept");
		setsockopt(own->there, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		own->port = ntohs(peer.sin_port);
		must(!pthread_create(&own->served, NULL, serve, own), "pthread_create");
	}
	for (int i = 0; i < count; i++)
		pthread_join(connections[i].served, NULL);
	return 0;
}
