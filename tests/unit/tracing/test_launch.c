/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/resume.h"
#include "tests/unit/launched.h"
#include "tests/unit/progs.h"
#include "gdbstub/tracing/inferiors.h"

static struct signal_state inherited(int blocked, int ignored)
{
	struct signal_state state;

	sigemptyset(&state.blocked);
	sigemptyset(&state.ignored);
	sigaddset(&state.blocked, blocked);
	sigaddset(&state.ignored, ignored);
	return state;
}

Test(launch, stops_at_the_linkers_entry)
{
	struct fixture f;

	launch(&f, "exit", "3");
	cr_assert_eq(pc_of(f.leader), linker_entry(f.inferior));
	cr_assert_eq(getpgid(f.inferior->pid), f.inferior->pid);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 3);
}

Test(launch, passes_arguments_environment_directory)
{
	char *argv[] = {(char *)"/bin/sh",
			(char *)"-c",
			(char *)"test \"$PWD$V$1\" = '/tmp5a b'",
			(char *)"sh",
			(char *)"a b",
			NULL};
	char *envp[] = {(char *)"V=5", NULL};
	struct fixture f;

	launch_as(&f, &(struct launch_options){.program = "/bin/sh",
					       .argv = argv,
					       .envp = envp,
					       .directory = "/tmp"});
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 0);
}

Test(launch, finds_programs_in_the_path)
{
	char *argv[] = {(char *)"true", NULL};
	_cleanup_free_ char *exe = NULL;
	struct fixture f;

	launch_as(&f, &(struct launch_options){.program = "true", .argv = argv});
	exe = inferior_exe(f.inferior);
	cr_assert_str_eq(strrchr(exe, '/'), "/true");
	kill_all(&f);
}

Test(launch, prefers_the_current_directory)
{
	char *argv[] = {(char *)"target", NULL};
	_cleanup_free_ char *exe = NULL;
	struct fixture f;

	cr_assert_eq(chdir(progs_dir), 0);
	launch_as(&f, &(struct launch_options){.program = "target", .argv = argv});
	exe = inferior_exe(f.inferior);
	cr_assert_str_eq(exe, target());
	kill_all(&f);
}

static struct error *launch_error(const char *program, const char *directory)
{
	char *argv[] = {(char *)program, NULL};
	struct inferiors inferiors;
	struct inferior *inferior;
	struct error *error;

	inferiors_init(&inferiors);
	error = inferior_launch(&inferiors,
				&(struct launch_options){.program = program,
							 .argv = argv,
							 .directory = directory},
				&inferior);
	cr_assert_not_null(error);
	cr_assert(TAILQ_EMPTY(&inferiors.list));
	cr_assert_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1, "a child is left");
	return error;
}

Test(launch, tells_why_exec_failed)
{
	struct {
		const char *program, *directory, *text;
	} cases[] = {
		{"/no/such", NULL, "Cannot exec /no/such: No such file or directory"},
		{"/etc/passwd", NULL, "Cannot exec /etc/passwd: Permission denied"},
		{"/tmp", NULL, "Cannot exec /tmp: Permission denied"},
		{"/bin/true", "/no/dir",
		 "Cannot change to the working directory of /bin/true: "
		 "No such file or directory"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_error_ struct error *error =
			launch_error(cases[i].program, cases[i].directory);

		cr_expect_str_eq(error_text(error), cases[i].text, "%s",
				 error_text(error));
	}
}

/* From /proc/PID/status. */
static unsigned long long ignored_signals(const struct buffer *text)
{
	const char *line = strstr(text->data, "\nSigIgn:\t");

	cr_assert_not_null(line);
	/* 32 and 33 are glibc's own, and a posix_spawn above us may ignore them. */
	return strtoull(line + strlen("\nSigIgn:\t"), NULL, 16) & ~(3ULL << 31);
}

Test(launch, resets_signal_mask_and_dispositions)
{
	struct buffer text _cleanup_buffer_ = {0};
	struct fixture f;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	launch(&f, "exit", NULL);
	cr_assert_eq(inferior_proc_file(f.inferior, "status", &text), 0);
	cr_assert_not_null(strstr(text.data, "\nSigBlk:\t0000000000000000\n"));
	cr_assert_eq(ignored_signals(&text), 0);
	kill_all(&f);
}

Test(launch, hands_on_what_the_server_inherited)
{
	const struct signal_state state = inherited(SIGUSR1, SIGHUP);
	char *argv[] = {(char *)target(), (char *)"exit", NULL};
	struct buffer text _cleanup_buffer_ = {0};
	struct fixture f;

	launch_as(&f, &(struct launch_options){
			      .program = target(), .argv = argv, .signals = &state});
	cr_assert_eq(inferior_proc_file(f.inferior, "status", &text), 0);
	cr_expect_not_null(strstr(text.data, "\nSigBlk:\t0000000000000200\n"));
	cr_expect_eq(ignored_signals(&text), 1);
	kill_all(&f);
}

/* The shell's and the wrapper's exec are not the program's. */
Test(launch, by_shell_and_wrapper_stops_in_the_program)
{
	char *argv[] = {(char *)"",
			(char *)"-c",
			(char *)"test \"$A$1\" = \"a b'\\\\!\" && exit 7",
			(char *)"sh",
			(char *)" b'\\!",
			NULL};
	char *wrapper[] = {(char *)"env", (char *)"A=a", NULL};
	_cleanup_free_ char *exe = NULL, *dash = realpath("/bin/sh", NULL);
	struct fixture f;

	launch_as(&f, &(struct launch_options){.program = "/bin/sh",
					       .argv = argv,
					       .wrapper = wrapper,
					       .shell = "/bin/sh"});
	exe = inferior_exe(f.inferior);
	cr_expect_str_eq(exe, dash);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 7);
}

/* Arguments as for a shell, with one and without. */
Test(launch, arguments_in_one_string)
{
	static const struct {
		const char *shell, *arguments;
	} cases[] = {
		{"/bin/sh", "-c 'exit $1' sh $((2 + 1))"},
		{NULL, "-c 'exit $1'  sh \"3\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;

		launch_as(&f, &(struct launch_options){.program = "/bin/sh",
						       .arguments = cases[i].arguments,
						       .shell = cases[i].shell});
		cr_assert_eq(thread_continue(f.leader, 0), 0);
		expect_exit(&f, 3);
	}
}

/* More than a shell's command can hold. */
Test(launch, long_argument_lists)
{
	enum { COUNT = 3, LENGTH = 100000 };
	char *argv[COUNT + 2] = {(char *)"true"};
	struct fixture f;

	for (int i = 1; i <= COUNT; i++) {
		argv[i] = calloc(1, LENGTH + 1);
		cr_assert_not_null(argv[i]);
		memset(argv[i], 'x', LENGTH);
	}
	launch_as(&f, &(struct launch_options){
			      .program = "true", .argv = argv, .shell = "/bin/sh"});
	for (int i = 1; i <= COUNT; i++)
		free(argv[i]);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 0);
}

static void expect_startup_failure(const char *shell, char *const *wrapper,
				   const char *text, bool ours)
{
	static char *const argv[] = {(char *)"/bin/true", NULL};
	struct inferiors inferiors;
	struct inferior *inferior;
	struct error *error _cleanup_error_ = NULL;

	inferiors_init(&inferiors);
	error = inferior_launch(&inferiors,
				&(struct launch_options){.program = argv[0],
							 .argv = argv,
							 .wrapper = wrapper,
							 .shell = shell},
				&inferior);
	cr_assert_not_null(error);
	cr_expect_str_eq(error_text(error), text);
	cr_expect_eq(error_errno(error) != 0, ours);
	cr_assert_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1, "a child is left");
}

Test(launch, tells_how_shell_or_wrapper_ended)
{
	char *sh[] = {(char *)"sh", (char *)"-c", NULL, NULL};

	sh[2] = (char *)"exit 3";
	expect_startup_failure("/bin/sh", sh,
			       "During startup program exited with code 3.", false);
	sh[2] = (char *)"exit 0";
	expect_startup_failure(NULL, sh, "During startup program exited normally.",
			       false);
	sh[2] = (char *)"kill -9 $$";
	expect_startup_failure("/bin/sh", sh,
			       "During startup program terminated with signal SIGKILL, "
			       "Killed.",
			       false);
	expect_startup_failure("/no/shell", NULL,
			       "Cannot exec /no/shell: No such file or directory",
			       true);
}

/* A wrapper that takes its time does not keep the server from ending. */
Test(launch, gives_up_when_the_server_is_to_end)
{
	char *wrapper[] = {(char *)"sh", (char *)"-c",
			   (char *)"kill -TERM $PPID; sleep 1000", NULL};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	expect_startup_failure("/bin/sh", wrapper,
			       "During startup program terminated with signal SIGKILL, "
			       "Killed.",
			       false);
	cr_assert_eq(sigwaitinfo(&set, NULL), SIGTERM, "it is still to be told");
}

Test(launch, disables_randomization_on_demand)
{
	struct buffer text _cleanup_buffer_ = {0};
	struct fixture f;

	launch(&f, "exit", NULL);
	cr_assert_eq(inferior_proc_file(f.inferior, "personality", &text), 0);
	cr_assert_str_eq(text.data, "00040000\n");
	kill_all(&f);
}
