/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/solib.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"

/*
 * The lists are the inferior's: they may be damaged, or in the middle of a
 * change. glibc allows 16 name spaces.
 */
enum {
	NAMESPACES_MAX = 1024,
	PHDRS_MAX = 4096,
	DYNAMIC_MAX = 65536,	   /* rows; a library that is needed takes one */
	ANSWER_MAX = 8 << 20,	   /* bytes: some 40,000 libraries */
	LISTING_LIMIT = 10 * 1000, /* ms */
};

/* struct r_debug_extended of glibc 2.35; older headers lack it. */
struct debug_extended {
	struct r_debug base;
	uint64_t next; /* of the next name space; there if base.r_version >= 2 */
};

static bool read_all(struct inferior *inferior, uint64_t addr, void *data, size_t len)
{
	return inferior_read(inferior, addr, data, len) == (ssize_t)len;
}

/* ---- From the auxiliary vector to struct r_debug ---- */

static uint64_t auxv_find(const struct buffer *auxv, uint64_t type)
{
	ElfW(auxv_t) entry;

	for (size_t at = 0; at + sizeof(entry) <= auxv->len; at += sizeof(entry)) {
		memcpy(&entry, auxv->data + at, sizeof(entry));
		if (entry.a_type == type)
			return entry.a_un.a_val;
	}
	return 0;
}

/* Where the program's dynamic section is. *addr == 0: it has none. */
static struct error *find_dynamic(struct inferior *inferior, uint64_t *addr)
{
	_cleanup_buffer_ struct buffer auxv = {0};
	int r = inferior_proc_file(inferior, "auxv", &auxv);
	uint64_t phdrs, count, bias = 0;
	ElfW(Phdr) phdr;

	*addr = 0;
	if (r < 0)
		return error_create(-r,
				    "cannot read the auxiliary vector of process %d",
				    (int)inferior->pid);
	phdrs = auxv_find(&auxv, AT_PHDR);
	count = auxv_find(&auxv, AT_PHNUM);
	if (auxv_find(&auxv, AT_PHENT) != sizeof(phdr) || count > PHDRS_MAX)
		return error_create(0,
				    "process %d has no ELF program headers that can "
				    "be understood",
				    (int)inferior->pid);
	for (uint64_t i = 0; i < count; i++) {
		if (!read_all(inferior, phdrs + i * sizeof(phdr), &phdr, sizeof(phdr)))
			return error_create(EIO, "cannot read the program headers");
		/* The table itself tells how far the program was moved. Without
		 * this row (static programs, the linker run as a program) a moved
		 * one cannot be understood. */
		if (phdr.p_type == PT_PHDR)
			bias = phdrs - phdr.p_vaddr;
		else if (phdr.p_type == PT_DYNAMIC)
			*addr = phdr.p_vaddr;
	}
	if (*addr != 0)
		*addr += bias;
	return NULL;
}

/* The row DT_DEBUG, and where it is. */
static struct error *find_row(struct inferior *inferior, uint64_t *ret, ElfW(Dyn) * row)
{
	uint64_t addr;
	struct error *error = find_dynamic(inferior, &addr);
	ElfW(Dyn) dyn;

	if (error)
		return error;
	for (int i = 0; addr != 0; addr += sizeof(dyn), i++) {
		if (i == DYNAMIC_MAX)
			return error_create(
				0,
				"the program's dynamic section has more than "
				"%d rows; the rest is not looked at",
				DYNAMIC_MAX);
		if (!read_all(inferior, addr, &dyn, sizeof(dyn)))
			return error_create(EIO, "cannot read the dynamic section");
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_DEBUG) {
			*ret = addr;
			*row = dyn;
			return NULL;
		}
	}
	return error_create(0, "the program has no dynamic linker's list (DT_DEBUG)");
}

/* The address of the first struct r_debug; 0: not made yet. */
static struct error *find_debug(struct inferior *inferior, uint64_t *ret)
{
	ElfW(Dyn) row = {0};
	uint64_t addr;
	struct error *error = find_row(inferior, &addr, &row);

	*ret = row.d_un.d_ptr;
	return error;
}

struct error *solib_debug_slot(struct inferior *inferior, uint64_t *addr)
{
	ElfW(Dyn) row;
	struct error *error = find_row(inferior, addr, &row);

	if (!error)
		*addr += offsetof(ElfW(Dyn), d_un);
	return error;
}

/* ---- The lists ---- */

/* A string of the inferior, cut at PATH_MAX; "" if it cannot be read. */
static void read_string(struct inferior *inferior, uint64_t addr, char *string,
			size_t size)
{
	ssize_t n = inferior_read(inferior, addr, string, size - 1);

	string[n > 0 ? n : 0] = '\0';
}

/* A list that is being made. */
struct listing {
	struct inferior *inferior;
	struct buffer *out;
	struct patience patience;
	unsigned int count; /* libraries so far */
	const char *cut;    /* why the rest is left out; NULL: it is not */
};

static bool goes_on(struct listing *listing)
{
	if (!listing->cut)
		listing->cut = patience_ended(&listing->patience);
	if (!listing->cut && listing->out->len >= ANSWER_MAX)
		listing->cut = "the list is longer than 8 MiB";
	return !listing->cut;
}

static void say_cut(const struct listing *listing)
{
	_cleanup_buffer_ struct buffer text = {0};

	if (!listing->cut)
		return;
	buffer_printf(&text,
		      "the list of shared libraries is cut off after %u of them: %s",
		      listing->count, listing->cut);
	inferior_warn(listing->inferior, buffer_string(&text));
}

static void append_library(struct listing *listing, const struct link_map *map,
			   uint64_t addr, uint64_t lmid)
{
	struct buffer *out = listing->out;
	char name[PATH_MAX];

	read_string(listing->inferior, (uintptr_t)map->l_name, name, sizeof(name));
	/* The program itself has no name, nor has a map that is being made. */
	if (name[0] == '\0')
		return;
	listing->count++;
	buffer_append_string(out, "<library name=\"");
	buffer_append_xml(out, name);
	buffer_printf(out,
		      "\" lm=\"0x%llx\" l_addr=\"0x%llx\" l_ld=\"0x%llx\" "
		      "lmid=\"0x%llx\"/>",
		      (unsigned long long)addr, (unsigned long long)map->l_addr,
		      (unsigned long long)(uintptr_t)map->l_ld,
		      (unsigned long long)lmid);
}

/* What <link.h> documents of a map: the start of the linker's own. */
static bool read_map(struct inferior *inferior, uint64_t addr, struct link_map *map)
{
	return addr != 0 && read_all(inferior, addr, map, sizeof(*map));
}

/* One name space, from a map on. */
static void append_maps(struct listing *listing, const struct solib_range *range)
{
	uint64_t addr = range->start, prev = range->prev;
	struct link_map map;

	while (read_map(listing->inferior, addr, &map) && goes_on(listing)) {
		if ((uintptr_t)map.l_prev != prev) {
			log_debug(LOG_INFERIOR,
				  "link map %#llx follows %#llx, but names %p",
				  (unsigned long long)addr, (unsigned long long)prev,
				  (void *)map.l_prev);
			break;
		}
		append_library(listing, &map, addr, range->lmid);
		prev = addr;
		addr = (uintptr_t)map.l_next;
	}
}

static bool read_debug(struct inferior *inferior, uint64_t addr,
		       struct debug_extended *debug)
{
	size_t base = sizeof(debug->base);

	debug->next = 0;
	if (addr == 0 || !read_all(inferior, addr, &debug->base, base) ||
	    debug->base.r_version < 1)
		return false;
	if (debug->base.r_version >= 2 &&
	    !read_all(inferior, addr + base, &debug->next, sizeof(debug->next)))
		debug->next = 0;
	return true;
}

/* The first map of the first name space, the program; 0: it is not made yet. */
static uint64_t find_program(struct inferior *inferior, uint64_t first)
{
	struct debug_extended debug;
	struct link_map program;

	if (!read_debug(inferior, first, &debug) ||
	    !read_map(inferior, (uintptr_t)debug.base.r_map, &program))
		return 0;
	return (uintptr_t)debug.base.r_map;
}

/* All name spaces. The program itself is not listed. */
static void append_namespaces(struct listing *listing, uint64_t first)
{
	struct inferior *inferior = listing->inferior;
	struct debug_extended debug;
	struct link_map program;
	uint64_t addr = first;

	for (int i = 0; i < NAMESPACES_MAX && read_debug(inferior, addr, &debug); i++) {
		struct solib_range range = {.start = (uintptr_t)debug.base.r_map,
					    .lmid = addr};

		if (i == 0 && read_map(inferior, range.start, &program)) {
			range.prev = range.start;
			range.start = (uintptr_t)program.l_next;
		}
		append_maps(listing, &range);
		addr = listing->cut ? 0 : debug.next;
	}
}

static void append_start(struct buffer *out, uint64_t program)
{
	buffer_append_string(out, "<library-list-svr4 version=\"1.0\"");
	if (program != 0)
		buffer_printf(out, " main-lm=\"0x%llx\"", (unsigned long long)program);
	buffer_append_char(out, '>');
}

struct error *solib_list_xml(struct inferior *inferior, const struct solib_range *range,
			     struct buffer *out)
{
	struct listing listing = {.inferior = inferior, .out = out};
	uint64_t first;

	inferior_patience(inferior, &listing.patience, LISTING_LIMIT);
	if (range->start != 0) {
		append_start(out, 0);
		append_maps(&listing, range);
	} else {
		struct error *error = find_debug(inferior, &first);

		if (error)
			return error;
		append_start(out, find_program(inferior, first));
		append_namespaces(&listing, first);
	}
	say_cut(&listing);
	buffer_append_string(out, "</library-list-svr4>");
	return NULL;
}
