/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of Intel's and AMD's PMU, and loops to try them with. Only conditional
 * branches are counted exactly: of most others, interrupts add to the count (rr's
 * src/PerfCounters.cc, from which the numbers are, too).
 */
#include "arch/pmu.h"

#include <cpuid.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/x86_64/x86_64.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/rights.h"

#define LOOP(name, code)                                                               \
	void x86_64_counter_##name(uint64_t turns);                                    \
	__asm__(".text\n.globl x86_64_counter_" #name "\n"                             \
		".type x86_64_counter_" #name ", @function\n"                          \
		"x86_64_counter_" #name ":\n" code ".size x86_64_counter_" #name       \
		", . - x86_64_counter_" #name "\n")

LOOP(branches, " int3\n"
	       "1: call 3f\n"
	       " test %rdi, %rdi\n"
	       " js 2f\n" /* never taken */
	       " jmp 2f\n"
	       " nop\n"
	       "2: dec %rdi\n"
	       " jnz 1b\n"
	       " xor %eax, %eax\n"
	       " int3\n"
	       " ret\n"
	       "3: ret\n");
LOOP(calls, " mov %rdi, %r8\n"
	    " int3\n"
	    "1: mov $39, %eax\n" /* getpid */
	    " syscall\n"
	    " dec %r8\n"
	    " jnz 1b\n"
	    " xor %eax, %eax\n"
	    " int3\n"
	    " ret\n");
LOOP(fault, " xor %eax, %eax\n"
	    " int3\n"
	    "1: dec %rdi\n"
	    " jnz 1b\n"
	    " mov (%rax), %rcx\n"
	    " ret\n");

/* By enum retired_event. */
static const struct counter_loop loops[] = {
	{"branches", x86_64_counter_branches, false, {7, 5, 2, 4}, {0}, {1, 0, 0, -1}},
	{"system calls", x86_64_counter_calls, false, {4, 1, 1, 1}, {0}, {1, 0, 0, -1}},
	{"a fault", x86_64_counter_fault, true, {2, 1, 1, 1}, {0}, {0, 0, 0, -1}},
};

enum vendor { INTEL, AMD, OTHER_VENDOR };

static enum vendor vendor(void)
{
	unsigned int eax, name[3];

	if (!__get_cpuid(0, &eax, &name[0], &name[2], &name[1]))
		return OTHER_VENDOR;
	if (memcmp(name, "GenuineIntel", sizeof(name)) == 0)
		return INTEL;
	return memcmp(name, "AuthenticAMD", sizeof(name)) == 0 ? AMD : OTHER_VENDOR;
}

static unsigned int raw(enum retired_event event, const struct counter_raw **ret)
{
	static const struct counter_raw intel[] = {
		{PERF_TYPE_RAW, 0x5111c4}, /* BR_INST_RETIRED.COND, from Ice Lake on */
		{PERF_TYPE_RAW, 0x5101c4}, /* ... before */
		{PERF_TYPE_RAW, 0x100005111c4}, /* Lunar Lake, Arrow Lake */
		{PERF_TYPE_RAW, 0x517ec4},	/* Silvermont to Tremont */
	};
	static const struct counter_raw amd[] = {
		{PERF_TYPE_RAW, 0x5100d1}, /* Zen */
	};
	const enum vendor who = vendor();

	*ret = who == INTEL ? intel : amd;
	if (event != RETIRED_CONDITIONAL || who == OTHER_VENDOR)
		return 0;
	return who == INTEL ? sizeof(intel) / sizeof(intel[0])
			    : sizeof(amd) / sizeof(amd[0]);
}

/* AMD's comes later even, at times: that is told then. */
static uint64_t skid(enum retired_event event)
{
	enum { INTELS = 125, OTHERS = 10000 };

	(void)event;
	return vendor() == INTEL ? INTELS : OTHERS;
}

/* ---- what loops cannot show ---- */

/* Since Comet Lake counters go on in system management mode, unless: */
static bool counts_smi(void)
{
	_cleanup_close_ int fd =
		open("/sys/devices/cpu/freeze_on_smi", O_RDONLY | O_CLOEXEC);
	char value;

	return fd >= 0 && read(fd, &value, 1) == 1 && value == '0';
}

static uint64_t locked;

/* Does it retire branches twice after locked accesses that it has done ahead of time?
 * Event 0x25, bit 3 (SpecLockMapCommit). */
static bool locks_ahead(void)
{
	RIGHTS_RAISED_IN_SCOPE;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.config = 0x510825,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	_cleanup_close_ int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
					      PERF_FLAG_FD_CLOEXEC);
	uint64_t count = 0;

	if (fd < 0)
		return false;
	__asm__ volatile("lock incq %0" : "+m"(locked));
	return read(fd, &count, sizeof(count)) == (ssize_t)sizeof(count) && count > 0;
}

static const char *why_not(void)
{
	if (vendor() == INTEL && counts_smi())
		return "it counts in system management mode, too (write 1 to "
		       "/sys/devices/cpu/freeze_on_smi)";
	if (vendor() == AMD && locks_ahead())
		return "it counts some branches twice, as SpecLockMap is not disabled "
		       "(rr's wiki says how, on its page Zen)";
	return NULL;
}

const struct counter_ops x86_64_counters = {
	.raw = raw,
	.skid = skid,
	.why_not = why_not,
	.loop = loops,
	.loops = sizeof(loops) / sizeof(loops[0]),
};
