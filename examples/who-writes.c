/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who writes to a variable of a process that runs, and how often? Nothing is stopped or
 * traced: each write leaves a record, and the thread goes on.
 *
 *   cc -D_GNU_SOURCE who-writes.c -o who-writes $(pkg-config --cflags --libs truehit)
 *   ./who-writes PID 0xADDRESS [LEN [SECONDS]]
 *
 * LEN is 1, 2, 4 or 8, the address a multiple of it. There is a line for each
 * instruction and thread, with what its last write has made of the variable, and the
 * place in the source by addr2line(1).
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <truehit.h>

enum { WRITERS_MAX = 256 };

struct writer {
	uint64_t pc;
	pid_t tid;
	unsigned long count;
	struct truehit_hit last;
};

static struct writer writers[WRITERS_MAX];
static unsigned int nwriters;
static unsigned long more; /* of writers for whom there is no room */

/* ---- while it runs ---- */

/* NULL: there is no room for one more. */
static struct writer *writer_of(const struct truehit_hit *hit)
{
	for (unsigned int i = 0; i < nwriters; i++)
		if (writers[i].pc == hit->pc && writers[i].tid == hit->tid)
			return &writers[i];
	if (nwriters == WRITERS_MAX)
		return NULL;
	writers[nwriters] = (struct writer){.pc = hit->pc, .tid = hit->tid};
	return &writers[nwriters++];
}

static void on_write(void *unused, const struct truehit_hit *hit)
{
	struct writer *writer = writer_of(hit);

	(void)unused;
	if (writer) {
		writer->count++;
		writer->last = *hit;
	} else {
		more++;
	}
}

static long ms_since(const struct timespec *begin)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	return (end.tv_sec - begin->tv_sec) * 1000 +
	       (end.tv_nsec - begin->tv_nsec) / 1000000;
}

static void collect(struct truehit *truehit, long ms)
{
	struct timespec begin;
	long gone;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while ((gone = ms_since(&begin)) < ms)
		truehit_poll(truehit, (int)(ms - gone), on_write, NULL);
}

/* ---- what is shown ---- */

/* A file that is mapped at @addr, and where it is loaded. */
static int find_file(pid_t pid, uint64_t addr, char file[256], uint64_t *base)
{
	char path[64], line[512], name[256], last[256] = "";
	unsigned long long start, end;
	uint64_t first = 0;
	int found = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (!found && maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %255s", &start, &end,
			   name) != 3)
			continue;
		if (strcmp(name, last) != 0)
			first = start;
		strcpy(last, name);
		found = addr >= start && addr < end && name[0] == '/';
	}
	if (maps)
		fclose(maps);
	strcpy(file, last);
	*base = first;
	return found;
}

/* Of a program that is not loaded elsewhere than where it says, addresses are its own.
 */
static int is_loaded_anywhere(const char *file)
{
	FILE *elf = fopen(file, "r");
	Elf64_Ehdr header = {0};
	int is_so = elf && fread(&header, sizeof(header), 1, elf) == 1 &&
		    header.e_type == ET_DYN;

	if (elf)
		fclose(elf);
	return is_so;
}

static void show_value(const char *before, int is_known, uint64_t value)
{
	if (is_known)
		printf("%s%#llx", before, (unsigned long long)value);
	else
		printf("%s?", before);
}

/* Where the processor tells of a write after it, the PC is the next instruction's. */
static void show(const struct truehit *truehit, pid_t pid, const struct writer *writer)
{
	const uint64_t before = truehit_register(truehit, "rip") >= 0;
	char file[256], command[512];
	uint64_t base;

	printf("%10lu  thread %d", writer->count, writer->tid);
	show_value("  last ", writer->last.has_before, writer->last.before);
	show_value(" -> ", writer->last.has_value, writer->last.value);
	printf("  ");
	if (!find_file(pid, writer->pc, file, &base)) {
		printf("%#llx\n", (unsigned long long)writer->pc);
		return;
	}
	if (!is_loaded_anywhere(file))
		base = 0;
	fflush(stdout);
	snprintf(command, sizeof(command), "addr2line -Cfpse '%s' %#llx", file,
		 (unsigned long long)(writer->pc - base - before));
	if (system(command) != 0)
		printf("%s+%#llx\n", file, (unsigned long long)(writer->pc - base));
}

static int is_less(const void *a, const void *b)
{
	const struct writer *first = a, *second = b;

	return (first->count < second->count) - (first->count > second->count);
}

static int fail(struct truehit *truehit, const char *what, int err)
{
	fprintf(stderr, "who-writes: %s: %s%s%s\n", what, strerror(-err),
		*truehit_why(truehit) ? ": " : "", truehit_why(truehit));
	truehit_destroy(truehit);
	return err == -EPERM || err == -EACCES || err == -ENODEV ? 77 : 1;
}

int main(int argc, char **argv)
{
	const struct truehit_options options = {.size = sizeof(options),
						.deed = TRUEHIT_RECORD,
						.flags = TRUEHIT_VALUES};
	struct truehit_counts counts = {.size = sizeof(counts)};
	struct truehit_filter *filter = NULL;
	struct truehit *truehit;
	pid_t pid = argc > 2 ? atoi(argv[1]) : 0;
	int err;

	if (pid <= 0) {
		fprintf(stderr, "usage: who-writes PID 0xADDRESS [LEN [SECONDS]]\n");
		return 2;
	}
	err = truehit_create(&truehit);
	if (err == 0)
		err = truehit_open(truehit, pid, &options, &filter);
	if (err < 0)
		return fail(truehit, argv[1], err);
	err = truehit_aim(filter, TRUEHIT_WRITE, strtoull(argv[2], NULL, 0),
			  argc > 3 ? strtoull(argv[3], NULL, 0) : 8);
	if (err < 0)
		return fail(truehit, argv[2], err);
	truehit_arm(filter, TRUEHIT_FOREVER);
	collect(truehit, argc > 4 ? atol(argv[4]) * 1000 : 1000);
	truehit_arm(filter, 0);
	truehit_poll(truehit, 0, on_write, NULL);
	truehit_read(filter, &counts);
	qsort(writers, nwriters, sizeof(writers[0]), is_less);
	for (unsigned int i = 0; i < nwriters; i++)
		show(truehit, pid, &writers[i]);
	printf("%llu writes; %llu of them are not in the table\n",
	       (unsigned long long)counts.hits, (unsigned long long)counts.lost + more);
	truehit_destroy(truehit);
	return 0;
}
