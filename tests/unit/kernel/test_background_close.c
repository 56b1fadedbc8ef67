/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/kernel/background_close.h"

/* Something that has a descriptor. */
struct thing {
	int times; /* that we were told of */
	bool open; /* ... although it was not closed */
	bool elsewhere;
	struct closing closing;
};

static pthread_t main_thread;

static void told(struct closing *closing)
{
	struct thing *thing =
		(void *)((char *)closing - offsetof(struct thing, closing));

	thing->times++;
	thing->open = fcntl(closing->fd, F_GETFD) >= 0;
	thing->elsewhere = !pthread_equal(pthread_self(), main_thread);
}

Test(background_close, tells_each_once)
{
	enum { COUNT = 200 };
	struct background_close *closer = background_close_create();
	static struct thing things[COUNT];

	main_thread = pthread_self();
	for (int i = 0; i < COUNT; i++) {
		things[i].closing = (struct closing){.fd = dup(0), .closed = told};
		cr_assert_geq(things[i].closing.fd, 0);
	}
	for (int i = 0; i < COUNT; i++)
		background_close_add(closer, &things[i].closing);
	background_close_collect(closer, true);
	background_close_collect(closer, true);
	for (int i = 0; i < COUNT; i++) {
		cr_expect_eq(things[i].times, 1);
		cr_expect_not(things[i].open);
		cr_expect_not(things[i].elsewhere);
	}
	background_close_destroy(closer);
}

Test(background_close, destroy_waits)
{
	struct background_close *closer = background_close_create();
	struct thing thing = {.closing = {.fd = dup(0), .closed = told}};
	int other = dup(0);

	main_thread = pthread_self();
	background_close_add_fd(closer, other);
	background_close_add(closer, &thing.closing);
	background_close_destroy(closer);
	cr_expect_eq(thing.times, 1);
	cr_expect_lt(fcntl(other, F_GETFD), 0);
	background_close_destroy(NULL);
}

/* A connection whose close waits until the other side, which reads nothing yet, has
 * taken all: returned is that side. */
static int make_lingering(int *lingering)
{
	const struct linger linger = {.l_onoff = 1, .l_linger = 60};
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), other;
	static const char bytes[65536];

	cr_assert_eq(bind(listener, (void *)&address, len), 0);
	cr_assert_eq(listen(listener, 1), 0);
	cr_assert_eq(getsockname(listener, (void *)&address, &len), 0);
	*lingering = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(connect(*lingering, (void *)&address, len), 0);
	other = accept(listener, NULL, NULL);
	setsockopt(*lingering, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	while (send(*lingering, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	close(listener);
	return other;
}

Test(background_close, waits_for_nobody, .timeout = 300)
{
	struct background_close *closer = background_close_create();
	struct thing slow = {.closing = {.closed = told}},
		     quick = {.closing = {.fd = dup(0), .closed = told}};
	int other = make_lingering(&slow.closing.fd);
	char bytes[65536];

	main_thread = pthread_self();
	background_close_add(closer, &slow.closing);
	background_close_add(closer, &quick.closing);
	while (quick.times == 0)
		background_close_collect(closer, false);
	cr_expect_eq(slow.times, 0);
	while (read(other, bytes, sizeof(bytes)) > 0)
		;
	background_close_collect(closer, true);
	cr_expect_eq(slow.times, 1);
	close(other);
	background_close_destroy(closer);
}
