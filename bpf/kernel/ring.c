/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/log.h"
#include "gdbstub/base/rights.h"

/* Programs at a breakpoint are not interrupted between reserving and submitting; in
 * a virtual machine, their processor may be. Those at a uprobe are preempted as any
 * thread is: until it is their turn again. */
enum { PATIENCE = 10000 }; /* ms */

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static struct error *map_failed(struct ring *ring, const char *name)
{
	struct error *error =
		error_create(errno, "the BPF ring %s cannot be mapped", name);

	ring_destroy(ring);
	return error;
}

struct error *ring_create(struct ring *ring, const char *name, size_t size)
{
	RIGHTS_RAISED_IN_SCOPE;
	size_t page = page_size();
	char *producer;
	void *consumer;

	*ring = (struct ring){.size = size, .patience = PATIENCE};
	ring->fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, name, 0, 0, (uint32_t)size, NULL);
	if (ring->fd < 0)
		return error_create(-ring->fd, "the BPF ring %s cannot be made", name);
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (consumer == MAP_FAILED)
		return map_failed(ring, name);
	ring->consumer = consumer;
	producer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, ring->fd,
			(off_t)page);
	if (producer == MAP_FAILED)
		return map_failed(ring, name);
	ring->producer = (const unsigned long *)producer;
	ring->data = producer + page;
	/* A child that is to be traced has nothing of it (gdbstub/base/rights.h). */
	madvise(consumer, page, MADV_DONTFORK);
	madvise(producer, page + 2 * size, MADV_DONTFORK);
	return NULL;
}

void ring_destroy(struct ring *ring)
{
	if (ring->consumer)
		munmap(ring->consumer, page_size());
	if (ring->producer)
		munmap((void *)ring->producer, page_size() + 2 * ring->size);
	cleanup_close(&ring->fd);
	*ring = (struct ring){.fd = -1};
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The length of a record and its flags, once it is complete. */
static uint32_t wait_for_record(const struct ring *ring, const uint32_t *header)
{
	uint32_t len = __atomic_load_n(header, __ATOMIC_ACQUIRE);
	int64_t limit = 0;

	while (len & BPF_RINGBUF_BUSY_BIT) {
		if (limit == 0)
			limit = now_ms() + ring->patience;
		else if (now_ms() > limit)
			break;
		sched_yield();
		len = __atomic_load_n(header, __ATOMIC_ACQUIRE);
	}
	return len;
}

size_t ring_drain(struct ring *ring, ring_record_fn *fn, void *data)
{
	unsigned long end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	unsigned long position = *ring->consumer; /* which only we write */
	bool more = true;
	size_t count = 0;

	while (position < end && more) {
		const char *header = ring->data + (position & (ring->size - 1));
		uint32_t word =
			wait_for_record(ring, (const uint32_t *)(const void *)header);
		uint32_t len = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (word & BPF_RINGBUF_BUSY_BIT) {
			log_warning("a record in a BPF ring is never finished");
			break;
		}
		if (!(word & BPF_RINGBUF_DISCARD_BIT)) {
			more = fn(data, header + BPF_RINGBUF_HDR_SZ, len);
			count++;
		}
		position += (len + BPF_RINGBUF_HDR_SZ + 7) & ~7UL;
		__atomic_store_n(ring->consumer, position, __ATOMIC_RELEASE);
	}
	return count;
}
