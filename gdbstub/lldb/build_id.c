/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/lldb/build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum {
	PHDRS_MAX = 256, /* looked at; programs have some 14 */
	NOTES_MAX = 16384,
};

static bool read_all(int fd, void *data, size_t len, uint64_t offset)
{
	return offset <= INT64_MAX &&
	       pread(fd, data, len, (off_t)offset) == (ssize_t)len;
}

static size_t align4(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

/* elf(5), notes: a header, the name and the description, each padded to 4 bytes. */
static int find_note(const uint8_t *notes, size_t len, uint8_t id[BUILD_ID_MAX])
{
	static const char owner[] = ELF_NOTE_GNU;
	Elf64_Nhdr note;
	size_t at = 0;

	while (len - at >= sizeof(note)) {
		size_t name, description;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		if (note.n_namesz > len || note.n_descsz > len)
			return 0;
		description = name + align4(note.n_namesz);
		at = description + align4(note.n_descsz);
		if (at > len)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(owner) &&
		    memcmp(notes + name, owner, sizeof(owner)) == 0 &&
		    note.n_descsz <= BUILD_ID_MAX) {
			memcpy(id, notes + description, note.n_descsz);
			return (int)note.n_descsz;
		}
	}
	return 0;
}

static int read_notes(int fd, const Elf64_Phdr *phdr, uint8_t id[BUILD_ID_MAX])
{
	uint8_t notes[NOTES_MAX];
	const size_t len =
		phdr->p_filesz < sizeof(notes) ? phdr->p_filesz : sizeof(notes);

	return read_all(fd, notes, len, phdr->p_offset) ? find_note(notes, len, id) : 0;
}

int build_id_read(int fd, uint8_t id[BUILD_ID_MAX])
{
	Elf64_Ehdr header;
	Elf64_Phdr phdr;
	int found = 0;

	if (!read_all(fd, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(phdr))
		return -EINVAL;
	for (unsigned int i = 0; found == 0 && i < header.e_phnum && i < PHDRS_MAX;
	     i++) {
		if (!read_all(fd, &phdr, sizeof(phdr),
			      header.e_phoff + i * sizeof(phdr)))
			return 0;
		if (phdr.p_type == PT_NOTE)
			found = read_notes(fd, &phdr, id);
	}
	return found;
}
