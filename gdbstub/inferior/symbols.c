/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct symbols {
	Dwfl *dwfl;
	pid_t pid;
};

/*
 * The file of a module as the inferior sees it, which may live in another mount
 * name space. What is no file any more, and the vDSO, is read from memory.
 */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name,
		    Dwarf_Addr base, char **file_name, Elf **elf)
{
	const struct symbols *symbols = *userdata;
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (symbols && name[0] == '/' &&
	    asprintf(&path, "/proc/%d/root%s", (int)symbols->pid, name) < 0)
		path = NULL;
	/* Opening a device may have effects. */
	if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd >= 0) {
			*file_name = take_ptr(path);
			return fd;
		}
	}
	return dwfl_linux_proc_find_elf(module, userdata, name, base, file_name, elf);
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

static int set_userdata(Dwfl_Module *module, void **userdata, const char *name,
			Dwarf_Addr start, void *symbols)
{
	(void)module;
	(void)name;
	(void)start;
	*userdata = symbols;
	return DWARF_CB_OK;
}

struct symbols *symbols_create(const struct inferior *inferior)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->pid = inferior->pid;
	symbols->dwfl = dwfl_begin(&callbacks);
	if (!symbols->dwfl ||
	    dwfl_linux_proc_report(symbols->dwfl, symbols->pid) != 0 ||
	    dwfl_report_end(symbols->dwfl, NULL, NULL) != 0 ||
	    dwfl_getmodules(symbols->dwfl, set_userdata, symbols, 0) < 0) {
		symbols_destroy(symbols);
		return NULL;
	}
	return symbols;
}

void symbols_destroy(struct symbols *symbols)
{
	if (!symbols)
		return;
	dwfl_end(symbols->dwfl);
	free(symbols);
}

static void append_offset(struct buffer *out, uint64_t offset)
{
	if (offset > 0)
		buffer_printf(out, "+0x%llx", (unsigned long long)offset);
}

void symbols_print(struct symbols *symbols, uint64_t addr, struct buffer *out)
{
	Dwfl_Module *module = symbols ? dwfl_addrmodule(symbols->dwfl, addr) : NULL;
	Dwarf_Addr start, end;
	const char *file, *name;
	GElf_Off offset;
	GElf_Sym sym;

	if (!module)
		return;
	file = dwfl_module_info(module, NULL, &start, &end, NULL, NULL, NULL, NULL);
	if (!file || addr < start || addr >= end)
		return;
	name = dwfl_module_addrinfo(module, addr, &offset, &sym, NULL, NULL, NULL);
	if (name) {
		buffer_append_string(out, name);
		append_offset(out, offset);
	} else {
		const char *slash = strrchr(file, '/');

		buffer_append_string(out, slash ? slash + 1 : file);
		buffer_printf(out, "+0x%llx", (unsigned long long)(addr - start));
	}
}

uint64_t symbols_start(struct symbols *symbols, uint64_t addr)
{
	Dwfl_Module *module = symbols ? dwfl_addrmodule(symbols->dwfl, addr) : NULL;
	GElf_Off offset;
	GElf_Sym sym;

	if (!module ||
	    !dwfl_module_addrinfo(module, addr, &offset, &sym, NULL, NULL, NULL))
		return 0;
	return addr - offset;
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

int symbols_frame_register(struct symbols *symbols, uint64_t addr)
{
	Dwfl_Module *module = symbols ? dwfl_addrmodule(symbols->dwfl, addr) : NULL;
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
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

/* The one that symbols_print shows; one without a size has it only there. */
static bool is_shown(Dwfl_Module *module, const char *name, uint64_t addr,
		     uint64_t *offset)
{
	GElf_Off distance;
	GElf_Sym sym;
	const char *shown =
		dwfl_module_addrinfo(module, addr, &distance, &sym, NULL, NULL, NULL);

	*offset = distance;
	return shown && strcmp(shown, name) == 0;
}

bool symbols_covers(struct symbols *symbols, const char *name, uint64_t addr,
		    uint64_t *offset)
{
	Dwfl_Module *module = symbols ? dwfl_addrmodule(symbols->dwfl, addr) : NULL;
	int count = module ? dwfl_module_getsymtab(module) : 0;

	for (int i = 1; i < count; i++) {
		GElf_Word section;
		GElf_Addr start;
		GElf_Sym sym;
		const char *other = dwfl_module_getsym_info(module, i, &sym, &start,
							    &section, NULL, NULL);

		if (!other || section == SHN_UNDEF || addr < start ||
		    addr - start >= sym.st_size || strcmp(other, name) != 0)
			continue;
		*offset = addr - start;
		return true;
	}
	return module && is_shown(module, name, addr, offset);
}

struct wish_list {
	struct symbol_wish *wishes;
	size_t count;
};

static int compare_wishes(const void *a, const void *b)
{
	return strcmp(((const struct symbol_wish *)a)->name,
		      ((const struct symbol_wish *)b)->name);
}

static int find_in_module(Dwfl_Module *module, void **userdata, const char *module_name,
			  Dwarf_Addr start, void *arg)
{
	const struct wish_list *list = arg;
	int count = dwfl_module_getsymtab(module);

	(void)userdata;
	(void)module_name;
	(void)start;
	for (int i = 1; i < count; i++) {
		struct symbol_wish key = {0}, *wish;
		GElf_Word section;
		GElf_Addr addr;
		GElf_Sym sym;

		key.name = dwfl_module_getsym_info(module, i, &sym, &addr, &section,
						   NULL, NULL);
		if (!key.name || key.name[0] == '\0' || section == SHN_UNDEF)
			continue;
		wish = bsearch(&key, list->wishes, list->count, sizeof(key),
			       compare_wishes);
		if (!wish || wish->found)
			continue;
		wish->addr = addr;
		wish->found = true;
	}
	return DWARF_CB_OK;
}

void symbols_find(struct symbols *symbols, struct symbol_wish *wishes, size_t count)
{
	struct wish_list list = {.wishes = wishes, .count = count};

	if (symbols && count > 0)
		dwfl_getmodules(symbols->dwfl, find_in_module, &list, 0);
}
