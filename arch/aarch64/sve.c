/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/aarch64/sve.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum {
	/* struct user_sve_header */
	SIZE = 0,
	LENGTH = 8,
	FLAGS = 12,
	FLAG_SVE = 1, /* the whole state follows */
	REGISTERS = 16,
	/* struct user_fpsimd_state */
	QUAD = 16,
	FPSIMD_FPSR = 32 * QUAD,
	FPSIMD_FPCR = FPSIMD_FPSR + 4,
	FPSIMD_SIZE = 33 * QUAD,
	ZREGS = 32,
	PREGS = 16,
	Z_MAX = 256, /* bytes, of today's architecture */
};

static size_t vector_len(const unsigned char *data)
{
	uint16_t len;

	memcpy(&len, data + LENGTH, sizeof(len));
	return len;
}

static bool is_whole(const unsigned char *data)
{
	return data[FLAGS] & FLAG_SVE;
}

/* Older kernels put registers there nonetheless, and a size that is too small (before
 * Linux 6.16, commit b93e685ecff7). */
bool sve_is_empty(const unsigned char *data, size_t size)
{
	uint32_t told;

	if (size < REGISTERS)
		return true;
	memcpy(&told, data + SIZE, sizeof(told));
	return told <= REGISTERS;
}

static size_t aligned(size_t offset)
{
	return (offset + QUAD - 1) / QUAD * QUAD;
}

static size_t fpsr_offset(size_t vl)
{
	return aligned(REGISTERS + ZREGS * vl + (PREGS + 1) * (vl / 8));
}

/* Where a register is in the whole state. Returns its length in bytes. */
static size_t place_whole(size_t vl, enum sve_part part, unsigned int number,
			  size_t *offset)
{
	switch (part) {
	case SVE_Z:
		*offset = REGISTERS + number * vl;
		return vl;
	case SVE_P:
	case SVE_FFR:
		if (part == SVE_FFR)
			number = PREGS;
		*offset = REGISTERS + ZREGS * vl + number * (vl / 8);
		return vl / 8;
	case SVE_FPSR:
	case SVE_FPCR:
		*offset = fpsr_offset(vl) + (part == SVE_FPCR ? 4 : 0);
		return 4;
	case SVE_VG:
		break;
	}
	return 0;
}

/* The same in the other form; 0: it is not there, and zero. */
static size_t place_small(enum sve_part part, unsigned int number, size_t *offset)
{
	*offset = REGISTERS;
	if (part == SVE_Z) {
		*offset += (size_t)number * QUAD;
		return QUAD;
	}
	if (part != SVE_FPSR && part != SVE_FPCR)
		return 0;
	*offset += part == SVE_FPSR ? FPSIMD_FPSR : FPSIMD_FPCR;
	return 4;
}

static size_t place(const unsigned char *data, enum sve_part part, unsigned int number,
		    size_t *offset)
{
	return is_whole(data) ? place_whole(vector_len(data), part, number, offset)
			      : place_small(part, number, offset);
}

static uint64_t granules(const unsigned char *data)
{
	return vector_len(data) / 8;
}

int sve_read(const unsigned char *data, size_t size, enum sve_part part,
	     unsigned int number, void *value, size_t len)
{
	size_t offset, here;

	if (size < REGISTERS + FPSIMD_SIZE || sve_is_empty(data, size))
		return -ENODATA;
	memset(value, 0, len);
	if (part == SVE_VG) {
		const uint64_t vg = granules(data);

		memcpy(value, &vg, len < sizeof(vg) ? len : sizeof(vg));
		return 0;
	}
	here = place(data, part, number, &offset);
	if (offset + here > size)
		return -ENODATA;
	memcpy(value, data + offset, here < len ? here : len);
	return 0;
}

static bool is_zero(const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

/* Makes the small form the whole one. */
static int make_whole(unsigned char *data, size_t *size, size_t max)
{
	size_t vl = vector_len(data);
	size_t fpsr = fpsr_offset(vl);
	size_t whole = aligned(fpsr + 8);
	unsigned char small[FPSIMD_SIZE];
	const uint32_t header_size = (uint32_t)whole;

	if (whole > max || *size < REGISTERS + sizeof(small))
		return -ENOSPC;
	memcpy(small, data + REGISTERS, sizeof(small));
	memset(data + REGISTERS, 0, whole - REGISTERS);
	for (size_t i = 0; i < ZREGS; i++)
		memcpy(data + REGISTERS + i * vl, small + i * QUAD, QUAD);
	memcpy(data + fpsr, small + FPSIMD_FPSR, 8);
	memcpy(data + SIZE, &header_size, sizeof(header_size));
	data[FLAGS] |= FLAG_SVE;
	*size = whole;
	return 0;
}

int sve_write(unsigned char *data, size_t *size, size_t max, enum sve_part part,
	      unsigned int number, const void *value, size_t len)
{
	const unsigned char *bytes = value;
	unsigned char now[Z_MAX];
	size_t offset, here;

	if (len > sizeof(now) || sve_read(data, *size, part, number, now, len) < 0)
		return -ENODATA;
	if (memcmp(now, value, len) == 0)
		return 0;
	if (part == SVE_VG)
		return -EOPNOTSUPP;
	here = place(data, part, number, &offset);
	if (!is_whole(data) && here < len && !is_zero(bytes + here, len - here)) {
		int r = make_whole(data, size, max);

		if (r < 0)
			return r;
		here = place(data, part, number, &offset);
	}
	memcpy(data + offset, value, here < len ? here : len);
	return 0;
}
