/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/last_hit.h"

#include <inttypes.h>
#include <string.h>

#include "arch/register_table.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/inferior/syscall_name.h"
#include "gdbstub/text/access.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/locations/numbers.h"
#include "gdbstub/hits/look_after.h"
#include "gdbstub/control/run_state.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"

/* The thread's last one; the code is looked at when somebody asks. */
struct last_hit {
	uint64_t order;
	enum breakpoint_type type;
	uint64_t addr;
	unsigned int len;
	bool by_kernel;
	int syscall;   /* SYSCALL_NONE: the kernel wrote for another reason */
	bool compared; /* .values has the old one, too */
	bool ahead;    /* .values are of before the access */
	struct watch_values values;
	uint64_t pc, stack_top;
	struct last_regset regset; /* the one with the PC */
};

/* ---- noting ---- */

/* What the thread is shown with before its access. */
static int fetch(const struct thread *thread, struct regs *regs, unsigned int regset)
{
	const struct last_regset *before = look_registers(thread);

	if (!before)
		return regs_fetch(thread, regs, regset);
	memcpy(regs->data[regset], before->data, before->size);
	regs->size[regset] = before->size;
	return 0;
}

static void note_registers(struct thread *thread, struct last_hit *hit)
{
	const struct arch_ops *arch = thread->inferior->arch;
	const struct reg_def *pc = reg_by_number(arch, arch->pc_reg);
	struct regs regs;
	uint64_t sp;

	regs_init(&regs, arch);
	if (fetch(thread, &regs, pc->regset) < 0 ||
	    reg_read_u64(&regs, arch->pc_reg, &hit->pc) < 0 ||
	    reg_read_u64(&regs, arch->sp_reg, &sp) < 0 ||
	    regs.size[pc->regset] > sizeof(hit->regset.data))
		return;
	hit->regset.size = regs.size[pc->regset];
	memcpy(hit->regset.data, regs.data[pc->regset], hit->regset.size);
	if (inferior_read(thread->inferior, sp, &hit->stack_top,
			  sizeof(hit->stack_top)) != (ssize_t)sizeof(hit->stack_top))
		hit->stack_top = 0;
}

/* What is there at the stop. */
static void note_value(struct thread *thread, struct last_hit *hit)
{
	struct watch_values *values = &hit->values;
	ssize_t n = hit->len <= sizeof(values->new)
			    ? breakpoints_read_memory(thread->inferior, hit->addr,
						      values->new, hit->len)
			    : 0;

	values->len = n > 0 ? (uint64_t)n : 0;
}

/* Is the thread right after the instruction of a system call? */
static bool is_after_call(const struct thread *thread, uint64_t pc)
{
	const struct arch_ops *arch = thread->inferior->arch;
	uint8_t insn[8];

	return inferior_read(thread->inferior, pc - arch->syscall_len, insn,
			     arch->syscall_len) == (ssize_t)arch->syscall_len &&
	       memcmp(insn, arch->syscall_insn, arch->syscall_len) == 0;
}

static void note_call(struct thread *thread, struct last_hit *hit)
{
	const struct arch_ops *arch = thread->inferior->arch;

	hit->syscall = SYSCALL_NONE;
	if (hit->by_kernel && is_after_call(thread, hit->pc))
		arch->syscall_number(thread->tid, &hit->syscall);
}

void last_hit_note(struct run *run, struct thread *thread, const struct hit *hit)
{
	const struct location *location = hit->location;
	struct last_hit *last = thread->control->last_hit;

	if (!last)
		last = thread->control->last_hit = calloc(1, sizeof(*last));
	if (!last)
		return; /* nobody stops for want of a note */
	*last = (struct last_hit){
		.order = run->order++,
		.type = location->type,
		.addr = location->addr,
		.len = location->len,
		.by_kernel = hit->by_kernel,
		.compared = hit->values.len > 0,
		.ahead = thread->inferior->arch->stores && !hit->before,
		.values = hit->values,
	};
	if (!last->compared)
		note_value(thread, last);
	note_registers(thread, last);
	note_call(thread, last);
}

/* ---- telling ---- */

static ssize_t read_code(void *data, uint64_t addr, void *code, size_t len)
{
	return breakpoints_read_memory(data, addr, code, len);
}

static void find_access(struct inferior *inferior, struct symbols *symbols,
			const struct last_hit *hit, struct access *ret)
{
	const struct arch_ops *arch = inferior->arch;
	const struct reg_def *pc = reg_by_number(arch, arch->pc_reg);
	_cleanup_free_ struct regs *regs = malloc(sizeof(*regs));
	struct access_stop stop = {
		.regs = regs,
		.pc = hit->pc,
		.stack_top = hit->stack_top,
		.start = symbols_start(symbols, hit->pc - 1),
		.addr = hit->addr,
		.len = hit->len,
		.by_write = hit->type != WATCHPOINT_READ,
		.by_read = hit->type != WATCHPOINT_WRITE,
		.read = read_code,
		.data = inferior,
	};

	*ret = (struct access){0};
	if (!regs || hit->regset.size == 0)
		return;
	regs_init(regs, arch);
	regs->size[pc->regset] = hit->regset.size;
	memcpy(regs->data[pc->regset], hit->regset.data, hit->regset.size);
	access_find(inferior, &stop, ret);
}

static void print_place(struct symbols *symbols, uint64_t addr, struct buffer *out)
{
	_cleanup_buffer_ struct buffer symbol = {0};

	symbols_print(symbols, addr, &symbol);
	buffer_printf(out, "0x%" PRIx64, addr);
	if (symbol.len > 0)
		buffer_printf(out, " <%s>", buffer_string(&symbol));
}

static void print_insn(struct inferior *inferior, struct symbols *symbols,
		       const struct last_hit *hit, struct buffer *out)
{
	struct access access;

	find_access(inferior, symbols, hit, &access);
	buffer_append_string(out, "  by    ");
	if (access.trust == ACCESS_UNKNOWN) {
		buffer_append_string(out, "an instruction that is not known; the "
					  "thread was at ");
		print_place(symbols, hit->pc, out);
		buffer_append_char(out, '\n');
		return;
	}
	print_place(symbols, access.pc, out);
	buffer_printf(out, ": %s", access.text);
	if (access.size > 0)
		buffer_printf(out, " (%u byte%s)", access.size,
			      access.size == 1 ? "" : "s");
	buffer_append_string(
		out, access.trust == ACCESS_LIKELY ? "; likely, not certain\n" : "\n");
}

static void print_kernel(struct symbols *symbols, const struct last_hit *hit,
			 struct buffer *out)
{
	const char *name = syscall_name(hit->syscall);

	if (hit->syscall == SYSCALL_NONE)
		buffer_append_string(out, "  by    the kernel (the frame of a signal "
					  "handler, say), on the way to ");
	else if (name)
		buffer_printf(out, "  by    system call %s, which returns to ", name);
	else
		buffer_printf(out, "  by    system call %d, which returns to ",
			      hit->syscall);
	print_place(symbols, hit->pc, out);
	buffer_append_char(out, '\n');
}

/* As a number if it has the size of one. */
static void print_value(const char *title, const uint8_t *bytes, uint64_t len,
			struct buffer *out)
{
	uint64_t number = 0;

	buffer_printf(out, "  %s   ", title);
	if (len == 1 || len == 2 || len == 4 || len == 8) {
		memcpy(&number, bytes, len);
		buffer_printf(out, "0x%0*" PRIx64 " = %" PRIu64, 2 * (int)len, number,
			      number);
	} else {
		for (uint64_t i = 0; i < len; i++)
			buffer_printf(out, "%s%02x", i > 0 ? " " : "", bytes[i]);
	}
	buffer_append_char(out, '\n');
}

static const char *title_of_value(const struct last_hit *hit)
{
	if (hit->compared)
		return "new";
	return hit->ahead && !hit->by_kernel ? "old" : "now";
}

static void print_hit(const struct thread *thread, struct symbols *symbols,
		      struct buffer *out)
{
	const struct last_hit *hit = thread->control->last_hit;
	char name[32];

	thread_name(thread, name, sizeof(name));
	buffer_printf(out, "%s %d, %u byte%s at ", breakpoint_type_name(hit->type),
		      numbers_of(thread->inferior->breakpoints, hit->type, hit->addr,
				 hit->len),
		      hit->len, hit->len == 1 ? "" : "s");
	print_place(symbols, hit->addr, out);
	buffer_printf(out, ", thread %d.%d \"%s\"\n", thread->inferior->pid,
		      thread->tid, name);
	if (hit->by_kernel)
		print_kernel(symbols, hit, out);
	else
		print_insn(thread->inferior, symbols, hit, out);
	if (hit->compared)
		print_value("old", hit->values.old, hit->values.len, out);
	if (hit->values.len > 0)
		print_value(title_of_value(hit), hit->values.new, hit->values.len, out);
}

static const struct thread *newest(const struct inferior *inferior)
{
	const struct thread *thread, *found = NULL;

	FOREACH_THREAD (thread, inferior) {
		if (thread->control->last_hit &&
		    (!found || thread->control->last_hit->order >
				       found->control->last_hit->order))
			found = thread;
	}
	return found;
}

struct error *last_hit_print(struct inferior *inferior, bool all, struct buffer *out)
{
	const struct thread *thread, *last = newest(inferior);
	struct symbols *symbols;

	if (!last)
		return error_create(0, "No watchpoint has been hit.");
	symbols = symbols_create(inferior);
	FOREACH_THREAD (thread, inferior) {
		if (thread == last || (all && thread->control->last_hit))
			print_hit(thread, symbols, out);
	}
	symbols_destroy(symbols);
	return NULL;
}
