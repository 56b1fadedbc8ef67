/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/trial_counter.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "gdbstub/base/rights.h"
#include "bpf/kernel/kernel.h"
#include "bpf/kernel/trial.h"

/* A multi link's adds what it is told (emit_where.c). */
static int load(enum bpf_kind kind, int map_fd)
{
	const struct bpf_insn insns[] = {
		kind == BPF_KIND_UPROBE_MULTI
			? (struct bpf_insn){.code = BPF_JMP | BPF_CALL,
					    .imm = BPF_FUNC_get_attach_cookie}
			: (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K,
					    .dst_reg = BPF_REG_0,
					    .imm = TRIAL_COOKIE},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X,
		 .dst_reg = BPF_REG_2,
		 .src_reg = BPF_REG_0},
		/* r1 = the address of the map's only value */
		{.code = BPF_LD | BPF_IMM | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_VALUE,
		 .imm = map_fd},
		{0},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_REG_2,
		 .imm = BPF_ADD},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_kernel_load(kind, insns, sizeof(insns) / sizeof(*insns), NULL, 0);
}

static int make_map(void)
{
	RIGHTS_RAISED_IN_SCOPE;

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "truehit_trial", sizeof(uint32_t),
			      sizeof(uint64_t), 1, NULL);
}

struct error *trial_counter_init(struct trial_counter *counter, enum bpf_kind kind)
{
	int err;

	*counter = (struct trial_counter){.map_fd = make_map(), .program_fd = -1};
	err = counter->map_fd;
	if (err >= 0)
		err = counter->program_fd = load(kind, counter->map_fd);
	if (err >= 0)
		return NULL;
	trial_counter_deinit(counter);
	return error_create(-err, "a program cannot be loaded");
}

void trial_counter_deinit(struct trial_counter *counter)
{
	if (counter->program_fd >= 0)
		close(counter->program_fd);
	if (counter->map_fd >= 0)
		close(counter->map_fd);
	counter->map_fd = counter->program_fd = -1;
}

uint64_t trial_counter_sum(const struct trial_counter *counter)
{
	RIGHTS_RAISED_IN_SCOPE;
	const uint32_t key = 0;
	uint64_t sum = 0;

	bpf_map_lookup_elem(counter->map_fd, &key, &sum);
	return sum;
}
