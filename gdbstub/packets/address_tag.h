/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bits of addresses that say nothing of where: a process may have the processor ignore
 * some of the upper ones, for tags of its own (x86: linear address masking). gdb 16 and
 * later leave them out of what they watch; other clients name addresses as pointers
 * have them. Slots of the processor, and what is told apart by its place, need the
 * place itself.
 */
#ifndef TRUEHIT_PACKETS_ADDRESS_TAG_H
#define TRUEHIT_PACKETS_ADDRESS_TAG_H

#include "gdbstub/inferior/inferior.h"

/** The address without its tag, by the kernel's word; as it is, if that says nothing.
 */
uint64_t address_untag(const struct inferior *inferior, uint64_t addr);

#endif
