/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of this machine, of its user, and of what keeps that user from
 * things. */
#ifndef TRUEHIT_CHECK_MACHINE_H
#define TRUEHIT_CHECK_MACHINE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/utsname.h>

enum { MACHINE_WORD = 32 }; /* bytes of a word that a file tells */

/** Whether settings of the kernel (sysctl(8)) can be changed here. */
enum proc_sys {
	PROC_SYS_WRITABLE,
	PROC_SYS_ROOTS,
	PROC_SYS_READ_ONLY,
	PROC_SYS_ABSENT
};

struct setting {
	bool known; /* the kernel has it, and this user may read it */
	long value;
};

struct machine {
	struct utsname name;
	char lockdown[MACHINE_WORD]; /* "none", "integrity", ...; "": not known */
	struct setting paranoid;     /* kernel.perf_event_paranoid */
	struct setting bpf_disabled; /* kernel.unprivileged_bpf_disabled */
	struct setting ptrace_scope; /* kernel.yama.ptrace_scope */
	enum proc_sys proc_sys;

	uid_t uid;
	uint64_t permitted;    /* capabilities, as bits: of this process */
	uint64_t bounding;     /* ... that a process here can ever have */
	uint64_t lent_by_file; /* ... that truehit's file has for whoever executes it */
	long seccomp;	   /* seccomp(2): 0 none, 1 strict, 2 a filter; -1: unknown */
	bool no_new_privs; /* prctl(2): what the file has is not lent */
	bool nosuid;	   /* ... nor from where it is mounted so */
	bool own_user_ns, own_pid_ns; /* other name spaces than the system's first */
	char container[MACHINE_WORD]; /* "docker", "podman", ...; "": none known of */
	char file[PATH_MAX];	      /* truehit's; "truehit" if that is not known */
};

void machine_look(struct machine *ret);

/** Is it in a container, or in something that is made like one? */
bool machine_is_contained(const struct machine *machine);

/** The capabilities that have to do with debugging, one at a time: false, there are not
 * so many. The name is as setcap(8) has it. */
bool machine_capability(unsigned int index, uint64_t *bit, const char **name);

#endif
