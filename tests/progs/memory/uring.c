/* SPDX-License-Identifier: BSD-2-Clause */
/* A read(2) that a worker of io_uring makes: a thread of the kernel's, in the program's
 * memory. Exits with 77 where there is no io_uring. */
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int number;
static volatile int result;

static void must(int ok)
{
	if (!ok) {
		perror("uring");
		exit(1);
	}
}

static void *map(int fd, size_t len, off_t offset)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
		       offset);

	must(p != MAP_FAILED);
	return p;
}

static unsigned int *at(void *ring, uint32_t offset)
{
	return (unsigned int *)((char *)ring + offset);
}

static void read_by_worker(int fd)
{
	struct io_uring_params params = {0};
	int uring = (int)syscall(SYS_io_uring_setup, 2, &params);
	struct io_uring_sqe *entry;
	struct io_uring_cqe *done;
	void *ring;

	if (uring < 0)
		exit(77);
	ring = map(uring, 4096, IORING_OFF_SQ_RING);
	entry = map(uring, 4096, IORING_OFF_SQES);
	entry[0] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
					 .flags = IOSQE_ASYNC,
					 .fd = fd,
					 .addr = (uintptr_t)&number,
					 .len = sizeof(number)};
	at(ring, params.sq_off.array)[0] = 0;
	__atomic_store_n(at(ring, params.sq_off.tail), 1, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, uring, 1, 1, IORING_ENTER_GETEVENTS, NULL,
		     0) == 1);
	done = (struct io_uring_cqe *)at(map(uring, 4096, IORING_OFF_CQ_RING),
					 params.cq_off.cqes);
	result = done->res;
}

int main(void)
{
	const int value = 1234;
	int fds[2];

	must(pipe(fds) == 0);
	must(write(fds[1], &value, sizeof(value)) == sizeof(value)); /* START */
	read_by_worker(fds[0]);
	must(result == sizeof(value) && number == value);
	number = 4321; /* OWN */
	return 0;
}
