/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/output.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* Past stdio: in order with what the program itself writes to a terminal. */
static void print(void *data, const char *text, size_t len)
{
	int fd = (int)(intptr_t)data;

	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			log_debug(LOG_STOPS, "output of a command is lost: %s",
				  strerror(errno));
			return;
		}
		text += n;
		len -= (size_t)n;
	}
}

static bool ready(void *data)
{
	(void)data;
	return true;
}

struct output output_descriptor(int fd)
{
	return (struct output){print, ready, (void *)(intptr_t)fd};
}
