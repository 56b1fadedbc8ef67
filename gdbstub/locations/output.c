/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/locations/output.h"

#include <stdint.h>
#include <string.h>

#include "gdbstub/base/shutdown.h"
#include "gdbstub/base/log.h"

/* Past stdio: in order with what the program itself writes to a terminal. */
static void print(void *data, const char *text, size_t len)
{
	int err = shutdown_write((int)(intptr_t)data, text, len);

	if (err < 0)
		log_debug(LOG_STOPS, "output of a command is lost: %s", strerror(-err));
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
