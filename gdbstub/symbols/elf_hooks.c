/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/elf_hooks.h"

#include <stdint.h>
#include <string.h>

bool elf_hook_named(const char *name)
{
	static const char *const names[] = {
		"_dl_debug_state",	"__dl_rtld_db_dlactivity",
		"rtld_db_dlactivity",	"r_debug_state",
		"_r_debug_state",	"_rtld_debug_state",
		"__GI__dl_debug_state", "__jit_debug_register_code",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* ---- probes ---- */

enum { PROBE_TYPE = 3 };

/* What a note has; strings follow: provider, name, arguments. */
struct probe {
	uint64_t pc, base, semaphore;
};

/* A section of the file. False: it has none of this name. */
static bool find_section(Elf *elf, const char *wanted, Elf_Scn **section,
			 GElf_Shdr *header)
{
	size_t names;

	*section = NULL;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((*section = elf_nextscn(elf, *section))) {
		const char *name = gelf_getshdr(*section, header)
					   ? elf_strptr(elf, names, header->sh_name)
					   : NULL;

		if (name && strcmp(name, wanted) == 0)
			return true;
	}
	return false;
}

/* Those of others are of no concern to a debugger. */
static bool is_linkers(const char *strings, size_t len)
{
	static const char provider[] = "rtld";

	return len >= sizeof(provider) &&
	       memcmp(strings, provider, sizeof(provider)) == 0;
}

/* Whoever moves sections of the file (prelink) changes neither notes nor the address of
 * .stapsdt.base that is in them. */
static bool is_at(const Elf_Data *data, const GElf_Nhdr *note, size_t at,
		  GElf_Addr moved, GElf_Addr addr)
{
	struct probe probe;
	const char *desc = (const char *)data->d_buf + at;

	if (note->n_type != PROBE_TYPE || note->n_descsz < sizeof(probe))
		return false;
	memcpy(&probe, desc, sizeof(probe));
	return probe.pc + (moved != 0 ? moved - probe.base : 0) == addr &&
	       is_linkers(desc + sizeof(probe), note->n_descsz - sizeof(probe));
}

bool elf_hook_probed(Elf *elf, GElf_Addr bias, GElf_Addr addr)
{
	GElf_Shdr header, base;
	Elf_Scn *section;
	Elf_Data *data;
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	if (!elf || gelf_getclass(elf) != ELFCLASS64)
		return false;
	if (!find_section(elf, ".stapsdt.base", &section, &base))
		base.sh_addr = 0;
	if (!find_section(elf, ".note.stapsdt", &section, &header))
		return false;
	data = elf_getdata(section, NULL);
	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0)
		if (is_at(data, &note, desc, base.sh_addr, addr - bias))
			return true;
	return false;
}
