// SPDX-License-Identifier: Apache-2.0
/* Which files have TLS functions, and what is known of their calls: for the probes that wait. */
#include "tls_libraries.h"

#include "../../src/base/cleanup.h"
#include "tls.h"

#define PROGRAM_NS   150 /* docs/requests.md */
#define LIMIT_OF_CPU 0.1

_Static_assert(TLS_FUNCTION_COUNT <= DEFERRED_FUNCTIONS_MAX, "each function has a cost");

static const char *const libraries[] = {"libssl.so", "libssl-", NULL};

/* node and others have it linked in, and export it under the same names. */
static u64 cookie_of(int library, const char *function, u64 cookie)
{
	(void)library;
	(void)function;
	return cookie;
}

static void add_calls(const void *of_cpu, u64 calls[DEFERRED_FUNCTIONS_MAX])
{
	const struct tls_calls *counted = of_cpu;

	for (int i = 0; i < TLS_FUNCTION_COUNT; i++)
		calls[i] += counted->calls[i];
}

const struct deferred_kind request_tls_deferred = {
	.functions = "SSL_read, Go's tls.Conn.Read and the like, which name requests in TLS,",
	.calls = "calls of SSL_read, Go's tls.Conn.Read and the like",
	.main_function = "SSL_read",
	.main_cookie = TLS_BY_READ,
	.libraries = libraries,
	.cookie = cookie_of,
	/* Go passes arguments in registers from 1.17 on, which was the first to have this one. */
	.go_function = "crypto/tls.(*Conn).handshakeContext",
	.calls_map = "request_tls_calls",
	.calls_size = sizeof(struct tls_calls),
	.add_calls = add_calls,
	.asked_map = "request_tls_asked",
	.is_part = true,
	.program_ns = PROGRAM_NS,
	.limit = LIMIT_OF_CPU,
};
