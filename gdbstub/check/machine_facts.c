/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/machine_facts.h"

#include <stdlib.h>

static void tell_text(const char *text, struct fact_value *ret)
{
	ret->kind = FACT_TEXT;
	buffer_append_string(&ret->text, text);
}

static void tell_number(long number, struct fact_value *ret)
{
	ret->kind = FACT_NUMBER;
	ret->number = number;
}

static void tell_bool(bool is, struct fact_value *ret)
{
	ret->kind = FACT_BOOL;
	ret->number = is;
}

static void tell_setting(const struct setting *setting, const char *unknown,
			 struct fact_value *ret)
{
	if (setting->known)
		tell_number(setting->value, ret);
	else
		ret->note = unknown;
}

static void tell_capabilities(uint64_t set, struct fact_value *ret)
{
	const char *name;
	uint64_t bit;

	ret->kind = FACT_WORDS;
	for (unsigned int i = 0; machine_capability(i, &bit, &name); i++)
		if (set & bit)
			buffer_printf(&ret->text, "%s%s", ret->text.len > 0 ? " " : "",
				      name);
}

/* ---- the machine ---- */

static void tell_kernel(const struct findings *findings, struct fact_value *ret)
{
	tell_text(findings->machine.name.release, ret);
}

static void tell_architecture(const struct findings *findings, struct fact_value *ret)
{
	tell_text(findings->machine.name.machine, ret);
}

static void tell_lockdown(const struct findings *findings, struct fact_value *ret)
{
	if (findings->machine.lockdown[0] != '\0')
		tell_text(findings->machine.lockdown, ret);
	else
		ret->note = "there is no /sys/kernel/security/lockdown";
}

static void tell_paranoid(const struct findings *findings, struct fact_value *ret)
{
	tell_setting(&findings->machine.paranoid, "this kernel shows no such setting",
		     ret);
}

static void tell_bpf_disabled(const struct findings *findings, struct fact_value *ret)
{
	tell_setting(&findings->machine.bpf_disabled,
		     "this kernel shows no such setting", ret);
}

static void tell_ptrace_scope(const struct findings *findings, struct fact_value *ret)
{
	tell_setting(&findings->machine.ptrace_scope, "this kernel has no Yama", ret);
}

static void tell_proc_sys(const struct findings *findings, struct fact_value *ret)
{
	static const char *const words[] = {
		[PROC_SYS_WRITABLE] = "writable",
		[PROC_SYS_ROOTS] = "not writable for this user",
		[PROC_SYS_READ_ONLY] = "read-only",
		[PROC_SYS_ABSENT] = "absent",
	};

	tell_text(words[findings->machine.proc_sys], ret);
}

/* ---- the user ---- */

static void tell_uid(const struct findings *findings, struct fact_value *ret)
{
	tell_number((long)findings->machine.uid, ret);
}

static void tell_permitted(const struct findings *findings, struct fact_value *ret)
{
	tell_capabilities(findings->machine.permitted, ret);
}

static void tell_lent(const struct findings *findings, struct fact_value *ret)
{
	tell_capabilities(findings->machine.lent_by_file, ret);
}

static void tell_bounding(const struct findings *findings, struct fact_value *ret)
{
	tell_capabilities(findings->machine.bounding, ret);
}

static void tell_no_new_privs(const struct findings *findings, struct fact_value *ret)
{
	tell_bool(findings->machine.no_new_privs, ret);
	if (ret->number)
		ret->note = "what truehit's file lends is not had";
}

static void tell_nosuid(const struct findings *findings, struct fact_value *ret)
{
	tell_bool(findings->machine.nosuid, ret);
	if (ret->number)
		ret->note = "what truehit's file lends is not had";
}

static void tell_seccomp(const struct findings *findings, struct fact_value *ret)
{
	static const char *const words[] = {"none", "strict", "filter"};
	const long mode = findings->machine.seccomp;

	if (mode >= 0 && mode <= 2)
		tell_text(words[mode], ret);
	else
		ret->note = "the kernel does not tell";
}

static void tell_user_ns(const struct findings *findings, struct fact_value *ret)
{
	tell_bool(findings->machine.own_user_ns, ret);
	if (ret->number)
		ret->note = "no capability counts outside of it";
}

static void tell_pid_ns(const struct findings *findings, struct fact_value *ret)
{
	tell_bool(findings->machine.own_pid_ns, ret);
}

static void tell_container(const struct findings *findings, struct fact_value *ret)
{
	if (findings->machine.container[0] != '\0')
		tell_text(findings->machine.container, ret);
	else
		ret->note = "none is known of";
}

static void tell_attach(const struct findings *findings, struct fact_value *ret)
{
	tell_bool(!findings->no_attach, ret);
	if (findings->no_attach)
		ret->note = error_text(findings->no_attach);
}

static const struct fact all[] = {
	{FACT_MACHINE, "kernel", "Linux", tell_kernel},
	{FACT_MACHINE, "architecture", "architecture", tell_architecture},
	{FACT_MACHINE, "lockdown", "lockdown", tell_lockdown},
	{FACT_MACHINE, "perf_event_paranoid", "kernel.perf_event_paranoid",
	 tell_paranoid},
	{FACT_MACHINE, "unprivileged_bpf_disabled", "kernel.unprivileged_bpf_disabled",
	 tell_bpf_disabled},
	{FACT_MACHINE, "ptrace_scope", "kernel.yama.ptrace_scope", tell_ptrace_scope},
	{FACT_MACHINE, "proc_sys", "/proc/sys", tell_proc_sys},
	{FACT_USER, "uid", "user", tell_uid},
	{FACT_USER, "capabilities", "capabilities", tell_permitted},
	{FACT_USER, "file_capabilities", "... that the file lends", tell_lent},
	{FACT_USER, "bounding_capabilities", "... that can be had", tell_bounding},
	{FACT_USER, "no_new_privs", "no_new_privs", tell_no_new_privs},
	{FACT_USER, "nosuid", "file mounted nosuid", tell_nosuid},
	{FACT_USER, "seccomp", "seccomp", tell_seccomp},
	{FACT_USER, "user_namespace", "own user name space", tell_user_ns},
	{FACT_USER, "pid_namespace", "own PID name space", tell_pid_ns},
	{FACT_USER, "container", "container", tell_container},
	{FACT_USER, "attach", "attaching to others", tell_attach},
};

const struct fact *facts(unsigned int *count)
{
	*count = sizeof(all) / sizeof(*all);
	return all;
}

const char *fact_group_name(enum fact_group group)
{
	static const char *const names[FACT_GROUPS] = {
		[FACT_MACHINE] = "machine", [FACT_USER] = "user"};

	return names[group];
}
