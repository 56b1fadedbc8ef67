/* SPDX-License-Identifier: BSD-2-Clause */
/* Which pads there are, and the memory that they are in. */
#include "gdbstub/pads/pads.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/log.h"
#include "gdbstub/base/shutdown.h"
#include "gdbstub/inferior/maps.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/locations/index.h"
#include "gdbstub/pads/injected_call.h"
#include "gdbstub/pads/pad_memory.h"
#include "gdbstub/pads/pad_placement.h"
#include "gdbstub/pads/pad_stop.h"
#include "gdbstub/pads/pads_state.h"
#include "gdbstub/pads/site_filter.h"
#include "gdbstub/text/insn_start.h"
#include "gdbstub/text/kept_decoder.h"
#include "gdbstub/text/text.h"

enum { SYMBOLS_AGE = 2 }; /* seconds: they answer for some only */

/* ---- all of them ---- */

static struct pads *pads_get(struct inferior *inferior)
{
	struct pads *pads = inferior->pads;

	if (pads)
		return pads;
	pads = calloc(1, sizeof(*pads));
	if (!pads)
		return NULL;
	pads->inferior = inferior;
	TAILQ_INIT(&pads->sites);
	TAILQ_INIT(&pads->pages);
	pad_space_init(&pads->space, (uint64_t)sysconf(_SC_PAGESIZE),
		       UINT64_C(1) << inferior->arch->displaced->address_bits);
	inferior->pads = pads;
	inferior->owner->leave_pad = pad_stop_leave;
	return pads;
}

static struct pad_page *find_page(const struct pads *pads, uint64_t addr)
{
	struct table_entry *entry =
		table_find(&pads->by_page, addr & ~(pads->space.page_size - 1));

	return entry ? (struct pad_page *)((char *)entry -
					   offsetof(struct pad_page, by_page))
		     : NULL;
}

static void page_destroy(struct pads *pads, struct pad_page *page)
{
	TAILQ_REMOVE(&pads->pages, page, link);
	table_remove(&pads->by_page, &page->by_page);
	if (page->fd >= 0)
		close(page->fd);
	free(page);
}

/* ---- mapping ---- */

/* Takes the descriptor over: a probe is in pads only. False: out of memory. */
static bool add_page(struct pads *pads, enum pad_kind kind, uint64_t addr, int *fd)
{
	struct pad_page *page = calloc(1, sizeof(*page));

	if (!page || pad_space_add_page(&pads->space, kind, addr) < 0) {
		free(page);
		return false;
	}
	page->addr = addr;
	page->fd = kind == PADS ? take_fd(fd) : -1;
	TAILQ_INSERT_TAIL(&pads->pages, page, link);
	table_insert(&pads->by_page, &page->by_page, addr);
	return true;
}

static struct error *map_page(struct pads *pads, struct injection *injection,
			      enum pad_kind kind, uint64_t addr)
{
	const size_t len = pads->space.page_size;
	_cleanup_close_ int own = -1;
	struct error *error = pad_memory_map_code(injection, addr, len, &own);

	if (error || add_page(pads, kind, addr, &own))
		return error;
	pad_memory_unmap(injection, addr, len);
	return error_create(ENOMEM, "a page of pads");
}

static struct error *map_missing(struct pads *pads, enum pad_kind kind, uint64_t addr,
				 unsigned int len)
{
	struct injection injection;
	struct error *error = NULL;
	uint64_t pages[2];
	const unsigned int count = pad_space_missing(&pads->space, addr, len, pages);
	const char *why;

	if (count == 0)
		return NULL;
	why = injection_begin(pads->inferior, &injection);
	if (why)
		return error_create(0, "%s", why);
	for (unsigned int i = 0; i < count && !error; i++)
		error = map_page(pads, &injection, kind, pages[i]);
	injection_end(&injection);
	return error;
}

static struct error *map_pages(struct pads *pads, const struct pad *pad)
{
	struct error *error = map_missing(pads, PADS, pad->addr, pad->len);

	if (!error && pad->hop_len > 0)
		error = map_missing(pads, HOPS, pad->entry, pad->hop_len);
	for (unsigned int i = 0; i < pad->nnext && !error; i++)
		error = map_missing(pads, HOPS, pad->next[i].entry,
				    pad->next[i].hop_len);
	return error;
}

/* ---- one ---- */

/* How many bytes there are up to the next one, at most @len. */
static size_t next_location(const struct inferior *inferior, uint64_t addr, size_t len)
{
	const struct location *location;
	struct index_walk walk;
	size_t nearest = len;

	for (location = index_begin(&walk, inferior->breakpoints, addr + 1,
				    addr + len - 1);
	     location; location = index_next(&walk))
		if (location->type <= BREAKPOINT_HARDWARE &&
		    location->addr - addr < nearest)
			nearest = location->addr - addr;
	return nearest;
}

static struct error *read_text(struct inferior *inferior, uint64_t addr,
			       struct pad_text *ret)
{
	uint8_t bytes[PAD_TEXT_MAX];
	const ssize_t n = breakpoints_read_memory(inferior, addr, bytes, sizeof(bytes));

	if (n <= 0)
		return error_create(n < 0 ? (int)-n : EIO,
				    "the instruction cannot be read");
	pad_text_init(ret, addr, bytes, (size_t)n);
	traps_show_planted(inferior, addr, ret->planted, ret->len);
	ret->until = next_location(inferior, addr, ret->len);
	return NULL;
}

/* Once for each map. */
static struct error *look_at_memory(struct pads *pads)
{
	const struct inferior *inferior = pads->inferior;
	_cleanup_buffer_ struct buffer own = {0};
	const uint64_t number = maps_number(inferior);
	const char *maps;
	int err;

	if (number > 0 && pads->looked_at == number)
		return NULL;
	err = maps_read(inferior, &own, &maps);
	if (err == 0)
		err = pad_space_look(&pads->space, maps,
				     inferior_auxv(inferior, AT_PHDR));
	pads->looked_at = err == 0 ? number : 0;
	return err < 0 ? error_create(-err, "the map of its memory cannot be read")
		       : NULL;
}

static struct error *refusal_of(const char *why)
{
	return why ? error_create(0, "%s", why) : NULL;
}

/* With a filter, if it has one and that fits. */
static struct error *place_site(struct pads *pads, struct decoder *decoder,
				struct pad_text *text, struct site *site)
{
	const struct arch_ops *arch = pads->inferior->arch;
	struct error *error;
	const char *why = pad_placement_make(&pads->space, decoder, arch, text,
					     site->filter, 0, &site->pad);

	if (!why || !site_filters(site))
		return refusal_of(why);
	error = site_make_plain_filter(pads, site, text->addr, why);
	return error ? error
		     : refusal_of(pad_placement_make(&pads->space, decoder, arch, text,
						     site->filter, 0, &site->pad));
}

static void forget_symbols(struct pads *pads)
{
	symbols_destroy(take_ptr(pads->symbols));
}

/* To make them takes long: they are kept for a while. */
static struct symbols *symbols_of(struct pads *pads)
{
	const uint64_t number = maps_number(pads->inferior);
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (number == 0 || number != pads->symbols_number ||
	    now.tv_sec - pads->symbols_time > SYMBOLS_AGE)
		forget_symbols(pads);
	if (!pads->symbols) {
		pads->symbols = symbols_create(pads->inferior);
		pads->symbols_number = number;
		pads->symbols_time = now.tv_sec;
	}
	return pads->symbols;
}

static struct error *check_start(struct pads *pads, struct decoder *decoder,
				 struct pad_text *text)
{
	const char *why = pad_text_check(decoder, pads->inferior->arch, text);

	if (!why && !insn_starts_at(pads->inferior, symbols_of(pads), decoder,
				    text->addr, text->insn_len))
		why = "nothing says that an instruction begins there";
	return refusal_of(why);
}

static struct error *make(struct pads *pads, const struct site_wish *wish,
			  struct site *site)
{
	struct decoder *decoder;
	struct pad_text text = {0};
	struct error *error = read_text(pads->inferior, wish->addr, &text);

	if (!error)
		error = look_at_memory(pads);
	if (!error)
		error = site_make_filter(pads, site, wish->addr, wish->conditions);
	if (error)
		return error;
	decoder = decoder_take(pads->inferior);
	if (!decoder)
		return error_create(ENOMEM, "the decoder of instructions");
	error = wish->executed ? NULL : check_start(pads, decoder, &text);
	if (!error)
		error = place_site(pads, decoder, &text, site);
	decoder_give_back(pads->inferior, decoder);
	return error ? error : map_pages(pads, &site->pad);
}

static int write_code(struct inferior *inferior, const struct pad *pad)
{
	int err = inferior_write(inferior, pad->addr, pad->code, pad->len);

	if (err == 0 && pad->hop_len > 0)
		err = inferior_write(inferior, pad->entry, pad->hop, pad->hop_len);
	for (unsigned int i = 0; i < pad->nnext && err == 0; i++)
		err = inferior_write(inferior, pad->next[i].entry, pad->next[i].hop,
				     pad->next[i].hop_len);
	return err;
}

static struct error *put_in_memory(struct pads *pads, struct site *site)
{
	const struct pad *pad = &site->pad;
	const uint64_t trap = pad->addr + pad->trap;
	const struct pad_page *page = find_page(pads, trap);
	int err = write_code(pads->inferior, pad);

	if (err < 0)
		return error_create(-err, "the pad cannot be written");
	site->fd = page->fd;
	site->offset = trap - page->addr;
	TAILQ_INSERT_TAIL(&pads->sites, site, link);
	table_insert(&pads->by_addr, &site->by_addr, pad->addr);
	table_insert(&pads->by_entry, &site->by_entry, pad->entry);
	for (unsigned int i = 0; i < pad->nnext; i++) {
		site->by_next[i].site = site;
		table_insert(&pads->by_next, &site->by_next[i].entry,
			     pad->next[i].entry);
	}
	table_insert(&pads->by_insn, &site->by_insn, pad->insn);
	return NULL;
}

/* Where others are in the memory, their threads do not know of it. */
static bool is_shared(const struct inferior *inferior)
{
	const struct inferior *other;

	FOREACH_SHARING (other, inferior)
		if (other != inferior)
			return true;
	return false;
}

static void forget(struct site *site)
{
	struct pads *pads = site->pads;

	if (!pads)
		return;
	site_close_filter(site);
	site->pads = NULL;
	TAILQ_REMOVE(&pads->sites, site, link);
	table_remove(&pads->by_addr, &site->by_addr);
	table_remove(&pads->by_entry, &site->by_entry);
	for (unsigned int i = 0; i < site->pad.nnext; i++)
		table_remove(&pads->by_next, &site->by_next[i].entry);
	table_remove(&pads->by_insn, &site->by_insn);
	pad_placement_undo(&pads->space, &site->pad);
}

static void site_free(struct site *site)
{
	free(site->filter);
	free(site->why_no_filter);
	free(site);
}

/* Such a thread counts as held, and may sleep in a page fault of a copy. */
static bool any_late(const struct inferior *inferior)
{
	const struct inferior *other;
	const struct thread *thread;

	FOREACH_SHARING (other, inferior)
		FOREACH_THREAD (thread, other)
			if (thread->late)
				return true;
	return false;
}

void site_destroy(struct site *site)
{
	if (site->pads && any_late(site->pads->inferior)) {
		site->abandoned = true;
		site->pads->any_abandoned = true;
		return;
	}
	forget(site);
	site_free(site);
}

static void destroy_abandoned(struct pads *pads)
{
	struct site *site, *next;

	if (!pads->any_abandoned || any_late(pads->inferior))
		return;
	pads->any_abandoned = false;
	for (site = TAILQ_FIRST(&pads->sites); site; site = next) {
		next = TAILQ_NEXT(site, link);
		if (site->abandoned)
			site_destroy(site);
	}
}

struct error *site_create(struct inferior *inferior, const struct site_wish *wish,
			  struct site **ret)
{
	struct pads *pads = NULL;
	struct site *site;
	struct error *error;

	if (!inferior->arch->displaced || inferior->compat)
		return error_create(0, "no instruction of this processor can be "
				       "executed elsewhere");
	if (is_shared(inferior))
		return error_create(0, "its memory is another process's, too (vfork)");
	site = calloc(1, sizeof(*site));
	if (site) {
		site->trap_stays = wish->trap_stays;
		pads = pads_get(inferior);
	}
	if (pads)
		destroy_abandoned(pads);
	error = pads ? make(pads, wish, site) : error_create(ENOMEM, "a pad");
	if (!error)
		error = put_in_memory(pads, site);
	if (error) {
		if (pads && site) {
			pad_placement_undo(&pads->space, &site->pad);
			site_drop_filter(site);
		}
		free(site);
		return error;
	}
	*ret = site;
	return NULL;
}

void pads_are_made(struct inferior *inferior)
{
	if (inferior->pads)
		forget_symbols(inferior->pads);
}

/* ---- the end ---- */

/* SIGKILL of the server would leave a thread with the registers of a call that it makes
 * for the server. */
static const char *why_unmap_nothing(const struct inferior *inferior)
{
	if (any_late(inferior))
		return "a thread sleeps where it cannot be stopped";
	return shutdown_by_guard() ? "truehit was killed" : NULL;
}

static void unmap_all(struct pads *pads)
{
	const size_t len = pads->space.page_size;
	struct injection injection;
	const struct pad_page *page;
	const char *why;

	if (TAILQ_EMPTY(&pads->pages) && !pads->filters.memory)
		return;
	why = why_unmap_nothing(pads->inferior);
	if (!why)
		why = injection_begin(pads->inferior, &injection);
	if (why) {
		log_warning("pads, to which nothing leads, stay in process %d: %s",
			    pads->inferior->pid, why);
		return;
	}
	TAILQ_FOREACH (page, &pads->pages, link)
		pad_memory_unmap(&injection, page->addr, len);
	filter_memory_unmap(&pads->filters, &injection);
	injection_end(&injection);
}

void pads_remove(struct inferior *inferior, bool gone)
{
	struct pads *pads = inferior->pads;
	struct pad_page *page;
	struct site *site;

	if (!pads)
		return;
	if (!gone)
		unmap_all(pads);
	forget_symbols(pads);
	inferior->pads = NULL;
	inferior->filter_shadow = NULL;
	while ((site = TAILQ_FIRST(&pads->sites))) {
		forget(site);
		if (site->abandoned)
			site_free(site);
	}
	filter_memory_forget(&pads->filters);
	while ((page = TAILQ_FIRST(&pads->pages)))
		page_destroy(pads, page);
	table_deinit(&pads->by_page);
	table_deinit(&pads->by_addr);
	table_deinit(&pads->by_entry);
	table_deinit(&pads->by_next);
	table_deinit(&pads->by_insn);
	pad_space_deinit(&pads->space);
	free(pads);
}
