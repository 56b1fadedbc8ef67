/* SPDX-License-Identifier: BSD-2-Clause */
/* The reading end of a BPF ring, on memory that looks like one. */
#include <criterion/criterion.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "bpf/kernel/ring.h"

enum { SIZE = 4096, RECORD = 16 }; /* a record with its header */

/* The second half of the data shows the first one again. */
static _Alignas(uint64_t) char data[2 * SIZE];
static unsigned long consumer, producer;
static struct ring ring = {.fd = -1,
			   .size = SIZE,
			   .patience = 10000,
			   .consumer = &consumer,
			   .producer = &producer,
			   .data = data};

static uint32_t *header(unsigned long position)
{
	return (uint32_t *)(void *)(data + (position & (SIZE - 1)));
}

/* A record of four bytes. */
static unsigned long reserve(uint32_t value)
{
	unsigned long position = producer;

	*header(position) = sizeof(value) | BPF_RINGBUF_BUSY_BIT;
	memcpy((char *)header(position) + BPF_RINGBUF_HDR_SZ, &value, sizeof(value));
	producer += RECORD;
	return position;
}

static void submit(unsigned long position, uint32_t flags)
{
	__atomic_store_n(header(position), sizeof(uint32_t) | flags, __ATOMIC_RELEASE);
}

static void put(uint32_t value)
{
	submit(reserve(value), 0);
}

static uint32_t taken[SIZE];
static size_t ntaken;
static bool more = true;

static bool take(void *arg, const void *record, size_t len)
{
	(void)arg;
	cr_expect_eq(len, sizeof(uint32_t));
	memcpy(&taken[ntaken++], record, sizeof(uint32_t));
	return more;
}

static void expect_taken(uint32_t first, size_t count)
{
	cr_assert_eq(ntaken, count, "%zu records instead of %zu", ntaken, count);
	for (size_t i = 0; i < count; i++)
		cr_expect_eq(taken[i], first + i, "record %zu is %u", i, taken[i]);
	ntaken = 0;
}

TestSuite(ring, .timeout = 300);

Test(ring, takes_all_in_order)
{
	cr_expect_eq(ring_drain(&ring, take, NULL), 0);
	for (uint32_t round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < SIZE / RECORD; i++)
			put(round * SIZE + i);
		cr_expect_eq(ring_drain(&ring, take, NULL), SIZE / RECORD);
		expect_taken(round * SIZE, SIZE / RECORD);
		cr_expect_eq(consumer, producer, "the room is given back");
	}
}

Test(ring, passes_over_what_was_discarded)
{
	put(1);
	submit(reserve(99), BPF_RINGBUF_DISCARD_BIT);
	put(2);
	cr_expect_eq(ring_drain(&ring, take, NULL), 2);
	expect_taken(1, 2);
}

Test(ring, stops_when_told)
{
	for (uint32_t i = 0; i < 4; i++)
		put(i);
	more = false;
	cr_expect_eq(ring_drain(&ring, take, NULL), 1);
	expect_taken(0, 1);
	more = true;
	ring_drain(&ring, take, NULL);
	expect_taken(1, 3);
}

static void *finish_late(void *position)
{
	usleep(20 * 1000);
	submit(*(unsigned long *)position, 0);
	return NULL;
}

/* A record that another processor is just writing. */
Test(ring, a_busy_record_hides_nothing)
{
	unsigned long busy = reserve(0);
	pthread_t thread;

	put(1);
	pthread_create(&thread, NULL, finish_late, &busy);
	cr_expect_eq(ring_drain(&ring, take, NULL), 2);
	pthread_join(thread, NULL);
	expect_taken(0, 2);
}

static bool take_and_put(void *arg, const void *record, size_t len)
{
	put(100);
	return take(arg, record, len);
}

/* A program that never stops does not keep us. */
Test(ring, takes_only_what_is_there_at_first)
{
	put(0);
	put(1);
	cr_expect_eq(ring_drain(&ring, take_and_put, NULL), 2);
	expect_taken(0, 2);
}

Test(ring, what_is_never_finished_is_not_waited_for)
{
	unsigned long busy;

	ring.patience = 100;
	put(0);
	busy = reserve(1);
	put(2);
	cr_expect_eq(ring_drain(&ring, take, NULL), 1);
	submit(busy, 0);
	cr_expect_eq(ring_drain(&ring, take, NULL), 2);
	expect_taken(0, 3);
}

Test(ring, of_the_kernel)
{
	struct ring real;
	struct error *error _cleanup_error_ = ring_create(&real, "test", 64 * 1024);

	if (error)
		cr_skip_test("%s", error_text(error));
	cr_expect_eq(ring_drain(&real, take, NULL), 0);
	ring_destroy(&real);
	cr_expect_eq(real.fd, -1);
	ring_destroy(&real);
}
