/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/print.h"

#include "gdbstub/agent/expr.h"

#include <inttypes.h>

#include "gdbstub/agent/infix.h"
#include "gdbstub/agent/insn.h"

static void print_insn(const struct agent_insn *insn, const struct arch_ops *arch,
		       struct buffer *out)
{
	const struct agent_opcode *opcode = agent_opcode(insn->code);

	buffer_append_string(out, opcode->name);
	if (opcode->operand == 0)
		return;
	buffer_append_char(out, ' ');
	if (insn->format)
		agent_print_format(insn->format, out);
	else if (insn->code == AGENT_REG)
		agent_print_register(arch, (unsigned int)insn->operand, out);
	else if (opcode->operand >= 4)
		buffer_printf(out, "0x%" PRIx64, insn->operand);
	else
		buffer_printf(out, "%" PRIu64, insn->operand);
}

static void print_list(const struct agent_expr *expr, const struct arch_ops *arch,
		       struct buffer *out)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buffer_append_string(out, "; ");
		if (insns[i].leader)
			buffer_printf(out, "%u: ", insns[i].offset);
		print_insn(&insns[i], arch, out);
	}
}

void agent_expr_print(const struct agent_expr *expr, const struct arch_ops *arch,
		      struct buffer *out)
{
	if (!agent_expr_infix(expr, arch, out))
		print_list(expr, arch, out);
}

void agent_expr_disassemble(const struct agent_expr *expr, const struct arch_ops *arch,
			    struct buffer *out)
{
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	for (size_t i = 0; i < count; i++) {
		buffer_printf(out, "%5u  ", insns[i].offset);
		print_insn(&insns[i], arch, out);
		buffer_append_char(out, '\n');
	}
}
