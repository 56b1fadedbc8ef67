/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/uprobe/uprobe_trial.h"

#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <string.h>

#include "arch/register_table.h"
#include "gdbstub/base/log.h"
#include "bpf/kernel/kernel.h"
#include "bpf/kernel/trial.h"
#include "bpf/kernel/trial_counter.h"

/* A call by each thread of the child, and one by ourselves. */
static struct error *call_everywhere(struct trial *trial,
				     const struct probe_place *place)
{
	const struct trial_job leader = {place->function, 1, false},
			       thread = {place->function, 1, true};
	struct trial_outcome outcome;
	struct error *error = trial_run(trial, &leader, false, &outcome);

	if (!error && outcome.stops != 0)
		error = error_create(0, "a false hit stopped the process");
	if (!error)
		error = trial_run(trial, &thread, false, &outcome);
	place->function();
	return error;
}

static struct error *try_in(struct trial *trial, struct background_close *closer,
			    const struct uprobe_options *options)
{
	const struct probe_place *place = &trial->arch->probe_places[PROBE_EMULATED];
	_cleanup_trial_counter_ struct trial_counter counter;
	struct error *error = trial_counter_init(&counter, uprobe_kind(options));
	uint64_t sum;
	int fd;

	if (!error)
		error = trial_open_probe(trial, place, options, counter.program_fd,
					 &fd);
	if (error)
		return error;
	error = call_everywhere(trial, place);
	background_close_add_fd(closer, fd);
	if (error)
		return error;
	sum = trial_counter_sum(&counter);
	if (sum != 2 * TRIAL_COOKIE)
		return error_create(0, "%llu instead of 2 hits of two threads, %d each",
				    (unsigned long long)sum, TRIAL_COOKIE);
	return NULL;
}

/* In a child of its own: a probe that is still being closed leaves its trap there. */
static struct error *try_options(const struct arch_ops *arch,
				 struct background_close *closer,
				 const struct uprobe_options *options)
{
	struct trial trial;
	struct error *error = trial_init(&trial, arch);

	if (!error)
		error = try_in(&trial, closer, options);
	trial_deinit(&trial);
	return error;
}

static struct error *try_multi(const struct arch_ops *arch,
			       struct background_close *closer,
			       struct uprobe_options *ret)
{
	*ret = (struct uprobe_options){.multi = true};
	return try_options(arch, closer, ret);
}

static struct error *try_perf(const struct arch_ops *arch,
			      struct background_close *closer,
			      struct uprobe_options *ret)
{
	int type = uprobe_perf_type();

	if (type < 0)
		return error_create(
			0, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	*ret = (struct uprobe_options){.perf_type = (uint32_t)type};
	return try_options(arch, closer, ret);
}

/* Sends the thread to where nothing is. */
static int load_redirector(const struct arch_ops *arch,
			   const struct uprobe_options *options)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_IMM | BPF_DW,
		 .dst_reg = BPF_REG_2,
		 .imm = (int32_t)(uint32_t)arch->nowhere},
		{.imm = (int32_t)(uint32_t)(arch->nowhere >> 32)},
		{.code = BPF_STX | BPF_MEM | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_REG_2,
		 .off = reg_by_number(arch, arch->pc_reg)->bpf_offset},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_kernel_load(uprobe_kind(options), insns,
			       sizeof(insns) / sizeof(*insns), NULL, 0);
}

/* Does the child fault there, as it executed no instruction that would have moved it?
 */
static struct error *redirect_child(struct trial *trial,
				    struct background_close *closer,
				    const struct uprobe_options *options,
				    int program_fd)
{
	const struct probe_place *place = &trial->arch->probe_places[PROBE_EMULATED];
	const uint64_t nowhere = trial->arch->nowhere;
	const struct trial_job job = {place->function, 1, false};
	struct trial_outcome outcome;
	struct error *error;
	int fd;

	error = trial_open_probe(trial, place, options, program_fd, &fd);
	if (error)
		return error;
	error = trial_run(trial, &job, false, &outcome);
	background_close_add_fd(closer, fd);
	if (!error && (outcome.signal != SIGSEGV || outcome.pc != nowhere ||
		       outcome.fault != nowhere))
		error = error_create(0, "the thread went elsewhere");
	return error;
}

static struct error *try_redirect(const struct arch_ops *arch,
				  struct background_close *closer,
				  const struct uprobe_options *options)
{
	_cleanup_close_ int program_fd =
		arch->nowhere ? load_redirector(arch, options) : -EOPNOTSUPP;
	struct trial trial;
	struct error *error;

	if (program_fd < 0)
		return error_create(-program_fd, "programs may not set the PC");
	error = trial_init(&trial, arch);
	if (!error)
		error = redirect_child(&trial, closer, options, program_fd);
	trial_deinit(&trial);
	return error;
}

static bool may_redirect(const struct arch_ops *arch, struct background_close *closer,
			 const struct uprobe_options *options)
{
	_cleanup_error_ struct error *error = try_redirect(arch, closer, options);

	if (error)
		log_debug(LOG_BPF, "stops come after the instruction: %s",
			  error_text(error));
	return !error;
}

static struct error *try_both(const struct arch_ops *arch,
			      struct background_close *closer,
			      struct uprobe_options *ret)
{
	_cleanup_error_ struct error *no_multi = try_multi(arch, closer, ret);

	if (!no_multi)
		return NULL;
	log_debug(LOG_BPF, "no uprobe_multi links: %s", error_text(no_multi));
	return try_perf(arch, closer, ret);
}

struct error *uprobe_choose(const struct arch_ops *arch,
			    struct background_close *closer, struct uprobe_options *ret)
{
	struct error *error;

	if (!arch->probe_places)
		return error_create(0, "uprobes are not used on %s", arch->name);
	error = try_both(arch, closer, ret);
	if (error)
		return error_prefix(error, "trial uprobe");
	ret->redirects = may_redirect(arch, closer, ret);
	return NULL;
}
