/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/event.h"

#include "gdbstub/inferior/inferior.h"

static const char *const names[] = {
	[EVENT_NONE] = "none",
	[EVENT_SIGNAL] = "signal",
	[EVENT_INTERRUPTED] = "interrupted",
	[EVENT_UNASKED] = "unasked",
	[EVENT_GROUP_STOP] = "group-stop",
	[EVENT_CLONE] = "clone",
	[EVENT_FORK] = "fork",
	[EVENT_VFORK] = "vfork",
	[EVENT_VFORK_DONE] = "vfork-done",
	[EVENT_EXEC] = "exec",
	[EVENT_SYSCALL] = "syscall",
	[EVENT_THREAD_EXIT] = "thread-exit",
	[EVENT_LEADER_ENDS] = "leader-ends",
	[EVENT_EXITED] = "exited",
	[EVENT_KILLED] = "killed",
};

const char *event_kind_name(enum event_kind kind)
{
	return names[kind];
}

bool trap_is_reported(const struct event *event)
{
	return event->kind == EVENT_SIGNAL && event->signal == SIGTRAP &&
	       event->siginfo.si_code == event->inferior->arch->breakpoint_si_code;
}
