/* SPDX-License-Identifier: BSD-2-Clause */
/* The instruction that made an access, on hand-made code of x86_64. */
#include "gdbstub/text/access.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/user.h>

#include "arch/register_table.h"

enum { CODE = 0x1000, DATA = 0x5000, STACK = 0x9000 };

/* A stop in some code, with registers. */
struct scene {
	const uint8_t *code;
	size_t len;
	struct regs regs;
	struct access_stop stop;
	struct access access;
};

static struct scene scene;

static ssize_t read_code(void *data, uint64_t addr, void *code, size_t len)
{
	const struct scene *of = data;

	if (addr < CODE || addr >= CODE + of->len)
		return -EFAULT;
	if (len > CODE + of->len - addr)
		len = CODE + of->len - addr;
	memcpy(code, of->code + (addr - CODE), len);
	return (ssize_t)len;
}

static void set(const char *name, uint64_t value)
{
	const struct reg_def *reg = reg_by_name(arch_native(), name);

	cr_assert_not_null(reg);
	memcpy(scene.regs.data[reg->regset] + reg->offset, &value, 8);
}

/* Stopped after the first @done bytes of the code, all of it one function, after a
 * write to the 4 bytes at DATA. */
static void begin(const uint8_t *code, size_t len, size_t done)
{
	cr_assert_null(arch_native()->init());
	scene.code = code;
	scene.len = len;
	scene.regs.arch = arch_native();
	scene.regs.size[0] = sizeof(struct user_regs_struct);
	scene.stop = (struct access_stop){
		.regs = &scene.regs,
		.pc = CODE + done,
		.start = CODE,
		.addr = DATA,
		.len = 4,
		.by_write = true,
		.read = read_code,
		.data = &scene,
	};
	set("rip", CODE + done);
	set("rsp", STACK);
}

#define BEGIN(done, ...)                                                               \
	static const uint8_t code[] = {__VA_ARGS__};                                   \
	begin(code, sizeof(code), done)

static void expect(enum access_trust trust, uint64_t offset, unsigned int size,
		   const char *name)
{
	const struct inferior inferior = {.arch = arch_native()};

	access_find(&inferior, &scene.stop, &scene.access);
	cr_expect_eq(scene.access.trust, trust, "trust %d: %s", scene.access.trust,
		     scene.access.text);
	if (scene.access.trust == ACCESS_UNKNOWN)
		return;
	cr_expect_eq(scene.access.pc, CODE + offset, "at %#lx: %s",
		     (unsigned long)scene.access.pc, scene.access.text);
	cr_expect_eq(scene.access.size, size, "%u bytes", scene.access.size);
	/* What follows is written differently by different versions. */
	cr_expect_eq(strncmp(scene.access.text, name, strlen(name)), 0, "%s",
		     scene.access.text);
}

Test(access, mov)
{
	BEGIN(6, 0x89, 0x45, 0xfc, 0x48, 0x89, 0x03, 0x90);
	/* mov %eax,-4(%rbp); mov %rax,(%rbx) */
	set("rbp", 0x7000);
	set("rbx", DATA - 4);
	expect(ACCESS_SURE, 3, 8, "movq");
}

Test(access, mov_relative_to_the_pc)
{
	/* movl $5,disp(%rip) */
	BEGIN(10, 0xc7, 0x05, 0xf6, 0x3f, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x90);
	expect(ACCESS_SURE, 0, 4, "movl");
}

Test(access, scaled_index)
{
	/* mov %ecx,0x10(%rax,%rdx,4) */
	BEGIN(4, 0x89, 0x4c, 0x90, 0x10, 0x90);
	set("rax", DATA - 0x10 - 12);
	set("rdx", 3);
	expect(ACCESS_SURE, 0, 4, "movl");
}

Test(access, xadd)
{
	/* lock xadd %eax,(%rdi) */
	BEGIN(4, 0xf0, 0x0f, 0xc1, 0x07, 0x90);
	set("rdi", DATA);
	expect(ACCESS_SURE, 0, 4, "lock xaddl");
}

Test(access, push)
{
	/* push %rbx */
	BEGIN(1, 0x53, 0x90);
	set("rsp", DATA);
	expect(ACCESS_SURE, 0, 8, "pushq");
}

Test(access, stos)
{
	/* stosl */
	BEGIN(1, 0xab, 0x90);
	set("rdi", DATA + 4);
	expect(ACCESS_SURE, 0, 4, "stosl");
}

Test(access, stos_downwards)
{
	/* std; stosl */
	BEGIN(2, 0xfd, 0xab, 0x90);
	set("rdi", DATA - 4);
	set("eflags", 0x400);
	expect(ACCESS_SURE, 1, 4, "stosl");
}

Test(access, rep_stos_goes_on)
{
	/* mov %eax,(%rsi); rep stosb */
	BEGIN(2, 0x89, 0x06, 0xf3, 0xaa, 0x90);
	set("rsi", 0x7000);
	set("rdi", DATA + 1);
	expect(ACCESS_SURE, 2, 1, "rep stosb");
}

Test(access, rep_stos_has_ended)
{
	BEGIN(2, 0xf3, 0xaa, 0x90);
	set("rdi", DATA + 4);
	expect(ACCESS_SURE, 0, 1, "rep stosb");
}

Test(access, call)
{
	/* call +1; nop; (function:) nop */
	BEGIN(6, 0xe8, 0x01, 0x00, 0x00, 0x00, 0x90, 0x90);
	scene.stop.start = CODE + 6;
	scene.stop.addr = STACK;
	scene.stop.len = 8;
	scene.stop.stack_top = CODE + 5;
	expect(ACCESS_SURE, 0, 8, "callq");
}

Test(access, call_by_register)
{
	/* call *%rax; nop; (function:) nop */
	BEGIN(3, 0xff, 0xd0, 0x90, 0x90);
	set("rax", CODE + 3);
	scene.stop.start = CODE + 3;
	scene.stop.addr = STACK;
	scene.stop.stack_top = CODE + 2;
	expect(ACCESS_SURE, 0, 8, "callq");
}

Test(access, push_beats_the_stack_top_of_a_call)
{
	/* call +0; push %rbx: the return address lies above. */
	BEGIN(6, 0xe8, 0x00, 0x00, 0x00, 0x00, 0x53, 0x90);
	scene.stop.start = CODE + 5;
	set("rsp", DATA);
	expect(ACCESS_SURE, 5, 8, "pushq");
}

Test(access, reads_count_where_they_are_watched)
{
	/* mov (%rbx),%eax */
	BEGIN(2, 0x8b, 0x03, 0x90);
	set("rbx", DATA);
	expect(ACCESS_UNKNOWN, 0, 0, "");
	scene.stop.by_read = true;
	expect(ACCESS_SURE, 0, 4, "movl");
}

Test(access, overwritten_register)
{
	/* mov (%rbx),%rbx: where it has read from is gone. */
	BEGIN(3, 0x48, 0x8b, 0x1b, 0x90);
	scene.stop.by_read = true;
	set("rbx", 1);
	expect(ACCESS_LIKELY, 0, 8, "movq");
}

Test(access, pop_and_ret)
{
	/* pop %rbx */
	BEGIN(1, 0x5b, 0x90);
	scene.stop.by_read = true;
	set("rsp", DATA + 8);
	expect(ACCESS_SURE, 0, 8, "popq");
}

Test(access, no_function_known)
{
	/* 48 89 03 is mov %rax,(%rbx), and 89 03 mov %eax,(%rbx) */
	BEGIN(3, 0x48, 0x89, 0x03, 0x90);
	scene.stop.start = 0;
	set("rbx", DATA);
	expect(ACCESS_LIKELY, 0, 8, "movq");
}

Test(access, only_one_fits)
{
	/* mov %eax,(%rbx) */
	BEGIN(2, 0x89, 0x03, 0x90);
	scene.stop.start = 0;
	set("rbx", DATA);
	expect(ACCESS_SURE, 0, 4, "movl");
	scene.stop.by_read = true;
	expect(ACCESS_LIKELY, 0, 4, "movl");
}

Test(access, nothing_that_fits)
{
	BEGIN(2, 0x90, 0x90, 0x90);
	expect(ACCESS_UNKNOWN, 0, 0, "");
}

Test(access, unreadable_code)
{
	BEGIN(1, 0x90, 0x90);
	scene.stop.pc = 0x100000;
	scene.stop.start = 0xff000;
	expect(ACCESS_UNKNOWN, 0, 0, "");
}
