/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/scope.h"

/* Whether the PC is in, and the stretch; else 1 is the condition's value. */
enum {
	SCOPE_REG,
	SCOPE_FIRST,
	SCOPE_SUB,
	SCOPE_LENGTH,
	SCOPE_LESS,
	SCOPE_IF,
	SCOPE_TRUE,
	SCOPE_END,
	SCOPE_BODY,
};

static bool is_const(const struct agent_insn *insn)
{
	return agent_opcode(insn->code)->class == AGENT_CLASS_CONST;
}

bool agent_scope_find(const struct agent_insn *insns, size_t count,
		      struct agent_scope *ret)
{
	if (count <= SCOPE_BODY || insns[SCOPE_REG].code != AGENT_REG ||
	    !is_const(&insns[SCOPE_FIRST]) || insns[SCOPE_SUB].code != AGENT_SUB ||
	    !is_const(&insns[SCOPE_LENGTH]) || insns[SCOPE_LENGTH].operand == 0 ||
	    insns[SCOPE_LESS].code != AGENT_LESS_UNSIGNED ||
	    insns[SCOPE_IF].code != AGENT_IF_GOTO ||
	    insns[SCOPE_IF].target != SCOPE_BODY || !is_const(&insns[SCOPE_TRUE]) ||
	    insns[SCOPE_TRUE].operand == 0 || insns[SCOPE_END].code != AGENT_END)
		return false;
	*ret = (struct agent_scope){
		.reg = (unsigned int)insns[SCOPE_REG].operand,
		.first = insns[SCOPE_FIRST].operand,
		.last = insns[SCOPE_FIRST].operand + insns[SCOPE_LENGTH].operand - 1,
		.body = SCOPE_BODY,
	};
	return true;
}
