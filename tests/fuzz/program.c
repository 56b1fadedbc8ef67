/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/program.h"

void fuzz_program_begin(struct fuzz_program *program, const struct roles *roles,
			unsigned int position)
{
	struct text *text = &program->text;
	size_t chosen;

	text->len = 0;
	text->full = false;
	program->other_registers = program->other_memory = program->variables = false;
	program->ntraps = 0;
	text_op(text, AGENT_REG, roles->selector);
	text_op(text, AGENT_CONST8, position);
	text_op(text, AGENT_EQUAL, 0);
	chosen = text_jump(text, AGENT_IF_GOTO);
	text_op(text, AGENT_CONST8, 0);
	text_op(text, AGENT_END, 0);
	text_land(text, chosen);
}

bool fuzz_program_is_plain(const struct fuzz_program *program)
{
	return !program->other_registers && !program->other_memory &&
	       !program->variables && program->ntraps == 0;
}
