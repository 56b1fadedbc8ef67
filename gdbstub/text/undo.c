/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/text/undo.h"

#include <errno.h>

#include "gdbstub/inferior/proc.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/locations/location.h"
#include "gdbstub/text/kept_decoder.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"

/* Does the frame pointer point to the frame at @addr? */
static bool has_frame_pointer(struct inferior *inferior, uint64_t addr)
{
	struct symbols *symbols = symbols_create(inferior);
	int number = symbols_frame_register(symbols, addr);

	symbols_destroy(symbols);
	return number == inferior->arch->frame_pointer_dwarf;
}

bool undo_has_shadow_stack(const struct thread *thread)
{
	const struct status_word *wanted = thread->inferior->arch->shadow_stack;

	return wanted && proc_status_word(thread->tid, wanted->line, wanted->word);
}

/* A thread has one if the one that made it has. */
static bool has_shadow_stack(const struct inferior *inferior)
{
	const struct thread *thread = TAILQ_FIRST(&inferior->threads);

	return thread && undo_has_shadow_stack(thread);
}

static void decode(const struct inferior *inferior, uint64_t addr, const uint8_t *code,
		   size_t len, struct insn_undo *ret)
{
	struct decoder *decoder = decoder_take(inferior);

	*ret = (struct insn_undo){.why_not = "it is not known"};
	if (!decoder)
		return;
	if (decoder_run(decoder, code, len, addr)) {
		inferior->arch->undo(decoder->insn, ret);
		ret->len = decoder->insn->size;
	}
	decoder_give_back(inferior, decoder);
}

static const char *why_not(struct inferior *inferior, uint64_t addr,
			   const struct insn_undo *undo)
{
	if (undo->why_not)
		return undo->why_not;
	if (undo->transfers_stack && has_shadow_stack(inferior))
		return "it changes the shadow stack";
	if (undo->by_frame_pointer && !has_frame_pointer(inferior, addr))
		return "it writes memory by a register that is not known to point to "
		       "the stack";
	return NULL;
}

/* Reads and decodes the instruction. */
static struct error *look_at(struct inferior *inferior, uint64_t addr,
			     struct insn_undo *ret)
{
	const struct arch_ops *arch = inferior->arch;
	uint8_t code[INSN_LEN_MAX];
	ssize_t n = breakpoints_read_memory(inferior, addr, code, sizeof(code));

	if (!arch->undo)
		return error_create(0, "no instruction of %s is known well enough",
				    arch->name);
	if (n <= 0)
		return error_create(n < 0 ? (int)-n : EFAULT,
				    "the instruction cannot be read");
	decode(inferior, addr, code, (size_t)n, ret);
	return NULL;
}

struct error *undo_find(struct inferior *inferior, uint64_t addr, struct insn_undo *ret)
{
	struct error *error = look_at(inferior, addr, ret);

	if (error)
		return error;
	ret->why_not = why_not(inferior, addr, ret);
	return ret->why_not
		       ? error_create(0, "the instruction there cannot be undone: %s",
				      ret->why_not)
		       : NULL;
}

struct error *undo_find_nothing(struct inferior *inferior, uint64_t addr,
				struct insn_undo *ret)
{
	struct insn_undo undo;
	struct error *error = look_at(inferior, addr, &undo);

	if (error)
		return error;
	*ret = (struct insn_undo){.len = undo.len};
	if (undo.unfit || undo.len == 0)
		return error_create(0, "the instruction there can have no uprobe: %s",
				    undo.unfit ? undo.unfit : undo.why_not);
	return NULL;
}

bool undo_is_emulated(struct inferior *inferior, uint64_t addr)
{
	struct insn_undo undo;
	_cleanup_error_ struct error *error = look_at(inferior, addr, &undo);

	return !error && undo.emulated;
}
