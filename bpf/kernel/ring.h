/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reading end of a BPF ring buffer.
 *
 * libbpf's reader stops at the first record that its program has yet to finish: what
 * lies after it on other CPUs cannot be seen then. At the stop of a thread that is
 * not good enough: all that the thread has left is there, and has to be found.
 *
 * Source of the layout: kernel/bpf/ringbuf.c and the BPF_RINGBUF_ constants.
 */
#ifndef TRUEHIT_BPF_KERNEL_RING_H
#define TRUEHIT_BPF_KERNEL_RING_H

#include <stdbool.h>
#include <stddef.h>

#include "gdbstub/base/error.h"

/** {.fd = -1} is none. */
struct ring {
	int fd;	     /* of the map; readable by poll(2) while records are there */
	size_t size; /* of the data, in bytes: a power of two */
	unsigned long *consumer;       /* the position that we have read up to */
	const unsigned long *producer; /* ... and programs have reserved up to */
	const char *data;	       /* twice in a row, so that no record is cut */
	int patience; /* how long a program may take to finish a record, ms */
};

/** @size: a power of two and a multiple of every page size. */
struct error *ring_create(struct ring *ring, const char *name, size_t size);
/** Legal for none. */
void ring_destroy(struct ring *ring);

/** Takes one record, valid until it returns. False: no more after this one. */
typedef bool ring_record_fn(void *data, const void *record, size_t len);

/**
 * Takes the records that were reserved before the call, in that order, and waits for
 * those that a program is just writing. Makes no system call if there are none of
 * these. Returns how many it took.
 */
size_t ring_drain(struct ring *ring, ring_record_fn *fn, void *data);

#endif
