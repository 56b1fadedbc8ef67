/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/elf_stacks.h"

#include <string.h>

/* Go's linker makes it in each executable, and strip(1) leaves it there (package
 * debug/buildinfo). */
static const char go_section[] = ".go.buildinfo";
/* What OCaml's compiler makes calls that function (OCaml, runtime/amd64.S). */
static const char ocaml_symbol[] = "caml_call_gc";

static bool is_named(Elf *elf, size_t strings, size_t at, const char *name)
{
	const char *other = elf_strptr(elf, strings, at);

	return other && strcmp(other, name) == 0;
}

static bool has_symbol(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		       const char *name)
{
	Elf_Data *data;
	GElf_Sym symbol;

	if (header->sh_type != SHT_SYMTAB && header->sh_type != SHT_DYNSYM)
		return false;
	data = elf_getdata(section, NULL);
	for (int i = 1; data && gelf_getsym(data, i, &symbol); i++)
		if (is_named(elf, header->sh_link, symbol.st_name, name))
			return true;
	return false;
}

bool elf_stacks_are_small(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (is_named(elf, names, header.sh_name, go_section) ||
		     has_symbol(elf, section, &header, ocaml_symbol)))
			return true;
	return false;
}
