/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/x86_64_probed.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"
#include "bpf/uprobe/uprobe_trial.h"
#include "tests/unit/rng.h"
#include "tests/unit/support.h"
#include "arch/register_table.h"

struct probed fixture;

/* ---- what the child runs ---- */

uint64_t cell[512] __attribute__((aligned(4096)));

__asm__(".text\n"
	".globl probed, probed_with_flags\n"
	".globl at_nop, at_push, at_variable, at_frame, at_call, at_jump\n"
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

const struct insn_store no_store = {0};
const struct insn_store pushed = {.len = 8,
				  .below_stack = true,
				  .base = RSP,
				  .index = REG_NONE,
				  .scale = 1,
				  .displacement = -8};
const struct insn_store in_frame = {
	.len = 8, .base = RBP, .index = RDX, .scale = 8, .displacement = -64};

struct insn_store in_variable(void)
{
	return (struct insn_store){.len = 4,
				   .base = RIP,
				   .index = REG_NONE,
				   .scale = 1,
				   .displacement = (const char *)cell - at_variable};
}

/* ---- the tracer's side ---- */

static void on_record(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	fixture.record = *record;
	fixture.records++;
}

void start(bool multi, bool flags)
{
	start_programs(&fixture.kernel, &fixture.programs, on_record, NULL);
	fixture.options = use_uprobes(multi);
	fixture.fd = -1;
	tracee_start(&fixture.tracee, child_main, flags);
}

void finish(void)
{
	tracee_end(&fixture.tracee);
	cleanup_close(&fixture.fd);
	programs_deinit(&fixture.programs);
	bpf_kernel_deinit(&fixture.kernel);
}

siginfo_t resume(enum __ptrace_request request)
{
	return tracee_resume(&fixture.tracee, request);
}

static void open_probe(const char *place)
{
	_cleanup_(uprobe_file_deinit) struct uprobe_file file = {0};
	struct uprobe_target target;

	skip_unless(uprobe_target_find(&fixture.tracee.inferior, (uintptr_t)place, 1,
				       &file, &target));
	target.cookie = (uint64_t)fixture.location;
	fixture.fd =
		uprobe_event_open(&fixture.options, &target,
				  fixture.tracee.inferior.pid, fixture.program->fd);
	uprobe_target_deinit(&target);
	cr_assert_geq(fixture.fd, 0, "%s", strerror(-fixture.fd));
}

void put(const char *place, const struct insn_store *store,
	 struct agent_expr *condition, struct agent_expr *command)
{
	const struct bpf_site site = {.kind = uprobe_kind(&fixture.options),
				      .store = *store,
				      .insn_len = fixture.text_len,
				      .redirects = fixture.redirects};
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

void skip_unless_redirecting(void)
{
	struct background_close *closer = background_close_create();
	struct uprobe_options found;

	skip_unless(uprobe_choose(arch_native(), closer, &found));
	background_close_destroy(closer);
	if (!found.redirects)
		cr_skip_test("programs may not set the PC here");
	fixture.redirects = true;
}

void take_out(void)
{
	cleanup_close(&fixture.fd);
	program_give_location(&fixture.programs, fixture.program,
			      (unsigned int)fixture.location);
	program_put(&fixture.programs, fixture.program);
}

struct agent_expr *register_has(const char *name, uint32_t bits)
{
	unsigned int count, number;
	const struct reg_def *table = arch_native()->registers(&count);

	number = (unsigned int)(reg_by_name(arch_native(), name) - table);
	return EXPR(REG(number), CONST32(bits), AGENT_BIT_AND, AGENT_END);
}

struct regs *fetch(void)
{
	static struct regs regs;

	regs_init(&regs, arch_native());
	cr_assert_eq(regs_fetch(&fixture.tracee.thread, &regs, 0), 0);
	return &regs;
}

uint64_t get(const struct regs *regs, unsigned int number)
{
	uint64_t value;

	cr_assert_eq(reg_read_u64(regs, number, &value), 0);
	return value;
}

uint64_t recorded(unsigned int number)
{
	return fixture.record
		.registers[reg_by_number(arch_native(), number)->bpf_offset / 8];
}

void expect_equal(const struct regs *regs, const struct regs *other)
{
	const struct reg_def *row;

	for (unsigned int i = 0; (row = reg_by_number(arch_native(), i)); i++)
		if (row->regset == 0)
			cr_expect_eq(get(regs, i), get(other, i),
				     "%s: %#llx, not %#llx", row->name,
				     (unsigned long long)get(regs, i),
				     (unsigned long long)get(other, i));
}

void step_to(const char *place)
{
	do
		cr_assert_eq(resume(PTRACE_SINGLESTEP).si_signo, SIGTRAP);
	while (get(fetch(), RIP) != (uintptr_t)place);
}

bool is_mark(const siginfo_t *info)
{
	return info->si_signo == SIGSTOP && info->si_code != SI_KERNEL;
}

void pass(void)
{
	siginfo_t info = resume(PTRACE_CONT);

	cr_assert(is_mark(&info), "signal %d, code %d", info.si_signo, info.si_code);
	bpf_kernel_drain(&fixture.kernel);
}

void hit(enum bpf_verdict verdict)
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

void expect_hits(uint64_t falses, uint64_t trues, uint64_t maybes)
{
	struct tally_hits hits =
		tally_total(fixture.kernel.shared, (unsigned int)fixture.location);

	cr_expect_eq(hits.by[BPF_FALSE], falses);
	cr_expect_eq(hits.by[BPF_TRUE], trues);
	cr_expect_eq(hits.by[BPF_MAYBE], maybes);
	cr_expect_eq(fixture.shared->lost, 0);
}
