/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/arch.h"

#include <errno.h>
#include <string.h>

#include "arch/register_table.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "registers are taken to be little-endian"
#endif

const struct reg_def *reg_by_number(const struct arch_ops *arch, unsigned int number)
{
	unsigned int count;
	const struct reg_def *table = arch->registers(&count);

	return number < count ? &table[number] : NULL;
}

const struct reg_def *reg_by_name(const struct arch_ops *arch, const char *name)
{
	const struct reg_def *reg;

	for (unsigned int i = 0; (reg = reg_by_number(arch, i)); i++)
		if (strcmp(reg->name, name) == 0)
			return reg;
	return NULL;
}

static int read_u64(const struct regs *regs, const struct reg_def *reg, uint64_t *value)
{
	*value = 0;
	if (!reg)
		return -ENODATA;
	if (reg->bits > 64)
		return -ERANGE;
	return regs->arch->reg_read(regs, reg, value);
}

int reg_read_u64(const struct regs *regs, unsigned int number, uint64_t *value)
{
	return read_u64(regs, reg_by_number(regs->arch, number), value);
}

int reg_read_named(const struct regs *regs, const char *name, uint64_t *value)
{
	return read_u64(regs, reg_by_name(regs->arch, name), value);
}

int reg_write_u64(struct regs *regs, unsigned int number, uint64_t value)
{
	const struct reg_def *reg = reg_by_number(regs->arch, number);

	if (!reg)
		return -ENODATA;
	if (reg->bits > 64)
		return -ERANGE;
	return regs->arch->reg_write(regs, reg, &value);
}
