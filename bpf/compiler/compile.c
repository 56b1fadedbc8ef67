/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/agent/expr.h"
#include "gdbstub/ir/lower.h"
#include "gdbstub/agent/insn.h"
#include "bpf/emit/compiler.h"
#include "bpf/emit/emit_constants.h"
#include "bpf/compiler/emit_epilogue.h"
#include "bpf/emit/emit_where.h"
#include "bpf/emit/emit_kernel_mode.h"
#include "bpf/compiler/emit_match.h"
#include "bpf/compiler/emit_operations.h"
#include "bpf/compiler/emit_probe.h"
#include "bpf/compiler/emit_variables.h"
#include "bpf/compiler/emit_watch.h"
#include "bpf/compiler/emit_watch_ahead.h"

static void compiler_deinit(struct compiler *c)
{
	bpf_emitter_deinit(&c->emitter);
	buffer_deinit(&c->undecided);
	buffer_deinit(&c->uncaptured);
	capture_deinit(&c->capture);
	for (size_t i = 0; i < c->ncommands; i++)
		ir_deinit(&c->commands[i]);
	free(c->commands);
}

static bool is_noted(const struct buffer *notes, const char *reason)
{
	const char *text = buffer_string(notes);
	size_t len = strlen(reason);

	for (; *text != '\0'; text += strspn(text, ", ")) {
		size_t item = strcspn(text, ",");

		if (item == len && memcmp(text, reason, len) == 0)
			return true;
		text += item;
	}
	return false;
}

static void note(void *data, const char *reason)
{
	struct buffer *notes = ((struct compiler *)data)->notes;

	if (is_noted(notes, reason))
		return;
	if (notes->len > 0)
		buffer_append_string(notes, ", ");
	buffer_append_string(notes, reason);
}

static unsigned int register_bits(void *data, unsigned int number)
{
	struct compiler *c = data;
	_cleanup_buffer_ struct buffer reason = {0};

	if (number >= c->nregisters)
		buffer_printf(&reason, "reads register %u", number);
	else if (c->registers[number].bpf_offset == REG_NOT_IN_BPF_CONTEXT)
		buffer_printf(&reason, "reads $%s", c->registers[number].name);
	else
		return c->registers[number].bits;
	note(c, buffer_string(&reason));
	return 0;
}

static bool has_variable(void *data, unsigned int number)
{
	struct compiler *c = data;

	if (variables_known(c, number))
		return true;
	note(c, c->options->variables ? "uses more than 8 trace state variables"
				      : "uses a trace state variable");
	return false;
}

static struct error *lower(struct compiler *c, const struct agent_expr *expr,
			   struct ir *ret)
{
	const struct ir_target target = {
		.slots = SLOTS_MAX - variables_slots(c),
		.loop_steps = c->options->loop_steps,
		.hides = c->options->hide_constants,
		.register_bits = register_bits,
		.reads_thread = true,
		.has_variable = has_variable,
		.undecided = note,
		.data = c,
	};

	return ir_lower(expr, &target, ret);
}

/* Sets *decided if control never gets beyond the condition. */
static struct error *
compile_condition(struct compiler *c, const struct agent_expr *condition, bool *decided)
{
	struct ir ir;
	struct error *error = lower(c, condition, &ir);

	if (error)
		return error;
	operations_emit(c, &ir);
	if (ir.used[IR_MAYBE] && agent_expr_jumps_back(condition))
		c->doubts |= 1U << BPF_DOUBT_STEPS;
	*decided = !ir.used[IR_FALSE];
	ir_deinit(&ir);
	return NULL;
}

static struct error *lower_commands(struct compiler *c,
				    const struct agent_list *commands)
{
	struct error *error = capture_init(&c->capture, commands);

	if (error)
		return error;
	variables_note_uses(c, commands);
	c->commands = calloc(commands->count, sizeof(*c->commands));
	if (!c->commands)
		return error_create(ENOMEM, "commands");
	while (c->ncommands < commands->count) {
		struct ir *ir = &c->commands[c->ncommands];

		error = lower(c, commands->exprs[c->ncommands], ir);
		if (error)
			return error;
		c->ncommands++;
		if (!ir->used[IR_FALSE]) /* the reason was noted */
			return error_create(0, "%s", buffer_string(c->notes));
	}
	return NULL;
}

/* What cannot be captured is left to the stub. */
static struct error *prepare_commands(struct compiler *c,
				      const struct agent_list *commands)
{
	_cleanup_error_ struct error *error = NULL;

	if (commands->count == 0)
		return NULL;
	c->notes = &c->uncaptured;
	error = lower_commands(c, commands);
	c->notes = &c->undecided;
	c->captures = !error;
	if (!error)
		return NULL;
	if (error_errno(error) != 0)
		return take_ptr(error);
	buffer_reset(&c->uncaptured);
	buffer_append_string(&c->uncaptured, error_text(error));
	return NULL;
}

/* Labels for verdicts, and the returned one for what is unchanged. */
static uint32_t make_labels(struct compiler *c)
{
	uint32_t label = bpf_emit_new_labels(&c->emitter, 3);

	c->label_maybe = label;
	c->label_true = c->options->site.watch.stub_decides ? label : label + 1;
	return label + 2;
}

static void emit_begin(struct compiler *c)
{
	bpf_emit(&c->emitter, bpf_alu(BPF_MOV, REG_CONTEXT, BPF_REG_1));
	where_emit_suspended(c);
	variables_emit_unheld(c);
	kernel_mode_emit_begin(c);
	probe_emit_begin(c);
	constants_emit_begin(c);
	if (c->options->site.watch.len > 0)
		watch_emit_clear(c);
	variables_emit_begin(c);
}

static struct error *compile_conditions(struct compiler *c,
					const struct agent_list *conditions,
					bool *decided)
{
	struct error *error = NULL;

	for (size_t i = 0; i < conditions->count && !*decided && !error; i++)
		error = compile_condition(c, conditions->exprs[i], decided);
	/* What follows has slots of its own. */
	c->constants_apart = false;
	return error;
}

/* Only what is false is for the program to decide. */
static struct error *compile_what_is_false(struct compiler *c,
					   const struct agent_list *conditions)
{
	/* Without a filter nothing is known of what the access leads to. */
	bool decided = conditions->count == 0 || c->options->site.watch.len == 0;
	uint32_t unused = make_labels(c);
	struct error *error;

	emit_begin(c);
	c->used_maybe = true;
	c->doubts |= 1U << BPF_DOUBT_AHEAD;
	if (decided) {
		epilogue_emit(c, false);
		return NULL;
	}
	watch_ahead_note_reads(c, conditions);
	watch_emit(c, unused);
	error = compile_conditions(c, conditions, &decided);
	if (error)
		return error;
	if (!decided)
		watch_ahead_keep(c);
	c->used_true = false;
	epilogue_emit(c, !decided);
	return NULL;
}

static struct error *compile_all(struct compiler *c,
				 const struct agent_list *conditions)
{
	bool decided = conditions->count == 0, filters = c->options->site.watch.len > 0;
	uint32_t unchanged = make_labels(c);
	struct error *error;

	c->used_true = decided && !c->options->all_maybe;
	c->used_maybe = decided && c->options->all_maybe;
	emit_begin(c);
	match_emit(c, unchanged);
	if (filters)
		watch_emit(c, unchanged);
	error = compile_conditions(c, conditions, &decided);
	if (error)
		return error;
	if ((filters || c->options->matches) && conditions->count == 0)
		bpf_emit_jump(&c->emitter, bpf_jump(),
			      c->options->all_maybe ? c->label_maybe : c->label_true);
	bpf_emit_bind(&c->emitter, unchanged);
	epilogue_emit(c, !decided || filters || c->options->matches);
	return NULL;
}

/* NULL if nothing was noted. */
static struct error *take_notes(struct buffer *notes, char **ret)
{
	if (notes->len > 0)
		*ret = strdup(buffer_string(notes));
	if (buffer_failed(notes) || (notes->len > 0 && !*ret))
		return error_create(ENOMEM, "a program");
	return NULL;
}

static struct error *finish(struct compiler *c, struct bpf_code *ret)
{
	struct error *error = take_notes(&c->undecided, &ret->undecided);

	if (!error)
		error = take_notes(&c->uncaptured, &ret->uncaptured);
	ret->doubts = c->doubts;
	ret->command_doubts = c->command_doubts;
	memcpy(ret->constants, c->constants, sizeof(ret->constants));
	ret->nconstants = c->nconstants;
	if (!error)
		error = bpf_emit_finish(&c->emitter, &ret->insns, &ret->count);
	if (!error && c->captures) {
		ret->capture = c->capture;
		c->capture = (struct capture){0};
	}
	return error;
}

struct error *bpf_compile(const struct agent_list *conditions,
			  const struct agent_list *commands,
			  const struct bpf_compile_options *options,
			  struct bpf_code *ret)
{
	_cleanup_(compiler_deinit) struct compiler c = {.options = options};
	static const struct agent_list none = {0};
	struct error *error;

	conditions = conditions ? conditions : &none;
	*ret = (struct bpf_code){0};
	if (options->location >= BPF_LOCATIONS_MAX)
		return error_create(0, "location %u is beyond the %d that fit",
				    options->location, BPF_LOCATIONS_MAX);
	c.registers = options->arch->registers(&c.nregisters);
	c.notes = &c.undecided;
	variables_note_uses(&c, conditions);
	c.constants_apart = options->constants_apart && conditions->count > 0 &&
			    !agent_list_loops(conditions);
	if (options->site.watch.stub_decides) {
		error = compile_what_is_false(&c, conditions);
	} else {
		error = prepare_commands(&c, commands ? commands : &none);
		if (!error)
			error = compile_all(&c, conditions);
	}
	if (!error)
		error = finish(&c, ret);
	if (error)
		bpf_code_deinit(ret);
	return error;
}

void bpf_code_deinit(struct bpf_code *code)
{
	free(code->insns);
	free(code->undecided);
	free(code->uncaptured);
	capture_deinit(&code->capture);
	*code = (struct bpf_code){0};
}
