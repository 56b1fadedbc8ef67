/* SPDX-License-Identifier: BSD-2-Clause */
/* QSaveRegisterState QRestoreRegisterState: around a call of a function. */
#include "gdbstub/lldb/saved_registers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "arch/arch.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/lldb/lldb_packets.h"
#include "gdbstub/run/continuation.h"

enum { SAVED_MAX = 64 }; /* each takes 80 KiB; calls are seldom nested */

struct saved {
	TAILQ_ENTRY(saved) link;
	uint64_t number;
	pid_t tid;
	struct regs regs;
};

struct saved_registers {
	TAILQ_HEAD(, saved) list;
	unsigned int count;
	uint64_t last; /* number given */
};

static void forget(struct saved_registers *registers, struct saved *saved)
{
	TAILQ_REMOVE(&registers->list, saved, link);
	registers->count--;
	free(saved);
}

void saved_registers_destroy(struct saved_registers *registers)
{
	if (!registers)
		return;
	while (!TAILQ_EMPTY(&registers->list))
		forget(registers, TAILQ_FIRST(&registers->list));
	free(registers);
}

static struct saved_registers *registers_of(struct session *session)
{
	struct saved_registers *registers = session->saved_registers;

	if (registers)
		return registers;
	registers = calloc(1, sizeof(*registers));
	if (registers)
		TAILQ_INIT(&registers->list);
	session->saved_registers = registers;
	return registers;
}

/* Of the oldest, a client that never has them put back has no use. */
static struct saved *add(struct saved_registers *registers)
{
	struct saved *saved = malloc(sizeof(*saved));

	if (!saved)
		return NULL;
	if (registers->count == SAVED_MAX)
		forget(registers, TAILQ_FIRST(&registers->list));
	saved->number = ++registers->last;
	TAILQ_INSERT_TAIL(&registers->list, saved, link);
	registers->count++;
	return saved;
}

struct error *packet_QSaveRegisterState(struct client *client, struct cursor *args,
					struct buffer *reply)
{
	struct saved_registers *registers = registers_of(&client->session);
	struct thread *thread;
	struct error *error = threads_stopped(client, &thread);
	struct saved *saved;
	int err;

	(void)args;
	if (error)
		return error;
	saved = registers ? add(registers) : NULL;
	if (!saved)
		return error_create(ENOMEM, "the registers are not saved");
	saved->tid = thread->tid;
	regs_init(&saved->regs, thread->inferior->arch);
	err = thread->late ? -ESRCH : look_fetch_all(thread, &saved->regs);
	if (err < 0) {
		forget(registers, saved);
		return error_create(-err, "thread %d: no access to its registers",
				    thread->tid);
	}
	buffer_printf(reply, "%llu", (unsigned long long)saved->number);
	return NULL;
}

static struct saved *find(const struct saved_registers *registers, uint64_t number)
{
	struct saved *saved;

	if (!registers)
		return NULL;
	TAILQ_FOREACH (saved, &registers->list, link)
		if (saved->number == number)
			return saved;
	return NULL;
}

static int store(struct thread *thread, const struct regs *regs)
{
	int err = thread->late ? -ESRCH : 0;

	for (unsigned int i = 0; err == 0 && i < regs->arch->nregsets; i++)
		if (regs->size[i] > 0 && !regs->arch->regsets[i].read_only)
			err = look_store(thread, regs, i);
	return err;
}

struct error *packet_QRestoreRegisterState(struct client *client, struct cursor *args,
					   struct buffer *reply)
{
	struct thread *thread;
	struct error *error = threads_stopped(client, &thread);
	struct saved *saved;
	uint64_t number;
	int err;

	if (error)
		return error;
	if (!cursor_decimal(args, &number) || cursor_left(args) > 0)
		return error_create(EINVAL, "QRestoreRegisterState: not a number");
	saved = find(client->session.saved_registers, number);
	if (!saved || saved->tid != thread->tid)
		return error_create(ENOENT,
				    "no registers of thread %d are saved as %llu",
				    thread->tid, (unsigned long long)number);
	err = store(thread, &saved->regs);
	forget(client->session.saved_registers, saved);
	continuation_disturb(client->run);
	if (err < 0)
		return error_create(-err, "thread %d: no access to its registers",
				    thread->tid);
	buffer_append_string(reply, "OK");
	return NULL;
}
