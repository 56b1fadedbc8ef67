/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns against the pads in its memory, which it finds by their name:
 * against_pads WAY ROUNDS. Half way it does one of: unmap (the code), write (traps over
 * all of it), jump (into its middle), forge (what filters share with the server),
 * shrink (the file that this is in), forget (that memory unmapped).
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 512, TRAP = 0xcc };

static volatile long sum;

__attribute__((noinline)) static void work(long i)
{
	sum += i; /* WORK */
}

struct part {
	uint8_t *start;
	size_t len;
};

/* The first mapping of pads with these rights. */
static struct part find(const char *rights)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct part part = {0};
	char line[LINE];

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start, end;

		if (!strstr(line, "truehit-pads") || !strstr(line, rights) ||
		    sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		part = (struct part){(uint8_t *)start, end - start};
		break;
	}
	if (maps)
		fclose(maps);
	return part;
}

/* Which takes rights: nothing, without. */
static void shrink(struct part part)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx",
		 (unsigned long)part.start, (unsigned long)part.start + part.len);
	fd = open(path, O_RDWR);
	puts(fd < 0		     ? "cannot be opened"
	     : ftruncate(fd, 0) == 0 ? "has shrunk"
				     : "cannot shrink");
}

static void attack(const char *way)
{
	const struct part code = find("r-xp"), shared = find("rw-s");

	if (!code.start || !shared.start) {
		puts("no pads");
	} else if (strcmp(way, "unmap") == 0) {
		munmap(code.start, code.len);
	} else if (strcmp(way, "write") == 0) {
		mprotect(code.start, code.len, PROT_READ | PROT_WRITE | PROT_EXEC);
		memset(code.start, TRAP, code.len);
	} else if (strcmp(way, "jump") == 0) {
		for (size_t at = 0; at < code.len; at++)
			if (code.start[at] == 0x9f) /* lahf */
				((void (*)(void))(code.start + at + 16))();
	} else if (strcmp(way, "forge") == 0) {
		memset(shared.start, 0xff, shared.len);
	} else if (strcmp(way, "shrink") == 0) {
		shrink(shared);
	} else if (strcmp(way, "forget") == 0) {
		munmap(shared.start, shared.len);
	}
}

int main(int argc, char **argv)
{
	const long rounds = argc > 2 ? atol(argv[2]) : 100;

	for (long i = 0; i < rounds; i++) {
		if (i == rounds / 2)
			attack(argv[1]);
		work(i);
	}
	printf("sum %ld\n", sum);
	return 0;
}
