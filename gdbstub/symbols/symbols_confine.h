/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that reads symbols has no rights but to do that. */
#ifndef TRUEHIT_SYMBOLS_SYMBOLS_CONFINE_H
#define TRUEHIT_SYMBOLS_SYMBOLS_CONFINE_H

/** For the reader itself, when it begins: takes from it all that it does not need. What
 * this kernel does not offer is left out. */
void symbols_confine(void);

#endif
