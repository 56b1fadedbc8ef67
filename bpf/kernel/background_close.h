/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closes descriptors in the background. To close a uprobe takes as long as the kernel
 * needs to be sure that no processor is at it any more, 25 to 110 ms; threads that do
 * it at the same time wait for the same.
 */
#ifndef TRUEHIT_BPF_KERNEL_BACKGROUND_CLOSE_H
#define TRUEHIT_BPF_KERNEL_BACKGROUND_CLOSE_H

#include <stdbool.h>
#include <sys/queue.h>

struct background_close;

/** A descriptor that is to be closed: a part of what it belongs to. */
struct closing {
	STAILQ_ENTRY(closing) link;
	int fd;
	void (*closed)(struct closing *closing); /* it has been: on the thread that
						  * collects; may free it */
};

/** NULL: out of memory. It makes threads only when there is something to close. */
struct background_close *background_close_create(void);
/** Waits until all is closed and collected. NULL is legal. */
void background_close_destroy(struct background_close *closer);

/** Takes over the descriptor, and @closing until it is collected; returns at once. */
void background_close_add(struct background_close *closer, struct closing *closing);
/** The same for a descriptor whose end interests nobody. */
void background_close_add_fd(struct background_close *closer, int fd);

/** Tells those that have been closed; @all: when all of them are. */
void background_close_collect(struct background_close *closer, bool all);

#endif
