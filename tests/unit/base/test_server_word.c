/* SPDX-License-Identifier: BSD-2-Clause */
/* Who holds words in shared memory, and is killed, leaves them without its number. */
#include <criterion/criterion.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/base/server_word.h"

enum { MEMORIES = 3, AT = 64 };

static int fds[MEMORIES];
static void *memories[MEMORIES]; /* the test's, or the holder's */

static uint32_t *word(int i)
{
	return (uint32_t *)(void *)((uint8_t *)memories[i] + AT);
}

static void map_all(void)
{
	for (int i = 0; i < MEMORIES; i++)
		cr_assert_eq(server_word_map(fds[i], SERVER_WORD_MEMORY, &memories[i]),
			     0);
}

static void begin(void)
{
	for (int i = 0; i < MEMORIES; i++) {
		fds[i] = memfd_create("words", MFD_CLOEXEC);
		cr_assert_geq(fds[i], 0);
		cr_assert_eq(ftruncate(fds[i], SERVER_WORD_MEMORY), 0);
	}
	map_all();
}

static void end(void)
{
	for (int i = 0; i < MEMORIES; i++) {
		server_word_unmap(memories[i]);
		close(fds[i]);
	}
}

TestSuite(server_word, .init = begin, .fini = end, .timeout = 60);

/* Holds a word of each memory, and then does without one of these (or -1). */
static void hold_all(int without, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < MEMORIES; i++)
		if (server_word_map(fds[i], SERVER_WORD_MEMORY, &memories[i]) < 0 ||
		    server_word_hold(memories[i], AT) < 0)
			_exit(1);
	if (without >= 0)
		server_word_unmap(memories[without]);
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static pid_t start(int without)
{
	int ready[2];
	char byte;
	pid_t pid;

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		hold_all(without, ready[1]);
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1, "the holder has ended");
	close(ready[0]);
	return pid;
}

static void end_holder(pid_t pid)
{
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(server_word, is_cleared_after_sigkill)
{
	const pid_t pid = start(-1);

	for (int i = 0; i < MEMORIES; i++)
		cr_expect_eq(*word(i), (uint32_t)pid, "word %d: %#x", i, *word(i));
	end_holder(pid);
	for (int i = 0; i < MEMORIES; i++)
		cr_expect_eq(*word(i), FUTEX_OWNER_DIED, "word %d: %#x", i, *word(i));
}

/* Whichever of the list's entries it is. */
Test(server_word, is_held_no_longer)
{
	for (int without = 0; without < MEMORIES; without++) {
		const pid_t pid = start(without);

		for (int i = 0; i < MEMORIES; i++)
			cr_expect_eq(*word(i), i == without ? 0 : (uint32_t)pid);
		end_holder(pid);
		for (int i = 0; i < MEMORIES; i++)
			cr_expect_eq(*word(i), i == without ? 0 : FUTEX_OWNER_DIED);
	}
}

/* What the program has written there is no business of the kernel's. */
Test(server_word, with_another_number_stays)
{
	const pid_t pid = start(-1);

	*word(1) = 1;
	end_holder(pid);
	cr_expect_eq(*word(0), FUTEX_OWNER_DIED);
	cr_expect_eq(*word(1), 1);
	cr_expect_eq(*word(2), FUTEX_OWNER_DIED);
}
