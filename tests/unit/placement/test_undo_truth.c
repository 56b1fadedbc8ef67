/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is what can be undone really undone? A child executes random instructions of all that
 * x86_64_undo accepts, by single steps. Then general registers and stored bytes are put
 * back as they were: all of its state must be what it was.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "arch/arch.h"
#include "arch/register_table.h"
#include "gdbstub/text/decoder.h"
#include "tests/unit/child.h"
#include "tests/unit/rng.h"
#include "tests/unit/support.h"

enum {
	CODE = 0x20000000, /* the child's only memory besides ours, shared with us */
	DATA = 0x20010000,
	CODE_SIZE = 0x1000,
	DATA_SIZE = 0x4000,
	AT = CODE + 0x800,
	XSTATE_MAX = 16384,
	CANDIDATES = 150000,
	XSTATE_HEADER = 512,
	X87_SSE = 3, /* bits of its first word */
	AVX = 4,
	AVX_OFFSET = 576, /* the upper halves of ymm0 to ymm15 */
	AVX_SIZE = 256,
};

/* All that a thread is made of. */
struct state {
	struct user_regs_struct regs;
	struct user_fpregs_struct fpregs;
	uint8_t xstate[XSTATE_MAX];
	size_t xsize;
	uint8_t code[CODE_SIZE], data[DATA_SIZE];
};

/* Executed, faulted, and forms by capstone's number of the instruction. */
struct tally {
	unsigned int executed, faulted, stored, forms;
	bool seen[X86_INS_ENDING];
};

static struct decoder decoder;
static struct state before, after;
static struct tally tally;
static struct rng rng = {1};
static pid_t child;

static uint64_t rnd(void)
{
	return rng_next(&rng);
}

static unsigned int below(unsigned int limit)
{
	return rng_below(&rng, limit);
}

static bool one_in(unsigned int n)
{
	return below(n) == 0;
}

static void randomize(void *to, size_t len)
{
	for (uint8_t *p = to, *end = p + len; p < end; p++)
		*p = (uint8_t)(rnd() >> 32);
}

/* ---- the child ---- */

static void map(uintptr_t addr, size_t size)
{
	cr_assert_eq(mmap((void *)addr, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
		     (void *)addr);
}

static void get(int type, void *to, size_t *size)
{
	struct iovec io = {to, *size};

	cr_assert_eq(ptrace(PTRACE_GETREGSET, child, (void *)(intptr_t)type, &io), 0);
	*size = io.iov_len;
}

static void set(int type, void *from, size_t size)
{
	struct iovec io = {from, size};

	cr_assert_eq(ptrace(PTRACE_SETREGSET, child, (void *)(intptr_t)type, &io), 0);
}

static void take(struct state *state)
{
	size_t size = sizeof(state->regs);

	get(NT_PRSTATUS, &state->regs, &size);
	size = sizeof(state->fpregs);
	get(NT_PRFPREG, &state->fpregs, &size);
	state->xsize = sizeof(state->xstate);
	get(NT_X86_XSTATE, state->xstate, &state->xsize);
	memcpy(state->code, (void *)(uintptr_t)CODE, CODE_SIZE);
	memcpy(state->data, (void *)(uintptr_t)DATA, DATA_SIZE);
}

static void begin(void)
{
	cr_assert_null(arch_native()->init());
	cr_assert(decoder_init(&decoder, arch_native()));
	map(CODE, CODE_SIZE);
	map(DATA, DATA_SIZE);
	child = child_trace(NULL, 0);
}

/* The signal that ends it. */
static int step(void)
{
	cr_assert_eq(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
	return child_wait_stop(child);
}

static void end(void)
{
	child_end(child);
	decoder_deinit(&decoder);
}

TestSuite(undo_truth, .init = begin, .fini = end, .timeout = 600);

/* Vector and x87 registers are full, and neither stack nor tags begin at 0. */
static void fill_xstate(void)
{
	struct user_fpregs_struct *x87 = (void *)before.xstate;
	uint64_t *present = (void *)(before.xstate + XSTATE_HEADER);

	take(&before);
	for (unsigned int i = 0; i < 8; i++) /* 10 of 16 bytes */
		randomize(x87->st_space + 4 * i, 10);
	randomize(x87->xmm_space, sizeof(x87->xmm_space));
	x87->cwd = 0x37f;
	x87->swd = (uint16_t)(5 << 11);
	x87->ftw = 0x5a;
	x87->mxcsr = 0x1f80;
	*present |= X87_SSE;
	if (before.xsize >= AVX_OFFSET + AVX_SIZE) {
		*present |= AVX;
		randomize(before.xstate + AVX_OFFSET, AVX_SIZE);
	}
	set(NT_X86_XSTATE, before.xstate, before.xsize);
}

/* ---- what it executes ---- */

/* Numbers, addresses of data, and anything. */
static uint64_t value(void)
{
	switch (below(4)) {
	case 0:
		return below(64);
	case 1:
		return rnd();
	default:
		return DATA + DATA_SIZE / 4 + below(DATA_SIZE / 2);
	}
}

static uint64_t pointer(void)
{
	return DATA + DATA_SIZE / 4 + (below(DATA_SIZE / 2) & ~31ULL);
}

static void fill_registers(struct user_regs_struct *regs)
{
	enum { ARITHMETIC = 0x8d5, DIRECTION = 0x400 };
	unsigned long long *general[] = {
		&regs->rax, &regs->rbx, &regs->rcx, &regs->rdx, &regs->rsi,
		&regs->rdi, &regs->r8,	&regs->r9,  &regs->r10, &regs->r11,
		&regs->r12, &regs->r13, &regs->r14, &regs->r15,
	};

	for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
		*general[i] = value();
	regs->rsp = pointer();
	regs->rbp = one_in(8) ? value() : pointer();
	regs->fs_base = DATA + DATA_SIZE / 2;
	regs->gs_base = DATA + DATA_SIZE / 4;
	regs->eflags = 0x202 | (rnd() & (ARITHMETIC | DIRECTION));
	regs->orig_rax = ~0ULL;
	regs->rip = AT;
}

/* With prefixes, in any of the opcode maps. */
static void put_legacy(uint8_t *code)
{
	static const uint8_t prefixes[] = {0x66, 0x66, 0xf2, 0xf3, 0x67,
					   0xf0, 0x64, 0x65, 0x2e};
	size_t n = 0;

	while (n < 4 && one_in(3))
		code[n++] = prefixes[below(sizeof(prefixes))];
	if (one_in(2))
		code[n++] = (uint8_t)(0x40 | below(16));
	if (one_in(2))
		code[n++] = 0x0f;
	if (one_in(8))
		code[n] = 0x38;
}

/* Moves and bit operations, mostly without a third operand. */
static void put_vex(uint8_t *code)
{
	static const uint8_t opcodes[] = {
		0x10, 0x11, 0x13, 0x16, 0x17, 0x28, 0x29, 0x50, 0x6e, 0x6f,
		0x7e, 0x7f, 0xd6, 0xd7, 0xf0, 0xf2, 0xf3, 0xf5, 0xf6, 0xf7,
	};
	uint8_t two = (uint8_t)(0x78 | (rnd() & 0x87));
	size_t n = 0;

	if (one_in(4))
		two = (uint8_t)rnd();
	if (one_in(2)) {
		code[n++] = 0xc5;
	} else {
		code[n++] = 0xc4;
		code[n++] = (uint8_t)((rnd() & 0xe0) | (1 + below(3)));
	}
	code[n++] = two;
	code[n] = opcodes[below(sizeof(opcodes))];
}

static void generate(uint8_t code[INSN_LEN_MAX])
{
	static const uint8_t rare[][4] = {
		{0xf3, 0x0f, 0x1e, 0xfa}, /* endbr64 */
		{0xc3},			  /* ret */
	};

	randomize(code, INSN_LEN_MAX);
	if (one_in(1000))
		memcpy(code, rare[below(2)], 4);
	else if (one_in(4))
		put_vex(code);
	else
		put_legacy(code);
}

static const x86_op_mem *memory_of(const cs_x86 *x86)
{
	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM)
			return &x86->operands[i].mem;
	return NULL;
}

/* QEMU 7.2 forgets that a number follows, when it addresses from after these. */
static bool is_mistaken(void)
{
	const x86_op_mem *mem = memory_of(&decoder.insn->detail->x86);

	return (decoder.insn->id == X86_INS_SHLD || decoder.insn->id == X86_INS_SHRD) &&
	       mem && mem->base == X86_REG_RIP && is_emulated();
}

/* Lets a displacement of 4 bytes lead to the data. */
static void aim(uint8_t *code)
{
	const cs_x86 *x86 = &decoder.insn->detail->x86;
	const x86_op_mem *mem = memory_of(x86);
	int32_t displacement = (int32_t)below(256) - 128, old;

	if (!mem)
		return;
	if (mem->base == X86_REG_RIP)
		displacement = (int32_t)(pointer() - AT - decoder.insn->size);
	else if (mem->base == X86_REG_INVALID)
		displacement = (int32_t)pointer();
	for (size_t at = 2; at + 4 <= decoder.insn->size; at++) {
		memcpy(&old, code + at, 4);
		if (old == mem->disp)
			memcpy(code + at, &displacement, 4);
	}
}

static bool decode(const uint8_t *code)
{
	return decoder_run(&decoder, code, INSN_LEN_MAX, AT);
}

/* ---- undoing it ---- */

static uint64_t register_value(const struct user_regs_struct *regs, unsigned int row)
{
	const struct reg_def *reg = reg_by_number(arch_native(), row);
	uint64_t ret = 0;

	if (row != REG_NONE)
		memcpy(&ret, (const char *)regs + reg->offset, sizeof(ret));
	return ret;
}

static void put_back(const struct insn_store *store)
{
	uint64_t addr = register_value(&before.regs, store->base) +
			register_value(&before.regs, store->index) * store->scale +
			(uint64_t)store->displacement;

	set(NT_PRSTATUS, &before.regs, sizeof(before.regs));
	if (store->len == 0)
		return;
	tally.stored++;
	if (addr >= DATA && addr + store->len <= DATA + DATA_SIZE)
		memcpy((void *)(uintptr_t)addr, before.data + (addr - DATA),
		       store->len);
	if (addr >= CODE && addr + store->len <= CODE + CODE_SIZE)
		memcpy((void *)(uintptr_t)addr, before.code + (addr - CODE),
		       store->len);
}

static const char *difference(void)
{
	if (memcmp(&before.regs, &after.regs, sizeof(before.regs)) != 0)
		return "general registers";
	if (memcmp(&before.fpregs, &after.fpregs, sizeof(before.fpregs)) != 0)
		return "x87, SSE";
	if (before.xsize != after.xsize ||
	    memcmp(before.xstate, after.xstate, before.xsize) != 0)
		return "extended state";
	if (memcmp(before.data, after.data, DATA_SIZE) != 0 ||
	    memcmp(before.code, after.code, CODE_SIZE) != 0)
		return "memory";
	return NULL;
}

static const char *text(void)
{
	static char text[256];
	int n = snprintf(text, sizeof(text), "%s %s:", decoder.insn->mnemonic,
			 decoder.insn->op_str);

	for (unsigned int i = 0; i < decoder.insn->size; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %02x",
			      decoder.insn->bytes[i]);
	return text;
}

/* One instruction in the child, and back. */
static void execute(const uint8_t *code, const struct insn_undo *undo)
{
	struct insn_store stored = undo->store;
	const cs_insn *insn = decoder.insn;
	const char *what;
	int signal;

	memcpy((void *)(uintptr_t)AT, code, insn->size);
	fill_registers(&before.regs);
	set(NT_PRSTATUS, &before.regs, sizeof(before.regs));
	take(&before);
	signal = step();
	tally.executed += signal == SIGTRAP;
	tally.faulted += signal != SIGTRAP;
	if (signal == SIGTRAP && !tally.seen[insn->id]) {
		tally.seen[insn->id] = true;
		tally.forms++;
	}
	/* One that faults has done nothing, but that a call may have pushed before it
	 * finds no way. */
	if (signal != SIGTRAP && !stored.below_stack)
		stored.len = 0;
	put_back(&stored);
	take(&after);
	what = difference();
	cr_expect_null(what, "%s is not undone: %s", text(), what);
	if (what)
		fill_xstate();
}

/* Numbers that are good for addresses, too. */
static void fill_data(void)
{
	uint64_t *data = (void *)(uintptr_t)DATA;

	for (size_t i = 0; i < DATA_SIZE / sizeof(*data); i++)
		data[i] = value();
}

Test(undo_truth, all_state_is_put_back)
{
	fill_data();
	fill_xstate();
	for (unsigned int i = 0; i < CANDIDATES; i++) {
		uint8_t code[INSN_LEN_MAX];
		struct insn_undo undo;

		generate(code);
		if (!decode(code))
			continue;
		aim(code);
		if (!decode(code))
			continue;
		arch_native()->undo(decoder.insn, &undo);
		if (!undo.why_not && !is_mistaken())
			execute(code, &undo);
	}
	cr_log_info("%u executed, %u faulted, %u stored, %u instructions",
		    tally.executed, tally.faulted, tally.stored, tally.forms);
	cr_expect_gt(tally.executed, 20000);
	cr_expect_gt(tally.stored, 1000);
	cr_expect_gt(tally.forms, 120);
}
