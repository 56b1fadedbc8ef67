/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/hits/evaluate.h"

#include <errno.h>

#include "gdbstub/agent/interp.h"
#include "gdbstub/agent/opcode.h"
#include "arch/register_table.h"
#include "gdbstub/base/log.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"

/* Inputs of an evaluation: the stopped thread, its registers as needed. */
struct inputs {
	struct thread *thread;
	memory_reader *read;
	struct regs regs;
	const struct output *output;
	struct variables_draft variables;
};

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	struct inputs *inputs = data;
	ssize_t n = inputs->read(inputs->thread->inferior, addr, value, len);

	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EFAULT;
}

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	struct inputs *inputs = data;
	const struct reg_def *reg = reg_by_number(inputs->regs.arch, number);
	int err = 0;

	if (number == AGENT_REG_THREAD) {
		*value = (uint64_t)inputs->thread->tid;
		return 0;
	}
	if (!reg)
		return -ENOENT;
	if (reg->also && inputs->regs.size[reg->also] == 0)
		regs_fetch(inputs->thread, &inputs->regs, reg->also);
	if (inputs->regs.size[reg->regset] == 0)
		err = regs_fetch(inputs->thread, &inputs->regs, reg->regset);
	return err < 0 ? err : reg_read_u64(&inputs->regs, number, value);
}

static int read_variable(void *data, unsigned int number, uint64_t *value)
{
	struct inputs *inputs = data;

	return variables_draft_read(&inputs->variables, number, value);
}

static int write_variable(void *data, unsigned int number, uint64_t value)
{
	struct inputs *inputs = data;

	return variables_draft_write(&inputs->variables, number, value);
}

static void print(void *data, const char *text, size_t len)
{
	const struct inputs *inputs = data;

	inputs->output->print(inputs->output->data, text, len);
}

/* To be used until the thread runs; what was set takes effect by inputs_deinit. */
static void inputs_init(struct inputs *inputs, struct thread *thread,
			memory_reader *read, const struct output *output)
{
	inputs->thread = thread;
	inputs->read = read;
	inputs->output = output;
	variables_draft_init(&inputs->variables,
			     &thread->inferior->breakpoints->engines->variables);
	regs_init(&inputs->regs, thread->inferior->arch);
}

static void inputs_deinit(struct inputs *inputs)
{
	variables_draft_commit(&inputs->variables);
}

static struct error *evaluate(const struct agent_expr *expr, struct inputs *inputs,
			      uint64_t *value)
{
	const struct agent_context context = {
		.read_memory = read_memory,
		.read_register = read_register,
		.read_variable = read_variable,
		.write_variable = write_variable,
		.print = print,
		.data = inputs,
	};

	return agent_expr_evaluate(expr, &context, value);
}

bool evaluate_conditions(const struct location *location, struct thread *thread,
			 memory_reader *read)
{
	const struct agent_list *conditions = &location->conditions;
	_cleanup_(inputs_deinit) struct inputs inputs;

	inputs_init(&inputs, thread, read, NULL);
	for (size_t i = 0; i < conditions->count; i++) {
		uint64_t value = 0;
		_cleanup_error_ struct error *error =
			evaluate(conditions->exprs[i], &inputs, &value);

		if (error)
			log_debug(LOG_STOPS, "%s *0x%jx: %s",
				  breakpoint_type_name(location->type),
				  (uintmax_t)location->addr, error_text(error));
		if (error || value != 0)
			return true;
	}
	return conditions->count == 0;
}

void evaluate_commands(const struct location *location, struct thread *thread,
		       const struct output *output)
{
	const struct agent_list *commands = &location->commands.list;
	_cleanup_(inputs_deinit) struct inputs inputs;

	/* What the thread has printed before comes first. */
	engines_print_output(thread->inferior->breakpoints->engines, true);
	inputs_init(&inputs, thread, breakpoints_read_memory, output);
	for (size_t i = 0; i < commands->count; i++) {
		uint64_t value;
		_cleanup_error_ struct error *error =
			evaluate(commands->exprs[i], &inputs, &value);

		if (!error)
			continue;
		log_warning("command %zu of %s *0x%jx failed: %s", i + 1,
			    breakpoint_type_name(location->type),
			    (uintmax_t)location->addr, error_text(error));
		return;
	}
}
