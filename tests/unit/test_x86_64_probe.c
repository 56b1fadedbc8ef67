/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs at uprobes of a child: when they do nothing, how they decide, and that what
 * their records have is the thread's state before the instruction.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "agent/opcode.h"
#include "arch/registers.h"
#include "base/cleanup.h"
#include "bpf/probe.h"
#include "bpf/program.h"
#include "bpf/uprobe_event.h"
#include "bpf/uprobe_trial.h"
#include "inferior/inferior.h"
#include "inferior/memory.h"
#include "inferior/registers.h"
#include "stops/decoder.h"
#include "tests/unit/child.h"
#include "tests/unit/expr.h"
#include "tests/unit/rng.h"
#include "tests/unit/support.h"

enum { ROUNDS = 10, FLAG_ROUNDS = 300 };
enum { TF = 0x100, RF = 0x10000 };

/* ---- what the child runs ---- */

/* CF, PF, AF, ZF, SF, DF, OF, NT, AC and ID; the interrupt flag is on anyway. */
enum { FLAGS = 0x0244cd5 & ~TF, PLAIN_FLAGS = 0x202 };

/* In a page of its own, which nobody has touched before the child. */
uint64_t cell[512] __attribute__((aligned(4096)));

/* The latter sets flags first: steps over popf would leave the kernel in doubt whose
 * trap flag it is. */
void probed(uint64_t flags, uint64_t value, uint64_t index);
void probed_with_flags(uint64_t flags, uint64_t value, uint64_t index);
extern const char at_nop[], at_push[], at_variable[], at_frame[], at_call[], at_jump[];
__asm__(".text\n"
	"probed_with_flags:\n"
	"	pushq %rdi\n"
	"	popfq\n"
	"probed:\n"
	"at_nop:\n"
	"	nop\n"
	"at_push:\n"
	"	pushq %rbp\n"
	"	movq %rsp, %rbp\n"
	"	subq $64, %rsp\n"
	"at_variable:\n"
	"	movl %esi, cell(%rip)\n"
	"at_frame:\n"
	"	movq %rsi, -64(%rbp, %rdx, 8)\n"
	"at_call:\n"
	"	call nothing\n"
	"at_jump:\n"
	"	jmp at_end\n"
	"	ud2\n"
	"at_end:\n"
	"	leave\n"
	"	pushq $0x202\n"
	"	popfq\n"
	"nothing:\n"
	"	ret\n");

static void child_main(uint64_t flags)
{
	pid_t self = getpid();
	struct rng rng = {12345};

	for (;;) {
		uint64_t x = rng_next(&rng);

		(flags ? probed_with_flags : probed)(PLAIN_FLAGS | (x >> 32 & FLAGS), x,
						     x >> 61);
		kill(self, SIGSTOP);
	}
}

/* ---- where the probes are ---- */

enum { RDX = 3, RSI = 4, RBP = 6, RSP = 7, RIP = 16, EFLAGS, CS, SS };

static const struct insn_store no_store = {0};
static const struct insn_store pushed = {.len = 8,
					 .below_stack = true,
					 .base = RSP,
					 .index = REG_NONE,
					 .scale = 1,
					 .displacement = -8};
static const struct insn_store in_frame = {
	.len = 8, .base = RBP, .index = RDX, .scale = 8, .displacement = -64};

static struct insn_store in_variable(void)
{
	return (struct insn_store){.len = 4,
				   .base = RIP,
				   .index = REG_NONE,
				   .scale = 1,
				   .displacement = (const char *)cell - at_variable};
}

/* ---- the tracer's side ---- */

static bool redirects; /* the programs stop threads before the instruction */

static struct {
	struct bpf_kernel kernel;
	struct programs programs;
	struct uprobe_options options;
	struct tracee tracee;
	struct program *program;
	int location;
	struct bpf_location *shared;
	int fd;			      /* the probe */
	struct bpf_hit_record record; /* the last one */
	unsigned int records;
} fixture;

static void on_record(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	fixture.record = *record;
	fixture.records++;
}

static void start(bool multi, bool flags)
{
	start_programs(&fixture.kernel, &fixture.programs, on_record, NULL);
	fixture.options = use_uprobes(multi);
	fixture.fd = -1;
	tracee_start(&fixture.tracee, child_main, flags);
}

static void finish(void)
{
	tracee_end(&fixture.tracee);
	cleanup_close(&fixture.fd);
	programs_deinit(&fixture.programs);
	bpf_kernel_deinit(&fixture.kernel);
}

static siginfo_t resume(enum __ptrace_request request)
{
	return tracee_resume(&fixture.tracee, request);
}

static void open_probe(const char *place)
{
	struct uprobe_target target;

	skip_unless(uprobe_target_find(&fixture.tracee.inferior, (uintptr_t)place, 1,
				       &target));
	target.cookie = (uint64_t)fixture.location;
	fixture.fd =
		uprobe_event_open(&fixture.options, &target,
				  fixture.tracee.inferior.pid, fixture.program->fd);
	uprobe_target_deinit(&target);
	cr_assert_geq(fixture.fd, 0, "%s", strerror(-fixture.fd));
}

/* Of the instruction where a program is put; 0: it is not compared. */
static unsigned int text_len;

/* A program at an instruction; unreferences the condition and the command (or NULL). */
static void put(const char *place, const struct insn_store *store,
		struct agent_expr *condition, struct agent_expr *command)
{
	const struct bpf_site site = {.kind = uprobe_kind(&fixture.options),
				      .store = *store,
				      .insn_len = text_len,
				      .redirects = redirects};
	const struct agent_list conditions = {&condition, condition ? 1 : 0};
	const struct agent_list commands = {&command, command ? 1 : 0};

	skip_unless(program_get(&fixture.programs, &conditions, &commands, &site,
				&fixture.program));
	cr_assert_null(fixture.program->refused, "%s", fixture.program->refused);
	agent_expr_unref(condition);
	agent_expr_unref(command);
	fixture.location = program_take_location(&fixture.programs, fixture.program);
	cr_assert_geq(fixture.location, 0);
	fixture.shared = &fixture.kernel.shared->locations[fixture.location];
	fixture.shared->armed = (uintptr_t)place;
	open_probe(place);
}

/* Does this kernel let programs set the PC? */
static void skip_unless_redirecting(void)
{
	struct closer *closer = closer_create();
	struct uprobe_options found;

	skip_unless(uprobe_choose(arch_native(), closer, &found));
	closer_destroy(closer);
	if (!found.redirects)
		cr_skip_test("programs may not set the PC here");
	redirects = true;
}

static void take_out(void)
{
	cleanup_close(&fixture.fd);
	program_give_location(&fixture.programs, fixture.program,
			      (unsigned int)fixture.location);
	program_put(&fixture.programs, fixture.program);
}

/* $name & bits */
static struct agent_expr *register_has(const char *name, uint32_t bits)
{
	unsigned int count, number;
	const struct reg_def *table = arch_native()->registers(&count);

	number = (unsigned int)(reg_by_name(arch_native(), name) - table);
	return EXPR(REG(number), CONST32(bits), AGENT_BIT_AND, AGENT_END);
}

static struct regs *fetch(void)
{
	static struct regs regs;

	regs_init(&regs, arch_native());
	cr_assert_eq(regs_fetch(&fixture.tracee.thread, &regs, 0), 0);
	return &regs;
}

static uint64_t get(const struct regs *regs, unsigned int number)
{
	uint64_t value;

	cr_assert_eq(reg_read_u64(regs, number, &value), 0);
	return value;
}

static uint64_t recorded(unsigned int number)
{
	return fixture.record
		.registers[reg_by_number(arch_native(), number)->bpf_offset / 8];
}

/* To a place, by steps. */
static void step_to(const char *place)
{
	do
		cr_assert_eq(resume(PTRACE_SINGLESTEP).si_signo, SIGTRAP);
	while (get(fetch(), RIP) != (uintptr_t)place);
}

static bool is_mark(const siginfo_t *info)
{
	return info->si_signo == SIGSTOP && info->si_code != SI_KERNEL;
}

/* The child runs to its next mark, without a stop in between. */
static void pass(void)
{
	siginfo_t info = resume(PTRACE_CONT);

	cr_assert(is_mark(&info), "signal %d, code %d", info.si_signo, info.si_code);
	bpf_kernel_drain(&fixture.kernel);
}

/* The child runs into the probe, which stops it. */
static void hit(enum bpf_verdict verdict)
{
	siginfo_t info = resume(PTRACE_CONT);

	cr_assert_eq(info.si_signo, SIGSTOP);
	cr_assert_eq(info.si_code, SI_KERNEL);
	fixture.records = 0;
	bpf_kernel_drain(&fixture.kernel);
	cr_assert_eq(fixture.records, 1);
	cr_expect_eq(fixture.record.tid, (uint32_t)fixture.tracee.thread.tid);
	cr_expect_eq(fixture.record.location, (unsigned int)fixture.location);
	cr_expect_eq(fixture.record.verdict, verdict);
	cr_expect_eq(fixture.record.by_stop, 1);
	cr_expect_eq(fixture.record.pc, fixture.shared->armed);
	cr_expect_eq(fixture.record.addr, 0);
	cr_expect_eq(fixture.record.values.len, 0);
}

static void expect_hits(uint64_t falses, uint64_t trues, uint64_t maybes)
{
	struct tally_hits hits =
		tally_total(fixture.kernel.shared, (unsigned int)fixture.location);

	cr_expect_eq(hits.by[BPF_FALSE], falses);
	cr_expect_eq(hits.by[BPF_TRUE], trues);
	cr_expect_eq(hits.by[BPF_MAYBE], maybes);
	cr_expect_eq(fixture.shared->lost, 0);
}

TestSuite(probe_multi, .fini = finish, .timeout = 300);
TestSuite(probe_perf, .fini = finish, .timeout = 300);

/* Each test by multi links and by perf events. */
#define WITH(name, flags)                                                              \
	static void name(void);                                                        \
	Test(probe_multi, name)                                                        \
	{                                                                              \
		start(true, flags);                                                    \
		name();                                                                \
	}                                                                              \
	Test(probe_perf, name)                                                         \
	{                                                                              \
		start(false, flags);                                                   \
		name();                                                                \
	}                                                                              \
	static void name(void)
#define WITH_FLAGS(name)    WITH(name, true)
#define WITHOUT_FLAGS(name) WITH(name, false)

/* ---- the state before the instruction ---- */

static void read_stored(const struct insn_store *store, const struct regs *regs,
			uint64_t *addr, uint8_t *bytes)
{
	cr_assert_eq(probe_store_addr(store, regs, addr), 0);
	cr_assert_eq(inferior_read(&fixture.tracee.inferior, *addr, bytes, store->len),
		     store->len);
}

static void expect_equal(const struct regs *regs, const struct regs *other)
{
	const struct reg_def *row;

	for (unsigned int i = 0; (row = reg_by_number(arch_native(), i)); i++)
		if (row->regset == 0)
			cr_expect_eq(get(regs, i), get(other, i),
				     "%s: %#llx, not %#llx", row->name,
				     (unsigned long long)get(regs, i),
				     (unsigned long long)get(other, i));
}

/* Our own text is the child's. */
static void expect_behind(const char *place, const struct regs *now)
{
	struct regs elsewhere = *now;
	struct decoder decoder;
	struct insn_undo undo;

	cr_assert(decoder_init(&decoder, arch_native()));
	cr_assert(decoder_run(&decoder, (const uint8_t *)place, INSN_LEN_MAX,
			      (uintptr_t)place));
	arch_native()->undo(decoder.insn, &undo);
	undo.len = decoder.insn->size;
	decoder_deinit(&decoder);
	cr_expect(probe_is_behind(&fixture.record, now, undo.len, undo.jumps));
	cr_expect_eq(undo.jumps, place == at_call || place == at_jump);
	if (undo.jumps) {
		cr_assert_eq(reg_write_u64(&elsewhere, RDX, get(now, RDX) + 1), 0);
		cr_assert_eq(reg_write_u64(&elsewhere, RSI, get(now, RSI) + 1), 0);
	} else {
		cr_assert_eq(reg_write_u64(&elsewhere, RIP, get(now, RIP) + 1), 0);
	}
	cr_expect_not(
		probe_is_behind(&fixture.record, &elsewhere, undo.len, undo.jumps));
}

/* One round: what ptrace shows before, what the record has, and that the instruction
 * can be run again with that. */
static void undo_once(const char *place, const struct insn_store *store)
{
	uint8_t before[UNDO_BYTES_MAX] = {0}, after[UNDO_BYTES_MAX] = {0};
	struct regs then, *now;
	uint64_t addr = 0;
	uint32_t value;

	step_to(place);
	then = *fetch();
	if (store->len > 0)
		read_stored(store, &then, &addr, before);
	hit(BPF_TRUE);
	cr_expect_eq(fixture.record.stored_known, store->len > 0);
	cr_expect_arr_eq(fixture.record.stored, before, store->len);
	now = fetch();
	cr_expect_neq(get(now, RIP), (uintptr_t)place);
	expect_behind(place, now);
	if (store->len > 0)
		read_stored(store, &then, &addr, after);
	cr_assert_eq(probe_put_back(&fixture.record, now), 0);
	expect_equal(now, &then);

	cr_assert_eq(regs_store(&fixture.tracee.thread, now, 0), 0);
	cr_assert_eq(inferior_write(&fixture.tracee.inferior, addr,
				    fixture.record.stored, store->len),
		     0);
	fixture.shared->armed = 0;
	value = (uint32_t)get(&then, RSI);
	pass();
	fixture.shared->armed = (uintptr_t)place;
	cr_assert_eq(inferior_read(&fixture.tracee.inferior, (uintptr_t)cell, after, 4),
		     4);
	cr_expect_arr_eq(after, &value, 4);
}

static void undo_at(const char *place, const struct insn_store *store)
{
	put(place, store, NULL, NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		undo_once(place, store);
	expect_hits(0, ROUNDS, 0);
	take_out();
}

WITHOUT_FLAGS(what_an_instruction_changes)
{
	const struct insn_store variable = in_variable();

	undo_at(at_nop, &no_store);
	undo_at(at_push, &pushed);
	undo_at(at_variable, &variable);
	undo_at(at_frame, &in_frame);
	undo_at(at_call, &pushed);
	undo_at(at_jump, &no_store);
}

/* The program faults no page in, and the instruction does. */
WITHOUT_FLAGS(what_is_overwritten_may_not_be_known)
{
	const struct insn_store variable = in_variable();

	put(at_variable, &variable, NULL, NULL);
	hit(BPF_TRUE);
	cr_expect_eq(fixture.record.stored_known, 0);
	pass();
	hit(BPF_TRUE);
	cr_expect_eq(fixture.record.stored_known, 1);
}

/* Newer kernels have other things in the upper bits. */
Test(probe_multi, selectors_have_16_bits)
{
	const unsigned int numbers[] = {CS, SS};
	struct regs *now, then;

	start(true, false);
	then = *fetch();
	put(at_push, &pushed, NULL, NULL);
	hit(BPF_TRUE);
	now = fetch();
	for (int i = 0; i < 2; i++) {
		const struct reg_def *row = reg_by_number(arch_native(), numbers[i]);

		fixture.record.registers[row->bpf_offset / 8] |= 0xabcd0000;
	}
	cr_assert_eq(probe_put_back(&fixture.record, now), 0);
	cr_expect_eq(get(now, CS), get(&then, CS));
	cr_expect_eq(get(now, SS), get(&then, SS));
}

/* ---- stops before the instruction ---- */

/* Nothing but the PC is another, the instruction is executed when the thread goes on.
 */
static void redirect_once(const char *place)
{
	struct regs then, *now;
	uint32_t value, stored;

	step_to(place);
	then = *fetch();
	value = (uint32_t)get(&then, RSI);
	hit(BPF_TRUE);
	cr_expect_eq(fixture.record.stored_known, 0);
	now = fetch();
	cr_expect_eq(get(now, RIP), arch_native()->nowhere);
	cr_assert_eq(reg_write_u64(now, RIP, (uintptr_t)place), 0);
	expect_equal(now, &then);
	now = fetch();
	cr_assert_eq(probe_put_back(&fixture.record, now), 0);
	expect_equal(now, &then);
	cr_assert_eq(regs_store(&fixture.tracee.thread, now, 0), 0);
	fixture.shared->armed = 0;
	pass();
	fixture.shared->armed = (uintptr_t)place;
	cr_assert_eq(
		inferior_read(&fixture.tracee.inferior, (uintptr_t)cell, &stored, 4),
		4);
	cr_expect_eq(stored, value);
}

WITHOUT_FLAGS(redirection)
{
	const char *const places[] = {at_nop,	at_push, at_variable,
				      at_frame, at_call, at_jump};

	skip_unless_redirecting();
	for (unsigned int i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		put(places[i], &no_store, NULL, NULL);
		for (unsigned int round = 0; round < ROUNDS; round++)
			redirect_once(places[i]);
		expect_hits(0, ROUNDS, 0);
		take_out();
	}
}

WITHOUT_FLAGS(false_hits_are_not_redirected)
{
	skip_unless_redirecting();
	put(at_variable, &no_store, register_has("cs", 0), NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		pass();
	cr_expect_eq(fixture.records, 0);
	expect_hits(ROUNDS, 0, 0);
}

/* The signal is gone, and the thread executes nothing else. */
WITHOUT_FLAGS(a_lost_signal_leaves_a_fault)
{
	siginfo_t info;

	skip_unless_redirecting();
	put(at_variable, &no_store, NULL, NULL);
	hit(BPF_TRUE);
	for (int i = 0; i < 3; i++) {
		info = resume(i % 2 ? PTRACE_SINGLESTEP : PTRACE_CONT);
		cr_assert_eq(info.si_signo, SIGSEGV);
		cr_expect_gt(info.si_code, 0);
		cr_expect_eq((uintptr_t)info.si_addr, arch_native()->nowhere);
		cr_expect_eq(get(fetch(), RIP), arch_native()->nowhere);
	}
}

/* A step to the place, and one of the instruction. */
WITHOUT_FLAGS(steps_are_redirected)
{
	skip_unless_redirecting();
	put(at_variable, &no_store, NULL, NULL);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct regs *now;
		siginfo_t info;

		step_to(at_variable);
		info = resume(PTRACE_SINGLESTEP);
		cr_assert_eq(info.si_signo, SIGSTOP);
		cr_assert_eq(info.si_code, SI_KERNEL);
		fixture.records = 0;
		bpf_kernel_drain(&fixture.kernel);
		cr_assert_eq(fixture.records, 1);
		now = fetch();
		cr_expect_eq(get(now, RIP), arch_native()->nowhere);
		cr_assert_eq(probe_put_back(&fixture.record, now), 0);
		cr_assert_eq(regs_store(&fixture.tracee.thread, now, 0), 0);
		fixture.shared->armed = 0;
		info = resume(PTRACE_SINGLESTEP);
		cr_assert_eq(info.si_signo, SIGTRAP);
		cr_expect_eq(get(fetch(), RIP), (uintptr_t)at_frame);
		pass();
		fixture.shared->armed = (uintptr_t)at_variable;
	}
}

/* ---- decisions ---- */

WITHOUT_FLAGS(only_where_it_is_armed)
{
	put(at_push, &pushed, NULL, NULL);
	fixture.shared->armed = 0;
	pass();
	fixture.shared->armed = (uintptr_t)at_nop;
	pass();
	cr_expect_eq(fixture.records, 0);
	expect_hits(0, 0, 0);
	fixture.shared->armed = (uintptr_t)at_push;
	hit(BPF_TRUE);
}

/* One program is for many places, with instructions of its length. */
WITHOUT_FLAGS(each_location_has_its_own_text)
{
	uint8_t text[5];

	memcpy(text, at_frame, sizeof(text));
	text_len = sizeof(text);
	put(at_frame, &in_frame, NULL, NULL);
	probe_arm(fixture.shared, (uintptr_t)at_frame, text, sizeof(text));
	hit(BPF_TRUE);
	pass();
	text[4] ^= 1;
	probe_arm(fixture.shared, (uintptr_t)at_frame, text, sizeof(text));
	hit(BPF_MAYBE);
	pass();
	text[4] ^= 1;
	text[0] ^= 1; /* that is where the trap is */
	probe_arm(fixture.shared, (uintptr_t)at_frame, text, sizeof(text));
	hit(BPF_TRUE);
}

WITHOUT_FLAGS(false_hits_leave_nothing)
{
	put(at_push, &pushed, register_has("cs", 0), NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		pass();
	cr_expect_eq(fixture.records, 0);
	expect_hits(ROUNDS, 0, 0);
}

WITHOUT_FLAGS(a_condition_on_memory)
{
	const uint64_t addr = (uintptr_t)&cell[1];
	const uint64_t one = 1;

	put(at_push, &pushed, EXPR(CONST64(addr), AGENT_REF64, AGENT_END), NULL);
	hit(BPF_MAYBE);
	pass();
	pass();
	cr_assert_eq(inferior_write(&fixture.tracee.inferior, addr, &one, sizeof(one)),
		     0);
	hit(BPF_TRUE);
	expect_hits(1, 1, 1);
}

/* A register that the context lacks. */
WITHOUT_FLAGS(maybes_have_the_state_before)
{
	struct regs then;

	put(at_push, &pushed, register_has("fs_base", 1), NULL);
	step_to(at_push);
	then = *fetch();
	hit(BPF_MAYBE);
	cr_assert_eq(probe_put_back(&fixture.record, fetch()), 0);
	cr_expect_eq(recorded(RIP), (uintptr_t)at_push);
	cr_expect_eq(recorded(RSP), get(&then, RSP));
	cr_expect_eq(fixture.record.stored_known, 1);
	expect_hits(0, 0, 1);
}

WITHOUT_FLAGS(hits_are_ignored)
{
	put(at_push, &pushed, NULL, NULL);
	gate_set(&fixture.shared->gate, 2);
	pass();
	pass();
	cr_expect_eq(fixture.records, 0);
	hit(BPF_TRUE);
	cr_expect_eq(fixture.shared->gate.ignored, 2);
	expect_hits(0, 3, 0);
}

/* ---- commands ---- */

static void append(void *data, const char *text, size_t len)
{
	buffer_append(data, text, len);
}

static bool take_output(void *data, const void *record, size_t len)
{
	const struct bpf_output_record *output = record;

	(void)len;
	cr_expect_eq(output->location, (unsigned int)fixture.location);
	cr_expect_eq(capture_render(&fixture.program->code.capture, output->capture,
				    append, data),
		     0);
	return true;
}

WITHOUT_FLAGS(commands_are_captured)
{
	_cleanup_buffer_ struct buffer text = {0}, expected = {0};
	struct text code = {0};

	text_put(&code, REG(RIP));
	text_printf(&code, "%lx,", 1);
	put(at_push, &pushed, NULL, text_command(&code));
	pass();
	pass();
	cr_expect_eq(fixture.records, 0);
	ring_drain(&fixture.kernel.output, take_output, &text);
	buffer_printf(&expected, "%lx,%lx,", (unsigned long)(uintptr_t)at_push,
		      (unsigned long)(uintptr_t)at_push);
	cr_expect_str_eq(buffer_string(&text), buffer_string(&expected));
	expect_hits(0, 2, 0);
}

/* ---- flags ---- */

/* The nop leaves the registers as they are. No flag is set by the kernel, as RF is at a
 * breakpoint's event: what is put back has none. */
WITH_FLAGS(flags_are_those_of_the_program)
{
	uint64_t ones = 0, zeros = 0;

	put(at_nop, &no_store, NULL, NULL);
	for (unsigned int i = 0; i < FLAG_ROUNDS; i++) {
		struct regs then;
		uint64_t flags;

		hit(BPF_TRUE);
		then = *fetch();
		cr_assert_eq(reg_write_u64(&then, RIP, (uintptr_t)at_nop), 0);
		cr_assert_eq(probe_put_back(&fixture.record, fetch()), 0);
		flags = recorded(EFLAGS);
		cr_assert_eq(flags, get(&then, EFLAGS));
		ones |= flags;
		zeros |= ~flags;
		pass();
	}
	cr_expect_eq(ones & FLAGS, FLAGS);
	cr_expect_eq(zeros & (FLAGS | RF | TF), FLAGS | RF | TF);
}

WITH_FLAGS(conditions_see_no_resume_flag)
{
	put(at_nop, &no_store, register_has("eflags", RF), NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		pass();
	expect_hits(ROUNDS, 0, 0);
}

/* A trap flag may be that of ptrace, which hides it: a maybe, and not put back. */
WITHOUT_FLAGS(steps)
{
	struct regs *now;
	siginfo_t info;

	put(at_nop, &no_store, register_has("eflags", RF), NULL);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		step_to(at_nop);
		do
			info = resume(PTRACE_SINGLESTEP);
		while (info.si_signo != SIGSTOP);
		fixture.records = 0;
		bpf_kernel_drain(&fixture.kernel);
		cr_assert_eq(fixture.records, 1);
		cr_expect_eq(fixture.record.verdict, BPF_MAYBE);
		cr_expect(recorded(EFLAGS) & TF);
		now = fetch();
		cr_assert_eq(probe_put_back(&fixture.record, now), 0);
		cr_expect_eq(get(now, RIP), (uintptr_t)at_nop);
		cr_expect_eq(get(now, EFLAGS) & TF, 0);
		fixture.shared->armed = 0;
		pass();
		fixture.shared->armed = (uintptr_t)at_nop;
	}
	expect_hits(0, 0, ROUNDS);
}
