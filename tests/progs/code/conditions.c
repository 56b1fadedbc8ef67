/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables of every integer type, for conditions. Deterministic. */
#include <stdint.h>
#include <stdio.h>
#include <uchar.h>
#include <wchar.h>

static int8_t g_s8;
static uint8_t g_u8;
static int16_t g_s16;
static uint16_t g_u16;
static int32_t g_s32;
static uint32_t g_u32;
static int64_t g_s64;
static uint64_t g_u64;
static char g_text[16] = "abcdefghijklmno";
static int g_array[8] = {3, -1, 4, -1, 5, -9, 2, 6};
static struct {
	unsigned int low : 3, middle : 7;
	int high : 5;
} g_bits;
static enum colour { RED, GREEN, BLUE } g_colour;
static _Bool g_bool;
static wchar_t g_wide; /* whose types gdb needs for literals */
static char16_t g_wide16;
static char32_t g_wide32;
static int *g_pointer = &g_array[2];

static uint32_t next(uint32_t x)
{
	return x * 1664525u + 1013904223u;
}

static int body(int i, long wide, unsigned int bits)
{
	char c = (char)bits; /* BYTE */
	short s = (short)(bits >> 3);
	int n = (int)bits % 100;
	unsigned char uc = (unsigned char)c;
	long l = wide * n;

	return i + c + s + n + uc + (int)l; /* BODY */
}

int main(void)
{
	uint32_t x = 12345;
	int sum = 0;

	for (int i = 0; i < 60; i++) {
		x = next(x);
		g_s8 = (int8_t)(x >> 8);
		g_u8 = (uint8_t)(x >> 9);
		g_s16 = (int16_t)(x >> 7);
		g_u16 = (uint16_t)(x >> 5);
		g_s32 = (int32_t)x;
		g_u32 = x;
		g_s64 = (int64_t)((uint64_t)x << 32 | next(x));
		g_u64 = (uint64_t)g_s64;
		g_bits.low = x >> 11;
		g_bits.middle = x >> 13;
		g_bits.high = (int)(x >> 17);
		g_colour = (enum colour)((x >> 16) % 3);
		g_bool = x >> 31;
		g_wide = (wchar_t)(x % 1000);
		g_wide16 = (char16_t)x;
		g_wide32 = x;
		g_pointer = &g_array[(x >> 20) % 8];
		sum += body(i, (long)x * 3, x >> 6); /* CALL */
	}
	printf("sum %d %c\n", sum, g_text[sum & 7]);
	return 0;
}
