/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scalable vector registers in NT_ARM_SVE (kernel
 * Documentation/arch/arm64/sve.rst, arch/arm64/include/uapi/asm/ptrace.h): a header
 * with the thread's vector length, then either the whole state or, as long as a thread
 * uses nothing else of it, the 128-bit vector registers. Pure, compiles everywhere.
 */
#ifndef TRUEHIT_ARCH_AARCH64_SVE_H
#define TRUEHIT_ARCH_AARCH64_SVE_H

#include <stdbool.h>
#include <stddef.h>

enum sve_part {
	SVE_Z, /* 32 of them, of the vector's length */
	SVE_P, /* 16, of an eighth of it */
	SVE_FFR,
	SVE_FPSR,
	SVE_FPCR,
	SVE_VG, /* the vector's length in 8 bytes */
};

/** Is it the state of a thread that has it elsewhere, as it is in streaming mode? */
bool sve_is_empty(const unsigned char *data, size_t size);
/** A register's @len bytes: of a longer one the lower, after a shorter one zeros. 0 or
 * -ENODATA: not there (streaming mode). */
int sve_read(const unsigned char *data, size_t size, enum sve_part part,
	     unsigned int number, void *value, size_t len);
/**
 * Changes it; the state may grow to at most @max bytes. 0, -ENODATA, -ENOSPC, or
 * -EOPNOTSUPP: the vector's length, which is the thread's own business.
 */
int sve_write(unsigned char *data, size_t *size, size_t max, enum sve_part part,
	      unsigned int number, const void *value, size_t len);

#endif
