/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/inferior.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inferior/terminal.h"
#include "inferior/wait.h"

/* What the child was doing when it failed, sent through the pipe with the errno. */
enum step { STEP_DIRECTORY, STEP_STDIO, STEP_RANDOMIZATION, STEP_EXEC };
static const char *const step_texts[] = {
	[STEP_DIRECTORY] = "Cannot change to the working directory of",
	[STEP_STDIO] = "Cannot redirect the standard input of",
	[STEP_RANDOMIZATION] = "Cannot disable address randomization of",
	[STEP_EXEC] = "Cannot exec",
};

struct failure {
	enum step step;
	int err;
};

/* ---- which file to run ---- */

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* @path seen from the current directory; the caller frees it. */
static char *absolute(const char *path)
{
	_cleanup_free_ char *directory = NULL;
	char *ret;

	if (*path == '/' || !(directory = getcwd(NULL, 0)))
		return strdup(path);
	return asprintf(&ret, "%s/%s", directory, path) < 0 ? NULL : ret;
}

static char *search_path(const char *name)
{
	const char *path = getenv("PATH");

	for (path = path ? path : "/bin:/usr/bin"; *path != '\0';) {
		int len = (int)strcspn(path, ":");
		_cleanup_free_ char *file = NULL;

		if (asprintf(&file, "%.*s/%s", len, path, name) < 0)
			return NULL;
		if (is_file(file) && access(file, X_OK) == 0)
			return absolute(file);
		path += len;
		path += *path == ':';
	}
	return NULL;
}

/* The file to exec; NULL: no memory. One that does not exist is left to exec. */
static char *find_program(const char *program)
{
	if (!is_file(program) && !strchr(program, '/')) {
		char *found = search_path(program);

		if (found)
			return found;
	}
	return absolute(program);
}

/* ---- what to exec ---- */

struct command {
	const char *program; /* for error texts */
	char *file;
	char **argv;	    /* the array is owned, the words are not */
	unsigned int execs; /* until the program itself runs */
};

static void cleanup_command(struct command *command)
{
	free(command->file);
	free(command->argv);
}

static size_t count_words(char *const *words)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

/* @program is the path of the program. -ENOMEM on failure. */
static int command_init(struct command *command, const struct launch_options *options,
			char *program)
{
	size_t before = count_words(options->wrapper);
	size_t count = count_words(options->argv);

	command->program = program;
	command->execs = before > 0 ? 2 : 1;
	command->file =
		before > 0 ? find_program(options->wrapper[0]) : strdup(program);
	command->argv = calloc(before + count + 1, sizeof(command->argv[0]));
	if (!command->file || !command->argv)
		return -ENOMEM;
	if (before > 0)
		memcpy(command->argv, options->wrapper,
		       before * sizeof(command->argv[0]));
	memcpy(command->argv + before, options->argv, count * sizeof(command->argv[0]));
	/* The wrapper shall find the same file. */
	if (before > 0)
		command->argv[before] = program;
	return 0;
}

/* ---- the child's side ---- */

static void reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int null_stdin(void)
{
	_cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	return 0;
}

static enum step become_program(const struct launch_options *options,
				const struct command *command)
{
	reset_signals();
	if (options->directory && chdir(options->directory) < 0)
		return STEP_DIRECTORY;
	if (options->stdin_is_null && null_stdin() < 0)
		return STEP_STDIO;
	if (options->disable_randomization) {
		int persona = personality(0xffffffff);

		if (persona < 0 ||
		    personality((unsigned long)persona | ADDR_NO_RANDOMIZE) < 0)
			return STEP_RANDOMIZATION;
	}
	execve(command->file, command->argv, options->envp ? options->envp : environ);
	return STEP_EXEC;
}

static void __attribute__((noreturn))
child_main(const struct launch_options *options, const struct command *command, int go,
	   int report)
{
	struct failure failure;
	char byte;

	setpgid(0, 0);
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

/* Ends a child of which nobody else knows. */
static void abandon(pid_t child)
{
	int status;

	kill(child, SIGKILL);
	while (wait_status(child, &status) && WIFSTOPPED(status))
		;
}

/* Lets signals pass until the child has called exec so many times. False: it ended
 * instead. */
static bool wait_execs(pid_t child, unsigned int execs)
{
	int status;

	while (wait_status(child, &status) && WIFSTOPPED(status)) {
		unsigned int trace_event = (unsigned int)status >> 16;
		int signal = trace_event == 0 ? WSTOPSIG(status) : 0;

		if (trace_event == PTRACE_EVENT_EXEC && --execs == 0)
			return true;
		ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal);
	}
	return false;
}

static struct error *exec_error(const struct command *command, int report)
{
	struct failure failure;

	if (read(report, &failure, sizeof(failure)) != sizeof(failure))
		return error_create(0, "%s ended before it could run",
				    command->program);
	return error_create(failure.err, "%s %s", step_texts[failure.step],
			    command->file);
}

/* The child waits for a byte from @go; brings it to its first instruction. */
static struct error *trace_child(struct inferiors *inferiors, pid_t child,
				 const struct command *command, int go, int report,
				 struct inferior **ret)
{
	const uintptr_t first = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	const char *program = command->program;
	struct inferior *inferior;

	/* What a wrapper starts besides is none of our business. */
	if (ptrace(PTRACE_SEIZE, child, NULL, first) < 0) {
		int err = errno;

		abandon(child);
		return error_create(err, "Cannot trace %s", program);
	}
	if (write(go, "", 1) != 1 || !wait_execs(child, command->execs) ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL, first | TRACE_OPTIONS) < 0) {
		abandon(child);
		return exec_error(command, report);
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
	*ret = inferior;
	return NULL;
}

static struct error *start_child(struct inferiors *inferiors,
				 const struct launch_options *options,
				 const struct command *command, const int go[2],
				 const int report[2], struct inferior **ret)
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
	setpgid(child, child);
	lender = options->stdin_is_null ? 0 : terminal_lend(child);
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
	_cleanup_free_ char *program = find_program(options->program);
	struct command command _cleanup_(cleanup_command) = {0};
	int go[2] = {-1, -1}, report[2] = {-1, -1};
	struct error *error;

	if (!program || command_init(&command, options, program) < 0)
		return error_create(ENOMEM, "Cannot exec %s", options->program);
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0)
		error = error_create(errno, "Cannot exec %s", options->program);
	else
		error = start_child(inferiors, options, &command, go, report, ret);
	for (int i = 0; i < 2; i++) {
		cleanup_close(&go[i]);
		cleanup_close(&report[i]);
	}
	return error;
}
