/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/kernel/alive.h"

static int succeed(void)
{
	return 0;
}

static int fail(void)
{
	return -EPERM;
}

static int hang(void)
{
	for (;;)
		pause();
	return 0;
}

/* Hangs if a descriptor of the parent is left. */
static int look_for_descriptors(void)
{
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			hang();
	return 0;
}

Test(alive, a_kernel_that_answers)
{
	cr_assert_null(bpf_alive(succeed, 10000));
	cr_assert_null(bpf_alive(fail, 10000));
	cr_assert_eq(waitpid(-1, NULL, 0), -1, "the child was not waited for");
	cr_assert_eq(errno, ECHILD);
}

Test(alive, a_kernel_that_hangs)
{
	_cleanup_error_ struct error *error = bpf_alive(hang, 100);

	cr_assert_not_null(error);
	cr_assert_eq(error_errno(error), ETIMEDOUT);
	cr_assert_not_null(strstr(error_text(error), "the kernel's BPF hangs"));
}

Test(alive, the_child_holds_no_descriptor_of_ours)
{
	cr_assert_null(bpf_alive(look_for_descriptors, 10000));
}
