/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/descriptors.h"

enum { LIMIT = 64, RESERVE = LIMIT / 4 };

static void set_limits(rlim_t soft, rlim_t hard)
{
	const struct rlimit limit = {soft, hard};

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

Test(descriptors, are_as_many_as_can_be)
{
	struct rlimit former, now;

	set_limits(LIMIT, 2 * LIMIT);
	descriptors_raise(&former);
	cr_assert_eq(former.rlim_cur, LIMIT);
	cr_assert_eq(former.rlim_max, 2 * LIMIT);
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &now), 0);
	cr_assert_eq(now.rlim_cur, 2 * LIMIT);
}

/* Threads that share the kernel's table would wait each time that it doubles. */
Test(descriptors, have_a_table_for_thousands)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long size = 0;
	struct rlimit former;
	char line[256];

	if (getrlimit(RLIMIT_NOFILE, &former) < 0 || former.rlim_max < 4096)
		cr_skip_test("there may not be so many descriptors");
	descriptors_raise(&former);
	while (file && fgets(line, sizeof(line), file) &&
	       sscanf(line, "FDSize: %lu", &size) != 1)
		;
	cr_expect_geq(size, 4096);
	if (file)
		fclose(file);
}

Test(descriptors, keep_a_reserve)
{
	cr_assert_eq(descriptors_reserve(20), 5);
	cr_assert_eq(descriptors_reserve(1024), 128);
	cr_assert_eq(descriptors_reserve(RLIM_INFINITY), 128);
}

/* Whatever is open already: the number of the next one tells. */
Test(descriptors, are_short_before_the_reserve_is_used)
{
	int fd = -1;

	set_limits(LIMIT, LIMIT);
	while (!descriptors_are_short()) {
		fd = open("/dev/null", O_RDONLY);
		cr_assert_geq(fd, 0);
	}
	cr_assert_eq(fd, LIMIT - RESERVE - 1);
	close(fd);
	cr_assert_not(descriptors_are_short());
	while (fd >= 0)
		fd = open("/dev/null", O_RDONLY);
	cr_assert_eq(errno, EMFILE);
	cr_assert(descriptors_are_short());
}

Test(descriptors, error_has_the_figures)
{
	struct error *error;

	set_limits(LIMIT, LIMIT);
	error = descriptors_error("a thing");
	cr_assert_eq(error_errno(error), EMFILE);
	cr_assert(strstr(error_text(error), "a thing: 48 of 64 descriptors"), "%s",
		  error_text(error));
	cr_assert(strstr(error_text(error), "ulimit -n"));
	error_destroy(error);
}
