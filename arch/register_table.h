/* SPDX-License-Identifier: BSD-2-Clause */
/* The register table: one row a register, of which everybody reads. */
#ifndef TRUEHIT_ARCH_REGISTER_TABLE_H
#define TRUEHIT_ARCH_REGISTER_TABLE_H

#include <stdint.h>

#include "arch/arch.h"

/** Row @number, or NULL if there is none. */
const struct reg_def *reg_by_number(const struct arch_ops *arch, unsigned int number);
/** Row called @name, or NULL. */
const struct reg_def *reg_by_name(const struct arch_ops *arch, const char *name);
/** The same for the register called @name. */
int reg_read_named(const struct regs *regs, const char *name, uint64_t *value);
/** Sets a register of at most 64 bits in @regs. */
int reg_write_u64(struct regs *regs, unsigned int number, uint64_t value);

#endif
