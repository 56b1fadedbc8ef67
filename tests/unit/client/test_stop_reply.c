/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <signal.h>

#include "gdbstub/rsp/disable.h"
#include "gdbstub/client/stop_reply.h"

static const struct session everything = {
	.multiprocess = true, .swbreak = true, .hwbreak = true, .exec_events = true};
static const struct session nothing;

static void expect(struct stop stop, unsigned int gdb_signal,
		   const struct session *session, const char *expected)
{
	struct buffer out _cleanup_buffer_ = {0};
	const struct stop_reply reply = {.stop = &stop,
					 .gdb_signal = gdb_signal,
					 .core = 3,
					 .program = "/bin/ls",
					 .registers = "10:0011;"};

	stop.pid = 0x1000;
	stop.tid = 0x1001;
	stop_reply_print(&reply, session, &out);
	cr_expect_str_eq(buffer_string(&out), expected);
}

Test(stop_reply, signals)
{
	struct stop stop = {.kind = STOP_SIGNAL, .signal = SIGTRAP};

	expect(stop, 5, &everything, "T0510:0011;thread:p1000.1001;core:3;");
	expect(stop, 5, &nothing, "T0510:0011;thread:1001;core:3;");
	expect(stop, 30, &nothing, "T1e10:0011;thread:1001;core:3;");
	expect(stop, 0, &nothing, "T0010:0011;thread:1001;core:3;");
}

Test(stop_reply, disabled)
{
	const struct session no_thread = {.disabled = DISABLE_TTHREAD};
	const struct session no_t = {.disabled = DISABLE_T};
	struct stop stop = {.kind = STOP_SWBREAK, .signal = SIGTRAP};

	expect(stop, 5, &no_thread, "T0510:0011;core:3;");
	expect(stop, 5, &no_t, "S05");
	stop = (struct stop){.kind = STOP_EXITED, .status = 7};
	expect(stop, 0, &no_t, "W07");
}

/* Reasons only for a client that knows the words. */
Test(stop_reply, breakpoints)
{
	struct stop stop = {.kind = STOP_SWBREAK, .signal = SIGTRAP};

	expect(stop, 5, &everything, "T05swbreak:;10:0011;thread:p1000.1001;core:3;");
	expect(stop, 5, &nothing, "T0510:0011;thread:1001;core:3;");
	stop.kind = STOP_HWBREAK;
	expect(stop, 5, &everything, "T05hwbreak:;10:0011;thread:p1000.1001;core:3;");
	expect(stop, 5, &nothing, "T0510:0011;thread:1001;core:3;");
}

Test(stop_reply, watchpoints)
{
	struct stop stop = {.kind = STOP_WATCH, .addr = 0x7fffffffe018};

	stop.watch = WATCHPOINT_WRITE;
	expect(stop, 5, &nothing, "T05watch:7fffffffe018;10:0011;thread:1001;core:3;");
	stop.watch = WATCHPOINT_READ;
	expect(stop, 5, &nothing, "T05rwatch:7fffffffe018;10:0011;thread:1001;core:3;");
	stop.watch = WATCHPOINT_ACCESS;
	expect(stop, 5, &nothing, "T05awatch:7fffffffe018;10:0011;thread:1001;core:3;");
}

/* Older clients take the last one for the only one. */
Test(stop_reply, several_watchpoints)
{
	const struct session several = {.several_watches = true};
	const struct stop stop = {
		.kind = STOP_WATCH,
		.watch = WATCHPOINT_WRITE,
		.addr = 0x1018,
		.others = {{.type = WATCHPOINT_READ, .addr = 0x1018},
			   {.type = WATCHPOINT_ACCESS, .addr = 0x101c}},
		.nothers = 2,
	};

	expect(stop, 5, &several,
	       "T05watch:1018;rwatch:1018;awatch:101c;10:0011;thread:1001;core:3;");
	expect(stop, 5, &nothing, "T05watch:1018;10:0011;thread:1001;core:3;");
}

Test(stop_reply, exec)
{
	struct stop stop = {.kind = STOP_EXEC, .signal = SIGTRAP};

	expect(stop, 5, &everything,
	       "T05exec:2f62696e2f6c73;10:0011;thread:p1000.1001;core:3;");
	expect(stop, 5, &nothing, "T0510:0011;thread:1001;core:3;");
}

/* Two digits: lldb reads "W7;process:" as status 0. */
Test(stop_reply, ends)
{
	struct stop stop = {.kind = STOP_EXITED, .status = 7};

	expect(stop, 0, &everything, "W07;process:1000");
	expect(stop, 0, &nothing, "W07");
	stop.status = 255;
	expect(stop, 0, &nothing, "Wff");
	stop.kind = STOP_KILLED;
	expect(stop, 9, &everything, "X09;process:1000");
	expect(stop, 9, &nothing, "X09");
	stop.kind = STOP_NO_RESUMED;
	expect(stop, 0, &everything, "N");
}

Test(stop_reply, core_unknown)
{
	struct buffer out _cleanup_buffer_ = {0};
	const struct stop stop = {.kind = STOP_SIGNAL, .pid = 1, .tid = 1};
	const struct stop_reply reply = {
		.stop = &stop, .gdb_signal = 5, .core = -1, .registers = ""};

	stop_reply_print(&reply, &nothing, &out);
	cr_expect_str_eq(buffer_string(&out), "T05thread:1;");
}

Test(stop_reply, what_was_asked_for)
{
	struct stop stop = {
		.kind = STOP_SYSCALL_ENTRY, .signal = SIGTRAP, .syscall = 59};

	expect(stop, 5, &nothing, "T05syscall_entry:3b;10:0011;thread:1001;core:3;");
	stop.kind = STOP_SYSCALL_RETURN;
	expect(stop, 5, &nothing, "T05syscall_return:3b;10:0011;thread:1001;core:3;");
	stop = (struct stop){.kind = STOP_CREATED, .signal = SIGTRAP};
	expect(stop, 5, &nothing, "T05create:;10:0011;thread:1001;core:3;");
	stop = (struct stop){.kind = STOP_CLONE, .signal = SIGTRAP, .child = 0x1002};
	expect(stop, 5, &everything,
	       "T05clone:p1000.1002;10:0011;thread:p1000.1001;core:3;");
	stop = (struct stop){.kind = STOP_THREAD_EXITED, .status = 3};
	expect(stop, 0, &everything, "w03;p1000.1001");
	expect(stop, 0, &nothing, "w03;1001");
}
