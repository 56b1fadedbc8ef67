/* SPDX-License-Identifier: BSD-2-Clause */
/* exec PROGRAM ARGS...: replaces itself by PROGRAM. */
#include <unistd.h>

static volatile int before;

int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	before = 1; /* BEFORE */
	execv(argv[1], argv + 1);
	return 1;
}
