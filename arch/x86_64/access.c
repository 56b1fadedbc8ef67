/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which memory an instruction has accessed, told by the registers after it (Intel SDM
 * volume 2). An address is known if the registers that it is made of are as they
 * were: not changed by the instruction, or changed in a known way (stack, strings).
 */
#include "arch/x86_64/x86_64.h"

#include "arch/register_table.h"
#include "arch/capstone.h"

enum {
	EFLAGS_DF = 0x400, /* strings go downwards */
	/* Rounds of a repeated instruction may be done together, a cache line at most
	 * (volume 3, "Data Breakpoint Exception Condition"). */
	ROUNDS_TOGETHER = 64,
	STATE_SIZE = 4096, /* what instructions that save states may access */
	OPERAND_PREFIX = 0x66,
};

enum { RSP = X86_64_RSP };

/* An instruction whose accesses are looked for. */
struct insn {
	const struct insn_written *written;
	const cs_insn *cs;
	const cs_x86 *x86;
	const struct regs *regs;
	struct insn_accesses *out;
};

static bool writes_register(const struct insn *insn, int number)
{
	for (uint8_t i = 0; insn->written->known && i < insn->written->count; i++)
		if (x86_64_general(insn->written->reg[i]) == number)
			return true;
	return !insn->written->known;
}

static unsigned int stack_word(const struct insn *insn)
{
	return insn->x86->prefix[2] == OPERAND_PREFIX ? 2 : 8;
}

static bool pushes(const struct insn *insn)
{
	switch (insn->cs->id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHF:
	case X86_INS_PUSHFQ:
	case X86_INS_CALL:
		return true;
	default:
		return false;
	}
}

static bool pops(const struct insn *insn)
{
	switch (insn->cs->id) {
	case X86_INS_POP:
	case X86_INS_POPF:
	case X86_INS_POPFQ:
	case X86_INS_RET:
	case X86_INS_LEAVE:
		return true;
	default:
		return false;
	}
}

/* By opcode: capstone calls some of them as it calls instructions of SSE. */
static bool is_string(const struct insn *insn)
{
	uint8_t opcode = insn->x86->opcode[0];

	return (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf) || (opcode >= 0x6c && opcode <= 0x6f);
}

static bool is_repeated(const struct insn *insn)
{
	return is_string(insn) && insn->x86->prefix[0] != 0;
}

/* A register as the instruction has used it. */
static bool used_value(const struct insn *insn, unsigned int reg, uint64_t *value)
{
	int number = x86_64_general(reg);

	if (number == X86_64_NO_REGISTER ||
	    reg_read_u64(insn->regs, (unsigned int)number, value) < 0)
		return false;
	if (number == RSP && pushes(insn)) {
		*value += stack_word(insn);
		return true;
	}
	if (number == RSP && insn->cs->id == X86_INS_POP)
		return true; /* its operand's address is made after the rise */
	return is_string(insn) || !writes_register(insn, number);
}

static bool segment_base(const struct insn *insn, unsigned int segment, uint64_t *base)
{
	*base = 0;
	if (segment == X86_REG_FS)
		return reg_read_named(insn->regs, "fs_base", base) == 0;
	if (segment == X86_REG_GS)
		return reg_read_named(insn->regs, "gs_base", base) == 0;
	return true;
}

static bool operand_address(const struct insn *insn, const x86_op_mem *mem,
			    uint64_t *addr)
{
	uint64_t base = 0, index = 0, segment;

	if (mem->base == X86_REG_RIP)
		base = insn->cs->address + insn->cs->size;
	else if (mem->base != X86_REG_INVALID && !used_value(insn, mem->base, &base))
		return false;
	if (mem->index != X86_REG_INVALID && mem->index != X86_REG_RIZ &&
	    mem->index != X86_REG_EIZ && !used_value(insn, mem->index, &index))
		return false;
	if (!segment_base(insn, mem->segment, &segment))
		return false;
	*addr = base + index * (uint64_t)(int64_t)mem->scale + (uint64_t)mem->disp;
	if (insn->x86->addr_size == 4)
		*addr = (uint32_t)*addr;
	*addr += segment;
	return true;
}

static void add(const struct insn *insn, struct insn_access access)
{
	if (insn->out->count < INSN_ACCESSES_MAX)
		insn->out->access[insn->out->count++] = access;
}

/* The registers have moved on, by the size of one element or more. */
static void move_back(const struct insn *insn, struct insn_access *access)
{
	uint64_t flags = 0;
	bool down =
		reg_read_named(insn->regs, "eflags", &flags) == 0 && flags & EFLAGS_DF;

	access->addr += down ? access->size : -(uint64_t)access->size;
	if (!is_repeated(insn))
		return;
	access->before = down ? 0 : ROUNDS_TOGETHER;
	access->after = down ? ROUNDS_TOGETHER : 0;
}

static void add_operand(const struct insn *insn, const cs_x86_op *operand)
{
	struct insn_access access = {
		.reads = operand->access & CS_AC_READ,
		.writes = operand->access & CS_AC_WRITE,
		.size = operand->size,
	};

	if (operand->type != X86_OP_MEM || insn->cs->id == X86_INS_LEA ||
	    insn->cs->id == X86_INS_NOP)
		return;
	if (!access.reads && !access.writes) /* capstone does not know */
		access.reads = access.writes = true;
	access.known = operand_address(insn, &operand->mem, &access.addr);
	if (is_string(insn))
		move_back(insn, &access);
	if (access.size == 0)
		access.after = STATE_SIZE;
	add(insn, access);
}

static void add_stack(const struct insn *insn)
{
	struct insn_access access = {.size = stack_word(insn), .writes = pushes(insn)};

	access.reads = !access.writes;
	access.known = reg_read_u64(insn->regs, RSP, &access.addr) == 0;
	if (access.reads)
		access.addr -= access.size;
	if (insn->cs->id == X86_INS_RET && insn->x86->op_count > 0)
		access.addr -= (uint64_t)insn->x86->operands[0].imm;
	add(insn, access);
}

static void find_target(const struct insn *insn)
{
	const cs_x86_op *operand = &insn->x86->operands[0];

	insn->out->calls = insn->cs->id == X86_INS_CALL;
	if (!insn->out->calls || insn->x86->op_count != 1)
		return;
	insn->out->target_known = operand->type != X86_OP_MEM;
	if (operand->type == X86_OP_IMM)
		insn->out->target = (uint64_t)operand->imm;
	else if (operand->type == X86_OP_REG)
		insn->out->target_known =
			used_value(insn, operand->reg, &insn->out->target);
}

void x86_64_accesses(const struct cs_insn *cs, const struct insn_written *written,
		     const struct regs *regs, struct insn_accesses *ret)
{
	const struct insn insn = {written, cs, &cs->detail->x86, regs, ret};

	*ret = (struct insn_accesses){.repeats = is_repeated(&insn)};
	for (uint8_t i = 0; i < insn.x86->op_count; i++)
		add_operand(&insn, &insn.x86->operands[i]);
	if (pushes(&insn) || pops(&insn))
		add_stack(&insn);
	find_target(&insn);
}
