/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bpf/library/library.h"

enum { LAST_MAX = 2 };

/* The bytes before @pc; 0: they cannot be read. */
static void read_last(pid_t tid, uint64_t pc, uint8_t *last)
{
	struct iovec to = {last, LAST_MAX};
	struct iovec from = {(void *)(uintptr_t)(pc - LAST_MAX), LAST_MAX};

	memset(last, 0, LAST_MAX);
	process_vm_readv(tid, &to, 1, &from, 1, 0);
}

/* The end of a step over a system call has the same reason (arch/x86/kernel/ptrace.c,
 * user_single_step_report). */
static bool is_after_call(const struct arch_ops *arch, const uint8_t *last)
{
	return arch->syscall_len == LAST_MAX &&
	       memcmp(last, arch->syscall_insn, LAST_MAX) == 0;
}

/* With a reason that says nothing, after an instruction that does not lead to it
 * itself. */
static bool is_unexplained(const struct truehit *truehit, pid_t tid,
			   const siginfo_t *info)
{
	const struct arch_ops *arch = truehit->arch;
	uint8_t last[LAST_MAX];

	if (info->si_signo != SIGTRAP || info->si_code != TRAP_BRKPT ||
	    !arch->trap_is_own)
		return false;
	read_last(tid, (uint64_t)(uintptr_t)info->si_addr, last);
	return !is_after_call(arch, last) &&
	       !arch->trap_is_own(TRAP_BRKPT, last[LAST_MAX - 1], NULL);
}

/* In a thread that may have it? */
static bool is_of(const struct truehit_filter *filter, pid_t tid)
{
	return filter->pid == tid || syscall(SYS_tgkill, filter->pid, tid, 0) == 0;
}

static bool stops_at_data(const struct truehit_filter *filter)
{
	const struct bpf_match *match =
		&filter->truehit->kernel.shared->matches[filter->index];

	return filter->event.region.kind != HW_EXECUTE &&
	       filter->deed == TRUEHIT_STOP &&
	       __atomic_load_n(&match->armed, __ATOMIC_SEQ_CST) != 0;
}

static struct truehit_hit undecided(struct truehit_filter *filter)
{
	__atomic_fetch_add(&filter->unexplained, 1, __ATOMIC_SEQ_CST);
	return (struct truehit_hit){
		.filter = filter,
		.data = filter->data,
		.addr = filter->event.region.addr,
		.maybe = 1,
	};
}

int context_explain(struct truehit *truehit, pid_t tid, const siginfo_t *info,
		    struct truehit_hit *ret)
{
	const uint64_t pc = (uint64_t)(uintptr_t)info->si_addr;
	struct truehit_filter *at_data = NULL;

	if (!is_unexplained(truehit, tid, info))
		return 0;
	for (unsigned int i = 0; i < MATCHES_MAX; i++) {
		struct truehit_filter *filter = truehit->filters[i];

		if (!filter || !is_of(filter, tid))
			continue;
		if (filter->event.region.kind == HW_EXECUTE &&
		    filter->event.region.addr == pc)
			return 2;
		if (!at_data && stops_at_data(filter))
			at_data = filter;
	}
	if (!at_data)
		return 2;
	*ret = undecided(at_data);
	return 1;
}
