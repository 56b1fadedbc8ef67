/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/tracing/attach.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/tracing/launch.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/symbols/solib.h"
#include "tests/unit/child.h"

/* The link maps that tests make by hand, in the memory of a forked child. */
static struct link_map maps[3];

static struct inferiors inferiors;
static struct inferior *inferior;
static pid_t child;

/* A child that waits: its memory can be read without stopping it. */
static void begin_child(void (*prepare)(void))
{
	int ready[2];
	char c;

	cr_assert_eq(pipe(ready), 0);
	child = child_fork();
	if (child == 0) {
		if (prepare)
			prepare();
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	inferiors_init(&inferiors);
	inferior = inferior_create(&inferiors, child, true);
	cr_assert_not_null(inferior);
}

static void end_child(void)
{
	child_end(child);
	inferiors_deinit(&inferiors);
}

/* Our own list, as the dynamic linker left it in our dynamic section. */
static const struct r_debug *our_debug(void)
{
	for (const ElfW(Dyn) *dyn = _DYNAMIC; dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_DEBUG)
			return (const struct r_debug *)(uintptr_t)dyn->d_un.d_ptr;
	cr_assert_fail("no DT_DEBUG");
	return NULL;
}

static void list(struct inferior *of, const struct solib_range *range,
		 struct buffer *out)
{
	struct error *error = solib_list_xml(of, range, out);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

/* The number after ` NAME="0x` at or after @text. */
static uint64_t attribute(const char *text, const char *name)
{
	char key[32];
	const char *found;

	snprintf(key, sizeof(key), " %s=\"0x", name);
	found = strstr(text, key);
	cr_assert_not_null(found, "no %s in %s", name, text);
	return strtoull(found + strlen(key), NULL, 16);
}

/* Is a mapping of @file at @addr in the child? */
static bool is_mapped(const char *file, uint64_t addr)
{
	_cleanup_buffer_ struct buffer contents = {0};
	char start[32];
	const char *line;

	cr_assert_eq(inferior_proc_file(inferior, "maps", &contents), 0);
	snprintf(start, sizeof(start), "\n%llx-", (unsigned long long)addr);
	line = strstr(buffer_string(&contents), start);
	return line && strcspn(line + 1, "\n") > strlen(file) &&
	       memmem(line + 1, strcspn(line + 1, "\n"), file, strlen(file));
}

static unsigned int count(const char *text, const char *what)
{
	const char *end = text + strlen(text);
	unsigned int n = 0;

	/* Not strstr(), whose texts AddressSanitizer looks through at each call. */
	while ((text = memmem(text, (size_t)(end - text), what, strlen(what)))) {
		text++;
		n++;
	}
	return n;
}

Test(solib, libraries_are_where_the_kernel_mapped_them, .fini = end_child)
{
	_cleanup_buffer_ struct buffer out = {0};
	const struct solib_range all = {0};
	const char *libc, *first;

	begin_child(NULL);
	list(inferior, &all, &out);
	cr_assert_eq(strncmp(out.data,
			     "<library-list-svr4 version=\"1.0\" main-lm=\"0x", 44),
		     0);
	/* fork() copies everything, so the child's list is ours. */
	cr_assert_eq(attribute(out.data, "main-lm"), (uintptr_t)our_debug()->r_map);
	cr_assert_eq(attribute(out.data, "lmid"), (uintptr_t)our_debug());
	first = strstr(out.data, "<library ");
	cr_assert_eq(attribute(first, "lm"), (uintptr_t)our_debug()->r_map->l_next);
	libc = strstr(out.data, "libc.so.6\"");
	cr_assert_not_null(libc, "%s", out.data);
	cr_assert(is_mapped("libc.so.6", attribute(libc, "l_addr")), "%s", out.data);
	cr_assert_eq(
		strcmp(strstr(out.data, "/></library-list"), "/></library-list-svr4>"),
		0);
}

static void open_namespace(void)
{
	/* Sanitizers do not live in two name spaces; libm needs none of them. */
	if (!dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW))
		_exit(1);
}

Test(solib, other_name_spaces_are_listed, .fini = end_child)
{
	_cleanup_buffer_ struct buffer out = {0};
	const struct solib_range all = {0};
	const char *libc, *second;
	struct r_debug debug;

	begin_child(open_namespace);
	list(inferior, &all, &out);
	cr_assert_eq(count(out.data, "main-lm"), 1);
	cr_assert_eq(
		inferior_read(inferior, (uintptr_t)our_debug(), &debug, sizeof(debug)),
		sizeof(debug));
	if (debug.r_version < 2)
		cr_skip_test("the C library does not tell of name spaces");
	cr_assert_eq(count(out.data, "/libc.so.6\""), 2);
	libc = strstr(out.data, "/libc.so.6\"");
	second = strstr(libc + 1, "/libc.so.6\"");
	cr_assert_neq(attribute(libc, "lmid"), attribute(second, "lmid"));
	cr_assert_neq(attribute(libc, "l_addr"), attribute(second, "l_addr"));
	cr_assert(is_mapped("libc.so.6", attribute(second, "l_addr")));
}

Test(solib, a_list_from_a_map_on, .fini = end_child)
{
	_cleanup_buffer_ struct buffer all = {0}, part = {0};
	const struct link_map *start = our_debug()->r_map->l_next->l_next;
	struct solib_range range = {0};

	begin_child(NULL);
	list(inferior, &range, &all);
	range = (struct solib_range){(uintptr_t)start, (uintptr_t)start->l_prev, 0x77};
	list(inferior, &range, &part);
	cr_assert_eq(count(part.data, "main-lm"), 0);
	cr_assert_eq(count(part.data, "<library "), count(all.data, "<library ") - 1);
	cr_assert_eq(attribute(part.data, "lm"), (uintptr_t)start);
	cr_assert_eq(attribute(part.data, "lmid"), 0x77);
	/* A wrong predecessor: the list has changed since. */
	range.prev = 1;
	buffer_reset(&part);
	list(inferior, &range, &part);
	cr_assert_str_eq(part.data,
			 "<library-list-svr4 version=\"1.0\"></library-list-svr4>");
}

static void make_ring(void)
{
	static char names[3][16] = {"a<&\"b", "", "c"};

	for (int i = 0; i < 3; i++) {
		maps[i].l_name = names[i];
		maps[i].l_next = &maps[(i + 1) % 3];
		maps[i].l_prev = &maps[(i + 2) % 3];
	}
}

Test(solib, a_ring_of_maps_ends, .fini = end_child)
{
	_cleanup_buffer_ struct buffer out = {0};
	struct solib_range range = {(uintptr_t)&maps[0], 0, 0};

	begin_child(make_ring);
	/* The first has a predecessor: not the start of a list. */
	list(inferior, &range, &out);
	cr_assert_eq(count(out.data, "<library "), 0);
	/* A client that says so gets many, but not for ever. */
	range.prev = (uintptr_t)&maps[2];
	buffer_reset(&out);
	list(inferior, &range, &out);
	cr_assert_gt(count(out.data, "<library "), 1000);
	cr_assert_not_null(strstr(out.data, "name=\"a&lt;&amp;&quot;b\" lm="));
	cr_assert_eq(count(out.data, "name=\"\""), 0);
}

static void make_broken(void)
{
	make_ring();
	maps[0].l_prev = NULL;
	maps[1].l_name = (char *)(uintptr_t)0x10;
	maps[2].l_next = (struct link_map *)(uintptr_t)0x10;
}

Test(solib, what_cannot_be_read_ends_the_list, .fini = end_child)
{
	_cleanup_buffer_ struct buffer out = {0};
	const struct solib_range range = {(uintptr_t)&maps[0], 0, 0};

	begin_child(make_broken);
	list(inferior, &range, &out);
	cr_assert_eq(count(out.data, "<library "), 2);
}

/* At the first instruction the dynamic linker has made no list yet. */
Test(solib, before_the_dynamic_linker_ran)
{
	_cleanup_buffer_ struct buffer out = {0};
	static char *const argv[] = {(char *)"true", NULL};
	const struct launch_options options = {.program = "/bin/true", .argv = argv};
	const struct solib_range all = {0};

	inferiors_init(&inferiors);
	error_destroy(inferior_launch(&inferiors, &options, &inferior));
	cr_assert_not_null(inferior);
	list(inferior, &all, &out);
	cr_assert_str_eq(out.data,
			 "<library-list-svr4 version=\"1.0\"></library-list-svr4>");
	inferior_kill(inferior);
	inferiors_deinit(&inferiors);
}

/* The dynamic linker run as a program; gdb then looks for the list by itself. */
Test(solib, a_program_without_a_place_for_the_list)
{
	_cleanup_buffer_ struct buffer out = {0};
	const struct link_map *linker = our_debug()->r_map;
	char *argv[] = {NULL, (char *)"/bin/true", NULL};
	struct launch_options options = {.argv = argv};
	const struct solib_range all = {0};
	struct error *error;

	while (linker && linker->l_addr != our_debug()->r_ldbase)
		linker = linker->l_next;
	cr_assert_not_null(linker);
	argv[0] = linker->l_name;
	options.program = linker->l_name;
	inferiors_init(&inferiors);
	error_destroy(inferior_launch(&inferiors, &options, &inferior));
	cr_assert_not_null(inferior);
	error = solib_list_xml(inferior, &all, &out);
	cr_assert_not_null(error);
	cr_assert_eq(out.len, 0);
	error_destroy(error);
	inferior_kill(inferior);
	inferiors_deinit(&inferiors);
}

Test(solib, a_process_that_is_gone)
{
	_cleanup_buffer_ struct buffer out = {0};
	const struct solib_range all = {0};
	struct error *error;

	inferiors_init(&inferiors);
	inferior = inferior_create(&inferiors, 0x7ffffff0, true);
	error = solib_list_xml(inferior, &all, &out);
	cr_assert_not_null(error);
	error_destroy(error);
	inferiors_deinit(&inferiors);
}
