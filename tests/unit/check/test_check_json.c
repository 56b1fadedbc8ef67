/* SPDX-License-Identifier: BSD-2-Clause */
/* What scripts read. */
#include "gdbstub/check/check_json.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>
#include <string.h>

static struct findings findings;

static void begin(void)
{
	findings = (struct findings){
		.machine = {.file = "/bin/truehit", .uid = 7, .seccomp = -1},
		.pool = {{"all", 4, -1}},
		.pools = 1,
	};
	for (int i = 0; i < FOUND_WAYS; i++)
		findings.way[i] = (struct way_finding){.name = "a way",
						       .decides = "kernel",
						       .false_hit_ns = -1,
						       .stepped_ns = -1};
	for (int i = 0; i < EVENT_COUNTS; i++)
		findings.count[i] = (struct event_count){.name = "cycles",
							 .verdict = COUNT_UNKNOWN};
}

static void end(void)
{
	for (int i = 0; i < FOUND_WAYS; i++)
		error_destroy(findings.way[i].unusable);
}

TestSuite(check_json, .init = begin, .fini = end);

static void expect(const char *part)
{
	_cleanup_buffer_ struct buffer out = {0};

	check_print_json(&findings, 0, &out);
	cr_expect_not_null(strstr(buffer_string(&out), part), "%s: %s", part,
			   buffer_string(&out));
}

Test(check_json, what_is_not_known_is_null)
{
	expect("\"lockdown\": null");
	expect("\"perf_event_paranoid\": null");
	expect("\"seccomp\": null");
	expect("\"container\": null");
	expect("\"free\": null");
	expect("\"exact\": null");
	expect("\"false_hit_ns\": null");
}

Test(check_json, lists)
{
	expect("\"capabilities\": []");
	findings.machine.permitted = UINT64_MAX;
	expect("\"capabilities\": [\"cap_bpf\", \"cap_perfmon\", \"cap_sys_ptrace\", "
	       "\"cap_sys_admin\", \"cap_checkpoint_restore\"]");
}

/* JSON has a point, whatever people use. */
Test(check_json, fractions)
{
	setlocale(LC_ALL, "de_DE.UTF-8");
	findings.way[FOUND_PAD].false_hit_ns = 2.25;
	expect("\"false_hit_ns\": 2.3,");
	findings.way[FOUND_PAD].false_hit_ns = 0;
	expect("\"false_hit_ns\": 0.0,");
}

Test(check_json, words_of_the_kernel)
{
	findings.way[FOUND_UPROBE].unusable =
		error_create(0, "\"here\"\\\n\x01 \xff \xc3\xa4");
	expect("\"why_not\": \"\\\"here\\\"\\\\\\u000a\\u0001 ? \xc3\xa4\"");
}

Test(check_json, who_decides)
{
	expect("\"breakpoints\": [\"program\", \"kernel\", \"server\"]");
	expect("\"hardware_breakpoints\": \"kernel\"");
	findings.way[FOUND_PERF_EVENT].unusable = error_create(0, "no");
	findings.way[FOUND_UPROBE].unusable = error_create(0, "no");
	expect("\"breakpoints\": [\"program\", \"server\"]");
	expect("\"hardware_breakpoints\": \"server\"");
	findings.way[FOUND_DEBUGREG].unusable = error_create(0, "no");
	expect("\"hardware_breakpoints\": null");
}
