/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pads against the text that they stand in for: a child is stepped through each of
 * both. At every stop in a pad, what the pad says of it has to be a state that the text
 * comes through, too, in the same order: registers, flags, vector registers and memory.
 * So is each signal.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/pads/pad.h"
#include "gdbstub/pads/pad_placement.h"
#include "gdbstub/pads/pad_space.h"
#include "tests/unit/child.h"
#include "tests/unit/rng.h"

/* ---- what the child executes, and with what ---- */

#define REGION UINT64_C(0x200000000000)
enum {
	CODE = 0x8000,	 /* where the instruction is */
	TARGET = 0x8080, /* where jumps lead: nops, as all around */
	DATA = 0x10000,	 /* what registers point to */
	DATA_LEN = 0x2000,
	STACK = 0x11000, /* the stack pointer, in the data */
	REGION_LEN = 0x20000,
	BYTES_MAX = 16,
	STATES = 8,
	PAGE = 4096,
	NOP = 0x90,
	RED_ZONE = 128,
};

struct bytes {
	unsigned int len;
	uint8_t byte[BYTES_MAX];
};
#define BYTES(...)                                                                     \
	{                                                                              \
		sizeof((const uint8_t[]){__VA_ARGS__}),                                \
		{                                                                      \
			__VA_ARGS__                                                    \
		}                                                                      \
	}
/* Displacements to the target, from the end of an instruction of this length. */
#define TO_TARGET(len) (TARGET - CODE - (len)), 0, 0, 0
/* ... and to a word of the data. */
#define DATA_WORD(len)                                                                 \
	((DATA + 0x100 - CODE - (len)) & 0xff), ((DATA + 0x100 - CODE - (len)) >> 8),  \
		0, 0

static const struct bytes instructions[] = {
	BYTES(0x55),					   /* push %rbp */
	BYTES(0x41, 0x54),				   /* push %r12 */
	BYTES(0x54),					   /* push %rsp */
	BYTES(0x5b),					   /* pop %rbx */
	BYTES(0x5c),					   /* pop %rsp */
	BYTES(0x6a, 0x81),				   /* push $-127 */
	BYTES(0x68, 1, 2, 3, 0x84),			   /* push $imm */
	BYTES(0xff, 0x33),				   /* push (%rbx) */
	BYTES(0xff, 0x74, 0x24, 8),			   /* push 8(%rsp) */
	BYTES(0xff, 0x35, DATA_WORD(6)),		   /* push x(%rip) */
	BYTES(0x8f, 0x05, DATA_WORD(6)),		   /* pop x(%rip) */
	BYTES(0xc9),					   /* leave */
	BYTES(0xc8, 0x10, 0, 0),			   /* enter $16, $0 */
	BYTES(0x48, 0x89, 0xe5),			   /* mov %rsp, %rbp */
	BYTES(0x89, 0x7d, 0xec),			   /* mov %edi, -20(%rbp) */
	BYTES(0x83, 0x45, 0xfc, 1),			   /* addl $1, -4(%rbp) */
	BYTES(0x48, 0x83, 0xec, 0x20),			   /* sub $32, %rsp */
	BYTES(0x8b, 0x05, DATA_WORD(6)),		   /* mov x(%rip), %eax */
	BYTES(0x83, 0x05, DATA_WORD(7), 5),		   /* addl $5, x(%rip) */
	BYTES(0xc7, 0x05, DATA_WORD(10), 1, 2, 3, 4),	   /* movl $i, x(%rip) */
	BYTES(0x48, 0x8d, 0x05, DATA_WORD(7)),		   /* lea x(%rip), %rax */
	BYTES(0x48, 0xff, 0x05, DATA_WORD(7)),		   /* incq x(%rip) */
	BYTES(0x66, 0x83, 0x3d, DATA_WORD(8), 7),	   /* cmpw $7, x(%rip) */
	BYTES(0xf2, 0x0f, 0x10, 0x05, DATA_WORD(8)),	   /* movsd x(%rip), .. */
	BYTES(0xf3, 0x44, 0x0f, 0x11, 0x0d, DATA_WORD(9)), /* movss .., x(%rip) */
	BYTES(0x66, 0x0f, 0x6f, 0x05, DATA_WORD(8)),	   /* movdqa x(%rip), .. */
	BYTES(0xc5, 0xfb, 0x10, 0x05, DATA_WORD(8)),	   /* vmovsd x(%rip), .. */
	BYTES(0xc5, 0xfe, 0x6f, 0x03),			   /* vmovdqu (%rbx), .. */
	BYTES(0x66, 0x0f, 0xef, 0xc1),			   /* pxor %xmm1, %xmm0 */
	BYTES(0xf2, 0x0f, 0x58, 0xc1),			   /* addsd %xmm1, %xmm0 */
	BYTES(0x48, 0x63, 0xd0),			   /* movslq %eax, %rdx */
	BYTES(0x0f, 0xb6, 0x03),			   /* movzbl (%rbx), %eax */
	BYTES(0x48, 0x87, 0x03),			   /* xchg %rax, (%rbx) */
	BYTES(0x48, 0x0f, 0xc1, 0x03),			   /* xadd %rax, (%rbx) */
	BYTES(0x48, 0xf7, 0xf1),			   /* div %rcx: it faults */
	BYTES(0x48, 0x0f, 0xaf, 0xc1),			   /* imul %rcx, %rax */
	BYTES(0x48, 0xd1, 0xe0),			   /* shl %rax */
	BYTES(0x48, 0x11, 0xd0),			   /* adc %rdx, %rax */
	BYTES(0x0f, 0x94, 0xc0),			   /* sete %al */
	BYTES(0x0f, 0x44, 0xc1),			   /* cmove %ecx, %eax */
	BYTES(0xf5),					   /* cmc */
	BYTES(0xfd),					   /* std */
	BYTES(0x9f),					   /* lahf */
	BYTES(0x9e),					   /* sahf */
	BYTES(0x90),					   /* nop */
	BYTES(0xf3, 0x0f, 0x1e, 0xfa),			   /* endbr64 */
	BYTES(0x0f, 0x1f, 0x44, 0, 0),			   /* nopl */
	BYTES(0xa4),					   /* movsb */
	BYTES(0xf3, 0xa4),				   /* rep movsb */
	BYTES(0xf3, 0x48, 0xab),			   /* rep stosq */
	BYTES(0xf2, 0xae),				   /* repne scasb */
	BYTES(0x8b, 0),					   /* mov (%rax), %eax */
	BYTES(0x89, 0),					   /* mov %eax, (%rax) */
	BYTES(0x0f, 0x0b),				   /* ud2 */
	BYTES(0x64, 0x8b, 0x04, 0x25, 0x10, 0, 0, 0),	   /* mov %fs:16, %eax */
	BYTES(0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8),	   /* movabs */
	BYTES(0xeb, TARGET - CODE - 2),			   /* jmp */
	BYTES(0xe9, TO_TARGET(5)),			   /* jmp, near */
	BYTES(0x74, TARGET - CODE - 2),			   /* je */
	BYTES(0x75, TARGET - CODE - 2),			   /* jne */
	BYTES(0x7c, TARGET - CODE - 2),			   /* jl */
	BYTES(0x77, TARGET - CODE - 2),			   /* ja */
	BYTES(0x3e, 0x7b, TARGET - CODE - 3),		   /* jnp, with a hint */
	BYTES(0x0f, 0x84, TO_TARGET(6)),		   /* je, near */
	BYTES(0x0f, 0x8e, TO_TARGET(6)),		   /* jle, near */
	BYTES(0xe2, TARGET - CODE - 2),			   /* loop */
	BYTES(0xe0, TARGET - CODE - 2),			   /* loopne */
	BYTES(0xe1, TARGET - CODE - 2),			   /* loope */
	BYTES(0xe3, TARGET - CODE - 2),			   /* jrcxz */
	BYTES(0x67, 0xe3, TARGET - CODE - 3),		   /* jecxz */
	BYTES(0xe8, TO_TARGET(5)),			   /* call */
	BYTES(0xff, 0xd0),				   /* call *%rax */
	BYTES(0x41, 0xff, 0xd3),			   /* call *%r11 */
	BYTES(0xff, 0x13),				   /* call *(%rbx) */
	BYTES(0xff, 0x53, 8),				   /* call *8(%rbx) */
	BYTES(0xff, 0x14, 0xcb),			   /* call *(%rbx,%rcx,8) */
	BYTES(0xff, 0x15, DATA_WORD(6)),		   /* call *x(%rip) */
	BYTES(0xff, 0xe0),				   /* jmp *%rax */
	BYTES(0xff, 0x63, 8),				   /* jmp *8(%rbx) */
	BYTES(0xff, 0x25, DATA_WORD(6)),		   /* jmp *x(%rip) */
	BYTES(0xc3),					   /* ret */
	BYTES(0xf3, 0xc3),				   /* rep ret */
	BYTES(0xc2, 8, 0),				   /* ret $8 */
};

static const struct bytes followers[] = {
	BYTES(0x48, 0x89, 0xc2, 0x83, 0xc1, 1, 0x57),
	BYTES(0x53, 0x5b, 0x50, 0x58, 0x41, 0x50),
	BYTES(0x48, 0x8b, 0x15, 0x10, 0x01, 0, 0, 0x01, 0xd0),
	BYTES(0x89, 0xc6, 0xeb, 0x10),
	BYTES(0x75, 0x08, 0x31, 0xc0, 0x01, 0xc8),
	BYTES(0x29, 0xc2, 0x78, 0x70, 0xff, 0xc0),
	BYTES(0x3c, 0x12, 0x0f, 0x05, 0x01, 0xd1), /* with a system call */
	BYTES(0x8b, 0x56, 0x04, 0xc3),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint8_t *region;

static void map_region(void)
{
	region = mmap((void *)REGION, REGION_LEN, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	cr_assert_eq(region, (uint8_t *)REGION);
}

static void fill(const struct bytes *insn, const struct bytes *follower,
		 struct rng *rng)
{
	memset(region, NOP, DATA);
	memcpy(region + CODE, insn->byte, insn->len);
	memcpy(region + CODE + insn->len, follower->byte, follower->len);
	for (unsigned int at = 0; at < DATA_LEN; at += 8) {
		uint64_t word = rng_chance(rng, 50) ? REGION + TARGET : rng_next(rng);

		memcpy(region + DATA + at, &word, sizeof(word));
	}
}

static struct user_fpregs_struct vectors; /* that it begins with */

/* A child's registers as they are, and others for what follows. */
static struct user_regs_struct make_registers(struct rng *rng)
{
	enum { FLAGS = 0x8d5 };
	const uint64_t target = REGION + TARGET;
	const pid_t pid = child_trace(NULL, 0);
	struct user_regs_struct regs;

	cr_assert_eq(ptrace(PTRACE_GETREGS, pid, 0, &regs), 0);
	cr_assert_eq(ptrace(PTRACE_GETFPREGS, pid, 0, &vectors), 0);
	child_end(pid);
	for (size_t i = 0; i < COUNT(vectors.xmm_space); i++)
		vectors.xmm_space[i] = (unsigned int)rng_next(rng);

	regs.rip = REGION + CODE;
	regs.rsp = REGION + STACK;
	regs.rbp = REGION + STACK + 0x40;
	regs.rbx = REGION + DATA + 0x100;
	regs.rsi = REGION + DATA + 0x208;
	regs.rdi = REGION + DATA + 0x400;
	regs.rax = rng_chance(rng, 50) ? target : rng_next(rng);
	regs.r11 = rng_chance(rng, 80) ? target : rng_next(rng);
	regs.rcx = rng_below(rng, 4);
	regs.rdx = rng_next(rng);
	regs.r12 = rng_next(rng);
	regs.eflags = 2 | (rng_next(rng) & FLAGS);
	regs.orig_rax = (uint64_t)-1;
	return regs;
}

/* ---- states ---- */

struct state {
	int signal;
	struct user_regs_struct regs;
	struct user_fpregs_struct vectors;
	uint8_t data[DATA_LEN];
};

static void look(pid_t pid, int signal, struct state *ret)
{
	enum { RESUME_FLAG = 0x10000 };

	ret->signal = signal;
	cr_assert_eq(ptrace(PTRACE_GETREGS, pid, 0, &ret->regs), 0);
	cr_assert_eq(ptrace(PTRACE_GETFPREGS, pid, 0, &ret->vectors), 0);
	ret->regs.eflags &= ~(uint64_t)RESUME_FLAG;
	memcpy(ret->data, region + DATA, DATA_LEN);
}

/* What is below the stack, as far as a push may have written there, counts for nothing.
 */
static bool is_same(const struct state *a, const struct state *b, unsigned int pushed)
{
	const uint64_t bottom = a->regs.rsp - (REGION + DATA) - pushed;

	if (a->signal != b->signal ||
	    memcmp(&a->regs, &b->regs, sizeof(a->regs)) != 0 ||
	    memcmp(&a->vectors, &b->vectors, sizeof(a->vectors)) != 0)
		return false;
	if (pushed == 0)
		return memcmp(a->data, b->data, DATA_LEN) == 0;
	return memcmp(a->data, b->data, bottom) == 0 &&
	       memcmp(a->data + bottom + pushed, b->data + bottom + pushed,
		      DATA_LEN - bottom - pushed) == 0;
}

static pid_t begin(const struct user_regs_struct *regs)
{
	pid_t pid = child_trace(NULL, 0);

	cr_assert_eq(ptrace(PTRACE_SETFPREGS, pid, 0, &vectors), 0);
	cr_assert_eq(ptrace(PTRACE_SETREGS, pid, 0, regs), 0);
	return pid;
}

static void step(pid_t pid, struct state *ret)
{
	cr_assert_eq(ptrace(PTRACE_SINGLESTEP, pid, 0, 0), 0);
	look(pid, child_wait_stop(pid), ret);
}

/* The states of the text: state 0 is before the instruction. Returns how many. */
static unsigned int run_text(const struct user_regs_struct *regs, struct state *states)
{
	unsigned int count = 1;
	pid_t pid = begin(regs);

	look(pid, SIGTRAP, &states[0]);
	while (count < STATES && states[count - 1].signal == SIGTRAP)
		step(pid, &states[count++]);
	child_end(pid);
	return count;
}

/* ---- runs ---- */

static unsigned long stops, runs, nexts;
static struct rng hops = {1126};

/* The state as it would be without the pad. */
static unsigned int normalise(const struct pad *pad, struct state *state)
{
	const struct displaced_state *found = pad_find_state(pad, state->regs.rip);

	if (!found && state->regs.rip - pad->addr >= pad->len)
		return 0;
	cr_assert_not_null(found, "at %llu of the pad",
			   (unsigned long long)(state->regs.rip - pad->addr));
	state->regs.rip = found->pc;
	state->regs.rsp += found->pushed;
	return found->pushed;
}

static void run_pad(const struct pad *pad, const struct user_regs_struct *regs,
		    const struct state *states, unsigned int count, const char *name)
{
	struct state now;
	unsigned int at = 0;
	pid_t pid = begin(regs);

	for (unsigned int i = 0; at + 1 < count; i++) {
		unsigned int pushed;

		step(pid, &now);
		pushed = normalise(pad, &now);
		stops++;
		if (!is_same(&now, &states[at], pushed))
			at++;
		cr_assert(is_same(&now, &states[at], pushed),
			  "%s: stop %u is not state %u: signal %d, pc %llx, sp %llx, "
			  "not %d, %llx, %llx",
			  name, i, at, now.signal, (unsigned long long)now.regs.rip,
			  (unsigned long long)now.regs.rsp, states[at].signal,
			  (unsigned long long)states[at].regs.rip,
			  (unsigned long long)states[at].regs.rsp);
		cr_assert_lt(i, 64, "%s: no end", name);
	}
	child_end(pid);
	runs++;
}

/* ---- pads ---- */

static struct decoder decoder;

static void read_maps(struct buffer *maps)
{
	char line[4096];
	_cleanup_fclose_ FILE *file = fopen("/proc/self/maps", "r");

	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file))
		buffer_append_string(maps, line);
}

static void map_missing(struct pad_space *space, enum pad_kind kind, uint64_t addr,
			unsigned int len)
{
	uint64_t pages[2];
	const unsigned int count = pad_space_missing(space, addr, len, pages);

	for (unsigned int i = 0; i < count; i++) {
		cr_assert_neq(mmap((void *)pages[i], PAGE, PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
				   -1, 0),
			      MAP_FAILED);
		cr_assert_eq(pad_space_add_page(space, kind, pages[i]), 0);
	}
}

static void look_at_space(struct pad_space *space)
{
	_cleanup_buffer_ struct buffer maps = {0};

	read_maps(&maps);
	pad_space_init(space, PAGE, UINT64_C(1) << 47);
	cr_assert_eq(pad_space_look(space, buffer_string(&maps), (uint64_t)&decoder),
		     0);
}

/* With a hop or without. */
static bool place(const struct pad_text *text, const struct jump_form *form, bool hop,
		  struct pad_space *space, struct pad *pad)
{
	struct pad_place at = {.form = form};
	const char *why_not;

	if (!pad_space_find(space, hop ? HOPS : PADS, form->lowest, form->highest,
			    PAD_BODY_MAX, &at.entry))
		return false;
	at.addr = at.entry;
	if (hop) {
		struct pad_text near = *text;

		pad_text_keep_near(&near, arch_native(), at.entry);
		map_missing(space, HOPS, at.entry, JUMP_LEN_MAX);
		if (!pad_space_find(space, PADS, near.lowest, near.highest,
				    PAD_BODY_MAX, &at.addr))
			return false;
	}
	why_not = pad_make(&decoder, arch_native(), text, &at, NULL, pad);
	cr_assert_null(why_not, "%s", why_not);
	map_missing(space, PADS, at.addr, pad->len);
	memcpy((void *)at.addr, pad->code, pad->len);
	memcpy((void *)at.entry, pad->hop, pad->hop_len);
	return true;
}

/* So many next instructions have jumps, too. */
static bool place_with_next(const struct pad_text *text, unsigned int next,
			    struct pad_space *space, struct pad *pad)
{
	if (pad_placement_make(space, &decoder, arch_native(), text, NULL, next, pad))
		return false;
	cr_assert_geq(pad->nnext, next);
	map_missing(space, PADS, pad->addr, pad->len);
	memcpy((void *)pad->addr, pad->code, pad->len);
	if (pad->hop_len > 0) {
		map_missing(space, HOPS, pad->entry, pad->hop_len);
		memcpy((void *)pad->entry, pad->hop, pad->hop_len);
	}
	for (unsigned int i = 0; i < pad->nnext; i++) {
		map_missing(space, HOPS, pad->next[i].entry, pad->next[i].hop_len);
		memcpy((void *)pad->next[i].entry, pad->next[i].hop,
		       pad->next[i].hop_len);
	}
	return true;
}

static void unplace(struct pad_space *space)
{
	for (unsigned int kind = 0; kind < PAD_KINDS; kind++)
		for (size_t i = 0; i < space->pages[kind].count; i++)
			munmap((void *)space->pages[kind].range[i].start, PAGE);
	pad_space_deinit(space);
}

static void plant(const struct pad *pad, const char *name)
{
	memcpy(region + CODE, pad->jump, pad->planted);
	cr_assert_eq(memcmp(region + CODE, pad->jump, pad->jump_len), 0,
		     "%s: the jump's end is not what follows", name);
}

/* From the instruction on, and by the jump at each next one. */
static void run_from_each(const struct pad *pad, const struct user_regs_struct *regs,
			  struct rng rng, const struct bytes *insn,
			  const struct bytes *follower, const char *name)
{
	static struct state states[STATES];
	struct user_regs_struct from = *regs;

	for (unsigned int i = 0; i <= pad->nnext; i++) {
		struct rng again = rng;
		unsigned int count;

		from.rip = i == 0 ? pad->insn : pad->next[i - 1].insn;
		fill(insn, follower, &again);
		count = run_text(&from, states);
		again = rng;
		fill(insn, follower, &again);
		plant(pad, name);
		run_pad(pad, &from, states, count, name);
		nexts++;
	}
}

static void compare_with_next(const struct pad_text *text,
			      const struct user_regs_struct *regs, struct rng rng,
			      const struct bytes *insn, const struct bytes *follower,
			      const char *name)
{
	const unsigned int next = 1 + rng_below(&hops, PAD_NEXT_MAX);
	struct pad_space space;
	struct pad pad;

	look_at_space(&space);
	if (place_with_next(text, next, &space, &pad))
		run_from_each(&pad, regs, rng, insn, follower, name);
	unplace(&space);
}

static void compare_forms(const struct pad_text *text,
			  const struct user_regs_struct *regs, struct rng rng,
			  const struct bytes *insn, const struct bytes *follower,
			  const char *name)
{
	static struct state states[STATES];
	struct jump_form forms[JUMP_FORMS_MAX];
	const unsigned int n = pad_forms(arch_native(), text, forms);
	struct rng again = rng;
	unsigned int count;

	fill(insn, follower, &again);
	count = run_text(regs, states);
	for (unsigned int i = 0; i < n; i++) {
		const bool hop = rng_below(&hops, 2);
		struct pad_space space;
		struct pad pad;

		look_at_space(&space);
		if (place(text, &forms[i], hop, &space, &pad)) {
			again = rng;
			fill(insn, follower, &again);
			plant(&pad, name);
			run_pad(&pad, regs, states, count, name);
		}
		unplace(&space);
	}
}

static void compare(const struct bytes *insn, const struct bytes *follower,
		    struct rng *rng)
{
	struct pad_text text;
	struct rng fixed = {rng_next(rng)}, again = fixed;
	struct user_regs_struct regs;
	const char *why_not;
	char name[INSN_TEXT_MAX];

	fill(insn, follower, &again);
	pad_text_init(&text, REGION + CODE, region + CODE, PAD_TEXT_MAX);
	why_not = pad_text_check(&decoder, arch_native(), &text);
	cr_assert_null(why_not, "%s", why_not);
	cr_assert_eq(text.insn_len, insn->len, "%s", decoder.insn->mnemonic);
	snprintf(name, sizeof(name), "%s %s", decoder.insn->mnemonic,
		 decoder.insn->op_str);
	regs = make_registers(rng);
	compare_forms(&text, &regs, fixed, insn, follower, name);
	compare_with_next(&text, &regs, fixed, insn, follower, name);
}

Test(x86_64_pad, every_stop_is_one_of_the_text, .timeout = 600)
{
	struct rng rng = {20261126};

	cr_assert_null(arch_native()->init());
	cr_assert(decoder_init(&decoder, arch_native()));
	map_region();
	for (size_t i = 0; i < COUNT(instructions); i++)
		for (size_t j = 0; j < COUNT(followers); j++)
			compare(&instructions[i], &followers[j], &rng);
	decoder_deinit(&decoder);
	cr_log_info("%lu runs, %lu stops; %lu runs with jumps at next instructions",
		    runs, stops, nexts);
	cr_assert_geq(stops, 10000);
	cr_assert_geq(nexts, 500);
}
