/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/aarch64/aarch64.h"

#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "arch/capstone.h"

/* brk #0, little-endian as all instructions are. The PC stays at it. */
static const uint8_t breakpoint[] = {0x00, 0x00, 0x20, 0xd4};

static const uint16_t expedited[] = {AARCH64_X29, AARCH64_SP, AARCH64_PC};

static const uint16_t syscall_arguments[SYSCALL_ARGUMENTS] = {0, 1, 2, 3, 4, 5};

static const uint8_t svc[] = {0x01, 0x00, 0x00, 0xd4}; /* svc #0 */

static const uint8_t ret[] = {0xc0, 0x03, 0x5f, 0xd6};

static const struct hit_step hit_step = {
	.flags_reg = AARCH64_CPSR,
	.flag = UINT64_C(1) << 21, /* SS */
	.insn = ret,
	.insn_len = sizeof(ret),
	.link_reg = AARCH64_X30,
};

/* compat_elf_gregset_t (kernel, arch/arm64/include/asm/elf.h): r0 to r15, cpsr, r0 as
 * it was at the system call. */
static const struct compat_mode arm = {
	.regset_size = 72,
	.pc_offset = 60,
	.pc_number = 15,
	.triple = "arm-unknown-linux-gnueabihf",
};

static const struct reg_name lldb_names[] = {{NULL, NULL}};

static int syscall_number(pid_t tid, int *number)
{
	struct iovec io = {number, sizeof(*number)};

	return ptrace(PTRACE_GETREGSET, tid, (void *)NT_ARM_SYSTEM_CALL, &io) < 0
		       ? -errno
		       : 0;
}

static struct error *init(void)
{
	aarch64_registers_init();
	aarch64_debugreg_init();
	return NULL;
}

static const struct arch_ops aarch64 = {
	.name = "aarch64",
	.triple = "aarch64-unknown-linux-gnu",
	.audit = AUDIT_ARCH_AARCH64,
	.regsets = aarch64_regsets,
	.nregsets = AARCH64_NREGSETS,
	.pc_reg = AARCH64_PC,
	.sp_reg = AARCH64_SP,
	.compat = &arm,
	.basic_regs = AARCH64_FPCR + 1,
	.expedited = expedited,
	.nexpedited = sizeof(expedited) / sizeof(expedited[0]),
	.bpf_user_mode = &aarch64_user_mode,
	.bpf_flags_offset = offsetof(struct user_pt_regs, pstate),
	.bpf_context_words = sizeof(struct user_regs_struct) / 8,
	.breakpoint_insn = breakpoint,
	.breakpoint_len = sizeof(breakpoint),
	.breakpoint_pc_advance = 0,
	.breakpoint_si_code = TRAP_BRKPT,
	.sequence = {0x3fc00000, 0x08400000}, /* ldxr, ldaxr, ldxp, ldaxp */
	.syscall_insn = svc,
	.syscall_len = sizeof(svc),
	.syscall_step_is_user = true,
	.syscall_arguments = syscall_arguments,
	.syscall_number_reg = 8,
	.syscall_result_reg = 0,
	.syscall_restart_reg = REG_NONE,
	.init = init,
	.registers = aarch64_registers,
	.target_xml = aarch64_target_xml,
	.lldb_names = lldb_names,
	.reg_read = aarch64_reg_read,
	.reg_write = aarch64_reg_write,
	.thread_pointer = "tpidr",
	.tls_above_pointer = true,
	.thread_area = aarch64_thread_area,
	.memory_tags = aarch64_memory_tags,
	.hw_slots = aarch64_hw_slots,
	.hw_plan = aarch64_hw_plan,
	.hw_perf_attr = aarch64_hw_perf_attr,
	.debugreg_set = aarch64_debugreg_set,
	.capstone_arch = CS_ARCH_ARM64,
	.debugreg_hits_repeat = true,
	.debugreg_hits = aarch64_debugreg_hits,
	.branch = aarch64_branch_at,
	.counters = &aarch64_counters,
	.stores = &aarch64_stores,
	.displaced = &aarch64_displaced,
	.native = &aarch64_native,
	.hit_step = &hit_step,
	.syscall_number = syscall_number,
};

const struct arch_ops *arch_native(void)
{
	return &aarch64;
}
