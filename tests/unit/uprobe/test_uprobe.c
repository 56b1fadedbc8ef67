/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine's operations on locations of a child that is stopped: it hits none. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/placement/placement.h"
#include "bpf/uprobe/uprobe.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "gdbstub/text/trap.h"
#include "tests/unit/child.h"
#include "tests/unit/support.h"

/* ---- the child's text ---- */

enum { PUSH = 0, STORE = 1, LOCKED = 7 };

/* push %rbp; mov %edi,16(%rip); lock incl (%rax) */
static const uint8_t insns[] = {0x55, 0x89, 0x3d, 0x10, 0,   0,
				0,    0xf0, 0xff, 0x00, 0xc3};

static uint8_t *code; /* at the same address in the child */

static void make_code(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("code", MFD_CLOEXEC);

	cr_assert_eq(write(fd, insns, sizeof(insns)), sizeof(insns));
	cr_assert_eq(ftruncate(fd, (off_t)page), 0);
	code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	cr_assert_neq((void *)code, MAP_FAILED);
	close(fd);
}

static void change(unsigned int at)
{
	mprotect(code, 1, PROT_READ | PROT_WRITE);
	code[at] = 0x90;
	mprotect(code, 1, PROT_READ | PROT_EXEC);
	raise(SIGSTOP);
}

static void overwrite(uint64_t unused)
{
	(void)unused;
	change(PUSH);
	change(STORE + 2);
}

static void unmap(uint64_t unused)
{
	(void)unused;
	munmap(code, 1);
	raise(SIGSTOP);
	if (mmap(code, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
	    code)
		abort();
	raise(SIGSTOP);
}

/* ---- the engine ---- */

static struct engines engines;
static struct engine *const engine = &engines.engine[ENGINE_UPROBE];
static struct tracee tracee;
static struct location location;

static void begin_with(void (*child)(uint64_t))
{
	static const struct engine_ops others;

	use_uprobes(true);
	for (int i = 0; i < NENGINES; i++)
		engines.engine[i].ops = &others;
	engine->ops = &uprobe_engine;
	engine->placements = placements_create();
	skip_unless(engine->ops->probe(engine));
	make_code();
	tracee_start(&tracee, child, 0);
	cr_assert_not_null(breakpoints_create(&tracee.inferior, &engines));
}

static void begin(void)
{
	begin_with(unmap);
}

static void finish(void)
{
	tracee_end(&tracee);
	breakpoints_destroy(tracee.inferior.breakpoints, true);
	engine->ops->deinit(engine);
	placements_destroy(engine->placements);
}

TestSuite(uprobe, .fini = finish, .timeout = 300);

static struct error *try_insert(unsigned int at, enum breakpoint_type type)
{
	location = (struct location){.inferior = &tracee.inferior,
				     .type = type,
				     .addr = (uintptr_t)(code + at),
				     .len = 1,
				     .engine = engine};
	return engine->ops->insert(engine, &location);
}

static void insert(unsigned int at)
{
	struct error *error = try_insert(at, BREAKPOINT_SOFTWARE);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	location.state = LOCATION_IN;
}

static void take_out(bool gone)
{
	engine->ops->remove(engine, &location, gone);
	cr_expect_null(location.trap);
	cr_expect_null(location.engine_data);
}

static void expect_trap(unsigned int at, bool trap)
{
	uint8_t bytes[sizeof(insns)];

	cr_assert_eq(
		inferior_read(&tracee.inferior, (uintptr_t)code, bytes, sizeof(bytes)),
		sizeof(bytes));
	cr_expect_eq(is_trapped(bytes + at), trap);
	/* Memory as it is shown has none. */
	engine->ops->show_originals(engine, &tracee.inferior, (uintptr_t)code, bytes,
				    sizeof(bytes));
	cr_expect_arr_eq(bytes, insns, sizeof(insns));
}

static void expect_refused(unsigned int at, enum breakpoint_type type, int err,
			   const char *why)
{
	_cleanup_error_ struct error *error = try_insert(at, type);

	cr_assert_not_null(error, "%s", why);
	cr_expect_eq(error_errno(error), err);
	cr_expect_not_null(strstr(error_text(error), why), "%s", error_text(error));
	cr_expect_null(location.engine_data);
	cr_expect_null(location.trap);
	expect_trap(at, false);
}

/* ---- tests ---- */

Test(uprobe, comes_and_goes, .init = begin)
{
	for (int i = 0; i < 3; i++) {
		insert(PUSH);
		expect_trap(PUSH, true);
		cr_expect(engine->ops->intact(engine, &location));
		cr_assert_eq(engine->ops->suspend(engine, &location), 0);
		expect_trap(PUSH, false);
		cr_assert_eq(engine->ops->resume(engine, &location), 0);
		expect_trap(PUSH, true);
		take_out(false);
		expect_trap(PUSH, false);
	}
	engine->ops->settle(engine);
	expect_trap(PUSH, false);
}

/* The kernel would go on to execute what it has copied. */
Test(uprobe, is_not_switched_on_over_other_code, .init = begin)
{
	const uint8_t other = 0x90;

	insert(PUSH);
	cr_assert_eq(engine->ops->suspend(engine, &location), 0);
	cr_assert_eq(inferior_write(&tracee.inferior, location.addr, &other, 1), 0);
	cr_expect_eq(engine->ops->resume(engine, &location), -ESTALE);
	cr_expect_not(trap_is_planted(&location));
	location.state = LOCATION_SUSPENDED;
	take_out(false);
}

/* Do threads stop before the instruction? */
static bool redirects(void)
{
	return ((const struct uprobe *)engine->state)->options.redirects;
}

Test(uprobe, refuses, .init = begin)
{
	expect_refused(PUSH, BREAKPOINT_HARDWARE, EOPNOTSUPP, "software");
	expect_refused(LOCKED, BREAKPOINT_SOFTWARE, 0,
		       redirects() ? "the kernel makes no uprobe" : "locked");
}

/* Of what is stored, others must not see that it was undone. */
Test(uprobe, other_threads_see_stores, .init = begin)
{
	struct thread other = {.inferior = &tracee.inferior,
			       .tid = tracee.thread.tid + 1,
			       .group = tracee.inferior.pid};

	if (redirects())
		cr_skip_test("threads stop before the instruction: nothing is undone");
	insert(STORE);
	cr_expect_not(engine->ops->outdated(engine, &location));
	TAILQ_INSERT_TAIL(&tracee.inferior.threads, &other, link);
	cr_expect(engine->ops->outdated(engine, &location));
	take_out(false);
	expect_refused(STORE, BREAKPOINT_SOFTWARE, 0, "other threads");
	insert(PUSH);
	cr_expect_not(engine->ops->outdated(engine, &location));
	/* A probe of the process does not see such a task. */
	thread_set_group(&other, other.tid);
	cr_expect(engine->ops->outdated(engine, &location));
	take_out(false);
	expect_refused(PUSH, BREAKPOINT_SOFTWARE, 0, "no thread of the process");
}

Test(uprobe, what_was_unmapped_has_vanished, .init = begin)
{
	insert(PUSH);
	cr_expect_not(engine->ops->vanished(engine, &location));
	for (int i = 0; i < 2; i++) { /* nothing is there, then something else */
		tracee_resume(&tracee, PTRACE_CONT);
		cr_expect(engine->ops->vanished(engine, &location));
		cr_expect_not(engine->ops->intact(engine, &location));
	}
	take_out(false);
}

/* It is the same place, and for another engine. */
Test(uprobe, what_was_overwritten_has_not)
{
	begin_with(overwrite);
	insert(PUSH);
	tracee_resume(&tracee, PTRACE_CONT);
	cr_expect_not(engine->ops->vanished(engine, &location));
	cr_expect_not(engine->ops->intact(engine, &location));
	take_out(false);
	/* Where there is a trap still. */
	insert(STORE);
	tracee_resume(&tracee, PTRACE_CONT);
	cr_expect_not(engine->ops->vanished(engine, &location));
	cr_expect_not(engine->ops->intact(engine, &location));
	take_out(false);
}

Test(uprobe, of_a_process_that_is_gone, .init = begin)
{
	insert(PUSH);
	tracee_end(&tracee);
	tracee.inferior.pid = 0;
	take_out(true);
}
