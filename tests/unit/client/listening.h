/* SPDX-License-Identifier: BSD-2-Clause */
/* A listener, and clients that connect to it. */
#ifndef TRUEHIT_TESTS_UNIT_CLIENT_LISTENING_H
#define TRUEHIT_TESTS_UNIT_CLIENT_LISTENING_H

#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "gdbstub/rsp/connection.h"
#include "gdbstub/rsp/listener.h"

enum { PATIENCE = 5000 }; /* ms */

static inline struct comm comm(const char *text)
{
	struct comm parsed;
	struct error *error _cleanup_error_ = comm_parse(text, &parsed);

	cr_assert_null(error, "%s", text);
	return parsed;
}

static inline struct listener listen_at(const char *text)
{
	struct comm where = comm(text);
	struct listener listener;
	struct error *error _cleanup_error_ = listener_open(&listener, &where);

	cr_assert_null(error, "%s: %s", text, error_text(error));
	return listener;
}

static inline int connect_to(unsigned int port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static inline struct connection *accept_from(struct listener *listener)
{
	struct pollfd fds[LISTENER_SOCKETS_MAX];
	unsigned int n = listener_poll(listener, fds);

	cr_assert_gt(poll(fds, n, PATIENCE), 0);
	return listener_accept(listener);
}

#endif
