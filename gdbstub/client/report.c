/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/report.h"

#include <string.h>

#include "arch/arch.h"
#include "arch/register_table.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/signals.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/client/stop_reply.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/client/client.h"
#include "gdbstub/hits/look_after.h"

static int fetch_once(const struct thread *thread, struct regs *regs,
		      unsigned int regset)
{
	return regs->size[regset] > 0 ? 0 : look_fetch(thread, regs, regset);
}

static bool read_register(const struct thread *thread, struct regs *regs,
			  const struct reg_def *reg, unsigned int row, void *value)
{
	uint64_t late;

	if (!thread->late)
		return fetch_once(thread, regs, reg->regset) == 0 &&
		       thread->inferior->arch->reg_read(regs, reg, value) == 0;
	if (thread_late_register(thread, row, &late) < 0)
		return false;
	memcpy(value, &late, sizeof(late));
	return true;
}

/* "NN:hex;" for the registers that a client wants to see at every stop. */
static void append_expedited(const struct thread *thread, struct buffer *out)
{
	const struct arch_ops *arch = thread->inferior->arch;
	struct regs regs;

	regs_init(&regs, arch);
	for (unsigned int i = 0; i < arch->nexpedited; i++) {
		const struct reg_def *reg = reg_by_number(arch, arch->expedited[i]);
		unsigned char value[REG_MAX_SIZE];

		if (!reg ||
		    !read_register(thread, &regs, reg, arch->expedited[i], value))
			continue;
		buffer_printf(out, "%02x:", arch->expedited[i]);
		buffer_append_hex(out, value, reg_size(reg));
		buffer_append_char(out, ';');
	}
}

static void choose_thread(struct client *client, const struct thread *thread)
{
	client->session.general = (struct thread_id){
		.pid = thread->inferior->pid,
		.tid = thread->tid,
		.named_pid = true,
	};
}

void report_stop(struct client *client, const struct stop *stop, struct buffer *reply)
{
	struct buffer registers _cleanup_buffer_ = {0};
	_cleanup_free_ char *program = NULL;
	const struct thread *thread = thread_find(&client->run->inferiors, stop->tid);
	struct stop_reply text = {.stop = stop, .core = -1};

	text.gdb_signal = (unsigned int)signal_to_gdb(stop->signal);
	if (thread && stop->kind != STOP_EXITED && stop->kind != STOP_KILLED) {
		if (!client->run->non_stop)
			choose_thread(client, thread);
		text.core = thread_core(thread);
		append_expedited(thread, &registers);
		if (stop->kind == STOP_EXEC)
			program = inferior_exe(thread->inferior);
	}
	text.program = program;
	text.registers = buffer_string(&registers);
	stop_reply_print(&text, &client->session, reply);
}

void report_last_stop(struct client *client, struct buffer *reply)
{
	const struct run *run = client->run;
	const struct inferior *inferior = TAILQ_FIRST(&run->inferiors.list);
	const struct thread *stopped =
		thread_find(&client->run->inferiors, run->last.tid);
	struct stop stop = run->last;

	if (!inferior) {
		buffer_append_string(reply, "W00");
		return;
	}
	/* Stopped for no reason of its own, or the thread has gone since. */
	if (stop.kind == STOP_NONE || !stopped || !thread_is_shown(stopped)) {
		const struct thread_id any = {.pid = inferior->pid};
		const struct thread *thread = threads_find(client, &any);

		stop = (struct stop){
			.kind = STOP_SIGNAL,
			.pid = inferior->pid,
			.tid = thread ? thread->tid : inferior->pid,
		};
	}
	report_stop(client, &stop, reply);
}
