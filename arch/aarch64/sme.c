/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/aarch64/sme.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum {
	/* struct user_za_header */
	SIZE = 0,
	LENGTH = 8,
	MATRIX = 16,
	/* SVCR */
	SVCR_SM = 1,
	SVCR_ZA = 2,
};

/* Of a row, and so the number of rows. */
static size_t own_side(const unsigned char *data)
{
	uint16_t len;

	memcpy(&len, data + LENGTH, sizeof(len));
	return len;
}

size_t sme_size(size_t side)
{
	return MATRIX + side * side;
}

static bool is_on(const unsigned char *data, size_t size)
{
	uint32_t told;

	memcpy(&told, data + SIZE, sizeof(told));
	return told > MATRIX && size >= sme_size(own_side(data));
}

static void put_number(uint64_t number, void *value, size_t len)
{
	memcpy(value, &number, len < sizeof(number) ? len : sizeof(number));
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void read_matrix(const unsigned char *data, size_t side, unsigned char *value)
{
	const size_t own = own_side(data), common = smaller(own, side);

	for (size_t row = 0; row < common; row++)
		memcpy(value + row * side, data + MATRIX + row * own, common);
}

int sme_read(const unsigned char *data, size_t size, bool streaming, enum sme_part part,
	     size_t side, void *value, size_t len)
{
	if (size < MATRIX || (part == SME_ZA && len < side * side))
		return -ENODATA;
	memset(value, 0, len);
	if (part == SME_SVG)
		put_number(own_side(data) / 8, value, len);
	else if (part == SME_SVCR)
		put_number((streaming ? SVCR_SM : 0) |
				   (is_on(data, size) ? SVCR_ZA : 0),
			   value, len);
	else if (is_on(data, size))
		read_matrix(data, side, value);
	return 0;
}

/* Is it what is there? */
static bool is_equal(const unsigned char *data, size_t size, bool streaming,
		     enum sme_part part, size_t side, const unsigned char *value,
		     size_t len)
{
	const size_t own = own_side(data);
	uint64_t now;

	if (part != SME_ZA)
		return len == sizeof(now) &&
		       sme_read(data, size, streaming, part, side, &now, len) == 0 &&
		       memcmp(&now, value, len) == 0;
	for (size_t i = 0; i < side * side; i++) {
		const size_t row = i / side, column = i % side;
		const bool is_there = is_on(data, size) && row < own && column < own;

		if (value[i] != (is_there ? data[MATRIX + row * own + column] : 0))
			return false;
	}
	return true;
}

static int switch_on(unsigned char *data, size_t *size, size_t max)
{
	const size_t all = sme_size(own_side(data));
	const uint32_t told = (uint32_t)all;

	if (is_on(data, *size))
		return 0;
	if (all > max)
		return -ENOSPC;
	memset(data + MATRIX, 0, all - MATRIX);
	memcpy(data + SIZE, &told, sizeof(told));
	*size = all;
	return 0;
}

int sme_write(unsigned char *data, size_t *size, size_t max, bool streaming,
	      enum sme_part part, size_t side, const void *value, size_t len)
{
	const unsigned char *bytes = value;
	size_t own, common;
	int r;

	if (*size < MATRIX || (part == SME_ZA && len < side * side))
		return -ENODATA;
	if (is_equal(data, *size, streaming, part, side, bytes, len))
		return 0;
	if (part != SME_ZA)
		return -EOPNOTSUPP;
	r = switch_on(data, size, max);
	if (r < 0)
		return r;
	own = own_side(data);
	common = smaller(own, side);
	for (size_t row = 0; row < common; row++)
		memcpy(data + MATRIX + row * own, bytes + row * side, common);
	return 0;
}
