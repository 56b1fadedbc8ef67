/* SPDX-License-Identifier: BSD-2-Clause */
/* Conditions of watchpoints that are handed over: the list of them, and the packet. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/agent/opcode.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/client.h"
#include "gdbstub/breakpoints/breakpoints.h"
#include "tests/unit/expr.h"

/* A list of @count conditions that are the constant @value. */
static struct agent_list constants(uint8_t value, size_t count)
{
	struct agent_list list = {0};

	for (size_t i = 0; i < count; i++)
		cr_assert_eq(agent_list_append(&list, EXPR(CONST8(value), AGENT_END)),
			     0);
	return list;
}

/* What is in a list of such: the constant and how many; 0: none. */
static unsigned int at(const struct handed_list *list, enum breakpoint_type type,
		       uint64_t addr, unsigned int len)
{
	const struct agent_list *found = handed_find(list, type, addr, len);
	size_t size;

	cr_assert_not_null(found);
	if (found->count == 0)
		return 0;
	return agent_expr_bytecode(found->exprs[0], &size)[1] * 10 +
	       (unsigned int)found->count;
}

static int hand(struct handed_list *list, enum breakpoint_type type, uint64_t addr,
		unsigned int len, uint8_t value, size_t count)
{
	struct agent_list conditions = constants(value, count);
	int err = handed_set(list, type, addr, len, &conditions);

	agent_list_clear(&conditions); /* references were taken */
	return err;
}

/* ---- the list ---- */

Test(handed, belongs_to_type_address_and_length)
{
	struct handed_list list = TAILQ_HEAD_INITIALIZER(list);

	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 0x1000, 4, 1, 1), 0);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 0x1000, 8, 2, 1), 0);
	cr_expect_eq(hand(&list, WATCHPOINT_ACCESS, 0x1000, 4, 3, 1), 0);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 0x1004, 4, 4, 1), 0);
	cr_expect_eq(at(&list, WATCHPOINT_WRITE, 0x1000, 4), 11);
	cr_expect_eq(at(&list, WATCHPOINT_WRITE, 0x1000, 8), 21);
	cr_expect_eq(at(&list, WATCHPOINT_ACCESS, 0x1000, 4), 31);
	cr_expect_eq(at(&list, WATCHPOINT_WRITE, 0x1004, 4), 41);
	cr_expect_eq(at(&list, WATCHPOINT_READ, 0x1000, 4), 0);
	cr_expect_eq(at(&list, WATCHPOINT_WRITE, 0x1000, 2), 0);
	handed_clear(&list);
	cr_expect_eq(at(&list, WATCHPOINT_WRITE, 0x1000, 4), 0);
}

Test(handed, replaced_and_withdrawn)
{
	struct handed_list list = TAILQ_HEAD_INITIALIZER(list);

	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 0x1000, 4, 1, 2), 0);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 0x1004, 4, 3, 1), 0);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 0x1000, 4, 2, 1), 0);
	cr_expect_eq(at(&list, WATCHPOINT_WRITE, 0x1000, 4), 21, "not appended");
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 0x1000, 4, 0, 0), 0);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 0x1000, 4, 0, 0), 0, "twice");
	cr_expect_eq(at(&list, WATCHPOINT_WRITE, 0x1000, 4), 0);
	cr_expect_eq(at(&list, WATCHPOINT_WRITE, 0x1004, 4), 31);
	handed_clear(&list);
}

Test(handed, full)
{
	struct handed_list list = TAILQ_HEAD_INITIALIZER(list);

	for (uint64_t i = 0; i < HANDED_MAX; i++)
		cr_assert_eq(hand(&list, WATCHPOINT_WRITE, i, 1, 1, 1), 0);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, HANDED_MAX, 1, 1, 1), -ENOSPC);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, HANDED_MAX, 1, 1, 0), 0);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 7, 1, 2, 1), 0, "replaced");
	cr_expect_eq(at(&list, WATCHPOINT_WRITE, 7, 1), 21);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, 8, 1, 0, 0), 0);
	cr_expect_eq(hand(&list, WATCHPOINT_WRITE, HANDED_MAX, 1, 1, 1), 0, "room");
	handed_clear(&list);
}

Test(handed, copy)
{
	struct handed_list parent = TAILQ_HEAD_INITIALIZER(parent);
	struct handed_list child = TAILQ_HEAD_INITIALIZER(child);

	cr_expect_eq(hand(&parent, WATCHPOINT_WRITE, 0x1000, 4, 1, 2), 0);
	cr_expect_eq(hand(&parent, WATCHPOINT_WRITE, 0x2000, 4, 2, 1), 0);
	cr_expect_eq(handed_copy(&child, &parent), 0);
	cr_expect_eq(hand(&child, WATCHPOINT_WRITE, 0x1000, 4, 0, 0), 0);
	cr_expect_eq(hand(&parent, WATCHPOINT_WRITE, 0x2000, 4, 3, 1), 0);
	cr_expect_eq(at(&parent, WATCHPOINT_WRITE, 0x1000, 4), 12);
	handed_clear(&parent);
	cr_expect_eq(at(&child, WATCHPOINT_WRITE, 0x1000, 4), 0);
	cr_expect_eq(at(&child, WATCHPOINT_WRITE, 0x2000, 4), 21);
	handed_clear(&child);
}

/* ---- the packet, for two processes without locations ---- */

static struct run run;
static struct client client = {.run = &run};
static struct inferior current = {.pid = 0x10}, other = {.pid = 0x20};

static void add(struct inferior *inferior, struct inferior_control *control,
		struct thread *thread, struct thread_control *of_thread)
{
	inferior->control = control;
	thread->control = of_thread;
	of_thread->thread = thread;
	inferior->arch = arch_native();
	inferior->owner = &client.run->inferiors;
	TAILQ_INSERT_TAIL(&client.run->inferiors.list, inferior, link);
	thread->inferior = inferior;
	thread->tid = inferior->pid;
	TAILQ_INIT(&inferior->threads);
	TAILQ_INSERT_TAIL(&inferior->threads, thread, link);
	cr_assert_not_null(breakpoints_create(inferior, &client.run->engines));
}

static void begin(void)
{
	static struct inferior_control controls[2];
	static struct thread_control of_threads[2];
	static struct thread thread, others;

	TAILQ_INIT(&client.run->inferiors.list);
	add(&current, &controls[0], &thread, &of_threads[0]);
	add(&other, &controls[1], &others, &of_threads[1]);
	client.session.general.pid = current.pid;
}

static void end(void)
{
	breakpoints_destroy(current.breakpoints, true);
	breakpoints_destroy(other.breakpoints, true);
}

TestSuite(watch_condition, .init = begin, .fini = end);

static struct error *send(const char *text, size_t len)
{
	struct buffer reply _cleanup_buffer_ = {0};
	struct cursor args = {text, text + len};
	struct error *error = packet_QTruehit_WatchCondition(&client, &args, &reply);

	cr_assert_str_eq(buffer_string(&reply), error ? "" : "OK");
	return error;
}

static void ok(const char *packet)
{
	struct error *error _cleanup_error_ = send(packet, strlen(packet));

	cr_assert_null(error, "%s: %s", packet, error ? error_text(error) : "");
}

static void refused(const char *packet)
{
	struct error *error _cleanup_error_ = send(packet, strlen(packet));

	cr_expect(error, "%s", packet);
}

#define AT(inferior) at(&(inferior).breakpoints->handed, WATCHPOINT_WRITE, 0x1234, 4)

Test(watch_condition, handed_replaced_withdrawn)
{
	ok("2,1234,4;X3,220127");
	cr_expect_eq(AT(current), 11);
	ok("2,1234,4;X3,220227X3,220027");
	cr_expect_eq(AT(current), 22);
	ok("2,1234,4");
	cr_expect_eq(AT(current), 0);
	ok("2,1234,4");
	cr_expect_eq(AT(other), 0);
}

Test(watch_condition, of_breakpoints)
{
	struct handed_list *list = &current.breakpoints->handed;

	ok("0,1234,1;X3,220127");
	ok("p10;1,1234,1;X3,220227");
	cr_expect_eq(at(list, BREAKPOINT_SOFTWARE, 0x1234, 4), 11, "of any length");
	cr_expect_eq(at(list, BREAKPOINT_HARDWARE, 0x1234, 1), 21);
	cr_expect_not(client.run->engines.handed_hold);
	ok("p10;resume");
	cr_expect(client.run->engines.handed_hold);
	breakpoints_inherit(other.breakpoints, current.breakpoints);
	cr_expect_eq(at(&other.breakpoints->handed, BREAKPOINT_SOFTWARE, 0x1234, 1), 0,
		     "a fork has other threads");
	ok("");
	cr_expect_eq(at(list, BREAKPOINT_SOFTWARE, 0x1234, 1), 0);
}

Test(watch_condition, words)
{
	ok("p10;resume");
	cr_expect(run.continuation.is_on);
	cr_expect_not(run.continuation.steps_over);
	ok("p10;continue");
	cr_expect(run.continuation.is_on);
	cr_expect(run.continuation.steps_over);
	ok("p10;stopped");
	cr_expect_not(run.continuation.is_on);
	refused("p10;resumes");
	refused("p10;continue;");
	refused("p10;stoppedX");
	refused("p10;stop");
	cr_expect_not(run.continuation.is_on);
}

Test(watch_condition, of_one_process)
{
	ok("2,1234,4;X3,220127");
	ok("p20;2,1234,4;X3,220227");
	cr_expect_eq(AT(current), 11);
	cr_expect_eq(AT(other), 21);
	ok("p10;2,1234,4;X3,220327");
	cr_expect_eq(AT(current), 31);
	ok("p20;");
	cr_expect_eq(AT(current), 31);
	cr_expect_eq(AT(other), 0);
	ok("");
	cr_expect_eq(AT(current), 0);
}

Test(watch_condition, forgotten_by_one_process)
{
	ok("2,1234,4;X3,220127");
	breakpoints_inherit(other.breakpoints, current.breakpoints);
	cr_expect_eq(AT(other), 11, "a fork");
	breakpoints_remove_all(current.breakpoints);
	cr_expect_eq(AT(current), 0, "the client's end");
	cr_expect_eq(AT(other), 11);
}

Test(watch_condition, malformed)
{
	static const char *const packets[] = {
		"p",
		"p;",
		"p;2,1234,4",
		"p10",
		"p10,2,1234,4;X3,220127",
		"p30;2,1234,4;X3,220127",
		"p110000000;",
		"px;",
		"5,1234,4;X3,220127",
		"22,1234,4;X3,220127",
		"2",
		"2,",
		"2,1234",
		"2,1234,",
		"2,1234,4X3,220127",
		"2,1234,4;X3,2201",
		"2,1234,4;X3,22012",
		"2,1234,4;X3,2201270",
		"2,1234,4;X3,22012x",
		"2,1234,4;X0,",
		"2,1234,4;X3",
		"2,1234,4;X,220127",
		"2,1234,4;Xffffffffffffffff,220127",
		"2,1234,4;Y3,220127",
		"2,1234,4;X3,220127;cmds:0,X3,220127",
		"2,1234,4;X3,220127X1,27",
		"2,1234,4;X1,ff",
		"2,1234,4;X3,220127X2,2700",
		" ",
		";",
	};

	ok("2,1234,4;X3,220927");
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		refused(packets[i]);
		cr_expect_eq(AT(current), 91, "after %s", packets[i]);
	}
}

/* All that begin as a good one, and those with one character that is another. */
Test(watch_condition, refused_or_taken_whole)
{
	static const char packet[] = "p10;2,1234,4;X3,220127X3,220127";
	static const char others[] = "09afpX,;:z \377";

	for (size_t len = 0; len < sizeof(packet); len++) {
		for (size_t i = 0; i < len; i++) {
			for (const char *c = others; *c; c++) {
				char text[sizeof(packet)];
				struct error *error;
				unsigned int before;

				ok("2,1234,4;X3,220927");
				before = AT(current);
				memcpy(text, packet, sizeof(packet));
				text[i] = *c;
				error = send(text, len);
				if (error)
					cr_expect_eq(AT(current), before, "%.*s",
						     (int)len, text);
				error_destroy(error);
			}
		}
	}
}

Test(watch_condition, too_many)
{
	char packet[64];

	for (unsigned int i = 0; i < HANDED_MAX; i++) {
		snprintf(packet, sizeof(packet), "2,%x,4;X3,220127", i);
		ok(packet);
	}
	refused("2,1234,4;X3,220127");
	ok("p20;2,1234,4;X3,220127");
	ok("");
	ok("2,1234,4;X3,220127");
}
