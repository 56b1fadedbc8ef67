/* SPDX-License-Identifier: BSD-2-Clause */
/* g G p P: registers as the table of the architecture lays them out. */
#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/register_table.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/late.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/run/continuation.h"

static struct error *lost(const struct thread *thread, int err)
{
	struct buffer text _cleanup_buffer_ = {0};

	if (!thread->late)
		return error_create(-err, "thread %d: no access to its registers",
				    thread->tid);
	thread_explain_late(thread, &text);
	return error_create(0, "%s", buffer_string(&text));
}

/*
 * A thread that has ended, of which the client will hear when it resumes, or that is
 * late, shows the registers that are known: an error would keep the client from
 * resuming.
 */
static bool shows_some(const struct thread *thread, int err)
{
	return err == -ESRCH && thread_is_held(thread);
}

/* A register that the thread does not have is "xx..". Only threads that have ended have
 * no PC: it is 0 then, as gdb refuses to resume a thread without one. */
static void append_register(struct buffer *out, const struct thread *thread,
			    const struct regs *regs, const struct reg_def *reg)
{
	unsigned int row = (unsigned int)(reg - reg_by_number(regs->arch, 0));
	uint64_t late;
	bool is_pc = reg == reg_by_number(regs->arch, regs->arch->pc_reg);
	unsigned char value[REG_MAX_SIZE];

	if (regs->arch->reg_read(regs, reg, value) == 0) {
		buffer_append_hex(out, value, reg_size(reg));
		return;
	}
	if (reg_size(reg) == sizeof(late) && thread->late &&
	    thread_late_register(thread, row, &late) == 0) {
		buffer_append_hex(out, &late, sizeof(late));
		return;
	}
	for (size_t i = 0; i < reg_size(reg); i++)
		buffer_append_string(out, is_pc ? "00" : "xx");
}

/*
 * The registers of g and G: all rows of the table, or those at its start that a
 * client expects which reads no target description.
 */
static const struct reg_def *packet_registers(const struct client *client,
					      const struct arch_ops *arch,
					      unsigned int *count)
{
	const struct reg_def *table = arch->registers(count);

	if (!client->session.reads_target_xml && *count > arch->basic_regs)
		*count = arch->basic_regs;
	return table;
}

/*
 * Programs of 32 bits have other registers, and the client knows either those or ours:
 * the program's file decides, if it has that. A g that ends after one register of
 * ours, or two of theirs, fits both, and the client asks for the others by p: its PC,
 * without which it refuses to resume, it gets by either number. (Of ours, one is shown
 * that is none, then; such programs do not have it.)
 */
static void append_compat_registers(struct buffer *reply)
{
	buffer_append_string(reply, "xxxxxxxxxxxxxxxx");
}

static struct error *append_compat_register(struct cursor *args, struct buffer *reply,
					    const struct thread *thread)
{
	const struct arch_ops *arch = thread->inferior->arch;
	uint64_t number, wide;
	uint32_t pc = 0;

	if (!cursor_hex(args, &number))
		return error_create(0, "not a register number");
	compat_get_pc(thread, &pc);
	wide = pc;
	if (number == arch->pc_reg)
		buffer_append_hex(reply, &wide, sizeof(wide));
	else if (number == arch->compat->pc_number)
		buffer_append_hex(reply, &pc, sizeof(pc));
	else
		buffer_append_string(reply, "xxxxxxxx");
	return NULL;
}

struct error *packet_g(struct client *client, struct cursor *args, struct buffer *reply)
{
	const struct reg_def *table;
	struct thread *thread;
	struct error *error = threads_stopped(client, &thread);
	struct regs regs;
	unsigned int count;
	int err;

	(void)args;
	if (error)
		return error;
	if (thread->inferior->compat) {
		append_compat_registers(reply);
		return NULL;
	}
	regs_init(&regs, thread->inferior->arch);
	err = look_fetch_all(thread, &regs);
	if (err < 0 && !shows_some(thread, err))
		return lost(thread, err);
	table = packet_registers(client, regs.arch, &count);
	for (unsigned int i = 0; i < count; i++)
		append_register(reply, thread, &regs, &table[i]);
	return NULL;
}

/* What is the register's already changes nothing: to store its regset may do more than
 * that, as to switch on what it is a part of (the matrix of SME). */
static bool has_value(const struct regs *regs, const struct reg_def *reg,
		      const unsigned char *value)
{
	unsigned char now[REG_MAX_SIZE];

	return regs->arch->reg_read(regs, reg, now) == 0 &&
	       memcmp(now, value, reg_size(reg)) == 0;
}

/* Reads one value and puts it into @regs; "xx.." leaves the register as it is. *changed
 * is set if that changes anything. */
static struct error *take_register(struct cursor *args, struct regs *regs,
				   const struct reg_def *reg, bool *changed)
{
	unsigned char value[REG_MAX_SIZE];
	int err;

	if (cursor_left(args) >= 2 * reg_size(reg) && *args->p == 'x') {
		args->p += 2 * reg_size(reg);
		return NULL;
	}
	if (!cursor_hex_bytes(args, value, reg_size(reg)))
		return error_create(0, "not a value for register %s (%zu bytes)",
				    reg->name, reg_size(reg));
	if (has_value(regs, reg, value))
		return NULL;
	*changed = true;
	err = regs->arch->reg_write(regs, reg, value);
	if (err < 0 && err != -ENODATA)
		return error_create(-err, "register %s", reg->name);
	return NULL;
}

struct error *packet_G(struct client *client, struct cursor *args, struct buffer *reply)
{
	const struct reg_def *table;
	struct thread *thread;
	struct error *error = threads_stopped(client, &thread);
	bool changed[REGSETS_MAX] = {false};
	struct regs regs;
	unsigned int count;
	int err;

	if (error)
		return error;
	regs_init(&regs, thread->inferior->arch);
	err = look_fetch_all(thread, &regs);
	if (err < 0)
		return lost(thread, err);
	if (cursor_left(args) == 0)
		return error_create(0, "G: no values");
	table = packet_registers(client, regs.arch, &count);
	for (unsigned int i = 0; i < count && cursor_left(args) > 0; i++) {
		error = take_register(args, &regs, &table[i],
				      &changed[table[i].regset]);
		if (error)
			return error;
	}
	if (cursor_left(args) > 0)
		return error_create(0, "G: more than all registers");
	for (unsigned int i = 0; i < regs.arch->nregsets; i++) {
		err = regs.size[i] > 0 && changed[i] ? look_store(thread, &regs, i) : 0;
		if (err < 0)
			return lost(thread, err);
	}
	continuation_disturb(client->run);
	buffer_append_string(reply, "OK");
	return NULL;
}

/* The register that p and P name, with its regset fetched into @regs. */
static struct error *one_register(struct client *client, struct cursor *args,
				  struct thread **thread, struct regs *regs,
				  const struct reg_def **reg)
{
	struct error *error = threads_stopped(client, thread);
	uint64_t number;
	int err;

	if (error)
		return error;
	if (!cursor_hex(args, &number))
		return error_create(0, "not a register number");
	regs_init(regs, (*thread)->inferior->arch);
	*reg = number < UINT32_MAX ? reg_by_number(regs->arch, (unsigned int)number)
				   : NULL;
	if (!*reg)
		return error_create(0, "no register has the number %llu",
				    (unsigned long long)number);
	if ((*reg)->also)
		look_fetch(*thread, regs, (*reg)->also);
	err = look_fetch(*thread, regs, (*reg)->regset);
	if (err == 0 || err == -ENODATA || shows_some(*thread, err))
		return NULL;
	return lost(*thread, err);
}

struct error *packet_p(struct client *client, struct cursor *args, struct buffer *reply)
{
	const struct reg_def *reg;
	struct thread *thread;
	struct regs regs;
	struct error *error = threads_stopped(client, &thread);

	if (!error && thread->inferior->compat)
		return append_compat_register(args, reply, thread);
	if (!error)
		error = one_register(client, args, &thread, &regs, &reg);
	if (!error && cursor_left(args) > 0)
		error = error_create(EINVAL, "p: more than a register number");
	if (!error)
		append_register(reply, thread, &regs, reg);
	return error;
}

/*
 * A thread that is to go on elsewhere is not to begin the system call anew in which it
 * was interrupted: the kernel would move the PC back before it. gdb sees to that
 * itself; lldb knows of no such register. Has that changed anything?
 */
static bool leave_call(const struct client *client, struct regs *regs,
		       const struct reg_def *reg)
{
	const struct arch_ops *arch = regs->arch;

	return client->session.lldb && reg == reg_by_number(arch, arch->pc_reg) &&
	       arch->syscall_restart_reg != REG_NONE &&
	       reg_write_u64(regs, arch->syscall_restart_reg, UINT64_MAX) == 0;
}

struct error *packet_P(struct client *client, struct cursor *args, struct buffer *reply)
{
	const struct reg_def *reg;
	struct thread *thread;
	struct regs regs;
	struct error *error = one_register(client, args, &thread, &regs, &reg);
	bool changed = false;
	int err;

	if (error)
		return error;
	if (!cursor_char(args, '='))
		return error_create(0, "P: no '=' after the register number");
	if (thread->late)
		return lost(thread, -ESRCH);
	if (regs.size[reg->regset] == 0)
		return error_create(0, "register %s is not available", reg->name);
	error = take_register(args, &regs, reg, &changed);
	if (error)
		return error;
	changed |= leave_call(client, &regs, reg);
	err = changed ? look_store(thread, &regs, reg->regset) : 0;
	if (err < 0)
		return lost(thread, err);
	continuation_disturb(client->run);
	buffer_append_string(reply, "OK");
	return NULL;
}
