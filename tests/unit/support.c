/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/kernel/hw_event.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/proc.h"

/* ---- rights ---- */

void skip_unless(struct error *error)
{
	if (error && (error_errno(error) == EPERM || error_errno(error) == EACCES))
		cr_skip_test("%s", error_text(error));
	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

void keep_rights(uint64_t capabilities)
{
	const uint32_t low = (uint32_t)capabilities, high = capabilities >> 32;
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {
		{.effective = low, .permitted = low},
		{.effective = high, .permitted = high},
	};

	cr_assert_eq(syscall(SYS_capset, &header, data), 0);
}

/* ---- the machine ---- */

bool is_emulated(void)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "QEMU TCG CPU"))
			return true;
	return false;
}

void need_steps_over_watched(void)
{
	if (is_emulated())
		cr_skip_test("QEMU hangs at a step that hits a watchpoint");
}

void need_breakpoint_registers(void)
{
	if (!hw_event_fires())
		cr_skip_test("breakpoint registers do not fire on this machine");
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code != TRAP_BRKPT)
		signal(number, SIG_DFL);
}

void survive_unexplained_traps(void)
{
	const struct sigaction action = {.sa_sigaction = on_trap,
					 .sa_flags = SA_SIGINFO};

	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
}

/* ---- programs ---- */

void no_record(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	(void)record;
}

void start_programs(struct bpf_kernel *kernel, struct programs *programs,
		    bpf_record_fn *on_record, void *data)
{
	skip_unless(arch_native()->init());
	skip_unless(bpf_kernel_init(kernel, on_record, data));
	programs_init(programs, kernel, arch_native(), false);
}

/* ---- uprobes ---- */

int load_for_uprobe(const struct uprobe_options *options, const struct bpf_insn *insns,
		    size_t count)
{
	int fd = bpf_kernel_load(uprobe_kind(options), insns, count, NULL, 0);

	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	return fd;
}

struct error *find_target(pid_t pid, const void *addr, unsigned int len,
			  struct uprobe_target *target)
{
	_cleanup_(uprobe_file_deinit) struct uprobe_file file = {0};
	_cleanup_close_ int memory = proc_open_memory(pid);
	struct inferiors nobody;
	struct inferior inferior = {
		.pid = pid, .arch = arch_native(), .owner = &nobody, .mem_fd = memory};

	inferiors_init(&nobody);
	return uprobe_target_find(&inferior, (uintptr_t)addr, len, &file, target);
}

/* Links to several uprobes came with Linux 6.6. */
static void need_links(const struct uprobe_options *options)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	_cleanup_close_ int program =
		load_for_uprobe(options, nothing, sizeof(nothing) / sizeof(*nothing));
	const struct probe_place *place = &arch_native()->probe_places[0];
	struct uprobe_target target;
	int fd;

	skip_unless(find_target(getpid(), (void *)(uintptr_t)place->function,
				place->len, &target));
	fd = uprobe_event_open(options, &target, getpid(), program);
	uprobe_target_deinit(&target);
	if (fd == -EINVAL)
		cr_skip_test("the kernel has no links to several uprobes");
	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	close(fd);
}

struct uprobe_options use_uprobes(bool multi)
{
	struct uprobe_options options = {.multi = multi};

	skip_unless(arch_native()->init());
	if (!arch_native()->probe_places)
		cr_skip_test("no uprobes on %s", arch_native()->name);
	if (geteuid() != 0)
		cr_skip_test("needs root");
	if (!multi) {
		cr_assert_geq(uprobe_perf_type(), 0);
		options.perf_type = (uint32_t)uprobe_perf_type();
	}
	if (multi)
		need_links(&options);
	return options;
}

bool is_trapped(const void *addr)
{
	return memcmp(addr, arch_native()->breakpoint_insn,
		      arch_native()->breakpoint_len) == 0;
}
