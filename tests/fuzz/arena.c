/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/arena.h"
#include "tests/unit/values.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>

/* A multiple of every page size. */
enum { UNIT = 64 << 10, CELLS = 64, CELLS_AT = 1024 };

static const uint64_t bases[] = {0x10000000, 0x2aaa00000000};
enum { BASES = sizeof(bases) / sizeof(bases[0]) };

enum unit { HOLE, RESIDENT, FRESH, HIDDEN, CODE };

/* Every assembler has it by this name. */
extern const uint8_t no_operation[], no_operation_end[];
__asm__(".pushsection .rodata\n"
	".globl no_operation, no_operation_end\n"
	"no_operation:\n"
	"	nop\n"
	"no_operation_end:\n"
	".popsection\n");

static const enum unit units[] = {
	HOLE, RESIDENT, HOLE, RESIDENT, FRESH, RESIDENT, HIDDEN, CODE, HOLE,
};
enum { UNITS = sizeof(units) / sizeof(units[0]) };

static uint64_t unit_at(unsigned int base, unsigned int unit)
{
	return bases[base] + (uint64_t)unit * UNIT;
}

/* A random one of a kind. */
static uint64_t pick_unit(struct rng *rng, enum unit kind)
{
	for (;;) {
		unsigned int unit = rng_below(rng, UNITS);

		if (units[unit] == kind)
			return unit_at(rng_below(rng, BASES), unit);
	}
}

int arena_file(void)
{
	int fd = memfd_create("fresh", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, BASES * UNIT) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

void arena_refresh(int file)
{
	/* Nothing is lost if it fails: the next reads find zeroes all the same. */
	(void)!fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			 BASES * UNIT);
}

/* Odd values at odd places, and a table of pointers. */
static void fill(uint8_t *memory, uint64_t seed)
{
	struct rng rng = rng_make(seed, 0, 0);

	for (size_t i = 0; i + 8 < UNIT; i += 1 + rng_below(&rng, 8)) {
		uint64_t value = value_random(&rng);

		memcpy(memory + i, &value, sizeof(value));
	}
	for (size_t i = 0; i < CELLS; i++) {
		uint64_t pointer = arena_pointer(&rng);

		memcpy(memory + CELLS_AT + 8 * i, &pointer, sizeof(pointer));
	}
}

/* What is hit is not the trap: where the kernel steps over a hit, a trap in that step
 * would keep it from ever ending. */
static void write_code(const struct arch_ops *arch, uint8_t *memory)
{
	size_t len = (uintptr_t)no_operation_end - (uintptr_t)no_operation;

	memcpy(memory, no_operation, len);
	memcpy(memory + len, arch->breakpoint_insn, arch->breakpoint_len);
}

static int map_unit(const struct arch_ops *arch, uint64_t addr, enum unit kind,
		    int file, off_t offset)
{
	int flags = MAP_FIXED_NOREPLACE |
		    (kind == FRESH ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
	void *memory = mmap((void *)(uintptr_t)addr, UNIT, PROT_READ | PROT_WRITE,
			    flags, kind == FRESH ? file : -1, offset);

	if (memory == MAP_FAILED)
		return -errno;
	if (kind == FRESH)
		return 0;
	fill(memory, addr);
	if (kind == CODE)
		write_code(arch, memory);
	/* Without the right to lock them they stay resident as long as there is
	 * memory enough. */
	mlock(memory, UNIT);
	if (kind == RESIDENT)
		return 0;
	return mprotect(memory, UNIT, kind == CODE ? PROT_READ | PROT_EXEC : PROT_NONE)
		       ? -errno
		       : 0;
}

int arena_map(const struct arch_ops *arch, int file)
{
	for (unsigned int base = 0; base < BASES; base++) {
		for (unsigned int i = 0; i < UNITS; i++) {
			int r = 0;

			if (units[i] != HOLE)
				r = map_unit(arch, unit_at(base, i), units[i], file,
					     (off_t)base * UNIT);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

uint64_t arena_code(void)
{
	unsigned int unit = 0;

	while (units[unit] != CODE)
		unit++;
	return unit_at(0, unit);
}

uint64_t arena_resident(struct rng *rng, unsigned int size)
{
	uint64_t unit = pick_unit(rng, RESIDENT);
	unsigned int offset = rng_below(rng, UNIT - size + 1);

	switch (rng_below(rng, 8)) {
	case 0:
		return unit;
	case 1:
		return unit + UNIT - size;
	case 2:
	case 3:
	case 4:
		return unit + (offset & ~7U);
	default:
		return unit + offset;
	}
}

uint64_t arena_pointer(struct rng *rng)
{
	return pick_unit(rng, RESIDENT) + ARENA_MARGIN +
	       rng_below(rng, UNIT - 2 * ARENA_MARGIN);
}

uint64_t arena_pointer_cell(struct rng *rng)
{
	return pick_unit(rng, RESIDENT) + CELLS_AT + 8 * rng_below(rng, CELLS);
}

uint64_t arena_elsewhere(struct rng *rng, unsigned int size)
{
	switch (rng_below(rng, 8)) {
	case 0: /* the last of them beyond the end of a unit */
		return pick_unit(rng, RESIDENT) + UNIT - size + 1 +
		       rng_below(rng, size);
	case 1: /* the first of them before its beginning */
		return pick_unit(rng, RESIDENT) - 1 - rng_below(rng, size);
	case 2:
		return pick_unit(rng, HOLE) + rng_below(rng, UNIT - 8);
	case 3:
	case 4:
		return pick_unit(rng, FRESH) + rng_below(rng, UNIT);
	case 5:
		return pick_unit(rng, HIDDEN) + rng_below(rng, UNIT - 8);
	case 6:
		return UINT64_MAX - rng_below(rng, 16);
	default:
		return value_random(rng);
	}
}

uint64_t arena_border(unsigned int index)
{
	enum { AROUND = 10 };
	unsigned int unit = index / (2 * AROUND);

	if (unit >= BASES * UNITS)
		return 0;
	return unit_at(unit / UNITS, unit % UNITS) + index % (2 * AROUND) - AROUND;
}

static bool byte_is_resident(uint64_t addr)
{
	for (unsigned int base = 0; base < BASES; base++) {
		uint64_t unit = (addr - bases[base]) / UNIT;

		if (unit < UNITS)
			return units[unit] == RESIDENT || units[unit] == CODE;
	}
	return false;
}

bool arena_is_resident(uint64_t addr, size_t size)
{
	return byte_is_resident(addr) && byte_is_resident(addr + size - 1);
}
