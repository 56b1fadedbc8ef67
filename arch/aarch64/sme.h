/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The matrix of SME in NT_ARM_ZA (kernel Documentation/arch/arm64/sme.rst,
 * arch/arm64/include/uapi/asm/ptrace.h): a header with the thread's streaming vector
 * length, then, while the matrix is on, its rows, as many as a row has bytes. Pure,
 * compiles everywhere.
 */
#ifndef TRUEHIT_ARCH_AARCH64_SME_H
#define TRUEHIT_ARCH_AARCH64_SME_H

#include <stdbool.h>
#include <stddef.h>

enum sme_part {
	SME_SVG,  /* the streaming vector's length in 8 bytes */
	SME_SVCR, /* what is on: bit 0 streaming mode, bit 1 the matrix */
	SME_ZA,
};

/**
 * A register's @len bytes; the matrix as @side rows of @side bytes: of a larger one
 * those that fit, and zeros where there is none, as if it is off. @streaming: the
 * thread is in streaming mode. 0 or -ENODATA.
 */
int sme_read(const unsigned char *data, size_t size, bool streaming, enum sme_part part,
	     size_t side, void *value, size_t len);
/**
 * Changes it; a matrix that is off goes on by that, and the state grows to at most @max
 * bytes. 0, -ENODATA, -ENOSPC, or -EOPNOTSUPP: the vector's length, and the mode, are
 * the thread's own business.
 */
int sme_write(unsigned char *data, size_t *size, size_t max, bool streaming,
	      enum sme_part part, size_t side, const void *value, size_t len);
/** Bytes of the state with a matrix whose rows have @side. */
size_t sme_size(size_t side);

#endif
