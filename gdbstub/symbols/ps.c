/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/ps.h"

#include <elf.h>
#include <string.h>

#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/inferior/thread.h"

void proc_service_begin(struct ps_prochandle *ps)
{
	ps->reads_left = PS_READS_MAX;
	inferior_patience(ps->inferior, &ps->patience, PATIENCE_ENDLESS);
}

pid_t ps_getpid(struct ps_prochandle *ps)
{
	return ps->inferior->pid;
}

ps_err_e ps_pglobal_lookup(struct ps_prochandle *ps, const char *object_name,
			   const char *sym_name, psaddr_t *sym_addr)
{
	uint64_t addr;

	/* The library's guess of the file is wrong since libc holds all. */
	(void)object_name;
	if (!thread_symbols_find(ps->symbols, sym_name, &addr))
		return PS_NOSYM;
	*sym_addr = (psaddr_t)(uintptr_t)addr;
	return PS_OK;
}

/* ---- memory ---- */

ps_err_e ps_pdread(struct ps_prochandle *ps, psaddr_t addr, void *data, size_t size)
{
	if (ps->reads_left == 0 || patience_ended(&ps->patience))
		return PS_ERR;
	ps->reads_left--;
	return inferior_read(ps->inferior, (uintptr_t)addr, data, size) == (ssize_t)size
		       ? PS_OK
		       : PS_ERR;
}

ps_err_e ps_pdwrite(struct ps_prochandle *ps, psaddr_t addr, const void *data,
		    size_t size)
{
	return inferior_write(ps->inferior, (uintptr_t)addr, data, size) == 0 ? PS_OK
									      : PS_ERR;
}

ps_err_e ps_ptread(struct ps_prochandle *ps, psaddr_t addr, void *data, size_t size)
{
	return ps_pdread(ps, addr, data, size);
}

ps_err_e ps_ptwrite(struct ps_prochandle *ps, psaddr_t addr, const void *data,
		    size_t size)
{
	return ps_pdwrite(ps, addr, data, size);
}

/* ---- registers ---- */

/* One regset of a stopped thread. */
static ps_err_e fetch(struct ps_prochandle *ps, lwpid_t tid, unsigned int nt_type,
		      struct regs *regs, unsigned int *regset)
{
	const struct thread *thread = inferior_thread(ps->inferior, tid);
	const struct arch_ops *arch = ps->inferior->arch;

	if (!thread)
		return PS_BADLID;
	regs_init(regs, arch);
	for (unsigned int i = 0; i < arch->nregsets; i++) {
		if (arch->regsets[i].nt_type != nt_type)
			continue;
		*regset = i;
		return regs_fetch(thread, regs, i) == 0 ? PS_OK : PS_ERR;
	}
	return PS_ERR;
}

ps_err_e ps_lgetregs(struct ps_prochandle *ps, lwpid_t tid, prgregset_t gregs)
{
	unsigned int regset;
	struct regs regs;
	ps_err_e r = fetch(ps, tid, NT_PRSTATUS, &regs, &regset);

	if (r != PS_OK)
		return r;
	if (regs.size[regset] != sizeof(prgregset_t))
		return PS_ERR;
	memcpy(gregs, regs.data[regset], sizeof(prgregset_t));
	return PS_OK;
}

/* Only td_thr_setgregs and its like would change or want these; nobody calls them. */

ps_err_e ps_lsetregs(struct ps_prochandle *ps, lwpid_t tid, const prgregset_t gregs)
{
	(void)ps;
	(void)tid;
	(void)gregs;
	return PS_ERR;
}

ps_err_e ps_lgetfpregs(struct ps_prochandle *ps, lwpid_t tid, prfpregset_t *fpregs)
{
	(void)ps;
	(void)tid;
	(void)fpregs;
	return PS_NOFREGS;
}

ps_err_e ps_lsetfpregs(struct ps_prochandle *ps, lwpid_t tid,
		       const prfpregset_t *fpregs)
{
	(void)ps;
	(void)tid;
	(void)fpregs;
	return PS_NOFREGS;
}

ps_err_e ps_get_thread_area(struct ps_prochandle *ps, lwpid_t tid, int index,
			    psaddr_t *area)
{
	const struct thread *thread = inferior_thread(ps->inferior, tid);
	uint64_t addr;

	if (!thread)
		return PS_BADLID;
	if (thread_get_area(thread, index, &addr) < 0)
		return PS_ERR;
	*area = (psaddr_t)(uintptr_t)addr;
	return PS_OK;
}

/* ---- stopping: everything is at rest, or is none of the library's business ---- */

ps_err_e ps_pstop(struct ps_prochandle *ps)
{
	(void)ps;
	return PS_OK;
}

ps_err_e ps_pcontinue(struct ps_prochandle *ps)
{
	(void)ps;
	return PS_OK;
}

ps_err_e ps_lstop(struct ps_prochandle *ps, lwpid_t tid)
{
	(void)ps;
	(void)tid;
	return PS_OK;
}

ps_err_e ps_lcontinue(struct ps_prochandle *ps, lwpid_t tid)
{
	(void)ps;
	(void)tid;
	return PS_OK;
}
