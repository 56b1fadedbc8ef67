/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/late.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/syscall_name.h"

enum {
	PATIENCE_ASLEEP = 300, /* ms */
	PATIENCE = 1000,       /* the same */
};

/* ---- how long to wait ---- */

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void lateness_begin(struct lateness *lateness)
{
	*lateness = (struct lateness){.since = now_ms(), .patience = PATIENCE};
}

void lateness_look(struct lateness *lateness)
{
	lateness->waited = now_ms() - lateness->since;
}

/* Where no signal wakes it (TASK_UNINTERRUPTIBLE, TASK_KILLABLE, TASK_FROZEN,
 * TASK_IDLE).
 */
static bool is_asleep(pid_t tid)
{
	char state[2];

	return proc_stat_field(tid, PROC_STAT_STATE, state, sizeof(state)) &&
	       (*state == 'D' || *state == 'I');
}

bool lateness_is_over(const struct lateness *lateness, pid_t tid)
{
	int64_t waited = lateness->waited;

	return waited >= PATIENCE_ASLEEP &&
	       ((waited >= PATIENCE && waited >= lateness->patience) || is_asleep(tid));
}

/* ---- what is known of it ---- */

/*
 * "NUMBER ARGUMENT... SP PC", "-1 SP PC" or "running" (fs/proc/base.c,
 * proc_pid_syscall). They stay as they are until it is back in the program, before
 * which it stops.
 */
static struct kernel_call read_call(const struct thread *thread)
{
	struct buffer text _cleanup_buffer_ = {0};
	struct kernel_call call = {.number = SYSCALL_NONE};
	const char *at;
	char path[64], *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", thread->group,
		 thread->tid);
	if (proc_read(path, &text) < 0)
		return call;
	at = buffer_string(&text);
	call.number = (int)strtol(at, &end, 10);
	while (end != at && call.count < SYSCALL_ARGUMENTS + 2) {
		at = end;
		call.word[call.count] = strtoull(at, &end, 16);
		call.count += end != at;
	}
	return call;
}

void thread_set_late(struct thread *thread)
{
	thread->running = true;
	thread->late = true;
	thread->call = read_call(thread);
}

bool thread_becomes_late(struct thread *thread, const struct lateness *lateness)
{
	if (!thread->interrupting || !lateness_is_over(lateness, thread->tid))
		return false;
	thread_set_late(thread);
	return true;
}

void thread_look_again(struct thread *thread)
{
	if (thread->late && !is_asleep(thread->tid))
		thread->late = false;
}

void thread_explain_late(const struct thread *thread, struct buffer *out)
{
	const char *name = syscall_name(thread->call.number);

	buffer_printf(out, "thread %d does not stop, as it sleeps in the kernel",
		      thread->tid);
	if (name)
		buffer_printf(out, " (%s)", name);
	buffer_append_string(out,
			     "; it stops as soon as it wakes up, and until then few "
			     "of its registers are known");
}

int thread_late_register(const struct thread *thread, unsigned int row, uint64_t *value)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const struct kernel_call *call = &thread->call;

	if (call->count >= 2 && (row == arch->pc_reg || row == arch->sp_reg)) {
		*value = call->word[call->count - (row == arch->pc_reg ? 1 : 2)];
		return 0;
	}
	for (unsigned int i = 0; i + 2 < call->count; i++) {
		if (arch->syscall_arguments[i] == row) {
			*value = call->word[i];
			return 0;
		}
	}
	return -ENODATA;
}
