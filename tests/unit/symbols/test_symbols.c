/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "gdbstub/symbols/symbols.h"

/* The inferior is ourselves: all that is read is /proc. */
static struct inferior self;
static struct symbols *symbols;
static struct buffer out;

void symbols_test_function(void);
__attribute__((noinline)) void symbols_test_function(void)
{
	__asm__ volatile("nop\n\tnop\n\tnop");
}
int symbols_test_variable[4] = {1, 2, 3, 4};

static void begin(void)
{
	self.pid = getpid();
	symbols = symbols_create(&self);
	cr_assert_not_null(symbols);
}

static void end(void)
{
	symbols_destroy(symbols);
	buffer_deinit(&out);
}

static const char *print(uintptr_t addr)
{
	buffer_reset(&out);
	symbols_print(symbols, addr, &out);
	return buffer_string(&out);
}

TestSuite(symbols, .init = begin, .fini = end);

Test(symbols, functions_and_variables_of_the_program)
{
	uintptr_t function = (uintptr_t)symbols_test_function;

	cr_assert_str_eq(print(function), "symbols_test_function");
	cr_assert_str_eq(print(function + 2), "symbols_test_function+0x2");
	cr_assert_str_eq(print((uintptr_t)&symbols_test_variable[3]),
			 "symbols_test_variable+0xc");
}

Test(symbols, where_a_function_starts)
{
	uintptr_t function = (uintptr_t)symbols_test_function;

	cr_assert_eq(symbols_start(symbols, function), function);
	cr_assert_eq(symbols_start(symbols, function + 2), function);
	cr_assert_eq(symbols_start(symbols, 8), 0);
	cr_assert_eq(symbols_start(NULL, function), 0);
}

Test(symbols, functions_of_a_library)
{
	uintptr_t function = (uintptr_t)dlsym(RTLD_NEXT, "rand");

	cr_assert_neq(function, 0);
	cr_assert_str_eq(print(function + 1), "rand+0x1");
}

Test(symbols, a_file_where_no_symbol_covers_the_address)
{
	Dl_info info;

	cr_assert_neq(dladdr(dlsym(RTLD_NEXT, "rand"), &info), 0);
	cr_assert_str_eq(print((uintptr_t)info.dli_fbase + 0x10), "libc.so.6+0x10");
}

Test(symbols, nothing_where_no_file_is_mapped)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_str_eq(print(0), "");
	cr_assert_str_eq(print(UINTPTR_MAX), "");
	cr_assert_str_eq(print((uintptr_t)&self.pid - 0x100000000), "");
	symbols_destroy(symbols);
	symbols = symbols_create(&self);
	cr_assert_str_eq(print((uintptr_t)page), "");
}

Test(symbols, a_process_that_is_gone)
{
	struct inferior gone = {.pid = 0x7ffffff0};

	symbols_destroy(symbols);
	symbols = symbols_create(&gone);
	cr_assert_null(symbols);
	cr_assert_str_eq(print((uintptr_t)symbols_test_function), "");
}

/* ---- where debuggers have breakpoints of their own ---- */

void symbols_test_probe(void);
__attribute__((noinline)) void symbols_test_probe(void)
{
	__asm__ volatile("nop\n990: nop\n991: nop\n");
}

/* Notes as SystemTap's <sys/sdt.h> makes them, of two providers. */
__asm__(".macro probe_note pc, provider\n"
	".balign 4\n"
	".4byte 992f - 991f, 994f - 993f, 3\n"
	"991: .asciz \"stapsdt\"\n"
	"992: .balign 4\n"
	"993: .8byte \\pc, symbols_test_base, 0\n"
	".asciz \"\\provider\"\n"
	".asciz \"map_complete\"\n"
	".asciz \"8@%rax\"\n"
	"994: .balign 4\n"
	".endm\n"
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
	"symbols_test_base: .space 1\n"
	".popsection\n"
	".pushsection .note.stapsdt, \"\", \"note\"\n"
	"probe_note symbols_test_probe, rtld\n"
	"probe_note symbols_test_probe + 2, other\n"
	".popsection\n");

Test(symbols, functions_that_are_there_for_debuggers)
{
	cr_assert_neq(_r_debug.r_brk, 0);
	cr_assert(symbols_is_hook(symbols, _r_debug.r_brk));
	cr_assert_not(symbols_is_hook(symbols, _r_debug.r_brk + 1));
	cr_assert_not(symbols_is_hook(symbols, (uintptr_t)symbols_test_function));
	cr_assert_not(symbols_is_hook(symbols, 8));
	cr_assert_not(symbols_is_hook(NULL, _r_debug.r_brk));
}

Test(symbols, probes_of_the_dynamic_linker)
{
	const uintptr_t probe = (uintptr_t)symbols_test_probe;

	cr_assert(symbols_is_hook(symbols, probe));
	cr_assert_not(symbols_is_hook(symbols, probe + 1));
	cr_assert_not(symbols_is_hook(symbols, probe + 2), "another provider's");
}
