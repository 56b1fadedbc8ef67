/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/patience.h"

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "gdbstub/base/shutdown.h"

enum { LOOK_INTERVAL = 20, CLIENT_GRACE = 500 }; /* ms */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Nothing is read: what the client has sent is still to be served. */
static bool has_gone(int client)
{
	struct pollfd pollfd = {.fd = client, .events = POLLRDHUP};

	return poll(&pollfd, 1, 0) > 0 &&
	       (pollfd.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void patience_begin(struct patience *patience, int client, int limit)
{
	int64_t now = now_ms();

	*patience = (struct patience){
		.client = client,
		.begin = now,
		.end = limit == PATIENCE_ENDLESS ? INT64_MAX : now + limit,
		.next_look = now + LOOK_INTERVAL,
	};
}

const char *patience_ended(struct patience *patience)
{
	int64_t now = patience->verdict ? 0 : now_ms();

	if (patience->verdict || now < patience->next_look)
		return patience->verdict;
	patience->next_look = now + LOOK_INTERVAL;
	if (shutdown_asked())
		patience->verdict = "the server is asked to end";
	else if (now >= patience->end)
		patience->verdict = "it takes too long";
	else if (patience->client != PATIENCE_NOBODY &&
		 now - patience->begin >= CLIENT_GRACE && has_gone(patience->client))
		patience->verdict = "the client has gone";
	return patience->verdict;
}
