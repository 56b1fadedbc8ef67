/* SPDX-License-Identifier: BSD-2-Clause */
/* Where clients come in: the COMM word of the command line, and its sockets. */
#ifndef TRUEHIT_RSP_LISTENER_H
#define TRUEHIT_RSP_LISTENER_H

#include <poll.h>
#include <stdbool.h>

#include "gdbstub/base/error.h"
#include "gdbstub/rsp/socket_path.h"

struct connection;

enum comm_kind { COMM_TCP, COMM_UNIX, COMM_STDIO, COMM_SERIAL };

enum {
	COMM_HOST_MAX = 256, /* a DNS name */
	COMM_PATH_MAX = 108, /* sun_path */
	LISTENER_SOCKETS_MAX = 8,
};

/** A COMM word, taken apart. */
struct comm {
	enum comm_kind kind;
	char host[COMM_HOST_MAX]; /* COMM_TCP; "": loopback */
	unsigned int port;	  /* COMM_TCP; 0: any free one */
	char path[COMM_PATH_MAX]; /* COMM_UNIX, COMM_SERIAL */
};

/** :PORT, HOST:PORT, [V6]:PORT, V6:PORT, unix:PATH, stdio, "-", or a device (which
 * has no colon). */
struct error *comm_parse(const char *text, struct comm *comm);

struct listener {
	struct comm comm;
	int fds[LISTENER_SOCKETS_MAX];
	unsigned int nfds;
	unsigned int port;	 /* COMM_TCP: the real one */
	bool used;		 /* COMM_STDIO, COMM_SERIAL: its one client has come */
	struct socket_path path; /* COMM_UNIX */
};

/**
 * Binds and listens: on every address of a host name; without a host, on
 * 127.0.0.1 and, where there is IPv6, on ::1. A stale socket at a unix path is
 * replaced; anything else there is an error. A serial line is made raw, at the speed
 * it has. On error nothing is left behind.
 */
struct error *listener_open(struct listener *listener, const struct comm *comm);
/** Closes the sockets and removes our unix socket. May be repeated. */
void listener_close(struct listener *listener);
/** Says on stderr where clients can connect now. */
void listener_announce(const struct listener *listener);
/** Does the connection never change or lose a byte? */
bool listener_is_reliable(const struct listener *listener);
/** Can another client come? */
bool listener_is_open(const struct listener *listener);
/** Fills in at most LISTENER_SOCKETS_MAX rows; returns their number. */
unsigned int listener_poll(const struct listener *listener, struct pollfd *fds);
/** The next client, announced on stderr; NULL if none is waiting. */
struct connection *listener_accept(struct listener *listener);

#endif
