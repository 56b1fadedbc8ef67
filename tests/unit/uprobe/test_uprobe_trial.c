/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials of uprobes. What the machine does not allow is skipped. */
#include <criterion/criterion.h>
#include <linux/bpf.h>
#include <signal.h>

#include "arch/register_table.h"
#include "gdbstub/base/cleanup.h"
#include "bpf/kernel/costs.h"
#include "bpf/kernel/kernel.h"
#include "bpf/kernel/trial.h"
#include "bpf/uprobe/uprobe_trial.h"
#include "tests/unit/support.h"

static struct background_close *closer;
static struct uprobe_options options;

static void begin(void)
{
	use_uprobes(true);
	closer = background_close_create();
	cr_assert_not_null(closer);
}

static void finish(void)
{
	background_close_destroy(closer);
}

static void choose(void)
{
	_cleanup_error_ struct error *error =
		uprobe_choose(arch_native(), closer, &options);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

/* Stops each thread that hits. */
static int load_stopper(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K,
		 .dst_reg = BPF_REG_1,
		 .imm = SIGSTOP},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_send_signal_thread},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return load_for_uprobe(&options, insns, sizeof(insns) / sizeof(*insns));
}

/* What becomes of a thread that hits, once. */
static struct trial_outcome outcome_at(const struct probe_place *place, int program_fd,
				       bool blocked)
{
	const struct trial_job job = {place->function, 1, false};
	_cleanup_error_ struct error *error = NULL;
	struct trial_outcome outcome = {0};
	struct trial trial;
	int fd;

	cr_assert_null(trial_init(&trial, arch_native()));
	cr_assert_null(trial_open_probe(&trial, place, &options, program_fd, &fd));
	error = trial_run(&trial, &job, blocked, &outcome);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	background_close_add_fd(closer, fd);
	trial_deinit(&trial);
	return outcome;
}

/* What the engine's exactness rests on: the instruction has run, nothing else has. */
static void expect_stop_after(const struct probe_place *place, bool blocked)
{
	_cleanup_close_ int program_fd = load_stopper();
	const struct trial_outcome outcome = outcome_at(place, program_fd, blocked);

	cr_expect_eq(outcome.stops, 1);
	cr_expect_eq(outcome.signal, SIGSTOP);
	cr_expect_eq(outcome.pc, (uintptr_t)place->function + place->len);
}

/* Sends each thread that hits to where nothing is. */
static int load_redirector(void)
{
	const uint64_t nowhere = arch_native()->nowhere;
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_IMM | BPF_DW,
		 .dst_reg = BPF_REG_2,
		 .imm = (int32_t)(uint32_t)nowhere},
		{.imm = (int32_t)(uint32_t)(nowhere >> 32)},
		{.code = BPF_STX | BPF_MEM | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_REG_2,
		 .off = reg_by_number(arch_native(), arch_native()->pc_reg)
				->bpf_offset},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_kernel_load(uprobe_kind(&options), insns,
			       sizeof(insns) / sizeof(*insns), NULL, 0);
}

/* It is not executed, and nothing else is. */
static void expect_fault(const struct probe_place *place, int program_fd)
{
	const struct trial_outcome outcome = outcome_at(place, program_fd, false);

	cr_expect_eq(outcome.stops, 1);
	cr_expect_eq(outcome.signal, SIGSEGV);
	cr_expect_eq(outcome.pc, arch_native()->nowhere);
	cr_expect_eq(outcome.fault, arch_native()->nowhere);
}

static void expect_stops_after(void)
{
	const struct probe_place *places = arch_native()->probe_places;

	for (int blocked = 0; blocked < 2; blocked++) {
		expect_stop_after(&places[PROBE_EMULATED], blocked);
		expect_stop_after(&places[PROBE_STEPPED], blocked);
	}
}

Test(uprobe_trial, stop_is_after_the_instruction, .init = begin, .fini = finish)
{
	choose();
	expect_stops_after();
	options = use_uprobes(false);
	expect_stops_after();
}

/* What is told of this kernel is what it does. */
static void expect_redirection(bool expected)
{
	_cleanup_close_ int program_fd = load_redirector();

	cr_assert_eq(program_fd >= 0, expected);
	for (int kind = 0; expected && kind < 2; kind++)
		expect_fault(&arch_native()->probe_places[kind], program_fd);
}

Test(uprobe_trial, programs_set_the_pc, .init = begin, .fini = finish)
{
	bool redirects;

	choose();
	redirects = options.redirects;
	expect_redirection(redirects);
	options = use_uprobes(false);
	expect_redirection(redirects);
}

/* Does an event that lets its hit through stop the child? */
static bool hardware_fires(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	_cleanup_close_ int program_fd = bpf_kernel_load(
		BPF_KIND_EVENT, insns, sizeof(insns) / sizeof(*insns), NULL, 0);
	_cleanup_error_ struct error *error = NULL;
	struct trial_outcome outcome = {0};
	struct trial trial;

	cr_assert_null(trial_init(&trial, arch_native()));
	error = trial_pass(&trial, program_fd, true, false, &outcome);
	trial_deinit(&trial);
	return !error && outcome.stops > 0;
}

/* Where nothing is hit, what was measured is no hit's cost. */
Test(uprobe_trial, no_cost_without_hits, .init = begin, .fini = finish)
{
	struct hit_costs costs;

	if (hardware_fires())
		cr_skip_test("hardware breakpoints are hit here");
	choose();
	costs = hit_costs_measure(arch_native(), &options, closer);
	cr_expect_eq(costs.hardware_ns, 0);
}

/* A false hit of any kind costs something, whichever way uprobes are made. */
static void expect_costs(void)
{
	struct hit_costs costs = hit_costs_measure(arch_native(), &options, closer);

	cr_expect_gt(costs.emulated_ns, 0);
	cr_expect_gt(costs.stepped_ns, 0);
}

Test(uprobe_trial, costs, .init = begin, .fini = finish)
{
	struct hit_costs costs;

	choose();
	expect_costs();
	options = use_uprobes(false);
	expect_costs();
	costs = hit_costs_measure(arch_native(), NULL, closer);
	cr_expect_eq(costs.emulated_ns, 0);
	cr_expect_eq(costs.stepped_ns, 0);
}
