/* SPDX-License-Identifier: BSD-2-Clause */
/* The events of Arm's PMU (Arm ARM, D13.12), and loops to try them with. */
#include "arch/pmu.h"

#include <asm/hwcap.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/auxv.h>

#include "arch/aarch64/aarch64.h"

#define LOOP(name, code)                                                               \
	void aarch64_counter_##name(uint64_t turns);                                   \
	__asm__(".text\n.globl aarch64_counter_" #name "\n"                            \
		".type aarch64_counter_" #name ", %function\n"                         \
		"aarch64_counter_" #name ":\n" code ".size aarch64_counter_" #name     \
		", . - aarch64_counter_" #name "\n")

LOOP(branches, " mov x9, x30\n"
	       " brk #0\n"
	       "1: bl 3f\n"
	       " tbnz x0, #63, 2f\n" /* never taken */
	       " b 2f\n"
	       " nop\n"
	       "2: subs x0, x0, #1\n"
	       " b.ne 1b\n"
	       " brk #0\n"
	       " ret x9\n"
	       "3: ret\n");
LOOP(calls, " mov x1, x0\n"
	    " mov w8, #172\n" /* getpid */
	    " brk #0\n"
	    "1: svc #0\n"
	    " subs x1, x1, #1\n"
	    " b.ne 1b\n"
	    " mov x0, #0\n"
	    " brk #0\n"
	    " ret\n");
/* An interrupt between the two makes a turn begin anew. */
LOOP(exclusives, " sub sp, sp, #16\n"
		 " mov x1, x0\n"
		 " mov x4, #0\n"
		 " brk #0\n"
		 "1: add x4, x4, #1\n"
		 " ldxr x2, [sp]\n"
		 " stxr w3, x2, [sp]\n"
		 " cbnz w3, 1b\n"
		 " subs x1, x1, #1\n"
		 " b.ne 1b\n"
		 " sub x0, x4, x0\n"
		 " brk #0\n"
		 " add sp, sp, #16\n"
		 " ret\n");
LOOP(fault, " mov x1, #0\n"
	    " brk #0\n"
	    "1: subs x0, x0, #1\n"
	    " b.ne 1b\n"
	    " ldr x2, [x1]\n"
	    " ret\n");

/* By enum retired_event. */
static const struct counter_loop loops[] = {
	{"branches", aarch64_counter_branches, false, {6, 5, 2, 4}, {0}, {0, 0, 0, -1}},
	{"system calls",
	 aarch64_counter_calls,
	 false,
	 {3, 1, 1, 1},
	 {0},
	 {1, 0, 0, -1}},
	{"exclusive accesses",
	 aarch64_counter_exclusives,
	 false,
	 {6, 2, 2, 1},
	 {4, 1, 1, 1},
	 {1, 0, 0, -1}},
	{"a fault", aarch64_counter_fault, true, {2, 1, 1, 1}, {0}, {0, 0, 0, -1}},
};

enum {
	INST_RETIRED = 0x08,
	PC_WRITE_RETIRED = 0x0c,
	BR_RETIRED = 0x21, /* of some processors, only those that are taken */
	APPLE_BRANCHES_TAKEN = 0x90,
};

static const struct counter_raw instructions[] = {{PERF_TYPE_HARDWARE,
						   PERF_COUNT_HW_INSTRUCTIONS},
						  {PERF_TYPE_RAW, INST_RETIRED}},
				branches[] = {{PERF_TYPE_RAW, BR_RETIRED},
					      {PERF_TYPE_HARDWARE,
					       PERF_COUNT_HW_BRANCH_INSTRUCTIONS}},
				taken[] = {{PERF_TYPE_RAW, BR_RETIRED},
					   {PERF_TYPE_RAW, PC_WRITE_RETIRED},
					   {PERF_TYPE_RAW, APPLE_BRANCHES_TAKEN}};

/* None counts conditional ones alone. */
static const struct {
	const struct counter_raw *raw;
	unsigned int count;
} raw_events[RETIRED_EVENTS] = {
	[RETIRED_INSTRUCTIONS] = {instructions, 2},
	[RETIRED_BRANCHES] = {branches, 2},
	[RETIRED_TAKEN] = {taken, 3},
};

static unsigned int raw(enum retired_event event, const struct counter_raw **ret)
{
	*ret = raw_events[event].raw;
	return raw_events[event].count;
}

/* ---- how late its interrupt comes ---- */

/* Implementer and part of MIDR_EL1, of which each has a margin of 1,000 branches in rr
 * (src/PerfCounters.cc, pmu_configs). */
static const struct {
	uint8_t implementer;
	uint16_t part;
} quick[] = {
	{0x41, 0xd0c}, /* Neoverse N1 */
	{0x41, 0xd49}, /* N2 */
	{0x41, 0xd8e}, /* N3 */
	{0x41, 0xd40}, /* V1 */
	{0x41, 0xd4f}, /* V2 */
	{0x41, 0xd83}, /* V3AE */
	{0x41, 0xd84}, /* V3 */
	{0xc0, 0xac3}, /* AmpereOne */
};

static bool is_quick(void)
{
	uint64_t midr;

	if (!(getauxval(AT_HWCAP) & HWCAP_CPUID))
		return false;
	__asm__("mrs %0, midr_el1" : "=r"(midr));
	for (size_t i = 0; i < sizeof(quick) / sizeof(quick[0]); i++)
		if (midr >> 24 == quick[i].implementer &&
		    (midr >> 4 & 0xfff) == quick[i].part)
			return true;
	return false;
}

/* A program has some instructions between two branches. */
static uint64_t skid(enum retired_event event)
{
	enum { QUICK = 1000, OTHERS = 10000, INSTRUCTIONS = 8 };
	const uint64_t branches_late = is_quick() ? QUICK : OTHERS;

	return event == RETIRED_INSTRUCTIONS ? INSTRUCTIONS * branches_late
					     : branches_late;
}

static const char *why_not(void)
{
	return NULL;
}

const struct counter_ops aarch64_counters = {
	.raw = raw,
	.skid = skid,
	.why_not = why_not,
	.loop = loops,
	.loops = sizeof(loops) / sizeof(loops[0]),
};
