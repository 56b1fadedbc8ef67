/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exchange DIR GOOD BAD: a hostile program. It pretends that its C library is in DIR,
 * which is its own, and a process of its own, which nobody traces, keeps exchanging
 * what the symbolic link DIR/libthread_db.so.1 leads to.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static void point_to(const char *target)
{
	unlink("new");
	if (symlink(target, "new") != 0 || rename("new", "libthread_db.so.1") != 0)
		err(1, "%s", target);
}

static void exchange(pid_t parent, char **targets)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		point_to(targets[0]);
		point_to(targets[1]);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	pid_t self = getpid(), child;
	int fd;

	if (argc != 4 || chdir(argv[1]) != 0)
		errx(1, "exchange DIR GOOD BAD");
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	fd = open("libpthread.so.0", O_RDWR | O_CREAT, 0755);
	if (fd < 0 || ftruncate(fd, 4096) != 0 ||
	    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		err(1, "libpthread.so.0");
	point_to(argv[2]);
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (child == 0)
		exchange(self, argv + 2);
	puts("exchanging");
	fflush(stdout);
	for (;;)
		pause();
}
