/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads count by restartable sequences (rseq(2)): a counter for each processor, whose
 * increment the kernel makes begin anew when the thread leaves the processor midway.
 *
 *   rseq THREADS ROUNDS [ABORTS [WAIT]]
 *
 * Prints what should have been counted, and what was. After ABORTS in a row, if they
 * are given (not 0), a round is counted otherwise. If WAIT is given, it prints
 * "waiting" when all threads are there, which begin so many milliseconds later; every
 * second one creates another thread first, which does nothing. Built with HIDDEN, it
 * describes the sequence in memory of its own, and has no ELF section __rseq_cs.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

enum { CPUS = 4096, THREADS_MAX = 64, CACHE_LINE = 64 };

/* struct rseq_cs of include/uapi/linux/rseq.h */
struct sequence {
	uint32_t version, flags;
	uint64_t start, length, abort;
};

static struct {
	uint64_t count;
	char rest[CACHE_LINE - sizeof(uint64_t)];
} counters[CPUS] __attribute__((aligned(CACHE_LINE)));

#ifdef HIDDEN
#define SECTION ".data"
#else
#define SECTION "__rseq_cs"
#endif

static uint64_t otherwise, restarts;
static unsigned long rounds, aborts_max, wait_ms;
static pthread_barrier_t all_there;

extern const struct sequence described;
static const struct sequence *used = &described;

/*
 * Increments the counter of this processor. False: the sequence was aborted. In
 * registers: the round in r8, and in r9 how often it was tried before.
 */
static bool count_one(unsigned long round, unsigned long tried)
{
	register unsigned long in_r8 __asm__("r8") = round;
	register unsigned long in_r9 __asm__("r9") = tried;

	__asm__ goto(
		".pushsection " SECTION ", \"aw\"\n"
		".balign 32\n"
		".globl described\n"
		"described:\n"
		".long 0, 0\n"
		".quad seq_start, seq_end - seq_start, seq_abort\n"
		".popsection\n"
		".globl seq_start, seq_middle, seq_jump, seq_commit, seq_end\n"
		"movq %[used], %%fs:8(%[area])\n"
		"seq_start:\n"
		"movl %%fs:4(%[area]), %%eax\n"
		"shlq $6, %%rax\n"
		"addq %[counters], %%rax\n"
		"movq (%%rax), %%rcx\n"
		"seq_middle:\n"
		"leaq 1(%%rcx), %%rcx\n"
		"seq_jump:\n"
		"jmp seq_commit\n"
		"seq_commit:\n"
		"movq %%rcx, (%%rax)\n"
		"seq_end:\n"
		".pushsection .text.rseq, \"ax\"\n"
		".byte 0x0f, 0xb9, 0x3d\n" /* ud1, whose operand is the signature */
		".long %c[signature]\n"
		"seq_abort:\n"
		"jmp %l[aborted]\n"
		".popsection\n"
		:
		: [area] "r"(__rseq_offset), [used] "r"(used), [counters] "r"(counters),
		  [signature] "i"(RSEQ_SIG), "r"(in_r8), "r"(in_r9)
		: "rax", "rcx", "memory", "cc"
		: aborted);
	return true;
aborted:
	return false;
}

static void *nothing(void *arg)
{
	return arg;
}

/* To begin together with the others. */
static void wait_for_others(bool creates)
{
	pthread_t thread;

	pthread_barrier_wait(&all_there);
	usleep((useconds_t)wait_ms * 1000);
	if (creates && pthread_create(&thread, NULL, nothing, NULL) == 0)
		pthread_detach(thread);
}

static void *run(void *arg)
{
	if (wait_ms > 0)
		wait_for_others((uintptr_t)arg % 2 == 1);
	for (unsigned long round = 1; round <= rounds; round++) {
		unsigned long tried = 0;

		while (!count_one(round, tried)) {
			__atomic_add_fetch(&restarts, 1, __ATOMIC_RELAXED);
			if (++tried == aborts_max) {
				__atomic_add_fetch(&otherwise, 1, __ATOMIC_RELAXED);
				break;
			}
		}
	}
	return arg;
}

static void done(void)
{
	__asm__ volatile("" : : : "memory"); /* DONE */
}

#ifdef HIDDEN
static void hide(void)
{
	struct sequence *copy = mmap(NULL, sizeof(*copy), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		abort();
	*copy = described;
	used = copy;
}
#endif

int main(int argc, char **argv)
{
	unsigned long threads = strtoul(argc > 1 ? argv[1] : "1", NULL, 0), sum = 0;
	pthread_t thread[THREADS_MAX];

	rounds = strtoul(argc > 2 ? argv[2] : "1000", NULL, 0);
	aborts_max = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	wait_ms = argc > 4 ? strtoul(argv[4], NULL, 0) : 0;
#ifdef HIDDEN
	hide();
#endif
	if (__rseq_size == 0 || threads > THREADS_MAX)
		return 2;
	pthread_barrier_init(&all_there, NULL, (unsigned int)threads + 1);
	for (unsigned long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	if (wait_ms > 0) {
		pthread_barrier_wait(&all_there);
		puts("waiting");
		fflush(stdout);
	}
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (unsigned int i = 0; i < CPUS; i++)
		sum += counters[i].count;
	done();
	printf("wanted %lu, counted %lu, otherwise %lu, restarted %lu\n",
	       threads * rounds, sum + otherwise, otherwise, restarts);
	return sum + otherwise == threads * rounds ? 0 : 1;
}

#else

int main(void)
{
	return 2; /* there are none */
}

#endif
