/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the aarch64 ops table; see arch/arch.h for their contracts. */
#ifndef TRUEHIT_ARCH_AARCH64_AARCH64_H
#define TRUEHIT_ARCH_AARCH64_AARCH64_H

#include "arch/arch.h"
#include "arch/displaced.h"
#include "arch/native.h"

#define AARCH64_CORE	  "org.gnu.gdb.aarch64.core"
#define AARCH64_FPU	  "org.gnu.gdb.aarch64.fpu"
#define AARCH64_SVE	  "org.gnu.gdb.aarch64.sve"
#define AARCH64_PAUTH	  "org.gnu.gdb.aarch64.pauth"
#define AARCH64_MTE	  "org.gnu.gdb.aarch64.mte"
#define AARCH64_TLS	  "org.gnu.gdb.aarch64.tls"
#define AARCH64_SME	  "org.gnu.gdb.aarch64.sme"
#define AARCH64_SME2	  "org.gnu.gdb.aarch64.sme2"
#define AARCH64_GCS	  "org.gnu.gdb.aarch64.gcs"
#define AARCH64_GCS_LINUX "org.gnu.gdb.aarch64.gcs.linux"
#define AARCH64_FPMR	  "org.gnu.gdb.aarch64.fpmr"

/* Indices into the regsets. Where all are stored, ZT0 switches the matrix on, which
 * comes after it. */
enum {
	AARCH64_GENERAL,
	AARCH64_FPREGS,
	AARCH64_TLSREGS,
	AARCH64_PACREGS,
	AARCH64_TAGREGS,
	AARCH64_ZTREGS,
	AARCH64_ZAREGS,
	AARCH64_GCSREGS,
	AARCH64_FPMREGS,
	AARCH64_NREGSETS
};

/* gdb's numbers of the registers that the ops table names. */
enum {
	AARCH64_X29 = 29,
	AARCH64_X30 = 30,
	AARCH64_SP = 31,
	AARCH64_PC = 32,
	AARCH64_CPSR = 33,
	AARCH64_FPCR = 67,
};

/* registers.c */
/* Final after init. */
extern struct regset_def aarch64_regsets[AARCH64_NREGSETS];
void aarch64_registers_init(void);
/* What the kernel says of the processor. */
struct aarch64_features {
	unsigned long hwcap, hwcap2; /* elf_hwcaps.rst */
	unsigned int quads;	     /* 16 bytes each, in a vector of SVE; 0: no SVE */
	unsigned int streaming;	     /* ... in one of streaming mode; 0: no SME */
};
void aarch64_make_table(const struct aarch64_features *features);
/* How many 16 bytes a vector of SVE has; 0: there is no SVE. Valid after init. */
unsigned int aarch64_vector_quads(void);
/* ... one of streaming mode; 0: there is no SME, or none that is shown. */
unsigned int aarch64_streaming_quads(void);
extern const struct bpf_user_mode aarch64_user_mode;
const struct reg_def *aarch64_registers(unsigned int *count);
int aarch64_reg_read(const struct regs *regs, const struct reg_def *reg, void *value);
int aarch64_reg_write(struct regs *regs, const struct reg_def *reg, const void *value);
int aarch64_thread_area(const struct regs *regs, int index, uint64_t *addr);

/* tdesc_types.c */
void aarch64_target_xml(struct buffer *out);

/* hw_plan.c: pure, compiles everywhere */
int aarch64_hw_plan(const struct hw_region *region, struct hw_region *out,
		    unsigned int max);
void aarch64_hw_perf_attr(const struct hw_region *region, uint32_t *bp_type,
			  uint64_t *bp_len);

/* mte.c */
const struct memory_tags *aarch64_memory_tags(void);

/* stores.c: data, compiles everywhere */
extern const struct store_forms aarch64_stores;

/* branch.c */
struct insn_branch aarch64_branch_at(const uint8_t *code, size_t len);
extern const struct counter_ops aarch64_counters;

/* copy.c */
void aarch64_copy(const struct cs_insn *insn, uint64_t to, struct displaced *ret);

/* jump.c */
extern const struct displaced_ops aarch64_displaced;

/* native.c */
extern const struct native_ops aarch64_native;

/* debugreg.c */
/** Counts the slots with a process of our own. */
void aarch64_debugreg_init(void);
unsigned int aarch64_hw_slots(enum hw_kind kind, bool *shared);
int aarch64_debugreg_set(pid_t tid, const struct hw_region *regions,
			 unsigned int count);
int aarch64_debugreg_hits(pid_t tid, uint64_t siginfo_addr,
			  const struct hw_region *regions, unsigned int count,
			  uint32_t *mask);

#endif
