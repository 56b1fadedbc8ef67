/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/advice.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#define BIT(capability) (UINT64_C(1) << (capability))

static const uint64_t needed = BIT(CAP_BPF) | BIT(CAP_PERFMON);
static const char installed[] = "/usr/local/bin/truehit";

/* ---- what is the case ---- */

static bool is_refused(const struct way_finding *way)
{
	const int err = way->unusable ? error_errno(way->unusable) : 0;

	return err == EPERM || err == EACCES;
}

/* Are ways that the kernel decides by refused to this user? */
static bool any_refused(const struct findings *findings)
{
	return is_refused(&findings->way[FOUND_UPROBE]) ||
	       is_refused(&findings->way[FOUND_PERF_EVENT]);
}

static bool are_counters_refused(const struct findings *findings)
{
	return findings->count[0].err == -EACCES || findings->count[0].err == -EPERM;
}

static bool has(uint64_t set, uint64_t wanted)
{
	return set & BIT(CAP_SYS_ADMIN) || (set & wanted) == wanted;
}

/* ... and would what a file or a container lends be of use? The kernel asks for
 * capabilities of its own first user name space. */
static bool lacks_rights(const struct findings *findings)
{
	const struct machine *machine = &findings->machine;

	return any_refused(findings) && !machine->own_user_ns &&
	       !has(machine->permitted, needed);
}

static bool is_refused_in_spite(const struct findings *findings)
{
	const struct machine *machine = &findings->machine;

	return any_refused(findings) && !machine->own_user_ns &&
	       has(machine->permitted, needed);
}

/* Kernels of distributions know values above 2: capabilities other than CAP_SYS_ADMIN
 * open no event then. */
static bool is_paranoid(const struct findings *findings)
{
	const struct machine *machine = &findings->machine;

	return machine->paranoid.known && machine->paranoid.value > 2 &&
	       !(machine->permitted & BIT(CAP_SYS_ADMIN)) && !machine->own_user_ns;
}

static bool is_locked(const struct findings *findings)
{
	return strcmp(findings->machine.lockdown, "confidentiality") == 0;
}

static bool may_lend(const struct findings *findings)
{
	return lacks_rights(findings) && findings->machine.uid != 0;
}

static long ptrace_scope(const struct findings *findings)
{
	const struct setting *scope = &findings->machine.ptrace_scope;

	return findings->no_attach && scope->known ? scope->value : 0;
}

/* ---- when ---- */

static bool needs_other_user_ns(const struct findings *findings)
{
	return any_refused(findings) && findings->machine.own_user_ns;
}

static bool needs_bounding(const struct findings *findings)
{
	return lacks_rights(findings) && !has(findings->machine.bounding, needed);
}

static bool needs_new_privs(const struct findings *findings)
{
	return may_lend(findings) && findings->machine.no_new_privs;
}

static bool needs_suid(const struct findings *findings)
{
	return may_lend(findings) && findings->machine.nosuid;
}

static bool needs_setcap(const struct findings *findings)
{
	return may_lend(findings) && (findings->machine.nosuid ||
				      !has(findings->machine.lent_by_file, needed));
}

static bool needs_paranoid(const struct findings *findings)
{
	return is_paranoid(findings) &&
	       (any_refused(findings) || are_counters_refused(findings));
}

static bool needs_lockdown(const struct findings *findings)
{
	return any_refused(findings) && is_locked(findings);
}

static bool needs_seccomp(const struct findings *findings)
{
	return is_refused_in_spite(findings) && findings->machine.seccomp > 0 &&
	       !is_locked(findings) && !is_paranoid(findings);
}

/* Uprobes before Linux 6.6. */
static bool needs_root(const struct findings *findings)
{
	return is_refused_in_spite(findings) && findings->machine.uid != 0 &&
	       findings->machine.seccomp <= 0 && !is_locked(findings) &&
	       !is_paranoid(findings);
}

static bool needs_ptrace_scope(const struct findings *findings)
{
	return ptrace_scope(findings) == 1 || ptrace_scope(findings) == 2;
}

static bool needs_boot_scope(const struct findings *findings)
{
	return ptrace_scope(findings) > 2;
}

static bool needs_ptrace(const struct findings *findings)
{
	return findings->no_attach && ptrace_scope(findings) == 0 &&
	       machine_is_contained(&findings->machine);
}

/* ---- what ---- */

/* An option of what starts containers. */
static void print_run(const struct machine *machine, const char *options,
		      struct buffer *out)
{
	buffer_printf(out, "%s run %s ...",
		      strcmp(machine->container, "podman") == 0 ? "podman" : "docker",
		      options);
}

static void print_first_user_ns(const struct findings *findings, struct buffer *out)
{
	const struct machine *machine = &findings->machine;

	if (machine->container[0] == '\0') {
		buffer_append_string(out, machine->file);
		return;
	}
	buffer_append_string(out, "sudo ");
	print_run(machine, "--cap-add=BPF --cap-add=PERFMON", out);
}

static void print_bounding(const struct findings *findings, struct buffer *out)
{
	if (machine_is_contained(&findings->machine))
		print_run(&findings->machine, "--cap-add=BPF --cap-add=PERFMON", out);
	else
		buffer_append_string(out, "CapabilityBoundingSet=CAP_BPF CAP_PERFMON");
}

static void print_new_privs(const struct findings *findings, struct buffer *out)
{
	if (machine_is_contained(&findings->machine))
		print_run(&findings->machine, "--security-opt=no-new-privileges=false",
			  out);
	else
		buffer_append_string(out, "NoNewPrivileges=no");
}

static void print_install(const struct findings *findings, struct buffer *out)
{
	buffer_printf(out, "install -m 755 %s %s", findings->machine.file, installed);
}

static void print_setcap(const struct findings *findings, struct buffer *out)
{
	buffer_printf(out, "setcap cap_bpf,cap_perfmon+ep %s",
		      findings->machine.nosuid ? installed : findings->machine.file);
}

static void print_paranoid(const struct findings *findings, struct buffer *out)
{
	(void)findings;
	buffer_append_string(out, "sysctl kernel.perf_event_paranoid=2");
}

static void print_lockdown(const struct findings *findings, struct buffer *out)
{
	(void)findings;
	buffer_append_string(out, "lockdown=integrity");
}

static void print_seccomp(const struct findings *findings, struct buffer *out)
{
	if (machine_is_contained(&findings->machine))
		print_run(&findings->machine, "--security-opt=seccomp=unconfined", out);
	else
		buffer_append_string(out, "SystemCallFilter=@system-service @debug bpf "
					  "perf_event_open");
}

static void print_root(const struct findings *findings, struct buffer *out)
{
	buffer_printf(out, "sudo %s", findings->machine.file);
}

static void print_ptrace_scope(const struct findings *findings, struct buffer *out)
{
	(void)findings;
	buffer_append_string(out, "sysctl kernel.yama.ptrace_scope=0");
}

static void print_boot_scope(const struct findings *findings, struct buffer *out)
{
	(void)findings;
	buffer_append_string(out, "kernel.yama.ptrace_scope=0");
}

static void print_ptrace(const struct findings *findings, struct buffer *out)
{
	print_run(&findings->machine, "--cap-add=SYS_PTRACE", out);
}

/* ---- where ---- */

static const char *as_root(const struct findings *findings)
{
	(void)findings;
	return "as root";
}

/* A setting of the kernel's is the whole machine's. */
static const char *on_host(const struct findings *findings)
{
	return machine_is_contained(&findings->machine) ? "as root on the host"
							: "as root";
}

static const char *outside(const struct findings *findings)
{
	return findings->machine.container[0] != '\0'
		       ? "on the host, to start the container as root"
		       : "as root, outside of the user name space";
}

static const char *at_start(const struct findings *findings)
{
	return machine_is_contained(&findings->machine)
		       ? "on the host, to start the container"
		       : "in the unit of the service, if systemd has started it";
}

static const char *at_boot(const struct findings *findings)
{
	(void)findings;
	return "on the kernel's command line";
}

static const char *in_sysctl_d(const struct findings *findings)
{
	(void)findings;
	return "as root in a file of /etc/sysctl.d, and boot";
}

static const char *by_sudo(const struct findings *findings)
{
	(void)findings;
	return "in a shell";
}

static const char in_kernel[] =
	"the kernel decides conditions (README, Rights: whom to give that)";
static const char counted[] = "perf events, for conditions in the kernel and counters";
static const char attached[] = "attaching to processes that truehit has not started";

static const struct {
	const char *name;
	bool (*applies)(const struct findings *findings);
	void (*print)(const struct findings *findings, struct buffer *out);
	const char *(*where)(const struct findings *findings);
	const char *gain;
} rows[] = {
	{"user_namespace", needs_other_user_ns, print_first_user_ns, outside,
	 in_kernel},
	{"bounding_capabilities", needs_bounding, print_bounding, at_start, in_kernel},
	{"no_new_privs", needs_new_privs, print_new_privs, at_start, in_kernel},
	{"install", needs_suid, print_install, as_root, in_kernel},
	{"setcap", needs_setcap, print_setcap, as_root, in_kernel},
	{"perf_event_paranoid", needs_paranoid, print_paranoid, on_host, counted},
	{"lockdown", needs_lockdown, print_lockdown, at_boot, in_kernel},
	{"seccomp", needs_seccomp, print_seccomp, at_start, in_kernel},
	{"root", needs_root, print_root, by_sudo, in_kernel},
	{"ptrace_scope", needs_ptrace_scope, print_ptrace_scope, on_host, attached},
	{"ptrace_scope_at_boot", needs_boot_scope, print_boot_scope, in_sysctl_d,
	 attached},
	{"sys_ptrace", needs_ptrace, print_ptrace, at_start, attached},
};

bool advice_find(const struct findings *findings, unsigned int index,
		 struct buffer *line, struct advice *ret)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!rows[i].applies(findings) || index-- > 0)
			continue;
		buffer_reset(line);
		rows[i].print(findings, line);
		*ret = (struct advice){.name = rows[i].name,
				       .line = buffer_string(line),
				       .where = rows[i].where(findings),
				       .gain = rows[i].gain};
		return true;
	}
	return false;
}
