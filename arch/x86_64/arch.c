/* SPDX-License-Identifier: BSD-2-Clause */
#include "arch/x86_64/x86_64.h"

#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "arch/capstone.h"

static const uint8_t int3[] = {0xcc};
/* UDB, which was always undefined in 64-bit mode, and is so for good by now (Linux uses
 * it itself: arch/x86, "Use UDB instead of 0xEA"). INT1 would raise a SIGTRAP, but one
 * that looks as debug exceptions without a reason do, and stops emulated machines. */
static const uint8_t udb[] = {0xd6};
static const uint8_t syscall_insn[] = {0x0f, 0x05};

static const uint16_t expedited[] = {X86_64_RBP, X86_64_RSP, X86_64_RIP};

static const uint16_t syscall_arguments[SYSCALL_ARGUMENTS] = {
	X86_64_RDI, X86_64_RSI, X86_64_RDX, X86_64_R10, X86_64_R8, X86_64_R9};

static const struct status_word shadow_stack = {"x86_Thread_features", "shstk"};
/* Of linear address masking, LAM_U48 is the form that ignores the most. */
static const struct address_tags address_tags = {"untag_mask", 48};

/*
 * The kernel's last page, which it never maps, as the addresses there are its errors
 * (include/linux/err.h). Canonical: the way back to user mode does not trip over it,
 * with any number of page table levels.
 */
static const uint64_t nowhere = -UINT64_C(4096);

/* struct user_regs_struct32 (kernel, arch/x86/include/asm/user32.h): 17 words, eip the
 * 13th. gdb's numbers begin with eax to edi. */
static const struct compat_mode i386 = {
	.regset_size = 68,
	.pc_offset = 48,
	.pc_number = 8,
	.triple = "i386-pc-linux-gnu",
};

static const struct reg_name lldb_names[] = {{"eflags", "rflags"}, {NULL, NULL}};

static int syscall_number(pid_t tid, int *number)
{
	long value;

	errno = 0;
	value = ptrace(PTRACE_PEEKUSER, tid,
		       (void *)offsetof(struct user_regs_struct, orig_rax), NULL);
	if (errno != 0)
		return -errno;
	*number = (int)value;
	return 0;
}

static const struct arch_ops x86_64 = {
	.name = "x86_64",
	.triple = "x86_64-pc-linux-gnu",
	.audit = AUDIT_ARCH_X86_64,
	.regsets = x86_64_regsets,
	.nregsets = X86_64_NREGSETS,
	.pc_reg = X86_64_RIP,
	.sp_reg = X86_64_RSP,
	.pc_in_user = offsetof(struct user, regs.rip),
	.compat = &i386,
	.basic_regs = X86_64_GS_BASE + 1,
	.expedited = expedited,
	.nexpedited = sizeof(expedited) / sizeof(expedited[0]),
	.bpf_user_mode = &x86_64_user_mode,
	.bpf_flags_offset = offsetof(struct user_regs_struct, eflags),
	.bpf_context_words = offsetof(struct user_regs_struct, fs_base) / 8,
	.breakpoint_insn = int3,
	.breakpoint_len = sizeof(int3),
	.breakpoint_pc_advance = sizeof(int3),
	.breakpoint_si_code = SI_KERNEL, /* traps.c, do_int3; uprobes.c, handle_swbp */
	.distinct_trap = udb,
	.distinct_signal = SIGILL,
	.distinct_si_code = ILL_ILLOPN, /* traps.c, handle_invalid_op */
	.syscall_insn = syscall_insn,
	.syscall_len = sizeof(syscall_insn),
	.syscall_arguments = syscall_arguments,
	.syscall_number_reg = X86_64_RAX,
	.syscall_result_reg = X86_64_RAX,
	.syscall_restart_reg = X86_64_ORIG_RAX,
	.probe_places = x86_64_probe_places,
	.nowhere = nowhere,
	.init = x86_64_init,
	.registers = x86_64_registers,
	.target_xml = x86_64_target_xml,
	.lldb_names = lldb_names,
	.reg_read = x86_64_reg_read,
	.reg_write = x86_64_reg_write,
	.thread_pointer = "fs_base",
	.tls_above_pointer = false,
	.thread_area = x86_64_thread_area,
	.accesses = x86_64_accesses,
	.undo = x86_64_undo,
	.branch = x86_64_branch_at,
	.counters = &x86_64_counters,
	.displaced = &x86_64_displaced,
	.native = &x86_64_native,
	.frame_pointer_dwarf = 6,
	.shadow_stack = &shadow_stack,
	.address_tags = &address_tags,
	.capstone_arch = CS_ARCH_X86,
	.capstone_mode = CS_MODE_64,
	.hw_slots = x86_64_hw_slots,
	.hw_plan = x86_64_hw_plan,
	.hw_perf_attr = x86_64_hw_perf_attr,
	.debugreg_set = x86_64_debugreg_set,
	.debugreg_hits = x86_64_debugreg_hits,
	.trap_is_own = x86_64_trap_is_own,
	.syscall_number = syscall_number,
};

const struct arch_ops *arch_native(void)
{
	return &x86_64;
}
