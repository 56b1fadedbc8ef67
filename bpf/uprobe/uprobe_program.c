/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/uprobe/uprobe_program.h"

#include <errno.h>
#include <string.h>

#include "arch/register_table.h"
#include "bpf/shared/hits.h"

_Static_assert(INSN_LEN_MAX - 1 <= sizeof(((struct bpf_location *)NULL)->text),
	       "an instruction after its trap");

void uprobe_arm(struct bpf_location *location, uint64_t addr, const uint8_t *insn,
		unsigned int len)
{
	const unsigned int trap = arch_native()->breakpoint_len;

	memset(location->text, 0, sizeof(location->text));
	if (len > trap)
		memcpy(location->text, insn + trap, len - trap);
	__atomic_store_n(&location->armed, addr, __ATOMIC_SEQ_CST);
}

static int add(const struct regs *regs, unsigned int number, unsigned int scale,
	       uint64_t *addr)
{
	uint64_t value = 0;
	int r = number == REG_NONE ? 0 : reg_read_u64(regs, number, &value);

	*addr += value * scale;
	return r;
}

int uprobe_store_addr(const struct insn_store *store, const struct regs *regs,
		      uint64_t *addr)
{
	int r;

	*addr = (uint64_t)store->displacement;
	r = add(regs, store->base, 1, addr);
	return r < 0 ? r : add(regs, store->index, store->scale, addr);
}

/* What ptrace would have shown then: the context's word by its rule. */
static uint64_t value_before(const struct bpf_hit_record *record,
			     const struct reg_def *row, uint64_t now)
{
	const struct bpf_rule *rule = &row->bpf_rule;
	uint64_t word = record->registers[row->bpf_offset / 8];

	if (rule->bits)
		word &= (UINT64_C(1) << rule->bits) - 1;
	return (word & ~(uint64_t)rule->unsure) | (now & rule->unsure);
}

static bool is_changed(const struct bpf_hit_record *record, unsigned int number,
		       const struct reg_def *row, const struct regs *regs)
{
	uint64_t now;

	return row->bpf_offset != REG_NOT_IN_BPF_CONTEXT &&
	       reg_read_u64(regs, number, &now) == 0 &&
	       now != value_before(record, row, now);
}

bool uprobe_is_after(const struct bpf_hit_record *record, const struct regs *regs,
		     unsigned int len, bool jumps)
{
	const unsigned int pc_reg = regs->arch->pc_reg;
	const struct reg_def *row;
	unsigned int changed = 0;
	uint64_t pc = 0;

	if (!jumps)
		return reg_read_u64(regs, pc_reg, &pc) == 0 && pc == record->pc + len;
	for (unsigned int i = 0; (row = reg_by_number(regs->arch, i)); i++)
		changed += i != pc_reg && is_changed(record, i, row, regs);
	return changed <= 1;
}

static int put_back(const struct bpf_hit_record *record, unsigned int number,
		    const struct reg_def *row, struct regs *regs)
{
	uint64_t now;
	int r = reg_read_u64(regs, number, &now);

	return r < 0 ? r : reg_write_u64(regs, number, value_before(record, row, now));
}

int uprobe_put_back(const struct bpf_hit_record *record, struct regs *regs)
{
	const struct reg_def *row;

	for (unsigned int i = 0; (row = reg_by_number(regs->arch, i)); i++) {
		int r = row->bpf_offset == REG_NOT_IN_BPF_CONTEXT
				? 0
				: put_back(record, i, row, regs);

		if (r < 0)
			return r;
	}
	return 0;
}
