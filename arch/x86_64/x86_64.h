/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the x86_64 ops table; see arch/arch.h for their contracts. */
#ifndef TRUEHIT_ARCH_X86_64_X86_64_H
#define TRUEHIT_ARCH_X86_64_X86_64_H

#include "arch/arch.h"
#include "arch/displaced.h"
#include "arch/native.h"

#define X86_64_CORE	"org.gnu.gdb.i386.core"
#define X86_64_SSE	"org.gnu.gdb.i386.sse"
#define X86_64_LINUX	"org.gnu.gdb.i386.linux"
#define X86_64_SEGMENTS "org.gnu.gdb.i386.segments"
#define X86_64_AVX	"org.gnu.gdb.i386.avx"
#define X86_64_AVX512	"org.gnu.gdb.i386.avx512"
#define X86_64_PKEYS	"org.gnu.gdb.i386.pkeys"
#define X86_64_SSP	"org.gnu.gdb.i386.pl3_ssp"

/* Indices into the regsets. */
enum { X86_64_GENERAL, X86_64_XSTATE, X86_64_SHSTK, X86_64_NREGSETS };

/* gdb's numbers of the registers that the ops table names. */
enum {
	X86_64_RAX = 0,
	X86_64_RDX = 3,
	X86_64_RSI = 4,
	X86_64_RDI = 5,
	X86_64_RBP = 6,
	X86_64_RSP = 7,
	X86_64_R8 = 8,
	X86_64_R9 = 9,
	X86_64_R10 = 10,
	X86_64_RIP = 16,
	X86_64_EFLAGS = 17,
	X86_64_ORIG_RAX = 57,
	X86_64_FS_BASE = 58,
	X86_64_GS_BASE = 59,
};

/* registers.c */
/* Final after init. */
extern struct regset_def x86_64_regsets[X86_64_NREGSETS];
extern const struct bpf_user_mode x86_64_user_mode;
struct error *x86_64_init(void);
/** The table, with the shadow stack pointer or without. */
void x86_64_make_table(bool has_shadow_stacks);
const struct reg_def *x86_64_registers(unsigned int *count);
int x86_64_reg_read(const struct regs *regs, const struct reg_def *reg, void *value);
int x86_64_reg_write(struct regs *regs, const struct reg_def *reg, const void *value);
int x86_64_thread_area(const struct regs *regs, int index, uint64_t *addr);

/* tdesc_types.c */
void x86_64_target_xml(struct buffer *out);

/* hw_plan.c: pure, compiles everywhere */
unsigned int x86_64_hw_slots(enum hw_kind kind, bool *shared);
int x86_64_hw_plan(const struct hw_region *region, struct hw_region *out,
		   unsigned int max);
void x86_64_hw_perf_attr(const struct hw_region *region, uint32_t *bp_type,
			 uint64_t *bp_len);

/* general.c */
enum { X86_64_NO_REGISTER = -1 };
/* gdb's number of the general register that an x86_reg is a part of. */
int x86_64_general(unsigned int reg);

/* access.c */
void x86_64_accesses(const struct cs_insn *insn, const struct insn_written *written,
		     const struct regs *regs, struct insn_accesses *ret);

/* branch.c */
struct insn_branch x86_64_branch_at(const uint8_t *code, size_t len);
extern const struct counter_ops x86_64_counters;

/* undo.c */
void x86_64_undo(const struct cs_insn *insn, struct insn_undo *ret);

/* copy.c */
void x86_64_copy(const struct cs_insn *insn, uint64_t to, struct displaced *ret);

/* jump.c */
extern const struct displaced_ops x86_64_displaced;
/* Is the distance from the end of an instruction one of 32 bits? */
bool x86_64_reaches(uint64_t end, uint64_t to);

/* native.c */
extern const struct native_ops x86_64_native;

/* places.c */
extern const struct probe_place x86_64_probe_places[];

/* debugreg.c */
int x86_64_debugreg_set(pid_t tid, const struct hw_region *regions, unsigned int count);
bool x86_64_trap_is_own(int si_code, uint8_t last, const struct regs *regs);
int x86_64_debugreg_hits(pid_t tid, uint64_t siginfo_addr,
			 const struct hw_region *regions, unsigned int count,
			 uint32_t *mask);

#endif
