/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compile.h"

#include <stdlib.h>
#include <string.h>

#include "agent/insn.h"
#include "bpf/compiler.h"

static void compiler_deinit(struct compiler *c)
{
	bpf_emitter_deinit(&c->emitter);
	buffer_deinit(&c->reasons);
}

static bool is_noted(const struct compiler *c, const char *reason)
{
	const char *text = buffer_string(&c->reasons);
	size_t len = strlen(reason);

	for (; *text != '\0'; text += strspn(text, ", ")) {
		size_t item = strcspn(text, ",");

		if (item == len && memcmp(text, reason, len) == 0)
			return true;
		text += item;
	}
	return false;
}

static void note_undecided(void *data, const char *reason)
{
	struct compiler *c = data;

	if (is_noted(c, reason))
		return;
	if (c->reasons.len > 0)
		buffer_append_string(&c->reasons, ", ");
	buffer_append_string(&c->reasons, reason);
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
	note_undecided(c, buffer_string(&reason));
	return 0;
}

static bool has_variable(void *data, unsigned int number)
{
	struct compiler *c = data;

	if (variables_known(c, number))
		return true;
	note_undecided(c, c->options->variables
				  ? "uses more than 8 trace state variables"
				  : "uses a trace state variable");
	return false;
}

/* Sets *decided if control never gets behind the condition. */
static struct error *compile_one(struct compiler *c, const struct agent_expr *condition,
				 bool *decided)
{
	const struct ir_target target = {
		.slots = SLOTS_MAX - variables_slots(c),
		.loop_steps = c->options->loop_steps,
		.hides = c->options->hide_constants,
		.register_bits = register_bits,
		.has_variable = has_variable,
		.undecided = note_undecided,
		.data = c,
	};
	struct ir ir;
	struct error *error = ir_create(condition, &target, &ir);

	if (error)
		return error;
	c->labels = bpf_emit_new_labels(&c->emitter, ir.labels);
	for (size_t i = 0; i < ir.count; i++)
		operations_emit(c, &ir.insns[i]);
	c->used_true |= ir.used[IR_TRUE];
	c->used_maybe |= ir.used[IR_MAYBE];
	if (ir.used[IR_MAYBE] && agent_expr_jumps_back(condition))
		c->doubts |= 1U << BPF_DOUBT_STEPS;
	*decided = !ir.used[IR_FALSE];
	ir_deinit(&ir);
	return NULL;
}

static struct error *compile_all(struct compiler *c,
				 const struct agent_list *conditions)
{
	bool decided = conditions->count == 0;

	c->label_true = bpf_emit_new_labels(&c->emitter, 2);
	c->label_maybe = c->label_true + 1;
	c->used_true = decided && !c->options->all_maybe;
	c->used_maybe = decided && c->options->all_maybe;
	bpf_emit(&c->emitter, bpf_alu(BPF_MOV, REG_CONTEXT, BPF_REG_1));
	variables_note_uses(c, conditions);
	variables_emit_begin(c);
	for (size_t i = 0; i < conditions->count && !decided; i++) {
		struct error *error = compile_one(c, conditions->exprs[i], &decided);

		if (error)
			return error;
	}
	exits_emit(c, !decided);
	return NULL;
}

struct error *bpf_compile(const struct agent_list *conditions,
			  const struct agent_list *commands,
			  const struct bpf_compile_options *options,
			  struct bpf_code *ret)
{
	_cleanup_(compiler_deinit) struct compiler c = {.options = options};
	static const struct agent_list none = {0};
	struct error *error;

	(void)commands;
	*ret = (struct bpf_code){0};
	if (options->location >= BPF_LOCATIONS_MAX)
		return error_create(0, "location %u is beyond the %d that fit",
				    options->location, BPF_LOCATIONS_MAX);
	c.registers = options->arch->registers(&c.nregisters);
	error = compile_all(&c, conditions ? conditions : &none);
	if (error)
		return error;
	if (c.reasons.len > 0)
		ret->undecided = strdup(buffer_string(&c.reasons));
	if (buffer_failed(&c.reasons) || (c.reasons.len > 0 && !ret->undecided))
		return error_create(0, "out of memory for a program");
	ret->doubts = c.doubts;
	error = bpf_emit_finish(&c.emitter, &ret->insns, &ret->count);
	if (error)
		bpf_code_deinit(ret);
	return error;
}

void bpf_code_deinit(struct bpf_code *code)
{
	free(code->insns);
	free(code->undecided);
	*code = (struct bpf_code){0};
}
