/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/library/filters.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

struct truehit *truehit;
struct truehit_filter *filter;

void start_filters(void)
{
	const int err = truehit_create(&truehit);

	if (err == -EPERM || err == -EACCES || err == -ENODEV)
		cr_skip_test("%s", truehit_why(truehit));
	cr_assert_eq(err, 0, "%s", truehit_why(truehit));
}

void open_filter(pid_t pid, enum truehit_deed deed, unsigned int flags)
{
	const struct truehit_options options = {
		.size = sizeof(options), .deed = deed, .flags = flags};

	cr_assert_eq(truehit_open(truehit, pid, &options, &filter), 0, "%s",
		     truehit_why(truehit));
}

static void forbid(unsigned int number, unsigned int deed)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, deed),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = 4, .filter = insns};

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

void forbid_bpf(void)
{
	forbid(SYS_bpf, SECCOMP_RET_KILL_PROCESS);
}

void forbid_memory(void)
{
	forbid(SYS_pread64, SECCOMP_RET_ERRNO | EPERM);
}

void match(const struct truehit_match *match)
{
	cr_assert_eq(truehit_set(filter, match), 0);
}

struct truehit_counts counts_of(const struct truehit_filter *of)
{
	struct truehit_counts counts = {.size = sizeof(counts)};

	truehit_read(of, &counts);
	return counts;
}

__attribute__((noinline)) void place(long a, long b)
{
	__asm__ volatile("nop\n\tnop\n\tnop" : : "r"(a), "r"(b) : "memory");
}

unsigned int register_number(const char *x86_64, const char *aarch64)
{
	const int number = truehit_register(truehit, x86_64);

	return (unsigned int)(number >= 0 ? number
					  : truehit_register(truehit, aarch64));
}

void pass(long times)
{
	for (long i = 0; i < times; i++)
		place(i % 10, i / 10);
}
