/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/alive.h"

#include <errno.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"

/* Our descriptors would stay open with a child that hangs: clients would wait for
 * their end. */
static void __attribute__((noreturn)) child_main(int (*try)(void))
{
	close_range(0, ~0U, 0);
	try();
	_exit(0);
}

/* 1: it has ended, 0: it has not, or a negative errno. */
static int wait_end(pid_t pid, int timeout)
{
	_cleanup_close_ int fd = pidfd_open(pid, 0);
	struct pollfd end = {.fd = fd, .events = POLLIN};
	int r;

	if (fd < 0)
		return -errno;
	do
		r = poll(&end, 1, timeout);
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r;
}

struct error *bpf_alive(int (*try)(void), int timeout)
{
	pid_t pid = fork();
	int r;

	if (pid == 0)
		child_main(try);
	if (pid < 0)
		return error_create(errno, "a process to try BPF cannot be made");
	r = wait_end(pid, timeout);
	if (r == 0) {
		kill(pid, SIGKILL);
		return error_create(ETIMEDOUT,
				    "the kernel's BPF hangs: a program was "
				    "not loaded within %d s (only a "
				    "restart of the machine helps)",
				    timeout / 1000);
	}
	/* Without pidfds it is waited for without a limit. */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return NULL;
}
