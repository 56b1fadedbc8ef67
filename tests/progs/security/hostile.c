/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostile WAY: makes a debugger work without end, by what it tells of itself.
 *   dynamic    its dynamic section has a milliard rows
 *   libraries  the list of its libraries is 65,000 long, with long names
 *   arguments  its arguments are a GiB long
 * Prints "ready", the address of a large area, and its size.
 */
#include <err.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MM
#define PR_SET_MM 35
#endif
enum { SET_MM_MAP = 14 };

/* struct prctl_mm_map of <linux/prctl.h>, which does not go with <sys/prctl.h>. */
struct mm_map {
	uint64_t start_code, end_code, start_data, end_data, start_brk, brk,
		start_stack, arg_start, arg_end, env_start, env_end;
	uint64_t *auxv;
	uint32_t auxv_size, exe_fd;
};

static const size_t piece = 1 << 20, area = (size_t)16 << 30;

/* One MiB of rows that end nothing, again and again. */
static void *make_area(void)
{
	int fd = (int)syscall(SYS_memfd_create, "rows", 0);
	char *rows, *all;

	if (fd < 0 || ftruncate(fd, (off_t)piece) != 0)
		err(1, "memfd");
	rows = mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (rows == MAP_FAILED)
		err(1, "mmap");
	memset(rows, 1, piece);
	all = mmap(NULL, area, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (all == MAP_FAILED)
		err(1, "mmap");
	for (size_t at = 0; at < area; at += piece)
		if (mmap(all + at, piece, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) ==
		    MAP_FAILED)
			err(1, "mmap at %zu", at);
	return all;
}

static void make_writable(void *data, size_t len)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
		  start = (uintptr_t)data & ~(page - 1);

	/* There may be code in the same page. */
	if (mprotect((void *)start, (uintptr_t)data + len - start,
		     PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		err(1, "mprotect");
}

static void forge_dynamic(const void *rows)
{
	ElfW(Phdr) *header = (ElfW(Phdr) *)getauxval(AT_PHDR);
	unsigned long count = getauxval(AT_PHNUM);
	uintptr_t bias = 0;

	make_writable(header, count * sizeof(*header));
	for (unsigned long i = 0; i < count; i++) {
		if (header[i].p_type == PT_PHDR)
			bias = (uintptr_t)header - header[i].p_vaddr;
		if (header[i].p_type == PT_DYNAMIC)
			header[i].p_vaddr = (uintptr_t)rows - bias;
	}
}

static void forge_libraries(void)
{
	enum { COUNT = 65000 };
	static struct link_map maps[COUNT];
	static char name[4096];
	struct link_map *program = NULL;

	for (const ElfW(Dyn) *row = _DYNAMIC; row->d_tag != DT_NULL; row++)
		if (row->d_tag == DT_DEBUG)
			program = ((struct r_debug *)row->d_un.d_ptr)->r_map;
	if (!program)
		errx(1, "no DT_DEBUG");
	memset(name, '"', sizeof(name) - 1);
	for (int i = 0; i < COUNT; i++) {
		maps[i].l_name = name;
		maps[i].l_prev = i > 0 ? &maps[i - 1] : program;
		maps[i].l_next = i + 1 < COUNT ? &maps[i + 1] : NULL;
	}
	make_writable(program, sizeof(*program));
	program->l_next = &maps[0];
}

/* All the others stay as they are, more or less. */
static void forge_arguments(void)
{
	const size_t size = (size_t)1 << 30;
	static char data[4096];
	char *text = mmap(NULL, size, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t here = (uintptr_t)data, top = (uintptr_t)sbrk(0);
	struct mm_map map = {
		.start_code = here,
		.end_code = here + 1,
		.start_data = here,
		.end_data = here + 1,
		.start_brk = top,
		.brk = top,
		.start_stack = (uintptr_t)&size,
		.arg_start = (uintptr_t)text,
		.arg_end = (uintptr_t)text + size,
		.env_start = here,
		.env_end = here + 1,
		.exe_fd = (uint32_t)-1,
	};

	if (text == MAP_FAILED)
		err(1, "mmap");
	if (prctl(PR_SET_MM, SET_MM_MAP, &map, sizeof(map), 0) != 0) {
		puts("cannot");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	void *rows = make_area();

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (strcmp(way, "dynamic") == 0)
		forge_dynamic(rows);
	else if (strcmp(way, "libraries") == 0)
		forge_libraries();
	else if (strcmp(way, "arguments") == 0)
		forge_arguments();
	printf("ready %p %zu\n", rows, area);
	fflush(stdout);
	for (;;)
		pause();
}
