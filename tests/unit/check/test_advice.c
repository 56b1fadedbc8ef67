/* SPDX-License-Identifier: BSD-2-Clause */
/* Which lines are told to whom. */
#include "gdbstub/check/advice.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#define BIT(capability) (UINT64_C(1) << (capability))

static const uint64_t needed = BIT(CAP_BPF) | BIT(CAP_PERFMON);
static struct findings findings;
static struct machine *const machine = &findings.machine;

static void refuse(enum found_way way, int err)
{
	error_destroy(findings.way[way].unusable);
	findings.way[way].unusable = error_create(err, "refused");
}

/* An ordinary user, to whom nothing was given. */
static void begin(void)
{
	findings = (struct findings){
		.machine = {.uid = 1000,
			    .bounding = UINT64_MAX,
			    .paranoid = {.known = true, .value = 2},
			    .lockdown = "none",
			    .file = "/bin/truehit"},
	};
	refuse(FOUND_UPROBE, EPERM);
	refuse(FOUND_PERF_EVENT, EPERM);
}

static void end(void)
{
	for (int i = 0; i < FOUND_WAYS; i++)
		error_destroy(findings.way[i].unusable);
	error_destroy(findings.no_attach);
}

TestSuite(advice, .init = begin, .fini = end);

/* "NAME: LINE (WHERE)", one each. */
static void expect(const char *wanted)
{
	_cleanup_buffer_ struct buffer told = {0}, line = {0};
	struct advice advice;

	for (unsigned int i = 0; advice_find(&findings, i, &line, &advice); i++)
		buffer_printf(&told, "%s: %s (%s)\n", advice.name, advice.line,
			      advice.where);
	cr_expect_str_eq(buffer_string(&told), wanted);
}

static void be_given(uint64_t capabilities)
{
	machine->permitted = capabilities;
	machine->lent_by_file = capabilities;
}

static void be_roots_container(const char *name)
{
	machine->uid = 0;
	machine->own_pid_ns = true;
	strcpy(machine->container, name);
}

static void refuse_to_attach(bool yama, long scope)
{
	be_given(BIT(CAP_SYS_ADMIN));
	findings.no_attach = error_create(EPERM, "refused");
	machine->ptrace_scope = (struct setting){.known = yama, .value = scope};
}

Test(advice, nothing_is_refused)
{
	for (int way = FOUND_UPROBE; way <= FOUND_PERF_EVENT; way++) {
		error_destroy(findings.way[way].unusable);
		findings.way[way].unusable = NULL;
	}
	expect("");
}

/* What rights do not change needs none. */
Test(advice, it_does_not_work_for_anybody)
{
	refuse(FOUND_UPROBE, 0);
	refuse(FOUND_PERF_EVENT, ENOSPC);
	expect("");
}

Test(advice, file_capabilities)
{
	expect("setcap: setcap cap_bpf,cap_perfmon+ep /bin/truehit (as root)\n");
}

Test(advice, half_of_them)
{
	be_given(BIT(CAP_BPF));
	expect("setcap: setcap cap_bpf,cap_perfmon+ep /bin/truehit (as root)\n");
}

Test(advice, where_no_file_lends_any)
{
	machine->nosuid = true;
	expect("install: install -m 755 /bin/truehit /usr/local/bin/truehit (as root)\n"
	       "setcap: setcap cap_bpf,cap_perfmon+ep /usr/local/bin/truehit (as "
	       "root)\n");
}

Test(advice, what_the_file_lends_is_not_had)
{
	machine->lent_by_file = needed;
	machine->no_new_privs = true;
	expect("no_new_privs: NoNewPrivileges=no (in the unit of the service, if "
	       "systemd has started it)\n");
	machine->own_pid_ns = true;
	expect("no_new_privs: docker run --security-opt=no-new-privileges=false ... "
	       "(on the host, to start the container)\n");
}

Test(advice, paranoid_kernels)
{
	machine->paranoid.value = 3;
	be_given(needed);
	expect("perf_event_paranoid: sysctl kernel.perf_event_paranoid=2 (as root)\n");
	machine->own_pid_ns = true;
	expect("perf_event_paranoid: sysctl kernel.perf_event_paranoid=2 (as root on "
	       "the host)\n");
	machine->permitted = BIT(CAP_SYS_ADMIN);
	machine->own_pid_ns = false;
	machine->uid = 0;
	expect("");
}

/* Counters are kept from a user to whom the rest is given. */
Test(advice, counters)
{
	machine->paranoid.value = 3;
	refuse(FOUND_UPROBE, 0);
	refuse(FOUND_PERF_EVENT, 0);
	expect("");
	findings.count[0].err = -EACCES;
	expect("perf_event_paranoid: sysctl kernel.perf_event_paranoid=2 (as root)\n");
}

Test(advice, containers_of_root)
{
	be_roots_container("podman");
	machine->bounding = BIT(CAP_BPF);
	expect("bounding_capabilities: podman run --cap-add=BPF --cap-add=PERFMON ... "
	       "(on the host, to start the container)\n");
	strcpy(machine->container, "docker");
	expect("bounding_capabilities: docker run --cap-add=BPF --cap-add=PERFMON ... "
	       "(on the host, to start the container)\n");
	machine->bounding = machine->permitted = needed;
	machine->seccomp = 2;
	expect("seccomp: docker run --security-opt=seccomp=unconfined ... (on the "
	       "host, to start the container)\n");
}

/* No capability of theirs counts. */
Test(advice, user_name_spaces)
{
	machine->own_user_ns = true;
	machine->uid = 0;
	machine->permitted = UINT64_MAX;
	machine->seccomp = 2;
	expect("user_namespace: /bin/truehit (as root, outside of the user name "
	       "space)\n");
	strcpy(machine->container, "podman");
	expect("user_namespace: sudo podman run --cap-add=BPF --cap-add=PERFMON ... "
	       "(on the host, to start the container as root)\n");
}

Test(advice, services)
{
	machine->bounding = 0;
	machine->uid = 0;
	expect("bounding_capabilities: CapabilityBoundingSet=CAP_BPF CAP_PERFMON (in "
	       "the unit of the service, if systemd has started it)\n");
}

Test(advice, lockdown)
{
	machine->uid = 0;
	be_given(UINT64_MAX);
	strcpy(machine->lockdown, "confidentiality");
	expect("lockdown: lockdown=integrity (on the kernel's command line)\n");
	strcpy(machine->lockdown, "integrity");
	expect("");
}

/* Uprobes were only root's once. */
Test(advice, all_was_given)
{
	be_given(needed);
	expect("root: sudo /bin/truehit (in a shell)\n");
}

Test(advice, yama)
{
	refuse_to_attach(true, 1);
	machine->uid = 0;
	expect("ptrace_scope: sysctl kernel.yama.ptrace_scope=0 (as root)\n");
	machine->ptrace_scope.value = 3;
	expect("ptrace_scope_at_boot: kernel.yama.ptrace_scope=0 (as root in a file of "
	       "/etc/sysctl.d, and boot)\n");
}

Test(advice, attaching_in_a_container)
{
	refuse_to_attach(false, 0);
	machine->uid = 0;
	expect("");
	be_roots_container("docker");
	expect("sys_ptrace: docker run --cap-add=SYS_PTRACE ... (on the host, to start "
	       "the container)\n");
}
