/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/launched.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/tracing/attach.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/tracing/wait.h"
#include "tests/unit/progs.h"
#include "gdbstub/tracing/inferiors.h"

const char *target(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/target", progs_dir);
	return path;
}

void launch_as(struct fixture *f, const struct launch_options *options)
{
	struct error *error = arch_native()->init();

	cr_assert_null(error);
	inferiors_init(&f->inferiors);
	error = inferior_launch(&f->inferiors, options, &f->inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	f->leader = TAILQ_FIRST(&f->inferior->threads);
	cr_assert_eq(f->leader->tid, f->inferior->pid);
	cr_assert_not(f->leader->running);
}

void launch(struct fixture *f, const char *action, const char *argument)
{
	char *argv[] = {(char *)target(), (char *)action, (char *)argument, NULL};

	launch_as(f, &(struct launch_options){.program = target(),
					      .argv = argv,
					      .disable_randomization = true});
}

struct event next_event(struct fixture *f)
{
	struct event event;

	inferiors_wait(&f->inferiors, true, &event);
	return event;
}

void expect_event(struct fixture *f, enum event_kind kind, struct event *event)
{
	*event = next_event(f);
	cr_assert_eq(event->kind, kind, "%s instead of %s",
		     event_kind_name(event->kind), event_kind_name(kind));
}

void expect_exit(struct fixture *f, int status)
{
	struct event event;

	expect_event(f, EVENT_EXITED, &event);
	cr_assert_eq(event.status, status, "exit status %d", event.status);
	inferior_destroy(event.inferior);
	inferiors_deinit(&f->inferiors);
}

void kill_all(struct fixture *f)
{
	pid_t pid = f->inferior->pid;

	inferior_kill(f->inferior);
	cr_assert(TAILQ_EMPTY(&f->inferiors.list));
	cr_assert_eq(kill(pid, 0), -1);
	cr_assert_eq(errno, ESRCH);
	inferiors_deinit(&f->inferiors);
}

uint64_t pc_of(const struct thread *thread)
{
	uint64_t pc = 0;

	cr_assert_eq(thread_get_pc(thread, &pc), 0);
	return pc;
}

uint64_t auxv(const struct inferior *inferior, uint64_t type)
{
	struct buffer text _cleanup_buffer_ = {0};
	Elf64_auxv_t entry;

	cr_assert_eq(inferior_proc_file(inferior, "auxv", &text), 0);
	for (size_t i = 0; i + sizeof(entry) <= text.len; i += sizeof(entry)) {
		memcpy(&entry, text.data + i, sizeof(entry));
		if (entry.a_type == type)
			return entry.a_un.a_val;
	}
	cr_assert_fail("no auxv entry %lu", (unsigned long)type);
	return 0;
}

uint64_t linker_entry(struct inferior *inferior)
{
	uint64_t base = auxv(inferior, AT_BASE);
	Elf64_Ehdr header;

	cr_assert_eq(inferior_read(inferior, base, &header, sizeof(header)),
		     (ssize_t)sizeof(header));
	cr_assert_arr_eq(header.e_ident, ELFMAG, SELFMAG);
	return base + header.e_entry;
}
