/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/setcap.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

char *setcap_command(const char *more)
{
	char file[PATH_MAX], *command;
	ssize_t n = readlink("/proc/self/exe", file, sizeof(file));

	if (n < 0 || n == sizeof(file))
		n = snprintf(file, sizeof(file), "truehit");
	return asprintf(&command,
			"setcap cap_bpf,cap_perfmon%s%s+ep %.*s; see README, Rights",
			more ? "," : "", more ? more : "", (int)n, file) < 0
		       ? NULL
		       : command;
}
