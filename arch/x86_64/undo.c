/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which instructions can be undone (Intel SDM volume 2). Only what the table names can:
 * it changes nothing but the regset with the PC and at most one place in memory. Loads
 * may be made twice.
 */
#include "arch/x86_64/x86_64.h"

#include <string.h>

#include "arch/x86_64/opcode.h"
#include "arch/capstone.h"

/* What an instruction changes besides general registers, flags and the PC. */
enum effect {
	UNKNOWN,
	REGISTERS,   /* nothing */
	STORES,	     /* its first operand */
	EXCHANGES,   /* ... in memory by a lock, or not at the operand's address */
	PUSHES,	     /* a word below the stack */
	POPS,	     /* its operand, whose address is made after the pop */
	CALLS,	     /* as PUSHES; and the shadow stack */
	RETURNS,     /* the shadow stack */
	JUMPS,	     /* nothing */
	FROM_VECTOR, /* a place in memory, if its second operand is a vector register */
	SYSTEM_CALL,
	NEVER_THE_SAME,
	EFFECT = 0x1f,
	PREFIXED = 0x20, /* a prefix for repetition is a part of its opcode */
};

static const uint8_t effects[X86_INS_ENDING] = {
	/* moves */
	[X86_INS_MOV] = STORES,
	[X86_INS_MOVBE] = STORES,
	[X86_INS_MOVSX] = REGISTERS,
	[X86_INS_MOVSXD] = REGISTERS,
	[X86_INS_MOVZX] = REGISTERS,
	[X86_INS_LEA] = REGISTERS,
	[X86_INS_XLATB] = REGISTERS,
	[X86_INS_BSWAP] = REGISTERS,
	[X86_INS_CMOVA] = REGISTERS,
	[X86_INS_CMOVAE] = REGISTERS,
	[X86_INS_CMOVB] = REGISTERS,
	[X86_INS_CMOVBE] = REGISTERS,
	[X86_INS_CMOVE] = REGISTERS,
	[X86_INS_CMOVG] = REGISTERS,
	[X86_INS_CMOVGE] = REGISTERS,
	[X86_INS_CMOVL] = REGISTERS,
	[X86_INS_CMOVLE] = REGISTERS,
	[X86_INS_CMOVNE] = REGISTERS,
	[X86_INS_CMOVNO] = REGISTERS,
	[X86_INS_CMOVNP] = REGISTERS,
	[X86_INS_CMOVNS] = REGISTERS,
	[X86_INS_CMOVO] = REGISTERS,
	[X86_INS_CMOVP] = REGISTERS,
	[X86_INS_CMOVS] = REGISTERS,
	[X86_INS_SETA] = STORES,
	[X86_INS_SETAE] = STORES,
	[X86_INS_SETB] = STORES,
	[X86_INS_SETBE] = STORES,
	[X86_INS_SETE] = STORES,
	[X86_INS_SETG] = STORES,
	[X86_INS_SETGE] = STORES,
	[X86_INS_SETL] = STORES,
	[X86_INS_SETLE] = STORES,
	[X86_INS_SETNE] = STORES,
	[X86_INS_SETNO] = STORES,
	[X86_INS_SETNP] = STORES,
	[X86_INS_SETNS] = STORES,
	[X86_INS_SETO] = STORES,
	[X86_INS_SETP] = STORES,
	[X86_INS_SETS] = STORES,
	[X86_INS_XCHG] = EXCHANGES,
	[X86_INS_XADD] = EXCHANGES,
	[X86_INS_CMPXCHG] = EXCHANGES,
	/* arithmetics */
	[X86_INS_ADD] = STORES,
	[X86_INS_ADC] = STORES,
	[X86_INS_SUB] = STORES,
	[X86_INS_SBB] = STORES,
	[X86_INS_INC] = STORES,
	[X86_INS_DEC] = STORES,
	[X86_INS_NEG] = STORES,
	[X86_INS_AND] = STORES,
	[X86_INS_OR] = STORES,
	[X86_INS_XOR] = STORES,
	[X86_INS_NOT] = STORES,
	[X86_INS_CMP] = REGISTERS,
	[X86_INS_TEST] = REGISTERS,
	[X86_INS_MUL] = REGISTERS,
	[X86_INS_IMUL] = REGISTERS,
	[X86_INS_DIV] = REGISTERS,
	[X86_INS_IDIV] = REGISTERS,
	[X86_INS_CBW] = REGISTERS,
	[X86_INS_CWDE] = REGISTERS,
	[X86_INS_CDQE] = REGISTERS,
	[X86_INS_CWD] = REGISTERS,
	[X86_INS_CDQ] = REGISTERS,
	[X86_INS_CQO] = REGISTERS,
	[X86_INS_ADCX] = REGISTERS,
	[X86_INS_ADOX] = REGISTERS | PREFIXED,
	[X86_INS_CRC32] = REGISTERS | PREFIXED,
	[X86_INS_MULX] = REGISTERS,
	/* bits */
	[X86_INS_SHL] = STORES,
	[X86_INS_SAL] = STORES,
	[X86_INS_SHR] = STORES,
	[X86_INS_SAR] = STORES,
	[X86_INS_ROL] = STORES,
	[X86_INS_ROR] = STORES,
	[X86_INS_RCL] = STORES,
	[X86_INS_RCR] = STORES,
	[X86_INS_SHLD] = STORES,
	[X86_INS_SHRD] = STORES,
	[X86_INS_BT] = REGISTERS,
	[X86_INS_BSF] = REGISTERS,
	[X86_INS_BSR] = REGISTERS,
	[X86_INS_BTS] = EXCHANGES,
	[X86_INS_BTR] = EXCHANGES,
	[X86_INS_BTC] = EXCHANGES,
	[X86_INS_POPCNT] = REGISTERS | PREFIXED,
	[X86_INS_LZCNT] = REGISTERS | PREFIXED,
	[X86_INS_TZCNT] = REGISTERS | PREFIXED,
	[X86_INS_ANDN] = REGISTERS,
	[X86_INS_BEXTR] = REGISTERS,
	[X86_INS_BLSI] = REGISTERS,
	[X86_INS_BLSMSK] = REGISTERS,
	[X86_INS_BLSR] = REGISTERS,
	[X86_INS_BZHI] = REGISTERS,
	[X86_INS_PDEP] = REGISTERS,
	[X86_INS_PEXT] = REGISTERS,
	[X86_INS_RORX] = REGISTERS,
	[X86_INS_SARX] = REGISTERS,
	[X86_INS_SHLX] = REGISTERS,
	[X86_INS_SHRX] = REGISTERS,
	/* flags, hints */
	[X86_INS_CLC] = REGISTERS,
	[X86_INS_STC] = REGISTERS,
	[X86_INS_CMC] = REGISTERS,
	[X86_INS_CLD] = REGISTERS,
	[X86_INS_STD] = REGISTERS,
	[X86_INS_LAHF] = REGISTERS,
	[X86_INS_SAHF] = REGISTERS,
	[X86_INS_NOP] = REGISTERS,
	[X86_INS_LFENCE] = REGISTERS,
	[X86_INS_MFENCE] = REGISTERS,
	[X86_INS_SFENCE] = REGISTERS,
	[X86_INS_PREFETCHW] = REGISTERS,
	[X86_INS_PREFETCHNTA] = REGISTERS,
	[X86_INS_PREFETCHT0] = REGISTERS,
	[X86_INS_PREFETCHT1] = REGISTERS,
	[X86_INS_PREFETCHT2] = REGISTERS,
	[X86_INS_PAUSE] = REGISTERS | PREFIXED,
	[X86_INS_ENDBR64] = REGISTERS | PREFIXED,
	/* stack */
	[X86_INS_PUSH] = PUSHES,
	[X86_INS_POP] = POPS,
	[X86_INS_LEAVE] = REGISTERS,
	[X86_INS_CALL] = CALLS,
	[X86_INS_RET] = RETURNS,
	/* jumps */
	[X86_INS_JA] = JUMPS,
	[X86_INS_JAE] = JUMPS,
	[X86_INS_JB] = JUMPS,
	[X86_INS_JBE] = JUMPS,
	[X86_INS_JE] = JUMPS,
	[X86_INS_JG] = JUMPS,
	[X86_INS_JGE] = JUMPS,
	[X86_INS_JL] = JUMPS,
	[X86_INS_JLE] = JUMPS,
	[X86_INS_JNE] = JUMPS,
	[X86_INS_JNO] = JUMPS,
	[X86_INS_JNP] = JUMPS,
	[X86_INS_JNS] = JUMPS,
	[X86_INS_JO] = JUMPS,
	[X86_INS_JP] = JUMPS,
	[X86_INS_JS] = JUMPS,
	[X86_INS_JECXZ] = JUMPS,
	[X86_INS_JRCXZ] = JUMPS,
	[X86_INS_LOOP] = JUMPS,
	[X86_INS_LOOPE] = JUMPS,
	[X86_INS_LOOPNE] = JUMPS,
	[X86_INS_JMP] = JUMPS,
	/* what vector registers hold, to elsewhere */
	[X86_INS_MOVD] = FROM_VECTOR,
	[X86_INS_MOVAPS] = FROM_VECTOR,
	[X86_INS_MOVUPS] = FROM_VECTOR,
	[X86_INS_MOVLPS] = FROM_VECTOR,
	[X86_INS_MOVHPS] = FROM_VECTOR,
	[X86_INS_MOVAPD] = FROM_VECTOR,
	[X86_INS_MOVUPD] = FROM_VECTOR,
	[X86_INS_MOVLPD] = FROM_VECTOR,
	[X86_INS_MOVHPD] = FROM_VECTOR,
	[X86_INS_MOVDQA] = FROM_VECTOR,
	[X86_INS_MOVQ] = FROM_VECTOR | PREFIXED,
	[X86_INS_MOVSS] = FROM_VECTOR | PREFIXED,
	[X86_INS_MOVSD] = FROM_VECTOR | PREFIXED,
	[X86_INS_MOVDQU] = FROM_VECTOR | PREFIXED,
	[X86_INS_VMOVD] = FROM_VECTOR,
	[X86_INS_VMOVQ] = FROM_VECTOR,
	[X86_INS_VMOVSS] = FROM_VECTOR,
	[X86_INS_VMOVSD] = FROM_VECTOR,
	[X86_INS_VMOVAPS] = FROM_VECTOR,
	[X86_INS_VMOVUPS] = FROM_VECTOR,
	[X86_INS_VMOVLPS] = FROM_VECTOR,
	[X86_INS_VMOVHPS] = FROM_VECTOR,
	[X86_INS_VMOVAPD] = FROM_VECTOR,
	[X86_INS_VMOVUPD] = FROM_VECTOR,
	[X86_INS_VMOVLPD] = FROM_VECTOR,
	[X86_INS_VMOVHPD] = FROM_VECTOR,
	[X86_INS_VMOVDQA] = FROM_VECTOR,
	[X86_INS_VMOVDQU] = FROM_VECTOR,
	[X86_INS_MOVMSKPS] = FROM_VECTOR,
	[X86_INS_MOVMSKPD] = FROM_VECTOR,
	[X86_INS_PMOVMSKB] = FROM_VECTOR,
	[X86_INS_VMOVMSKPS] = FROM_VECTOR,
	[X86_INS_VMOVMSKPD] = FROM_VECTOR,
	[X86_INS_VPMOVMSKB] = FROM_VECTOR,
	/* never */
	[X86_INS_SYSCALL] = SYSTEM_CALL,
	[X86_INS_SYSENTER] = SYSTEM_CALL,
	[X86_INS_INT] = SYSTEM_CALL,
	[X86_INS_CPUID] = NEVER_THE_SAME,
	[X86_INS_RDTSC] = NEVER_THE_SAME,
	[X86_INS_RDTSCP] = NEVER_THE_SAME,
	[X86_INS_RDPMC] = NEVER_THE_SAME,
	[X86_INS_RDRAND] = NEVER_THE_SAME,
	[X86_INS_RDSEED] = NEVER_THE_SAME,
};

enum {
	EVEX = 0x62,
	INDIRECT = 0xff, /* among others: call, far call, jmp, far jmp */
	WORD = 8,
};

static bool is_string(uint8_t opcode)
{
	return (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf) || (opcode >= 0x6c && opcode <= 0x6f);
}

static bool is_vector(const cs_x86_op *operand)
{
	return operand->type == X86_OP_REG &&
	       ((operand->reg >= X86_REG_XMM0 && operand->reg <= X86_REG_XMM15) ||
		(operand->reg >= X86_REG_YMM0 && operand->reg <= X86_REG_YMM15));
}

static bool is_general(const cs_x86_op *operand)
{
	return operand->type != X86_OP_REG ||
	       x86_64_general(operand->reg) != X86_64_NO_REGISTER;
}

static bool is_memory(const cs_x86 *x86, unsigned int number)
{
	return number < x86->op_count && x86->operands[number].type == X86_OP_MEM;
}

/* Why an instruction that no row tells of is refused. */
static const char *why_unknown(const cs_insn *cs)
{
	static const char vector[] = "it changes vector registers";
	static const struct {
		uint8_t group;
		const char *why;
	} reasons[] = {
		{X86_GRP_FPU, "it changes the state of the x87 unit"},
		{X86_GRP_MMX, vector},
		{X86_GRP_SSE1, vector},
		{X86_GRP_SSE2, vector},
		{X86_GRP_SSE3, vector},
		{X86_GRP_SSSE3, vector},
		{X86_GRP_SSE41, vector},
		{X86_GRP_SSE42, vector},
		{X86_GRP_AVX, vector},
		{X86_GRP_AVX2, vector},
		{X86_GRP_AVX512, vector},
		{X86_GRP_FMA, vector},
		{X86_GRP_AES, vector},
		{X86_GRP_SHA, vector},
		{X86_GRP_PRIVILEGE, "it is privileged"},
		{X86_GRP_INT, "it enters the kernel"},
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (memchr(cs->detail->groups, reasons[i].group,
			   cs->detail->groups_count))
			return reasons[i].why;
	return "it may change more than general registers";
}

static const char *check_string(const struct x86_64_opcode *opcode)
{
	if (!is_string(opcode->first))
		return NULL;
	return opcode->rep || opcode->repne ? "it may be interrupted midway (rep)"
					    : "it is a string operation";
}

/* Some of capstone's versions tell them from others by the operand's size only. */
static bool is_far(const struct x86_64_opcode *opcode, const cs_x86 *x86)
{
	unsigned int extension = x86->modrm >> 3 & 7;

	return opcode->first == INDIRECT && (extension == 3 || extension == 5);
}

static const char *check_prefixes(const struct x86_64_opcode *opcode, uint8_t row)
{
	enum effect effect = row & EFFECT;
	bool repeats = opcode->rep || opcode->repne;
	bool transfers = effect == CALLS || effect == RETURNS || effect == JUMPS;

	if (opcode->lock)
		return "it writes memory by a locked operation";
	if (opcode->first == EVEX)
		return "it is one of AVX-512";
	if (opcode->odd || (repeats && !transfers && !(row & PREFIXED)) ||
	    (repeats && opcode->operand_size && effect == FROM_VECTOR) ||
	    (opcode->operand_size && (transfers || effect == PUSHES)) ||
	    (opcode->operand_size && opcode->wide && effect == STORES) ||
	    (opcode->address_size && effect != REGISTERS && !transfers))
		return "it has unusual prefixes";
	return NULL;
}

/* Its second operand is a vector register, its first none. */
static const char *check_vector(const cs_x86 *x86)
{
	if (x86->op_count != 2 || !is_general(&x86->operands[0]))
		return "it changes vector registers";
	if (!is_vector(&x86->operands[1]))
		return "it changes the state of the x87 unit";
	return NULL;
}

static const char *check_operands(const struct x86_64_opcode *opcode, const cs_x86 *x86,
				  enum effect effect)
{
	if (is_far(opcode, x86))
		return "it may change segment registers";
	if (effect == FROM_VECTOR)
		return check_vector(x86);
	for (uint8_t i = 0; i < x86->op_count; i++)
		if (!is_general(&x86->operands[i]))
			return "it reads or changes special registers";
	if (effect == EXCHANGES && (is_memory(x86, 0) || is_memory(x86, 1)))
		return "it exchanges values with memory";
	if (effect == POPS && is_memory(x86, 0))
		return "it copies memory to memory";
	return NULL;
}

/* Is it in the frame, or a variable? Only a frame may have an index: what else an index
 * reaches is not known. */
static bool is_own(const x86_op_mem *mem)
{
	if (mem->base == X86_REG_RSP || mem->base == X86_REG_RBP)
		return true;
	return (mem->base == X86_REG_RIP || mem->base == X86_REG_INVALID) &&
	       mem->index == X86_REG_INVALID;
}

static void describe(const cs_insn *cs, const cs_x86_op *operand,
		     struct insn_store *store)
{
	const x86_op_mem *mem = &operand->mem;

	*store = (struct insn_store){
		.len = operand->size,
		.base = REG_NONE,
		.index = REG_NONE,
		.scale = (uint8_t)mem->scale,
		.displacement = mem->disp,
	};
	if (mem->base == X86_REG_RIP) {
		store->base = X86_64_RIP;
		store->displacement += cs->size;
	} else if (mem->base != X86_REG_INVALID) {
		store->base = (unsigned int)x86_64_general(mem->base);
	}
	if (mem->index != X86_REG_INVALID && mem->index != X86_REG_RIZ)
		store->index = (unsigned int)x86_64_general(mem->index);
}

static const char *find_store(const cs_insn *cs, const struct x86_64_opcode *opcode,
			      struct insn_undo *ret)
{
	const cs_x86_op *operand = &cs->detail->x86.operands[0];
	const x86_op_mem *mem = &operand->mem;

	if (opcode->segment || !is_own(mem))
		return "it writes memory that others may see";
	if (operand->size == 0 || operand->size > UNDO_BYTES_MAX)
		return "it writes too much memory";
	describe(cs, operand, &ret->store);
	ret->rewrites = operand->access != CS_AC_WRITE;
	ret->by_frame_pointer = mem->base == X86_REG_RBP;
	return NULL;
}

/* What the table lets through. */
static const char *find_effect(const cs_insn *cs, const struct x86_64_opcode *opcode,
			       enum effect effect, struct insn_undo *ret)
{
	static const struct insn_store pushed = {
		.len = WORD,
		.below_stack = true,
		.base = X86_64_RSP,
		.index = REG_NONE,
		.scale = 1,
		.displacement = -WORD,
	};

	ret->transfers_stack = effect == CALLS || effect == RETURNS;
	ret->jumps = ret->transfers_stack || effect == JUMPS;
	if (effect == PUSHES || effect == CALLS)
		ret->store = pushed;
	if ((effect == STORES || effect == FROM_VECTOR) &&
	    is_memory(&cs->detail->x86, 0))
		return find_store(cs, opcode, ret);
	return NULL;
}

static const char *check_row(const cs_insn *cs, enum effect effect)
{
	switch (effect) {
	case UNKNOWN:
		return why_unknown(cs);
	case SYSTEM_CALL:
		return "it enters the kernel";
	case NEVER_THE_SAME:
		return "what it reads is another value each time";
	default:
		return NULL;
	}
}

/*
 * Since Linux 6.18 a probe at a nop of 5 bytes becomes a call at its first hit
 * (arch/x86/kernel/uprobes.c, arch_uprobe_optimize): then it is no trap any longer, and
 * does more than a nop. Longer ones may follow.
 */
static bool is_replaced(const cs_insn *cs)
{
	enum { CALL_LEN = 5 };

	return cs->id == X86_INS_NOP && cs->size >= CALL_LEN;
}

/* It tells of the trap flag by which the processor steps over the kernel's copy. */
static bool pushes_flags(const struct x86_64_opcode *opcode)
{
	enum { PUSHF = 0x9c };

	return opcode->first == PUSHF;
}

static const char *find_unfit(const cs_insn *cs, const struct x86_64_opcode *opcode)
{
	if (is_replaced(cs))
		return "the kernel may put a call in its place";
	if (pushes_flags(opcode))
		return "it would store a trap flag of the kernel's";
	return NULL;
}

/* As arch/x86/kernel/uprobes.c has it since Linux 4.18 in branch_setup_xol_ops() and
 * push_setup_xol_ops(), which decode the bytes. */
static bool is_emulated(const cs_insn *cs, const struct x86_64_opcode *opcode,
			enum effect effect)
{
	enum { CALL = 0xe8, JUMP = 0xe9, JUMP_SHORT = 0xeb, NOP = 0x90, TWO = 0x0f };
	enum { PUSH = 0x50, JUMP_IF = 0x70 }; /* with a register, a condition */
	uint8_t first = opcode->first;

	if (opcode->operand_size)
		return false;
	if (effect == PUSHES) /* at most with REX.B */
		return (first & 0xf8) == PUSH &&
		       (cs->size == 1 || (cs->size == 2 && cs->bytes[0] == 0x41));
	if (effect == JUMPS)
		return first == JUMP || first == JUMP_SHORT || first == TWO ||
		       (first & 0xf0) == JUMP_IF;
	return first == CALL || (cs->id == X86_INS_NOP && first == NOP);
}

void x86_64_undo(const struct cs_insn *cs, struct insn_undo *ret)
{
	uint8_t row = cs->id < X86_INS_ENDING ? effects[cs->id] : UNKNOWN;
	const struct x86_64_opcode opcode = x86_64_opcode(cs);
	enum effect effect = row & EFFECT;

	*ret = (struct insn_undo){.unfit = find_unfit(cs, &opcode)};
	ret->why_not = ret->unfit ? ret->unfit : check_string(&opcode);
	if (!ret->why_not && !opcode.lock)
		ret->why_not = check_row(cs, effect);
	if (!ret->why_not)
		ret->why_not = check_prefixes(&opcode, row);
	if (!ret->why_not)
		ret->why_not = check_operands(&opcode, &cs->detail->x86, effect);
	if (!ret->why_not)
		ret->why_not = find_effect(cs, &opcode, effect, ret);
	ret->emulated = is_emulated(cs, &opcode, effect);
}
