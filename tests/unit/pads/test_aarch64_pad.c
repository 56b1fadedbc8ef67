/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pads against the text that they stand in for: a child is stepped through each of
 * both. At every stop in a pad, what the pad says of it has to be a state that the text
 * comes through, too, in the same order: registers, flags and memory. So is each
 * signal.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/pads/pad.h"
#include "tests/unit/child.h"
#include "tests/unit/rng.h"

/* ---- what the child executes, and with what ---- */

#define REGION UINT64_C(0x200000000000)
enum {
	CODE = 0x8000, /* where the instruction is; branches lead to 0x80 after it */
	PADS = 0x4000,
	DATA = 0x10000, /* what registers point to */
	DATA_LEN = 0x2000,
	REGION_LEN = 0x20000,
	STATES = 4,
	TURNS = 20, /* for each instruction, if $TURNS does not say more */
	NOP = 0xd503201f,
};

static const struct {
	const char *name;
	uint32_t insn;
} instructions[] = {
	{"nop", 0xd503201f},
	{"add x0, x1, x2", 0x8b020020},
	{"adds x3, x4, #5", 0xb1001483},
	{"mov sp, x19", 0x9100027f},
	{"stp x29, x30, [sp, #-16]!", 0xa9bf7bfd},
	{"ldp x29, x30, [sp], #16", 0xa8c17bfd},
	{"str x5, [x19, #8]", 0xf9000665},
	{"ldr x6, [x19, #16]", 0xf9400a66},
	{"ldrsw x7, [x19]", 0xb9800267},
	{"ldar x8, [x19]", 0xc8dffe68},
	{"ldr q0, [x19]", 0x3dc00260},
	{"ldr x6, [x20]", 0xf9400286}, /* which faults */
	{"udiv x9, x10, x11", 0x9acb0949},
	{"csel x0, x1, x2, lt", 0x9a82b020},
	{"mrs x0, nzcv", 0xd53b4200},
	{"msr nzcv, x1", 0xd51b4201},
	{"mrs x2, tpidr_el0", 0xd53bd042},
	{"adr x0, .+0x80", 0x10000400},
	{"adr x30, .-4", 0x10fffffe},
	{"adr x1, .+3", 0x70000001},
	{"adrp x2, .+0x3000", 0xf0000002},
	{"adrp xzr, .", 0x9000001f},
	{"b .+0x80", 0x14000020},
	{"bl .+0x80", 0x94000020},
	{"b.eq .+0x80", 0x54000400},
	{"b.ne .+0x80", 0x54000401},
	{"b.lt .+0x80", 0x5400040b},
	{"cbz x12, .+0x80", 0xb400040c},
	{"cbz w12, .+0x80", 0x3400040c},
	{"cbnz x12, .+0x80", 0xb500040c},
	{"tbz x13, #0, .+0x80", 0x3600040d},
	{"tbnz x13, #33, .+0x80", 0xb708040d},
	{"br x21", 0xd61f02a0},
	{"ret", 0xd65f03c0},
	{"ret x21", 0xd65f02a0},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint8_t *region;
static struct decoder decoder;

static void put(uint32_t at, uint32_t insn)
{
	memcpy(region + at, &insn, sizeof(insn));
	__builtin___clear_cache((char *)region + at,
				(char *)region + at + sizeof(insn));
}

static void fill(struct rng *rng)
{
	for (unsigned int at = 0; at < DATA_LEN; at += 8) {
		uint64_t word = rng_next(rng);

		memcpy(region + DATA + at, &word, sizeof(word));
	}
}

static struct user_regs_struct make_registers(struct rng *rng)
{
	struct user_regs_struct regs = {0};

	for (unsigned int i = 0; i < COUNT(regs.regs); i++)
		regs.regs[i] = rng_next(rng);
	regs.regs[12] = rng_below(rng, 3) << (rng_chance(rng, 50) ? 0 : 32);
	regs.regs[19] = REGION + DATA + 0x1000;
	regs.regs[20] = 8;
	regs.regs[21] = REGION + CODE + 0x80;
	regs.regs[30] = REGION + CODE + 0x80;
	regs.sp = REGION + DATA + 0x800;
	regs.pc = REGION + CODE;
	regs.pstate = rng_below(rng, 16) << 28;
	return regs;
}

/* ---- states ---- */

struct state {
	int signal;
	struct user_regs_struct regs;
	uint8_t data[DATA_LEN];
};

static void look(pid_t pid, int signal, struct state *ret)
{
	struct iovec iov = {&ret->regs, sizeof(ret->regs)};

	memset(ret, 0, sizeof(*ret));
	ret->signal = signal;
	cr_assert_eq(ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov), 0);
	ret->regs.pstate &= UINT64_C(0xf) << 28;
	memcpy(ret->data, region + DATA, DATA_LEN);
}

static bool is_same(const struct state *a, const struct state *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static pid_t begin(struct user_regs_struct regs)
{
	struct iovec iov = {&regs, sizeof(regs)};
	pid_t pid = child_trace(NULL, 0);

	cr_assert_eq(ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &iov), 0);
	return pid;
}

static void step(pid_t pid, struct state *ret)
{
	cr_assert_eq(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
	look(pid, child_wait_stop(pid), ret);
}

/* State 0 is before the instruction. Returns how many. */
static unsigned int run_text(struct user_regs_struct regs, struct state *states)
{
	unsigned int count = 1;
	pid_t pid = begin(regs);

	look(pid, SIGTRAP, &states[0]);
	while (count < STATES && states[count - 1].signal == SIGTRAP)
		step(pid, &states[count++]);
	child_end(pid);
	return count;
}

static unsigned long stops;

static void run_pad(const struct pad *pad, struct user_regs_struct regs,
		    const struct state *states, unsigned int count, const char *name)
{
	struct state now;
	unsigned int at = 0;
	pid_t pid = begin(regs);

	for (unsigned int i = 0; at + 1 < count; i++) {
		const struct displaced_state *found;

		step(pid, &now);
		stops++;
		if (now.regs.pc - pad->addr < pad->len) {
			found = pad_find_state(pad, now.regs.pc);
			cr_assert_not_null(found, "%s: at %llu of the pad", name,
					   now.regs.pc - pad->addr);
			now.regs.pc = found->pc;
			now.regs.sp += found->pushed;
		}
		at += !is_same(&now, &states[at]);
		cr_assert(is_same(&now, &states[at]),
			  "%s: stop %u is not state %u: signal %d, pc %llx, not %d, "
			  "%llx",
			  name, i, at, now.signal, now.regs.pc, states[at].signal,
			  states[at].regs.pc);
		cr_assert_lt(i, 32, "%s: no end", name);
	}
	child_end(pid);
}

/* ---- pads ---- */

static void compare(const char *name, uint32_t insn, struct rng *rng)
{
	struct pad_text text;
	const struct user_regs_struct regs = make_registers(rng);
	struct jump_form forms[JUMP_FORMS_MAX];
	struct pad_place place = {.form = forms};
	struct state states[STATES];
	struct pad pad;
	unsigned int count;
	const char *why;

	place.addr = place.entry = REGION + PADS + 4 * rng_below(rng, 64);
	fill(rng);
	put(CODE, insn);
	pad_text_init(&text, REGION + CODE, region + CODE, PAD_TEXT_MAX);
	why = pad_text_check(&decoder, arch_native(), &text);
	cr_assert_null(why, "%s: %s", name, why);
	cr_assert_eq(pad_forms(arch_native(), &text, forms), 1);
	why = pad_make(&decoder, arch_native(), &text, &place, NULL, &pad);
	cr_assert_null(why, "%s: %s", name, why);
	count = run_text(regs, states);
	memcpy(region + DATA, states[0].data, DATA_LEN);
	for (unsigned int at = 0; at < pad.len; at += 4)
		put((uint32_t)(pad.addr - REGION) + at, *(uint32_t *)(pad.code + at));
	put(CODE, *(uint32_t *)pad.jump);
	run_pad(&pad, regs, states, count, name);
	for (unsigned int at = 0; at < pad.len; at += 4)
		put((uint32_t)(pad.addr - REGION) + at, NOP);
}

Test(aarch64_pad, every_stop_is_one_of_the_text, .timeout = 3600)
{
	const char *given = getenv("TURNS");
	const unsigned long turns = given ? strtoul(given, NULL, 10) : TURNS;
	struct rng rng = {7};

	cr_assert_null(arch_native()->init());
	cr_assert(decoder_init(&decoder, arch_native()));
	region = mmap((void *)REGION, REGION_LEN, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	cr_assert_eq(region, (uint8_t *)REGION);
	for (uint32_t at = 0; at < DATA; at += 4)
		put(at, NOP);
	for (unsigned int i = 0; i < COUNT(instructions); i++)
		for (unsigned long turn = 0; turn < turns; turn++)
			compare(instructions[i].name, instructions[i].insn, &rng);
	cr_log_info("%lu stops", stops);
	decoder_deinit(&decoder);
}

/* ---- those that have none ---- */

Test(aarch64_pad, refused)
{
	static const uint32_t insns[] = {
		0xd4000001, /* svc #0 */
		0xd4200000, /* brk #0 */
		0x58000040, /* ldr x0, .+8 */
		0x9c000040, /* ldr q0, .+8 */
		0xd63f0020, /* blr x1 */
		0xc85f7c20, /* ldxr x0, [x1] */
		0xc8027c20, /* stxr w2, x0, [x1] */
		0xc87f0820, /* ldxp x0, x2, [x1] */
		0x00000000, /* udf #0 */
	};

	cr_assert_null(arch_native()->init());
	cr_assert(decoder_init(&decoder, arch_native()));
	for (unsigned int i = 0; i < COUNT(insns); i++) {
		uint8_t bytes[PAD_TEXT_MAX] = {0};
		struct pad_text text;

		memcpy(bytes, &insns[i], sizeof(insns[i]));
		pad_text_init(&text, REGION, bytes, sizeof(bytes));
		cr_expect_not_null(pad_text_check(&decoder, arch_native(), &text),
				   "%08x", insns[i]);
	}
	decoder_deinit(&decoder);
}
