/* SPDX-License-Identifier: BSD-2-Clause */
/* tiles: keeps numbers in the tiles of AMX while it stops; status 0 if they are still
 * there then, 77 if there are no tiles here. */
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
enum {
	REQUEST_PERMISSION = 0x1023, /* ARCH_REQ_XCOMP_PERM of Linux 5.16 */
	TILE_DATA = 18,		     /* the component of the extended state */
	ROWS = 16,
	ROW_BYTES = 64,
};

/* What ldtilecfg loads (Intel SDM volume 1, "Tile Architecture"). */
struct tile_config {
	uint8_t palette, start_row, reserved[14];
	uint16_t row_bytes[16];
	uint8_t rows[16];
};

static uint8_t numbers[2][ROWS * ROW_BYTES], stored[2][ROWS * ROW_BYTES];

static __attribute__((noinline)) void stop(void)
{
	__asm__ volatile("" ::: "memory");
}

static void configure(void)
{
	struct tile_config config = {.palette = 1};

	for (int i = 0; i < 2; i++) {
		config.row_bytes[i] = ROW_BYTES;
		config.rows[i] = ROWS;
	}
	__asm__ volatile("ldtilecfg %0" : : "m"(config));
}

static void load(void)
{
	for (int i = 0; i < 2; i++)
		for (unsigned int j = 0; j < sizeof(numbers[i]); j++)
			numbers[i][j] = (uint8_t)(j * 7 + (unsigned int)i);
	__asm__ volatile("tileloadd (%0,%2,1), %%tmm0\n\t"
			 "tileloadd (%1,%2,1), %%tmm1"
			 :
			 : "r"(numbers[0]), "r"(numbers[1]), "r"((long)ROW_BYTES)
			 : "memory");
}

static void store(void)
{
	__asm__ volatile("tilestored %%tmm0, (%0,%2,1)\n\t"
			 "tilestored %%tmm1, (%1,%2,1)\n\t"
			 "tilerelease"
			 :
			 : "r"(stored[0]), "r"(stored[1]), "r"((long)ROW_BYTES)
			 : "memory");
}

int main(void)
{
	if (syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) != 0)
		return 77;
	configure();
	load();
	stop();
	store();
	return memcmp(numbers, stored, sizeof(numbers)) != 0;
}
#else
int main(void)
{
	return 77;
}
#endif
