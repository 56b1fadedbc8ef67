/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variables of every integer type in every storage class, changed by ROUND iterations
 * that are the same in each of endless rounds. At all places of an iteration they have
 * the same values. For tests/fuzz/expressions.py, which knows the names.
 */
#include <stdint.h>

/* Longer than one instruction, so that a step from one place does not end at another.
 */
#define PLACE __asm__ volatile("nop\n\tnop\n\tnop")

enum { ROUND = 40, LENGTH = 8 };

enum colour { RED, GREEN, BLUE, FAR = 1000 };
enum level { DEEP = -70000, LOW = -1, HIGH = 1 };

struct item {
	signed char sc;
	unsigned char uc;
	short s;
	unsigned short us;
	int i;
	unsigned int ui;
	long l;
	unsigned long ul;
	_Bool flag;
	enum level level;
	unsigned int low : 3, middle : 9;
	int high : 6, one : 1;
	long wide : 37;
	short numbers[4];
	struct {
		int depth;
		unsigned char bytes[4];
	} inner;
	struct item *next;
};

static char g_c;
static signed char g_sc;
static unsigned char g_uc;
static short g_s;
static unsigned short g_us;
static int g_i;
static unsigned int g_ui;
static long g_l;
static unsigned long g_ul;
static long long g_ll;
static unsigned long long g_ull;
static _Bool g_b;
static enum colour g_colour;
static enum level g_level;
static int g_ints[LENGTH];
static unsigned char g_bytes[LENGTH];
static short g_shorts[LENGTH];
static unsigned long g_longs[LENGTH];
static int g_table[4][LENGTH];
static struct item g_items[4];
static struct item *g_item;
static int *g_int_p;
static unsigned char *g_byte_p;
static int **g_int_pp = &g_int_p;
int iteration;

/* One iteration's small, large and odd numbers. */
static uint64_t state;

static uint64_t any(void)
{
	static const uint64_t odd[] = {
		0,   1,		 (uint64_t)-1, 127,	    128,
		255, 0x7fffffff, 0x80000000,   0xffff,	    0x8000,
		100, 0xffffffff, 1ull << 40,   (uint64_t)-2};

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	switch (state >> 60) {
	case 0 ... 4:
		return (uint64_t)((int64_t)(state >> 33) % 10 - 3);
	case 5 ... 8:
		return odd[(state >> 33) % (sizeof(odd) / sizeof(*odd))];
	default:
		return state >> 8 ^ state << 29;
	}
}

static void change_item(struct item *item)
{
	item->sc = (signed char)any();
	item->uc = (unsigned char)any();
	item->s = (short)any();
	item->us = (unsigned short)any();
	item->i = (int)any();
	item->ui = (unsigned int)any();
	item->l = (long)any();
	item->ul = any();
	item->flag = any() & 1;
	item->level = any() & 1 ? LOW : any() & 1 ? DEEP : HIGH;
	item->low = (unsigned int)any() & 7;
	item->middle = (unsigned int)any() & 511;
	item->high = (int)any();
	item->one = (int)any();
	item->wide = (long)any();
	for (int i = 0; i < 4; i++) {
		item->numbers[i] = (short)any();
		item->inner.bytes[i] = (unsigned char)any();
	}
	item->inner.depth = (int)any();
	item->next = &g_items[any() % 4];
}

static void change_globals(void)
{
	g_c = (char)any();
	g_sc = (signed char)any();
	g_uc = (unsigned char)any();
	g_s = (short)any();
	g_us = (unsigned short)any();
	g_i = (int)any();
	g_ui = (unsigned int)any();
	g_l = (long)any();
	g_ul = any();
	g_ll = (long long)any();
	g_ull = any();
	g_b = any() & 1;
	g_colour = any() & 1 ? FAR : (enum colour)(any() % 3);
	g_level = any() & 1 ? LOW : any() & 1 ? DEEP : HIGH;
}

static void change(void)
{
	change_globals();
	for (int i = 0; i < LENGTH; i++) {
		g_ints[i] = (int)any();
		g_bytes[i] = (unsigned char)any();
		g_shorts[i] = (short)any();
		g_longs[i] = any();
		for (int j = 0; j < 4; j++)
			g_table[j][i] = (int)any();
	}
	for (int i = 0; i < 4; i++)
		change_item(&g_items[i]);
	g_item = &g_items[any() % 4];
	g_int_p = &g_ints[any() % LENGTH];
	g_byte_p = &g_bytes[any() % LENGTH];
}

static long places(signed char p_sc, unsigned short p_us, int p_i, unsigned long p_ul,
		   const struct item *p_item)
{
	static int s_i;
	static unsigned char s_uc;
	register long r_l = (long)any();
	register unsigned int r_ui = (unsigned int)any();
	int l_i = (int)any();
	unsigned char l_uc = (unsigned char)any();
	short l_s = (short)any();
	unsigned long long l_ull = any();
	int l_ints[4] = {(int)any(), l_i, -1, (int)any()};
	struct item l_item = *p_item;

	s_i = (int)any();
	s_uc = (unsigned char)any();
	PLACE; /* PLACE 0 */
	PLACE; /* PLACE 1 */
	PLACE; /* PLACE 2 */
	PLACE; /* PLACE 3 */
	PLACE; /* PLACE 4 */
	PLACE; /* PLACE 5 */
	PLACE; /* PLACE 6 */
	PLACE; /* PLACE 7 */
	return p_sc + p_us + p_i + (long)p_ul + s_i + s_uc + r_l + r_ui + l_i + l_uc +
	       l_s + (long)l_ull + l_ints[1] + l_item.i + **g_int_pp;
}

__attribute__((noinline)) static void round_end(void)
{
	__asm__ volatile("nop"); /* END */
}

int main(void)
{
	for (;;) {
		state = 20240229;
		for (iteration = 0; iteration < ROUND; iteration++) {
			change();
			places((signed char)any(), (unsigned short)any(), (int)any(),
			       any(), g_item);
		}
		round_end();
	}
}
