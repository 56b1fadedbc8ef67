/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs see of the registers at a breakpoint is what ptrace shows at the stop
 * that follows: at thousands of hits, right after settings of the flags.
 */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "arch/register_table.h"
#include "gdbstub/base/cleanup.h"
#include "bpf/emit/compiler.h"
#include "bpf/emit/emit_exits.h"
#include "bpf/emit/emit_values.h"
#include "bpf/kernel/hw_event.h"
#include "bpf/kernel/kernel.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/inferior/registers.h"
#include "tests/unit/child.h"
#include "tests/unit/rng.h"
#include "tests/unit/support.h"

enum { ROUNDS = 2000, STEPPED_ROUNDS = 300, VALUES_MAX = 256 };
enum { TF = 0x100, RF = 0x10000 };

/* ---- what the inferior runs ---- */

/* CF, PF, AF, ZF, SF, DF, OF, NT, AC and ID; the interrupt flag is on anyway. */
enum { FLAGS = 0x0244cd5 & ~TF, PLAIN_FLAGS = 0x202 };

/* void with_flags(uint64_t flags): the breakpoint is right after their setting, before
 * a store, and one that a repeated instruction makes byte by byte. */
void with_flags(uint64_t flags);
extern const char after_flags[];
uint8_t stored[8] __attribute__((aligned(8)));
__asm__(".text\n"
	"with_flags:\n"
	"	pushq %rdi\n"
	"	popfq\n"
	"after_flags:\n"
	"	nop\n"
	"	movl %esi, stored(%rip)\n"
	"	cld\n"
	"	leaq stored(%rip), %rdi\n"
	"	movl $4, %ecx\n"
	"	rep stosb\n"
	"	pushq $0x202\n"
	"	popfq\n"
	"	ret\n");

static void child_main(uint64_t also)
{
	struct rng rng = {12345};

	for (;;)
		with_flags(PLAIN_FLAGS | (rng_next(&rng) >> 32 & FLAGS) | also);
}

/* ---- the program ---- */

/* What it saw: the value of each register that it can read, by number. */
struct seen {
	uint64_t value[VALUES_MAX];
	uint64_t unsure; /* ... or it left a hit to the stub */
};

static struct seen *make_map(int *fd)
{
	struct bpf_map_create_opts options = {.sz = sizeof(options),
					      .map_flags = BPF_F_MMAPABLE};
	void *seen;

	*fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "seen", sizeof(uint32_t),
			     sizeof(struct seen), 1, &options);
	if (*fd < 0 && geteuid() != 0)
		cr_skip_test("no BPF maps for this user");
	cr_assert_geq(*fd, 0);
	seen = mmap(NULL, sizeof(struct seen), PROT_READ | PROT_WRITE, MAP_SHARED, *fd,
		    0);
	cr_assert_neq(seen, MAP_FAILED);
	return seen;
}

static int load_program(struct compiler *c, int map_fd)
{
	struct bpf_insn *insns;
	size_t count;
	int fd;

	c->label_maybe = bpf_emit_new_labels(&c->emitter, 1);
	bpf_emit(&c->emitter, bpf_alu(BPF_MOV, REG_CONTEXT, BPF_REG_1));
	for (unsigned int i = 0; i < c->nregisters; i++) {
		if (c->registers[i].bpf_offset == REG_NOT_IN_BPF_CONTEXT)
			continue;
		values_load_register(c, i, BPF_REG_1);
		bpf_emit_map_value(&c->emitter, BPF_REG_2, map_fd, 8 * i);
		bpf_emit(&c->emitter, bpf_store(BPF_DW, BPF_REG_2, 0, BPF_REG_1));
	}
	exits_return(c, 1);
	bpf_emit_bind(&c->emitter, c->label_maybe);
	bpf_emit_map_value(&c->emitter, BPF_REG_2, map_fd,
			   offsetof(struct seen, unsure));
	bpf_emit(&c->emitter, bpf_store_imm(BPF_DW, BPF_REG_2, 0, 1));
	exits_return(c, 1);
	cr_assert_null(bpf_emit_finish(&c->emitter, &insns, &count));
	fd = bpf_kernel_load(BPF_KIND_EVENT, insns, count, NULL, 0);
	free(insns);
	return fd;
}

/* ---- the tracer's side ---- */

struct fixture {
	struct compiler compiler;
	struct seen *seen;
	int map_fd, program_fd, event_fd;
	struct tracee tracee;
};

static struct fixture fixture;

static void setup_for(bool access)
{
	static struct bpf_compile_options options;
	struct compiler *c = &fixture.compiler;

	fixture.event_fd = -1;
	options.site.watch.access = access;
	c->options = &options;
	cr_assert_null(arch_native()->init());
	c->registers = arch_native()->registers(&c->nregisters);
	cr_assert_lt(c->nregisters, VALUES_MAX);
	fixture.seen = make_map(&fixture.map_fd);
	fixture.program_fd = load_program(c, fixture.map_fd);
	cr_assert_geq(fixture.program_fd, 0, "%s", strerror(-fixture.program_fd));
}

static void setup(void)
{
	setup_for(false);
}

static void setup_access(void)
{
	setup_for(true);
}

static void finish(void)
{
	tracee_end(&fixture.tracee);
	bpf_emitter_deinit(&fixture.compiler.emitter);
	close(fixture.event_fd);
	close(fixture.program_fd);
	close(fixture.map_fd);
}

/* @also: flags that the inferior always sets. */
static void start_at(struct hw_region region, uint64_t also)
{
	struct hw_event_options options = {.arch = arch_native(),
					   .region = region,
					   .program_fd = fixture.program_fd,
					   .sigtrap = true};

	need_breakpoint_registers();
	tracee_start(&fixture.tracee, child_main, also);
	fixture.event_fd = hw_event_open(&options, fixture.tracee.inferior.pid);
	if (fixture.event_fd < 0 && geteuid() != 0)
		cr_skip_test("no perf events for this user");
	cr_assert_geq(fixture.event_fd, 0, "%s", strerror(-fixture.event_fd));
	cr_assert_eq(hw_event_enable(fixture.event_fd), 0);
}

static void start(uint64_t also)
{
	start_at((struct hw_region){HW_EXECUTE, (uintptr_t)after_flags, 1}, also);
}

/* The next stop at the breakpoint, passing over those of steps. */
static void next_hit(enum __ptrace_request request)
{
	uint64_t sig_data;
	siginfo_t info;

	*fixture.seen = (struct seen){0};
	do {
		info = tracee_resume(&fixture.tracee, request);
		cr_assert_eq(info.si_signo, SIGTRAP);
	} while (!hw_event_siginfo(&info, &sig_data));
}

/* Returns the flags, as ptrace shows them. */
static uint64_t compare_all(void)
{
	const struct compiler *c = &fixture.compiler;
	static struct regs regs;
	uint64_t flags;

	regs_init(&regs, arch_native());
	cr_assert_eq(regs_fetch_all(&fixture.tracee.thread, &regs), 0);
	for (unsigned int i = 0; i < c->nregisters; i++) {
		uint64_t shown;

		if (c->registers[i].bpf_offset == REG_NOT_IN_BPF_CONTEXT ||
		    fixture.seen->unsure)
			continue;
		cr_assert_eq(reg_read_u64(&regs, i, &shown), 0);
		cr_assert_eq(fixture.seen->value[i], shown, "%s: %#llx, not %#llx",
			     c->registers[i].name,
			     (unsigned long long)fixture.seen->value[i],
			     (unsigned long long)shown);
	}
	cr_assert_eq(reg_read_named(&regs, "eflags", &flags), 0);
	return flags;
}

TestSuite(x86_64_context, .init = setup, .fini = finish, .timeout = 300);

Test(x86_64_context, equals_what_ptrace_shows)
{
	uint64_t ones = 0, zeros = 0;

	start(0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t flags;

		next_hit(PTRACE_CONT);
		cr_assert_eq(fixture.seen->unsure, 0);
		flags = compare_all();
		ones |= flags;
		zeros |= ~flags;
	}
	/* Each flag was seen both ways. */
	cr_expect_eq(ones & FLAGS, FLAGS);
	cr_expect_eq(zeros & FLAGS, FLAGS);
}

/* ptrace hides a trap flag that it has set itself (but for steps over popf). Programs
 * cannot tell whose it is: such hits, which stop anyway, are left to the stub. */
Test(x86_64_context, single_stepping)
{
	start(0);
	for (unsigned int i = 0; i < STEPPED_ROUNDS; i++) {
		next_hit(PTRACE_SINGLESTEP);
		cr_assert_eq(fixture.seen->unsure, 1);
		/* Then without: nothing is left behind. */
		next_hit(PTRACE_CONT);
		cr_assert_eq(fixture.seen->unsure, 0);
		compare_all();
	}
}

/* A trap flag of the program's own is shown. */
Test(x86_64_context, own_trap_flag)
{
	start(TF);
	for (unsigned int i = 0; i < STEPPED_ROUNDS; i++) {
		next_hit(PTRACE_CONT);
		cr_assert_eq(fixture.seen->unsure, 1);
		cr_assert_eq(compare_all() & TF, TF);
	}
}

TestSuite(x86_64_stores, .init = setup_access, .fini = finish, .timeout = 300);

/* After a store, the flags are as they are, RF included: some processors set it in the
 * middle of a repeated instruction (Intel's do, AMD's do not). */
Test(x86_64_stores, equals_what_ptrace_shows)
{
	uint64_t ones = 0, zeros = 0;

	start_at((struct hw_region){HW_WRITE, (uintptr_t)stored, 4}, 0);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t flags;

		next_hit(PTRACE_CONT);
		cr_assert_eq(fixture.seen->unsure, 0);
		flags = compare_all();
		ones |= flags;
		zeros |= ~flags;
	}
	cr_expect_eq(ones & FLAGS, FLAGS);
	cr_expect_eq(zeros & (FLAGS | RF), FLAGS | RF);
}
