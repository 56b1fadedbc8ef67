/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/elf_symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/demangle.h"
#include "gdbstub/symbols/elf_hooks.h"
#include "gdbstub/symbols/elf_sequences.h"
#include "gdbstub/symbols/elf_stacks.h"

struct elf_symbols {
	int fd; /* -1: libdwfl has it */
	Dwfl *dwfl;
	Dwfl_Module *module;
	bool packed_known, lacks_packed;
};

/* Mapped for reading only: libdwfl's own way to map a file counts as memory of ours. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name,
		    Dwarf_Addr base, char **file_name, Elf **elf)
{
	struct elf_symbols *symbols = *userdata;
	int fd = symbols->fd;

	(void)module;
	(void)name;
	(void)base;
	(void)file_name;
	if (fd < 0)
		return -1;
	*elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	symbols->fd = -1;
	return fd;
}

/* Symbol tables are all that is wanted: no search, no download. */
static int find_no_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			     Dwarf_Addr base, const char *file_name,
			     const char *debuglink_file, GElf_Word debuglink_crc,
			     char **debuginfo_file_name)
{
	(void)module;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file_name;
	(void)debuglink_file;
	(void)debuglink_crc;
	(void)debuginfo_file_name;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_no_debuginfo,
};

static bool report(struct elf_symbols *symbols, uint64_t start, uint64_t end)
{
	void **userdata;

	symbols->dwfl = dwfl_begin(&callbacks);
	if (!symbols->dwfl)
		return false;
	symbols->module = dwfl_report_module(symbols->dwfl, "mapped", start, end);
	if (!symbols->module)
		return false;
	dwfl_module_info(symbols->module, &userdata, NULL, NULL, NULL, NULL, NULL,
			 NULL);
	*userdata = symbols;
	return dwfl_report_end(symbols->dwfl, NULL, NULL) == 0;
}

struct elf_symbols *elf_symbols_create(int fd, uint64_t start, uint64_t end)
{
	struct elf_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols) {
		close(fd);
		return NULL;
	}
	symbols->fd = fd;
	if (report(symbols, start, end))
		return symbols;
	elf_symbols_destroy(symbols);
	return NULL;
}

void elf_symbols_destroy(struct elf_symbols *symbols)
{
	if (!symbols)
		return;
	dwfl_end(symbols->dwfl);
	if (symbols->fd >= 0)
		close(symbols->fd);
	free(symbols);
}

const char *elf_symbols_name(struct elf_symbols *symbols, uint64_t addr,
			     uint64_t *offset)
{
	GElf_Off distance = 0;
	GElf_Sym sym;
	const char *name = dwfl_module_addrinfo(symbols->module, addr, &distance, &sym,
						NULL, NULL, NULL);

	*offset = distance;
	return name;
}

/* What a rule for the caller's frame begins with, be it an expression or not. */
static int register_of(const Dwarf_Op *op)
{
	if (op->atom == DW_OP_bregx)
		return (int)op->number;
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return op->atom - DW_OP_breg0;
	return -1;
}

int elf_symbols_frame_register(struct elf_symbols *symbols, uint64_t addr)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(symbols->module, &bias);
	Dwarf_Frame *frame = NULL;
	int number = -1;
	Dwarf_Op *ops;
	size_t count;

	if (!cfi || dwarf_cfi_addrframe(cfi, addr - bias, &frame) != 0)
		return -1;
	if (dwarf_frame_cfa(frame, &ops, &count) == 0 && count > 0)
		number = register_of(&ops[0]);
	free(frame);
	return number;
}

/* A row of call frame information is where its rules hold: from an instruction to
 * another. */
static bool find_row(struct elf_symbols *symbols, uint64_t addr, uint64_t *start,
		     uint64_t *end)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(symbols->module, &bias);
	Dwarf_Frame *frame = NULL;

	if (!cfi || dwarf_cfi_addrframe(cfi, addr - bias, &frame) != 0)
		return false;
	dwarf_frame_info(frame, start, end, NULL);
	free(frame);
	*start += bias;
	*end += bias;
	return true;
}

static bool find_function(struct elf_symbols *symbols, uint64_t addr, uint64_t *start,
			  uint64_t *end)
{
	GElf_Off distance = 0;
	GElf_Sym sym;

	if (!dwfl_module_addrinfo(symbols->module, addr, &distance, &sym, NULL, NULL,
				  NULL))
		return false;
	*start = addr - distance;
	*end = *start + sym.st_size;
	return true;
}

int32_t elf_symbols_code_around(struct elf_symbols *symbols, uint64_t addr,
				uint64_t *offset)
{
	uint64_t start = 0, end = 0;

	if (!find_row(symbols, addr, &start, &end) &&
	    !find_function(symbols, addr, &start, &end))
		return 0;
	if (addr < start || addr >= end)
		return 0;
	*offset = addr - start;
	return end - addr < INT32_MAX ? (int32_t)(end - addr) : INT32_MAX;
}

enum symbols_sequences elf_symbols_sequences(struct elf_symbols *symbols, uint64_t addr)
{
	GElf_Addr bias = 0;
	Elf *elf = dwfl_module_getelf(symbols->module, &bias);

	return elf_sequences_at(elf, bias, addr);
}

bool elf_symbols_small_stacks(struct elf_symbols *symbols)
{
	GElf_Addr bias = 0;
	Elf *elf = dwfl_module_getelf(symbols->module, &bias);

	return elf_stacks_are_small(elf);
}

/* A symbol of the table, if it has a name and is defined. */
static const char *symbol_at(struct elf_symbols *symbols, int index, GElf_Sym *sym,
			     GElf_Addr *addr)
{
	GElf_Word section = SHN_UNDEF;
	const char *name = dwfl_module_getsym_info(symbols->module, index, sym, addr,
						   &section, NULL, NULL);

	return name && name[0] != '\0' && section != SHN_UNDEF ? name : NULL;
}

bool elf_symbols_is_hook(struct elf_symbols *symbols, uint64_t addr)
{
	int count = dwfl_module_getsymtab(symbols->module);
	GElf_Addr bias = 0;
	Elf *elf = dwfl_module_getelf(symbols->module, &bias);

	for (int i = 1; i < count; i++) {
		GElf_Addr start = 0;
		GElf_Sym sym;
		const char *name = symbol_at(symbols, i, &sym, &start);

		if (name && start == addr && elf_hook_named(name))
			return true;
	}
	return elf_hook_probed(elf, bias, addr);
}

bool elf_symbols_covers(struct elf_symbols *symbols, const char *name, uint64_t addr,
			uint64_t *offset)
{
	int count = dwfl_module_getsymtab(symbols->module);
	const char *shown;

	for (int i = 1; i < count; i++) {
		GElf_Addr start = 0;
		GElf_Sym sym;
		const char *other = symbol_at(symbols, i, &sym, &start);

		if (!other || addr < start || addr - start >= sym.st_size ||
		    !demangle_is_named(other, name))
			continue;
		*offset = addr - start;
		return true;
	}
	/* The one that is shown; one without a size has the address only there. */
	shown = elf_symbols_name(symbols, addr, offset);
	return shown && demangle_is_named(shown, name);
}

void elf_symbols_each(struct elf_symbols *symbols,
		      bool (*found)(void *arg, const char *name, uint64_t addr),
		      void *arg)
{
	int count = dwfl_module_getsymtab(symbols->module);

	for (int i = 1; i < count; i++) {
		GElf_Addr addr = 0;
		GElf_Sym sym;
		const char *name = symbol_at(symbols, i, &sym, &addr);

		if (name && !found(arg, name, addr))
			return;
	}
}

/* How many rows a section has; *packed: it is .gnu_debugdata. */
static uint64_t rows_of(Elf *elf, size_t names, Elf_Scn *section, GElf_Word *type,
			bool *packed)
{
	GElf_Shdr header;
	const char *name;

	if (!gelf_getshdr(section, &header))
		return 0;
	name = elf_strptr(elf, names, header.sh_name);
	*type = header.sh_type;
	*packed = name && strcmp(name, ".gnu_debugdata") == 0;
	return header.sh_entsize > 0 ? header.sh_size / header.sh_entsize : 0;
}

/* Had its packed symbols been unpacked, the table would be longer than that of the
 * dynamic linker, and where there is a table that is not packed, it is the one that
 * counts. */
static bool lacks_packed(struct elf_symbols *symbols)
{
	int count = dwfl_module_getsymtab(symbols->module);
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(symbols->module, &bias);
	bool any_packed = false, packed = false;
	uint64_t dynamic = 0;
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Word type = SHT_NULL;
		uint64_t rows = rows_of(elf, names, section, &type, &packed);

		if (type == SHT_SYMTAB)
			return false;
		if (type == SHT_DYNSYM)
			dynamic = rows;
		any_packed |= packed;
	}
	return any_packed && (count < 0 || (uint64_t)count <= dynamic);
}

bool elf_symbols_lacks_packed(struct elf_symbols *symbols)
{
	if (!symbols->packed_known)
		symbols->lacks_packed = lacks_packed(symbols);
	symbols->packed_known = true;
	return symbols->lacks_packed;
}
