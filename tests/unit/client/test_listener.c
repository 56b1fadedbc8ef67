/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>

#include "gdbstub/rsp/connection.h"
#include "gdbstub/rsp/listener.h"
#include "tests/unit/client/listening.h"

/* ---- COMM ---- */

static void expect_tcp(const char *text, const char *host, unsigned int port)
{
	struct comm parsed = comm(text);

	cr_expect_eq(parsed.kind, COMM_TCP, "%s", text);
	cr_expect_str_eq(parsed.host, host, "%s", text);
	cr_expect_eq(parsed.port, port, "%s", text);
}

Test(comm, forms)
{
	expect_tcp(":2345", "", 2345);
	expect_tcp("localhost:0", "localhost", 0);
	expect_tcp("127.0.0.1:65535", "127.0.0.1", 65535);
	expect_tcp("[::1]:80", "::1", 80);
	expect_tcp("::1:80", "::1", 80);
	expect_tcp("tcp8:123:80", "tcp8:123", 80);
	cr_expect_eq(comm("-").kind, COMM_STDIO);
	cr_expect_eq(comm("stdio").kind, COMM_STDIO);
	cr_expect_str_eq(comm("unix:/tmp/s").path, "/tmp/s");
	cr_expect_eq(comm("/dev/ttyS0").kind, COMM_SERIAL);
	cr_expect_str_eq(comm("/dev/ttyS0").path, "/dev/ttyS0");
}

Test(comm, errors)
{
	static const char *const bad[] = {
		"",	     ":",   ":x",	    "x:",    ":65536",
		":-1",	     ":1x", ":99999999999", "unix:", "udp:localhost:1",
		"localhost:"};
	char longest[COMM_HOST_MAX + 8];
	struct comm parsed;
	struct error *error;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error *refused _cleanup_error_ = comm_parse(bad[i], &parsed);

		cr_expect(refused, "%s", bad[i]);
	}
	memset(longest, 'h', sizeof(longest));
	strcpy(longest + COMM_HOST_MAX, ":1");
	error = comm_parse(longest, &parsed);
	cr_expect(error);
	error_destroy(error);
}

/* ---- listening ---- */

static void expect_refused(const char *text, const char *reason)
{
	struct comm where = comm(text);
	struct listener listener;
	struct error *error _cleanup_error_ = listener_open(&listener, &where);

	cr_assert(error, "%s", text);
	cr_expect(strstr(error_text(error), reason), "%s", error_text(error));
	cr_expect_eq(listener.nfds, 0);
}

Test(listener, loopback_with_a_port_of_its_own_choice)
{
	struct listener listener = listen_at(":0");
	int client;
	struct connection *connection;

	cr_expect_gt(listener.port, 0);
	for (unsigned int i = 0; i < listener.nfds; i++)
		cr_expect(fcntl(listener.fds[i], F_GETFD) & FD_CLOEXEC);
	client = connect_to(listener.port);
	connection = accept_from(&listener);
	cr_expect(connection);
	cr_expect_null(listener_accept(&listener));
	connection_destroy(connection);
	close(client);
	listener_close(&listener);
	cr_expect_not(listener_is_open(&listener));
}

/* An empty host never means the outside world. */
Test(listener, loopback_only)
{
	struct listener listener = listen_at(":0");

	for (unsigned int i = 0; i < listener.nfds; i++) {
		struct sockaddr_storage addr = {0};
		socklen_t len = sizeof(addr);

		getsockname(listener.fds[i], (struct sockaddr *)&addr, &len);
		if (addr.ss_family == AF_INET)
			cr_expect_eq(((struct sockaddr_in *)&addr)->sin_addr.s_addr,
				     htonl(INADDR_LOOPBACK));
		else
			cr_expect(IN6_IS_ADDR_LOOPBACK(
				&((struct sockaddr_in6 *)&addr)->sin6_addr));
	}
	listener_close(&listener);
}

static bool has_ipv6(void)
{
	struct sockaddr_in6 addr = {.sin6_family = AF_INET6,
				    .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool works = fd >= 0 && bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0;

	close(fd);
	return works;
}

/* A client reaches "localhost", whichever of its addresses it tries first. */
Test(listener, loopback_of_both_families)
{
	struct listener listener = listen_at(":0");

	cr_expect_eq(listener.nfds, has_ipv6() ? 2 : 1);
	for (unsigned int i = 0; i < listener.nfds; i++) {
		struct sockaddr_in6 addr = {0};
		socklen_t len = sizeof(addr);

		getsockname(listener.fds[i], (struct sockaddr *)&addr, &len);
		cr_expect_eq(ntohs(addr.sin6_port), listener.port);
	}
	listener_close(&listener);
}

Test(listener, port_in_use)
{
	struct listener listener = listen_at("127.0.0.1:0");
	char same[32];

	snprintf(same, sizeof(same), ":%u", listener.port);
	expect_refused(same, "Can't bind address: Address already in use.");
	listener_close(&listener);
}

Test(listener, names_that_cannot_be_resolved)
{
	expect_refused("tcp8:123:2345", "tcp8:123: cannot resolve name: ");
	expect_refused("no such host:2345", "no such host: cannot resolve name: ");
}

Test(listener, unix_socket)
{
	char directory[] = "/tmp/truehit-XXXXXX", path[64], text[80];
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct listener listener, other;
	struct connection *connection;
	struct stat st;
	int client = socket(AF_UNIX, SOCK_STREAM, 0), stale;

	cr_assert(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/s", directory);
	snprintf(text, sizeof(text), "unix:%s", path);
	strcpy(addr.sun_path, path);

	/* One that nobody listens at any more is replaced. */
	stale = socket(AF_UNIX, SOCK_STREAM, 0);
	cr_assert_eq(bind(stale, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(stale);
	listener = listen_at(text);
	cr_assert_eq(lstat(path, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0600);
	expect_refused(text, "Address already in use");
	cr_assert_eq(connect(client, (struct sockaddr *)&addr, sizeof(addr)), 0);
	connection = accept_from(&listener);
	cr_expect(connection);
	cr_expect_null(listener_accept(&listener)); /* the refused one left no trace */
	connection_destroy(connection);
	listener_close(&listener);
	cr_expect_eq(lstat(path, &st), -1);

	/* Any other file is left alone. */
	close(open(path, O_CREAT | O_WRONLY, 0600));
	expect_refused(text, "exists and is not a socket");
	cr_expect_eq(lstat(path, &st), 0);
	unlink(path);
	close(client);

	/* Also when the server ends. */
	listener = listen_at(text);
	unlink(path);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	listener_close(&listener);
	cr_expect_eq(lstat(path, &st), 0);
	unlink(path);

	/* And another server's socket. */
	listener = listen_at(text);
	unlink(path);
	other = listen_at(text);
	listener_close(&listener);
	cr_expect_eq(lstat(path, &st), 0);
	expect_refused(text, "Address already in use");
	listener_close(&other);
	cr_expect_eq(lstat(path, &st), -1);
	cr_expect_eq(rmdir(directory), 0);
}

/* A line that hangs up when its other end is closed. */
Test(listener, serial_line)
{
	int other = posix_openpt(O_RDWR | O_NOCTTY);
	struct connection *connection;
	struct listener listener;
	struct cursor packet;
	struct termios termios;

	cr_assert_eq(grantpt(other), 0);
	cr_assert_eq(unlockpt(other), 0);
	listener = listen_at(ptsname(other));
	cr_expect_not(listener_is_reliable(&listener));
	cr_assert_eq(tcgetattr(other, &termios), 0);
	cr_expect_eq(termios.c_lflag & (ICANON | ECHO | ISIG), 0);
	cr_expect_eq(termios.c_oflag & OPOST, 0);

	connection = listener_accept(&listener);
	cr_assert(connection);
	cr_assert_eq(write(other, "$?#3f", 5), 5);
	connection_io(connection);
	cr_assert_eq(connection_next(connection, &packet), CONNECTION_PACKET);
	cr_expect_eq(*packet.p, '?');
	connection_destroy(connection);
	cr_expect(listener_is_open(&listener));
	close(other);
	cr_expect_null(listener_accept(&listener));
	cr_expect_not(listener_is_open(&listener));
	listener_close(&listener);
}

Test(listener, no_serial_line)
{
	expect_refused("localhost",
		       "Could not open remote device: localhost: No such file");
	expect_refused("/dev/null",
		       "Could not open remote device: /dev/null: Inappropriate ioctl");
}
