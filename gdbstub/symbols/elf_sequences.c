/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/elf_sequences.h"

#include <linux/rseq.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/cleanup.h"

/* A section __rseq_cs, with the addresses of the file before it is mapped. */
struct descriptions {
	Elf *elf;
	GElf_Addr addr;
	struct rseq_cs *rows;
	size_t count;
};

/* Sets what a relocation says of the start of a sequence. */
static void relocate(const struct descriptions *array, const GElf_Rela *rela,
		     Elf_Data *symbols)
{
	const GElf_Addr at = rela->r_offset - array->addr;
	const size_t symbol = GELF_R_SYM(rela->r_info);
	GElf_Sym found = {.st_value = 0};

	if (at / sizeof(*array->rows) >= array->count ||
	    at % sizeof(*array->rows) != offsetof(struct rseq_cs, start_ip) ||
	    (symbol != 0 && !gelf_getsym(symbols, (int)symbol, &found)))
		return;
	array->rows[at / sizeof(*array->rows)].start_ip =
		found.st_value + (GElf_Addr)rela->r_addend;
}

/* Where no relocation says otherwise, what is in the file counts: the packed ones of
 * SHT_RELR add to that. */
static void relocate_all(const struct descriptions *array)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela rela;

	while ((section = elf_nextscn(array->elf, section))) {
		Elf_Data *data, *symbols;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
			continue;
		data = elf_getdata(section, NULL);
		symbols = elf_getdata(elf_getscn(array->elf, header.sh_link), NULL);
		for (int i = 0; data && gelf_getrela(data, i, &rela); i++)
			relocate(array, &rela, symbols);
	}
}

static bool covers(const struct descriptions *array, GElf_Addr addr)
{
	for (size_t i = 0; i < array->count; i++)
		if (addr - array->rows[i].start_ip < array->rows[i].post_commit_offset)
			return true;
	return false;
}

static enum symbols_sequences look_at(Elf *elf, const GElf_Shdr *header, Elf_Data *data,
				      GElf_Addr addr)
{
	_cleanup_free_ struct rseq_cs *rows = NULL;
	struct descriptions array = {elf, header->sh_addr, NULL, 0};

	if (data && data->d_buf)
		array.count = data->d_size / sizeof(*rows);
	/* malloc() would align them to 16, which is too little. */
	rows = array.count > 0 ? aligned_alloc(_Alignof(struct rseq_cs),
					       array.count * sizeof(*rows))
			       : NULL;
	if (!rows)
		return SEQUENCES_NONE;
	memcpy(rows, data->d_buf, array.count * sizeof(*rows));
	array.rows = rows;
	relocate_all(&array);
	return covers(&array, addr) ? SEQUENCES_COVER : SEQUENCES_ELSEWHERE;
}

enum symbols_sequences elf_sequences_at(Elf *elf, GElf_Addr bias, GElf_Addr addr)
{
	enum symbols_sequences found = SEQUENCES_NONE;
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return found;
	while (found != SEQUENCES_COVER && (section = elf_nextscn(elf, section))) {
		enum symbols_sequences here;
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (!name || strcmp(name, "__rseq_cs") != 0)
			continue;
		here = look_at(elf, &header, elf_getdata(section, NULL), addr - bias);
		if (here != SEQUENCES_NONE)
			found = here;
	}
	return found;
}
