/* SPDX-License-Identifier: BSD-2-Clause */
/* The filters of sites (pads.h), and what they have counted. */
#ifndef TRUEHIT_PADS_SITE_FILTER_H
#define TRUEHIT_PADS_SITE_FILTER_H

#include "gdbstub/agent/list.h"
#include "gdbstub/pads/pads_state.h"

/** Makes one, for a site at @addr that is not yet in memory, of which a map was just
 * looked at; no conditions: its reads would be hits of a watchpoint.
 * site->why_no_filter says why there is none. The error: there can be no site. */
struct error *site_make_filter(struct pads *pads, struct site *site, uint64_t addr,
			       const struct agent_list *conditions);
/** ... without conditions, as there is no room for them: that is @why. */
struct error *site_make_plain_filter(struct pads *pads, struct site *site,
				     uint64_t addr, const char *why);
/** The site is given up. */
void site_drop_filter(struct site *site);
/** The counter is given back; what it has counted is kept. */
void site_close_filter(struct site *site);
/** A thread has left the filter for the instruction, after its hit was counted. */
void site_uncount(struct site *site);

#endif
