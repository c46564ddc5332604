// SPDX-License-Identifier: Apache-2.0
/*
 * A server that loads a plugin for each request, and whose search path has it in the last of 16
 * places. The server's own timer knows nothing of that; the client feels it.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"

#define REQUESTS 1000
#define PLUGIN	 "greeting.so"

static const char *const places[] = {"00", "01", "02", "03", "04", "05", "06", "07",
				     "08", "09", "10", "11", "12", "13", "14", "15"};
#define PLACES ((int)(sizeof(places) / sizeof(places[0])))

/* What the server tells of a request: its reply, and how long its handler took. */
struct reply {
	long long handler_ns;
	char text[24];
};

/* The loader reads its search path once, as the program starts: so it starts again. */
static void start_again_with_places(void)
{
	char root[] = "/tmp/dwell-oracle-XXXXXX", self[4096], plugin[4096], *paths;
	size_t size;
	FILE *path = open_memstream(&paths, &size);

	must(path && mkdtemp(root) && !chdir(root), "make a folder");
	for (int i = 0; i < PLACES; i++) {
		must(!mkdir(places[i], 0755), "make a folder");
		fprintf(path, "%s%s/%s", i ? ":" : "", root, places[i]);
	}
	fclose(path);
	beside_program("plugin/" PLUGIN, plugin, sizeof(plugin));
	must(!chdir(places[PLACES - 1]) && !symlink(plugin, PLUGIN), "link the plugin");
	setenv("ORACLE_PLACES", root, true);
	setenv("LD_LIBRARY_PATH", paths, true);
	beside_program("oracle", self, sizeof(self));
	execl(self, self, "plugin", (char *)NULL);
	must(false, "exec");
}

static void remove_places(const char *root)
{
	must(!chdir(root) && !chdir(places[PLACES - 1]) && !unlink(PLUGIN) && !chdir(root),
	     "remove the plugin's link");
	for (int i = 0; i < PLACES; i++)
		rmdir(places[i]);
	rmdir(root);
}

static int answer(int number, struct reply *ret_reply)
{
	void (*greet)(int number, char *text, size_t size);
	void *plugin = dlopen(PLUGIN, RTLD_NOW);
	long long start;

	if (!plugin || !(greet = (__typeof__(greet))dlsym(plugin, "greet")))
		return -1;
	start = now();
	greet(number, ret_reply->text, sizeof(ret_reply->text));
	ret_reply->handler_ns = now() - start;
	return dlclose(plugin);
}

static void serve(int listener)
{
	int sock = accept(listener, NULL, NULL), number;
	struct reply reply = {0};

	while (recv(sock, &number, sizeof(number), 0) == sizeof(number)) {
		if (answer(number, &reply)) {
			fprintf(stderr, "oracle: %s\n", dlerror());
			_exit(1);
		}
		if (send(sock, &reply, sizeof(reply), 0) != sizeof(reply))
			break;
	}
	_exit(0);
}

/*
 * requests: how many; handler_ns and client_ns: what one took, on average, by the server's timer
 * and by the client's.
 */
static void ask(int sock)
{
	long long handler = 0, start = now();
	struct reply reply;

	for (int i = 0; i < REQUESTS; i++) {
		must(send(sock, &i, sizeof(i), 0) == sizeof(i), "send");
		must(recv(sock, &reply, sizeof(reply), MSG_WAITALL) == sizeof(reply), "receive");
		handler += reply.handler_ns;
	}
	truth("requests", REQUESTS);
	truth("handler_ns", handler / REQUESTS);
	truth("client_ns", (now() - start) / REQUESTS);
}

void do_plugin(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), sock = socket(AF_INET, SOCK_STREAM, 0);
	const char *root = getenv("ORACLE_PLACES");
	socklen_t size = sizeof(address);

	if (!root)
		start_again_with_places();
	must(!bind(listener, (void *)&address, size) && !listen(listener, 1) &&
		     !getsockname(listener, (void *)&address, &size),
	     "listen");
	if (fork() == 0) {
		close(sock);
		serve(listener);
	}
	must(!connect(sock, (void *)&address, size), "connect");
	ask(sock);
	close(sock);
	wait(NULL);
	remove_places(root);
}
