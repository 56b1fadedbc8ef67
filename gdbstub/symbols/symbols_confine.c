/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the symbols reader is left with. Sources: getrlimit(2), seccomp(2), capset(2).
 * Not RLIMIT_AS alone: files that are mapped for reading may be large, and cost no
 * memory that the kernel could not take back.
 */
#include "gdbstub/symbols/symbols_confine.h"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "gdbstub/symbols/symbols_reader.h"

enum { CPU_SECONDS = 20 };

/* Of the files that are mapped, all at once. */
static const rlim_t address_space_max = (rlim_t)2 << 30;

static void set_limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit = {0, 0};

	getrlimit(resource, &limit);
	limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
	limit.rlim_max = limit.rlim_cur;
	setrlimit(resource, &limit);
}

/* Above what was there before, as that is the server's. */
static void limit_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long size = 0, data = 0;
	const rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE);

	if (!file)
		return;
	if (fscanf(file, "%lu %*u %*u %*u %*u %lu", &size, &data) == 2) {
		set_limit(RLIMIT_DATA, data * page + READER_MEMORY_MAX);
		set_limit(RLIMIT_AS, size * page + address_space_max);
	}
	fclose(file);
}

/* Where no memory is left, malloc() would try to make arenas anew for each request; who
 * unpacks asks for a little less tens of thousands of times. */
static void fail_quickly(void)
{
	mallopt(M_ARENA_MAX, 1);
}

static void drop_rights(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_capset, &header, none);
}

/* What the reader does, its memory and the reading of files that are open. Of the rest
 * nothing has an effect: no file can be opened, no process be reached. */
static const int allowed[] = {
	SYS_read,	    SYS_pread64,       SYS_readv,
	SYS_lseek,	    SYS_fstat,	       SYS_newfstatat,
	SYS_close,	    SYS_fcntl,	       SYS_mmap,
	SYS_munmap,	    SYS_mremap,	       SYS_mprotect,
	SYS_madvise,	    SYS_brk,	       SYS_futex,
	SYS_getrandom,	    SYS_recvmsg,       SYS_sendmsg,
	SYS_sendto,	    SYS_clock_gettime, SYS_rt_sigreturn,
	SYS_rt_sigprocmask, SYS_sched_yield,   SYS_exit,
	SYS_exit_group,	    SYS_sigaltstack, /* AddressSanitizer's before _exit */
};
enum { NALLOWED = sizeof(allowed) / sizeof(allowed[0]) };

/* newfstatat with a path could look at files, but tells nobody of them. */
static void allow_few_calls(void)
{
	struct sock_filter code[NALLOWED + 6], *p = code;
	struct sock_fprog program = {.filter = code};

	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    offsetof(struct seccomp_data, arch));
	*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
					    arch_native()->audit, 1, 0);
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    offsetof(struct seccomp_data, nr));
	for (int i = 0; i < NALLOWED; i++)
		*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						    (unsigned int)allowed[i],
						    (unsigned char)(NALLOWED - i), 0);
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1);
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)(p - code);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void symbols_confine(void)
{
	fail_quickly();
	limit_memory();
	set_limit(RLIMIT_CPU, CPU_SECONDS);
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, 0);
	drop_rights();
	allow_few_calls();
}
