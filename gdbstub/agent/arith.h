/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic of agent expressions, defined for every input. What the manual
 * leaves open is settled here, for the interpreter and for compiled code alike:
 *   - a shift count is taken modulo 64, as gdbserver's C shift does on x86 and
 *     aarch64;
 *   - the smallest number divided by -1 is itself, with remainder 0 (gdbserver
 *     dies of it);
 *   - division by zero is an error.
 */
#ifndef TRUEHIT_AGENT_ARITH_H
#define TRUEHIT_AGENT_ARITH_H

#include "gdbstub/agent/opcode.h"

/**
 * Computes an operation of AGENT_CLASS_ARITH or _COMPARE; @a is the cell below
 * the top, @b the top. 0, or -EDOM: division by zero.
 */
int agent_arith(uint8_t code, uint64_t a, uint64_t b, uint64_t *result);

/** ext and zero_ext: the low @bits of @value, extended. 64 and more: all. */
uint64_t agent_extend(uint8_t code, uint64_t value, uint64_t bits);

#endif
