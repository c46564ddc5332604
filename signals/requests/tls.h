/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * The functions of OpenSSL and of Go in which a TLS connection is read and written in plain, as
 * cookies of their probes: read by both compilers.
 */
#ifndef DWELL_REQUESTS_TLS_H
#define DWELL_REQUESTS_TLS_H

/* FUNCTION(NAME, name): also in BoringSSL, and where either is linked into a program. */
#define TLS_FUNCTIONS(FUNCTION)                                                                    \
	FUNCTION(READ, SSL_read)                                                                   \
	FUNCTION(READ_EX, SSL_read_ex)                                                             \
	FUNCTION(HANDSHAKE, SSL_do_handshake)                                                      \
	FUNCTION(WRITE, SSL_write)                                                                 \
	FUNCTION(WRITE_EX, SSL_write_ex)

enum tls_function {
#define FUNCTION(NAME, name) TLS_BY_##NAME,
	TLS_FUNCTIONS(FUNCTION)
#undef FUNCTION
		TLS_BY_GO_READ,
	TLS_BY_GO_HANDSHAKE,
	TLS_BY_GO_WRITE,
	TLS_FUNCTION_COUNT
};

/* How often each was called: of one CPU. */
struct tls_calls {
	unsigned long long calls[TLS_FUNCTION_COUNT];
};

#endif
