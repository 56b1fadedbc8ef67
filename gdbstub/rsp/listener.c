/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>

#include "gdbstub/base/log.h"
#include "gdbstub/rsp/connection.h"
#include "gdbstub/rsp/frame.h"

enum { BACKLOG = 8, PORT_TRIES = 16 };

/* ---- the COMM word ---- */

static bool parse_port(const char *text, unsigned int *port)
{
	unsigned int value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && value <= UINT16_MAX; p++)
		value = value * 10 + (unsigned int)(*p - '0');
	*port = value;
	return p != text && *p == '\0' && value <= UINT16_MAX;
}

static struct error *comm_parse_tcp(const char *text, struct comm *comm)
{
	/* The last colon: an IPv6 address may come without brackets. */
	const char *colon = strrchr(text, ':'), *host = text;
	size_t len;

	if (strncmp(text, "udp", 3) == 0 && strchr(":46", text[3]))
		return error_create(0, "%s: there is no UDP here, only TCP", text);
	if (!parse_port(colon + 1, &comm->port))
		return error_create(0, "%s: '%s' is not a port number (0 to 65535)",
				    text, colon + 1);
	len = (size_t)(colon - text);
	if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	}
	if (len >= sizeof(comm->host))
		return error_create(0, "%s: the host name is too long", text);
	memcpy(comm->host, host, len);
	return NULL;
}

static struct error *comm_parse_path(const char *text, const char *path,
				     struct comm *comm)
{
	if (*path == '\0')
		return error_create(0, "'%s': there is no path", text);
	if (strlen(path) >= sizeof(comm->path))
		return error_create(0, "%s: longer than a path can be here (%zu)", text,
				    sizeof(comm->path) - 1);
	memcpy(comm->path, path, strlen(path) + 1);
	return NULL;
}

struct error *comm_parse(const char *text, struct comm *comm)
{
	static const char unix_prefix[] = "unix:";

	*comm = (struct comm){.kind = COMM_TCP};
	if (strcmp(text, "-") == 0 || strcmp(text, "stdio") == 0) {
		comm->kind = COMM_STDIO;
		return NULL;
	}
	if (strncmp(text, unix_prefix, sizeof(unix_prefix) - 1) == 0) {
		comm->kind = COMM_UNIX;
		return comm_parse_path(text, text + sizeof(unix_prefix) - 1, comm);
	}
	if (strchr(text, ':'))
		return comm_parse_tcp(text, comm);
	comm->kind = COMM_SERIAL;
	return comm_parse_path(text, text, comm);
}

/* ---- TCP ---- */

static struct error *bind_error(int err)
{
	return error_create(0, "Can't bind address: %s.", strerror(err));
}

/* Both families have the port in the same place. */
union tcp_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static unsigned int local_port(int fd)
{
	union tcp_address addr = {0};
	socklen_t len = sizeof(addr);

	return getsockname(fd, &addr.any, &len) == 0 ? ntohs(addr.v4.sin_port) : 0;
}

/* A socket that listens at this address; negative errno. */
static int listen_at(const struct addrinfo *info, unsigned int port)
{
	union tcp_address addr = {0};
	int on = 1;
	int fd _cleanup_close_ =
		socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (info->ai_addrlen > sizeof(addr))
		return -EAFNOSUPPORT;
	memcpy(&addr, info->ai_addr, info->ai_addrlen);
	addr.v4.sin_port = htons((uint16_t)port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, &addr.any, info->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return take_fd(&fd);
}

static void close_sockets(struct listener *listener)
{
	while (listener->nfds > 0)
		close(listener->fds[--listener->nfds]);
}

/*
 * Listens at every address. One in use is fatal: a client would reach the other
 * server there. One that this machine lacks (no IPv6) is not, if another works.
 */
static int listen_at_all(struct listener *listener, const struct addrinfo *list)
{
	int err = -EADDRNOTAVAIL;

	listener->port = listener->comm.port;
	for (const struct addrinfo *info = list; info; info = info->ai_next) {
		int fd;

		if (listener->nfds == LISTENER_SOCKETS_MAX)
			break;
		fd = listen_at(info, listener->port);
		if (fd == -EADDRINUSE) {
			close_sockets(listener);
			return fd;
		}
		if (fd < 0) {
			err = fd;
			continue;
		}
		listener->fds[listener->nfds++] = fd;
		listener->port = local_port(fd);
	}
	return listener->nfds > 0 ? 0 : err;
}

/* A port that is free at one address may be taken at the next. */
static struct error *listen_at_any(struct listener *listener,
				   const struct addrinfo *list)
{
	int tries = listener->comm.port == 0 ? PORT_TRIES : 1;
	int err;

	do {
		err = listen_at_all(listener, list);
	} while (err == -EADDRINUSE && --tries > 0);
	return err < 0 ? bind_error(-err) : NULL;
}

/*
 * What getaddrinfo() says where no host is given; it takes a quarter of the time of an
 * attach to one thread, as it reads its configuration and asks the kernel for all
 * addresses first.
 */
static struct error *open_loopback(struct listener *listener)
{
	union tcp_address v4 = {.v4 = {.sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
	union tcp_address v6 = {
		.v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}};
	struct addrinfo second = {
		.ai_family = AF_INET, .ai_addr = &v4.any, .ai_addrlen = sizeof(v4.v4)};
	struct addrinfo first = {.ai_family = AF_INET6,
				 .ai_addr = &v6.any,
				 .ai_addrlen = sizeof(v6.v6),
				 .ai_next = &second};

	return listen_at_any(listener, &first);
}

static struct error *open_tcp(struct listener *listener)
{
	const char *host = listener->comm.host;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
	struct addrinfo *list = NULL;
	struct error *error;
	int err;

	if (!*host)
		return open_loopback(listener);
	err = getaddrinfo(host, "0", &hints, &list);
	if (err)
		return error_create(0, "%s: cannot resolve name: %s", host,
				    err == EAI_SYSTEM ? strerror(errno)
						      : gai_strerror(err));
	error = listen_at_any(listener, list);
	freeaddrinfo(list);
	return error;
}

/* ---- unix sockets ---- */

static struct error *open_unix(struct listener *listener)
{
	const char *path = listener->comm.path;
	int fd _cleanup_close_ =
		socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct error *error;

	if (fd < 0)
		return error_prefix(bind_error(errno), "%s", path);
	error = socket_path_bind(&listener->path, fd, path);
	if (error)
		return error;
	if (listen(fd, BACKLOG) < 0) {
		error = error_create(errno, "cannot listen at %s", path);
		socket_path_remove(&listener->path);
		return error;
	}
	listener->fds[listener->nfds++] = take_fd(&fd);
	return NULL;
}

/* ---- serial lines ---- */

/* All bytes as they are, whatever the modem lines say. */
static int make_raw(int fd)
{
	struct termios termios;

	if (tcgetattr(fd, &termios) < 0)
		return -errno;
	cfmakeraw(&termios);
	termios.c_cflag |= CLOCAL | CREAD;
	termios.c_cc[VMIN] = 1;
	termios.c_cc[VTIME] = 0;
	return tcsetattr(fd, TCSANOW, &termios) < 0 ? -errno : 0;
}

static struct error *open_serial(struct listener *listener)
{
	const char *path = listener->comm.path;
	int fd _cleanup_close_ = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	int err = fd < 0 ? -errno : make_raw(fd);

	if (err < 0)
		return error_create(0,
				    "Could not open remote device: %s: %s (or give "
				    "[HOST]:PORT, unix:PATH, stdio)",
				    path, strerror(-err));
	listener->fds[listener->nfds++] = take_fd(&fd);
	return NULL;
}

/* ---- the listener ---- */

struct error *listener_open(struct listener *listener, const struct comm *comm)
{
	*listener = (struct listener){.comm = *comm};
	switch (comm->kind) {
	case COMM_TCP:
		return open_tcp(listener);
	case COMM_UNIX:
		return open_unix(listener);
	case COMM_SERIAL:
		return open_serial(listener);
	case COMM_STDIO:
		break;
	}
	return NULL;
}

void listener_close(struct listener *listener)
{
	socket_path_remove(&listener->path);
	close_sockets(listener);
	listener->used = true;
}

void listener_announce(const struct listener *listener)
{
	switch (listener->comm.kind) {
	case COMM_TCP:
		log_info("Listening on port %u", listener->port);
		break;
	case COMM_UNIX:
		log_info("Listening on unix:%s", listener->comm.path);
		break;
	case COMM_SERIAL:
	case COMM_STDIO:
		break;
	}
}

bool listener_is_reliable(const struct listener *listener)
{
	return listener->comm.kind != COMM_SERIAL;
}

bool listener_is_open(const struct listener *listener)
{
	return listener->nfds > 0 ||
	       (listener->comm.kind >= COMM_STDIO && !listener->used);
}

unsigned int listener_poll(const struct listener *listener, struct pollfd *fds)
{
	for (unsigned int i = 0; i < listener->nfds; i++)
		fds[i] = (struct pollfd){.fd = listener->fds[i], .events = POLLIN};
	return listener->nfds;
}

static struct connection *accept_at(int listen_fd)
{
	struct sockaddr_storage addr = {0};
	socklen_t len = sizeof(addr);
	char host[NI_MAXHOST], port[NI_MAXSERV];
	int on = 1, buffered = RSP_PACKET_SIZE;
	int fd _cleanup_close_ = accept4(listen_fd, (struct sockaddr *)&addr, &len,
					 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (addr.ss_family == AF_UNIX) {
		log_info("Remote debugging from a local client");
	} else {
		/* Replies are small and waited for, none can overtake what the
		 * kernel has; and a host that vanishes without a word is to be
		 * noticed. */
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffered, sizeof(buffered));
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		if (getnameinfo((struct sockaddr *)&addr, len, host, sizeof(host), port,
				sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
			log_info("Remote debugging from host %s, port %s", host, port);
	}
	return connection_create(take_fd(&fd), -1);
}

/* Another open file description where possible, since O_NONBLOCK on the one
 * that we share with others (a terminal) would be set for them, too. */
static int private_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	char path[64];
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (copy >= 0)
		return copy;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy >= 0)
		fcntl(copy, F_SETFL, flags | O_NONBLOCK);
	return copy;
}

static struct connection *accept_stdio(struct listener *listener)
{
	int in _cleanup_close_ = private_nonblocking(STDIN_FILENO);
	int out _cleanup_close_ = private_nonblocking(STDOUT_FILENO);

	if (in < 0 || out < 0 || listener->used)
		return NULL;
	listener->used = true;
	log_info("Remote debugging using stdio");
	return connection_create(take_fd(&in), take_fd(&out));
}

/* There is only one end of the line: who sends is the client. It is opened again
 * when a client has gone, which shows by a hangup only. */
static struct connection *accept_serial(struct listener *listener)
{
	struct error *error _cleanup_error_ = NULL;

	if (listener->used)
		return NULL;
	if (listener->nfds == 0)
		error = open_serial(listener);
	if (error) {
		log_warning("%s", error_text(error));
		listener->used = true;
		return NULL;
	}
	log_info("Remote debugging using %s", listener->comm.path);
	return connection_create(listener->fds[--listener->nfds], -1);
}

struct connection *listener_accept(struct listener *listener)
{
	if (listener->comm.kind == COMM_STDIO)
		return accept_stdio(listener);
	if (listener->comm.kind == COMM_SERIAL)
		return accept_serial(listener);
	for (unsigned int i = 0; i < listener->nfds; i++) {
		struct connection *connection = accept_at(listener->fds[i]);

		if (connection)
			return connection;
	}
	return NULL;
}
