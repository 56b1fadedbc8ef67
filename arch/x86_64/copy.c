/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of instructions that do the same elsewhere (Intel SDM volume 2). What reads
 * the PC gets what it would have read: the displacement of an operand or a jump is
 * another one, and a call is made of a push of the address after the original, and a
 * jump.
 */
#include "arch/x86_64/x86_64.h"

#include <string.h>

#include "arch/x86_64/opcode.h"
#include "arch/capstone.h"

enum {
	TWO_BYTES = 0x0f,
	JUMP_IF = 0x70,	     /* with a condition; rel8 */
	JUMP_IF_NEAR = 0x80, /* the same after TWO_BYTES; rel32 */
	CONDITION = 0x0f,
	LOOPS = 0xe0, /* loopne, loope, loop, jrcxz: rel8 */
	CALL = 0xe8,
	JMP = 0xe9,
	JMP_SHORT = 0xeb,
	RET_POP = 0xc2, /* ret imm16 */
	RET = 0xc3,
	INDIRECT = 0xff, /* among others: /2 call, /3 far call, /4 jmp, /5 far jmp */
	INDIRECT_CALL = 2,
	INDIRECT_JMP = 4,
	PUSHF = 0x9c,
	POPF = 0x9d,
	DISPLACEMENT_LEN = 4,
	WORD = 8,
};

/* One copy at work. */
struct copying {
	const cs_insn *insn;
	struct x86_64_opcode opcode;
	uint64_t to;
	struct displaced *ret;
};

static uint64_t end_of(const cs_insn *insn)
{
	return insn->address + insn->size;
}

static void refuse(struct copying *c, const char *why)
{
	c->ret->why_not = why;
}

/* An instruction begins here, with this to be said of a thread at it. */
static void begin_insn(struct copying *c, uint64_t pc, unsigned int pushed)
{
	c->ret->state[c->ret->nstates++] = (struct displaced_state){
		.offset = (uint16_t)c->ret->len, .pushed = (uint8_t)pushed, .pc = pc};
}

static void put(struct copying *c, const void *bytes, unsigned int len)
{
	memcpy(c->ret->code + c->ret->len, bytes, len);
	c->ret->len += len;
}

static void put_byte(struct copying *c, uint8_t byte)
{
	put(c, &byte, 1);
}

/* A displacement at @at in the copy, of an instruction that ends at @end in it. */
static void set_displacement(struct copying *c, unsigned int at, unsigned int end,
			     uint64_t target)
{
	const uint64_t from = c->to + end;
	const uint32_t displacement = (uint32_t)(target - from);

	if (!x86_64_reaches(from, target))
		refuse(c, "it refers to what is too far away");
	for (unsigned int i = 0; i < DISPLACEMENT_LEN; i++)
		c->ret->code[at + i] = (uint8_t)(displacement >> (8 * i));
}

/* ... of what is not in the copy. */
static void refer(struct copying *c, unsigned int at, unsigned int end, uint64_t target)
{
	c->ret->refers = true;
	c->ret->reference = target;
	set_displacement(c, at, end, target);
}

static void put_reference(struct copying *c, uint64_t target)
{
	c->ret->len += DISPLACEMENT_LEN;
	refer(c, c->ret->len - DISPLACEMENT_LEN, c->ret->len, target);
}

static void put_jmp(struct copying *c, uint64_t target)
{
	put_byte(c, JMP);
	put_reference(c, target);
}

/* Where it jumps to: capstone makes of the operand what it leads to. */
static uint64_t target_of(const cs_insn *insn)
{
	return (uint64_t)insn->detail->x86.operands[0].imm;
}

static const cs_x86_op *find_memory(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM)
			return &x86->operands[i];
	return NULL;
}

static bool is_relative(const cs_x86_op *memory)
{
	return memory &&
	       (memory->mem.base == X86_REG_RIP || memory->mem.base == X86_REG_EIP);
}

/* The displacement of an operand that is relative to the PC, at @start in the copy. */
static void relocate(struct copying *c, unsigned int start, const cs_x86_op *memory)
{
	const unsigned int at = c->insn->detail->x86.encoding.disp_offset;
	int32_t displacement;

	if (memory->mem.base == X86_REG_EIP || at == 0 ||
	    at + DISPLACEMENT_LEN > c->insn->size) {
		refuse(c, "its operand is relative to the PC in an unusual way");
		return;
	}
	memcpy(&displacement, c->insn->bytes + at, sizeof(displacement));
	if (displacement != memory->mem.disp)
		refuse(c, "its operand is relative to the PC in an unusual way");
	else
		refer(c, start + at, start + c->insn->size,
		      end_of(c->insn) + (uint64_t)memory->mem.disp);
}

static void copy_bytes(struct copying *c)
{
	const cs_x86_op *memory = find_memory(c->insn);
	const unsigned int start = c->ret->len;

	put(c, c->insn->bytes, c->insn->size);
	if (is_relative(memory))
		relocate(c, start, memory);
}

static void copy_plain(struct copying *c)
{
	begin_insn(c, c->insn->address, 0);
	copy_bytes(c);
}

static void copy_jmp(struct copying *c)
{
	begin_insn(c, c->insn->address, 0);
	put_jmp(c, target_of(c->insn));
	c->ret->leaves = true;
}

static void copy_jump_if(struct copying *c, uint8_t condition)
{
	begin_insn(c, c->insn->address, 0);
	put_byte(c, TWO_BYTES);
	put_byte(c, JUMP_IF_NEAR | condition);
	put_reference(c, target_of(c->insn));
}

/* These have short displacements only: to a jump that leads on. */
static void copy_loop(struct copying *c)
{
	enum { SHORT_LEN = 2, JMP_LEN = 5 };

	begin_insn(c, c->insn->address, 0);
	put(c, c->insn->bytes, c->insn->size - 1U);
	put_byte(c, SHORT_LEN);
	begin_insn(c, end_of(c->insn), 0);
	put_byte(c, JMP_SHORT);
	put_byte(c, JMP_LEN);
	begin_insn(c, target_of(c->insn), 0);
	put_jmp(c, target_of(c->insn));
}

/* Pushes the address after the original, which the copy has @after further bytes of
 * code before. */
static void put_push(struct copying *c, unsigned int after)
{
	static const uint8_t push[] = {INDIRECT, 0x35}; /* /6, relative to the PC */

	put(c, push, sizeof(push));
	c->ret->len += DISPLACEMENT_LEN;
	set_displacement(c, c->ret->len - DISPLACEMENT_LEN, c->ret->len,
			 c->to + c->ret->len + after);
}

static void put_return_address(struct copying *c)
{
	const uint64_t addr = end_of(c->insn);

	put(c, &addr, sizeof(addr));
	c->ret->leaves = true;
	c->ret->pushes_return = true;
}

/* Once it has pushed, the call is done: what is left is a jump to where it leads. */
static void copy_call(struct copying *c)
{
	enum { JMP_LEN = 5 };

	begin_insn(c, c->insn->address, 0);
	put_push(c, JMP_LEN);
	begin_insn(c, target_of(c->insn), 0);
	put_jmp(c, target_of(c->insn));
	put_return_address(c);
}

static bool uses_stack_pointer(const cs_x86_op *operand)
{
	if (operand->type == X86_OP_REG)
		return operand->reg == X86_REG_RSP;
	return operand->mem.base == X86_REG_RSP || operand->mem.base == X86_REG_ESP;
}

/* The jump may fault, as the call would have before it had pushed. */
static void copy_indirect_call(struct copying *c)
{
	const unsigned int modrm = c->opcode.at + 1;
	unsigned int start;

	if (uses_stack_pointer(&c->insn->detail->x86.operands[0])) {
		refuse(c, "it calls by the stack pointer");
		return;
	}
	begin_insn(c, c->insn->address, 0);
	put_push(c, c->insn->size);
	begin_insn(c, c->insn->address, WORD);
	start = c->ret->len;
	copy_bytes(c);
	c->ret->code[start + modrm] =
		(uint8_t)((c->ret->code[start + modrm] & ~(7U << 3)) | INDIRECT_JMP
									       << 3);
	put_return_address(c);
}

static void copy_indirect(struct copying *c)
{
	const unsigned int extension = c->insn->detail->x86.modrm >> 3 & 7;

	if (c->opcode.operand_size &&
	    (extension == INDIRECT_CALL || extension == INDIRECT_JMP)) {
		refuse(c, "it has unusual prefixes");
		return;
	}
	switch (extension) {
	case INDIRECT_CALL:
		copy_indirect_call(c);
		break;
	case INDIRECT_JMP:
		copy_plain(c);
		c->ret->leaves = true;
		break;
	case INDIRECT_CALL + 1:
	case INDIRECT_JMP + 1:
		refuse(c, "it may change segment registers");
		break;
	default:
		copy_plain(c);
	}
}

/* After TWO_BYTES. */
static void copy_two_bytes(struct copying *c)
{
	const uint8_t second = c->insn->bytes[c->opcode.at + 1];

	if ((second & 0xf0) == JUMP_IF_NEAR)
		copy_jump_if(c, second & CONDITION);
	else
		copy_plain(c);
}

static bool is_in_group(const cs_insn *insn, uint8_t group)
{
	return memchr(insn->detail->groups, group, insn->detail->groups_count) != NULL;
}

/* Why an instruction can have no copy, or NULL. */
static const char *why_not(const struct copying *c)
{
	const struct x86_64_opcode *opcode = &c->opcode;

	if (opcode->lock)
		return "code may jump past its LOCK prefix";
	if (opcode->odd)
		return "it has unusual prefixes";
	if (opcode->first == PUSHF || opcode->first == POPF)
		return "it tells of the flag by which threads are stepped, or sets it";
	switch (c->insn->id) {
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
	case X86_INS_SYSEXIT:
	case X86_INS_SYSRET:
	case X86_INS_INT:
	case X86_INS_INT1:
	case X86_INS_INT3:
	case X86_INS_INTO:
		return "it enters the kernel";
	case X86_INS_XBEGIN:
	case X86_INS_XABORT:
		return "it begins or ends a transaction";
	case X86_INS_LCALL:
	case X86_INS_LJMP:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
		return "it may change segment registers";
	default:
		break;
	}
	if (is_in_group(c->insn, X86_GRP_IRET) || is_in_group(c->insn, X86_GRP_INT))
		return "it enters the kernel";
	if (is_in_group(c->insn, X86_GRP_PRIVILEGE) || is_in_group(c->insn, X86_GRP_VM))
		return "it is privileged";
	return NULL;
}

/* Of another size, calls and jumps differ among processors. */
static bool is_transfer(uint8_t first)
{
	return first == CALL || first == JMP || first == JMP_SHORT || first == RET ||
	       first == RET_POP || (first & 0xf0) == JUMP_IF || (first & 0xfc) == LOOPS;
}

static void copy_by_opcode(struct copying *c)
{
	const uint8_t first = c->opcode.first;

	if (is_transfer(first) && c->opcode.operand_size)
		refuse(c, "it has unusual prefixes");
	else if (first == CALL)
		copy_call(c);
	else if (first == JMP || first == JMP_SHORT)
		copy_jmp(c);
	else if ((first & 0xf0) == JUMP_IF)
		copy_jump_if(c, first & CONDITION);
	else if ((first & 0xfc) == LOOPS)
		copy_loop(c);
	else if (first == INDIRECT)
		copy_indirect(c);
	else if (first == TWO_BYTES)
		copy_two_bytes(c);
	else
		copy_plain(c);
	if (first == RET || first == RET_POP)
		c->ret->leaves = true;
}

void x86_64_copy(const struct cs_insn *insn, uint64_t to, struct displaced *ret)
{
	struct copying c = {
		.insn = insn, .opcode = x86_64_opcode(insn), .to = to, .ret = ret};

	*ret = (struct displaced){.why_not = why_not(&c)};
	if (!ret->why_not)
		copy_by_opcode(&c);
}
