/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that filtered uprobes cost here: runs a program that measures itself, with
 * a BPF program that is `return 0` at places of its file, hung up as truehit does it:
 * probe_floor PROGRAM ARGUMENTS... -- OFFSET...
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "gdbstub/base/cleanup.h"
#include "bpf/kernel/kernel.h"
#include "bpf/kernel/uprobe_event.h"
#include "bpf/uprobe/uprobe_trial.h"

/* Stopped at its start; or a negative errno. */
static pid_t start(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return -ECHILD;
	return pid;
}

enum { PROBES_MAX = 256 };

struct probes {
	int fd[PROBES_MAX];
	unsigned int count;
};

static int open_probes(const struct uprobe_options *options, pid_t pid, char *path,
		       char **offsets, struct probes *probes)
{
	_cleanup_close_ int program = bpf_kernel_load_false(uprobe_kind(options));

	for (; *offsets && probes->count < PROBES_MAX; offsets++) {
		const struct uprobe_target target = {
			.path = path, .offset = strtoull(*offsets, NULL, 0)};
		int fd = uprobe_event_open(options, &target, pid, program);

		if (fd < 0)
			return fd;
		probes->fd[probes->count++] = fd;
	}
	return 0;
}

static int run(struct background_close *closer, char **argv, char **offsets)
{
	_cleanup_error_ struct error *error = NULL;
	struct probes probes = {.count = 0};
	struct uprobe_options options;
	int status = -1, err;
	pid_t pid;

	error = arch_native()->init();
	if (!error)
		error = uprobe_choose(arch_native(), closer, &options);
	if (error) {
		fprintf(stderr, "probe_floor: %s\n", error_text(error));
		return 1;
	}
	pid = start(argv);
	err = pid < 0 ? pid : open_probes(&options, pid, argv[0], offsets, &probes);
	if (err < 0)
		fprintf(stderr, "probe_floor: %s\n", strerror(-err));
	else if (ptrace(PTRACE_CONT, pid, NULL, NULL) < 0 ||
		 waitpid(pid, &status, 0) < 0 || status != 0)
		fprintf(stderr, "probe_floor: %s: status %#x\n", argv[0], status);
	for (unsigned int i = 0; i < probes.count; i++)
		background_close_add_fd(closer, probes.fd[i]);
	return status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	char **end = argv + 1;
	struct background_close *closer;
	int status;

	while (*end && strcmp(*end, "--") != 0)
		end++;
	if (argc < 4 || !*end) {
		fprintf(stderr,
			"usage: probe_floor PROGRAM [ARGUMENTS] -- OFFSET...\n");
		return 1;
	}
	*end = NULL;
	closer = background_close_create();
	status = closer ? run(closer, argv + 1, end + 1) : 1;
	background_close_destroy(closer);
	return status;
}
