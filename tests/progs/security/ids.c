/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells with what rights it runs. Its arguments are what it does, one after the other:
 *   tell        prints its ids, its capabilities, and whether it is dumpable
 *   hide, show  becomes undumpable, dumpable
 *   map FILE    has it mapped from now on
 *   await FILE  waits until it is there
 *   wait        for ever
 *   exec FILE ARGUMENTS...
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The capabilities that are permitted, as the kernel prints them. */
static const char *capabilities(void)
{
	static char line[256];
	FILE *file = fopen("/proc/self/status", "re");
	static char found[32] = "?";

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "CapPrm: %31s", found);
	if (file)
		fclose(file);
	return found;
}

static void tell(void)
{
	uid_t uid[3];
	gid_t gid[3];

	if (getresuid(&uid[0], &uid[1], &uid[2]) ||
	    getresgid(&gid[0], &gid[1], &gid[2]))
		return;
	printf("ids: uid %u %u %u gid %u %u %u capabilities %s dumpable %d\n", uid[0],
	       uid[1], uid[2], gid[0], gid[1], gid[2], capabilities(),
	       prctl(PR_GET_DUMPABLE));
	fflush(stdout);
}

static int map(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	return fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED;
}

static void await(const char *name)
{
	while (access(name, F_OK) != 0)
		usleep(10000);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (strcmp(word, "tell") == 0)
			tell();
		else if (strcmp(word, "hide") == 0)
			prctl(PR_SET_DUMPABLE, 0);
		else if (strcmp(word, "show") == 0)
			prctl(PR_SET_DUMPABLE, 1);
		else if (strcmp(word, "map") == 0 && argv[i + 1] && map(argv[++i]))
			return 1;
		else if (strcmp(word, "await") == 0 && argv[i + 1])
			await(argv[++i]);
		else if (strcmp(word, "exec") == 0 && argv[i + 1])
			return execv(argv[i + 1], argv + i + 1);
		while (strcmp(word, "wait") == 0)
			pause();
	}
	return 0;
}
