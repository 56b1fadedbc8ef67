/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/base/patience.h"
#include "gdbstub/base/rights.h"
#include "gdbstub/base/words.h"
#include "gdbstub/tracing/attach.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/decode.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/tracing/shell.h"
#include "gdbstub/inferior/signals.h"
#include "gdbstub/tracing/status.h"
#include "gdbstub/tracing/terminal.h"
#include "gdbstub/inferior/thread_end.h"
#include "gdbstub/tracing/wait.h"

enum {
	LOOK_INTERVAL = 20,  /* ms */
	READY_LIMIT = 30000, /* ms, until the child can be traced */
};

/* What the child was doing when it failed, sent through the pipe with the errno. */
enum step { STEP_DIRECTORY, STEP_STDIO, STEP_RANDOMIZATION, STEP_EXEC, NSTEPS };
static const char *const step_texts[NSTEPS] = {
	[STEP_DIRECTORY] = "Cannot change to the working directory of",
	[STEP_STDIO] = "Cannot redirect the standard streams of",
	[STEP_RANDOMIZATION] = "Cannot disable address randomization of",
	[STEP_EXEC] = "Cannot exec",
};

struct failure {
	enum step step;
	int err;
};

void signal_state_save(struct signal_state *state)
{
	struct sigaction action;

	sigprocmask(SIG_SETMASK, NULL, &state->blocked);
	sigemptyset(&state->ignored);
	for (int i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&state->ignored, i);
}

/* ---- what to exec ---- */

struct command {
	char *program;	    /* as the program will see it in argv[0] */
	char **argv;	    /* the shell's, the wrapper's or the program's */
	unsigned int execs; /* until the program itself runs */
};

static void cleanup_command(struct command *command)
{
	free(command->program);
	words_free(command->argv);
}

/*
 * As gdbserver has it: a bare name is a file of the current directory if there is
 * one, and else looked for in PATH by whoever executes it. NULL: no memory.
 */
static char *find_program(const char *program)
{
	_cleanup_free_ char *directory = NULL;
	struct stat st;
	char *ret;

	if (strchr(program, '/') || stat(program, &st) < 0 || !S_ISREG(st.st_mode) ||
	    !(directory = getcwd(NULL, 0)))
		return strdup(program);
	return asprintf(&ret, "%s/%s", directory, program) < 0 ? NULL : ret;
}

static char *const *arguments(const struct launch_options *options)
{
	return options->argv && options->argv[0] ? options->argv + 1 : NULL;
}

/* "exec WRAPPER PROGRAM ARGUMENTS" */
static void shell_command(const struct launch_options *options, const char *program,
			  struct buffer *text)
{
	const char *shell = options->shell;
	char *const words[] = {(char *)program, NULL};

	buffer_append_string(text, "exec ");
	shell_quote_words(text, shell, options->wrapper);
	if (options->wrapper)
		buffer_append_char(text, ' ');
	shell_quote_words(text, shell, words);
	buffer_append_char(text, ' ');
	if (options->arguments)
		buffer_append_string(text, options->arguments);
	else
		shell_quote_words(text, shell, arguments(options));
}

static struct error *direct_argv(const struct launch_options *options,
				 const char *program, char ***argv)
{
	char **split _cleanup_words_ = NULL;
	struct error *error = NULL;

	if (options->arguments)
		error = shell_split(options->arguments, &split);
	if (error)
		return error;
	if (!words_append(argv, options->wrapper) ||
	    !words_take(argv, strdup(program)) ||
	    !words_append(argv, split ? split : arguments(options)))
		return error_create(ENOMEM, "Cannot exec %s", program);
	return NULL;
}

/* One word of a command line can be no longer (linux/binfmts.h, MAX_ARG_STRLEN). */
static size_t word_max(void)
{
	return 32 * (size_t)sysconf(_SC_PAGESIZE);
}

static struct error *command_init(struct command *command,
				  const struct launch_options *options)
{
	struct buffer text _cleanup_buffer_ = {0};

	command->execs = options->wrapper ? 2 : 1;
	command->program = find_program(options->program);
	if (!command->program)
		return error_create(ENOMEM, "Cannot exec %s", options->program);
	if (options->shell)
		shell_command(options, command->program, &text);
	/* Words of ours are the same without the shell. */
	if (!options->shell || (!options->arguments && text.len >= word_max()))
		return direct_argv(options, command->program, &command->argv);
	command->execs++;
	if (buffer_failed(&text) ||
	    !words_append(&command->argv,
			  (char *const[]){(char *)options->shell, (char *)"-c",
					  text.data, NULL}))
		return error_create(ENOMEM, "Cannot exec %s", options->program);
	return NULL;
}

/* ---- the child's side ---- */

static void reset_signals(const struct signal_state *state)
{
	sigset_t none;

	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++)
		signal(i, state && sigismember(&state->ignored, i) ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, state ? &state->blocked : &none, NULL);
}

/* A descriptor that has nothing to read. A root need not have /dev/null. */
static int open_nothing(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fds[2];

	if (fd >= 0 || errno != ENOENT || pipe2(fds, O_CLOEXEC) < 0)
		return fd;
	close(fds[1]);
	return fds[0];
}

static int null_stdin(void)
{
	_cleanup_close_ int fd = open_nothing();

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	return 0;
}

static int open_stream(const char *path, int stream)
{
	const int flags =
		stream == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
	_cleanup_close_ int fd = open(path, flags | O_NOCTTY | O_CLOEXEC, 0666);

	return fd < 0 ? -1 : dup2(fd, stream);
}

static int redirect(const struct launch_options *options)
{
	if (options->stdin_is_null && null_stdin() < 0)
		return -1;
	for (int stream = 0; stream < 3; stream++)
		if (options->stdio[stream] &&
		    open_stream(options->stdio[stream], stream) < 0)
			return -1;
	return 0;
}

static enum step become_program(const struct launch_options *options,
				const struct command *command)
{
	reset_signals(options->signals);
	if (options->descriptors)
		setrlimit(RLIMIT_NOFILE, options->descriptors);
	if (options->directory && chdir(options->directory) < 0)
		return STEP_DIRECTORY;
	if (redirect(options) < 0)
		return STEP_STDIO;
	if (options->disable_randomization) {
		int persona = personality(0xffffffff);

		if (persona < 0 ||
		    personality((unsigned long)persona | ADDR_NO_RANDOMIZE) < 0)
			return STEP_RANDOMIZATION;
	}
	if (options->envp)
		environ = (char **)options->envp;
	execvp(command->argv[0], command->argv);
	return STEP_EXEC;
}

static void __attribute__((noreturn))
child_main(const struct launch_options *options, const struct command *command, int go,
	   int report)
{
	const int needed[] = {go, report};
	struct failure failure;
	char byte;

	setpgid(0, 0);
	if (rights_let_trace(needed, 2) < 0 || write(report, "", 1) != 1)
		_exit(126);
	/* The end of the file instead of a byte: the parent gave up or died. */
	if (read(go, &byte, 1) == 1) {
		failure.step = become_program(options, command);
		failure.err = errno;
		if (write(report, &failure, sizeof(failure)) < 0)
			_exit(126);
	}
	_exit(127);
}

/* ---- the parent's side ---- */

/* And what it has started. It may have left the group that we gave it. */
static void kill_child(pid_t child)
{
	kill(-child, SIGKILL);
	kill(child, SIGKILL);
}

/* Ends a child of which nobody else knows. */
static void abandon(pid_t child)
{
	int status;

	kill_child(child);
	while (wait_status(child, &status) == 0 && WIFSTOPPED(status))
		;
}

/*
 * As wait_status, but not longer than somebody wants the program: shell and wrapper may
 * take their time. False: the child is no more.
 */
static bool wait_patiently(struct patience *patience, pid_t child, int *status)
{
	const struct timespec pause = {.tv_nsec = LOOK_INTERVAL * 1000000};
	sigset_t set, saved;
	pid_t ret;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &saved);
	for (;;) {
		if (patience_ended(patience))
			kill_child(child);
		ret = waitpid(child, status, __WALL | WNOHANG);
		if (ret != 0)
			break;
		sigtimedwait(&set, NULL, &pause);
	}
	sigprocmask(SIG_SETMASK, &saved, NULL);
	return ret == child;
}

/* Lets signals pass until the child has called exec so many times. False: it ended
 * instead; *status says how. */
static bool wait_execs(int client, pid_t child, unsigned int execs, int *status)
{
	struct patience patience;

	patience_begin(&patience, client, PATIENCE_ENDLESS);
	while (wait_patiently(&patience, child, status) && WIFSTOPPED(*status)) {
		unsigned int trace_event = (unsigned int)*status >> 16;
		int signal = trace_event == 0 ? WSTOPSIG(*status) : 0;

		if (trace_event == PTRACE_EVENT_EXEC && --execs == 0)
			return true;
		ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal);
	}
	return false;
}

/* Others may have had a hand in the child (rights_let_trace): it is not believed. */
static bool read_failure(int report, struct failure *ret)
{
	return read(report, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret) &&
	       (unsigned int)ret->step < NSTEPS;
}

/* The texts are gdbserver's, scripts look for them. */
static struct error *startup_error(const struct command *command, int report,
				   int status)
{
	struct failure failure = {0};

	if (read_failure(report, &failure))
		return error_create(failure.err, "%s %s", step_texts[failure.step],
				    failure.step == STEP_EXEC ? command->argv[0]
							      : command->program);
	if (WIFSIGNALED(status))
		return error_create(
			0, "During startup program terminated with signal %s, %s.",
			signal_name(WTERMSIG(status)), strsignal(WTERMSIG(status)));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return error_create(0, "During startup program exited normally.");
	return error_create(0, "During startup program exited with code %d.",
			    WEXITSTATUS(status));
}

/* Waits until the child says that it can be traced. False: it has ended instead, or
 * nobody wants it any more. */
static bool wait_ready(int client, int report)
{
	struct pollfd said = {.fd = report, .events = POLLIN};
	struct patience patience;
	char byte;

	patience_begin(&patience, client, READY_LIMIT);
	while (!patience_ended(&patience))
		if (poll(&said, 1, LOOK_INTERVAL) > 0)
			return read(report, &byte, 1) == 1;
	return false;
}

/* The child can be traced, and waits for a byte from @go; brings it to its first
 * instruction. */
static struct error *trace_child(struct inferiors *inferiors, pid_t child,
				 const struct command *command, int go, int report,
				 struct inferior **ret)
{
	const uintptr_t first = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	const char *program = command->program;
	struct inferior *inferior;
	int status = 0;

	/* What a shell or a wrapper starts besides is none of our business. */
	if (ptrace(PTRACE_SEIZE, child, NULL, first) < 0) {
		int err = errno;

		abandon(child);
		return error_create(err, "Cannot trace %s", program);
	}
	if (write(go, "", 1) != 1 ||
	    !wait_execs(inferiors->client, child, command->execs, &status))
		return startup_error(command, report, status);
	if (ptrace(PTRACE_SETOPTIONS, child, NULL, first | TRACE_OPTIONS) < 0) {
		abandon(child);
		return error_create(0, "%s was killed before it could run", program);
	}
	inferior = inferior_create(inferiors, child, false);
	if (!inferior) {
		abandon(child);
		return error_create(ENOMEM, "Cannot trace %s", program);
	}
	if (!wait_syscall_end(TAILQ_FIRST(&inferior->threads))) {
		inferior_kill(inferior);
		return error_create(0, "%s was killed before it could run", program);
	}
	compat_find_out(inferior);
	*ret = inferior;
	return NULL;
}

static struct error *start_child(struct inferiors *inferiors,
				 const struct launch_options *options,
				 const struct command *command, const int go[2],
				 int report[2], struct inferior **ret)
{
	pid_t lender, child = fork();
	struct error *error;

	if (child < 0)
		return error_create(errno, "Cannot start a process for %s",
				    command->program);
	if (child == 0) {
		close(go[1]);
		child_main(options, command, go[0], report[1]);
	}
	close(take_fd(&report[1])); /* its end shows the child's */
	if (!wait_ready(inferiors->client, report[0])) {
		abandon(child);
		return error_create(0, "Cannot trace %s: its process does not start",
				    command->program);
	}
	lender = options->stdin_is_null || options->stdio[STDIN_FILENO]
			 ? 0
			 : terminal_lend(child);
	error = trace_child(inferiors, child, command, go[1], report[0], ret);
	if (error)
		terminal_return(child, lender);
	else
		(*ret)->lender_group = lender;
	return error;
}

struct error *inferior_launch(struct inferiors *inferiors,
			      const struct launch_options *options,
			      struct inferior **ret)
{
	struct command command _cleanup_(cleanup_command) = {0};
	struct error *error = command_init(&command, options);
	int go[2] = {-1, -1}, report[2] = {-1, -1};

	if (error)
		return error;
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0)
		error = error_create(errno, "Cannot exec %s", options->program);
	else
		error = start_child(inferiors, options, &command, go, report, ret);
	inferiors_changed(
		inferiors); /* wait_patiently may have taken another's SIGCHLD */
	for (int i = 0; i < 2; i++) {
		cleanup_close(&go[i]);
		cleanup_close(&report[i]);
	}
	return error;
}
