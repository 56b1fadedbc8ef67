/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Debug exceptions that say wrongly what they are about, as some virtual machines
 * have them once in millions of hits: the thread sends itself the SIGTRAP by which the
 * kernel tells of one, right where the processor would have stopped it. x86_64 only.
 *
 * unexplained breakpoint N CODE  before each of N passes of place_reached; with this
 *                                si_code (1, 2, 4)
 * unexplained store N CODE       instead of a store of i to watched, which other means
 *                                make every fourth time only, N times
 * unexplained load N CODE        instead of a load from there
 * unexplained after N CODE      after an instruction of one byte, place_single, which
 * is not executed unexplained int1 N             by that instruction, before place_int1
 * unexplained step N             the program steps itself to place_stepped, and on
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __x86_64__
uint64_t watched[8];

/* Each sends SIGUSR2 to the thread (@tid, @pid), with i in rbx: the handler goes on at
 * the place. What is between is not executed. */
void reach(long i, long pid, long tid);
void store(long i, long pid, long tid);
void load(long i, long pid, long tid);
void single(long i, long pid, long tid);
void int1(long i, long pid, long tid);
void step(long i, long pid, long tid);
extern const char place_reached[], place_stored[], place_loaded[], place_after[];
#define SEND                                                                           \
	"push %rbx\n"                                                                  \
	"mov %rdi, %rbx\n"                                                             \
	"mov %rsi, %rdi\n"                                                             \
	"mov %rdx, %rsi\n"                                                             \
	"mov $12, %edx\n"  /* SIGUSR2 */                                               \
	"mov $234, %eax\n" /* tgkill */                                                \
	"syscall\n"
#define RETURN "pop %rbx\nret\n"
__asm__(".pushsection .text\n"
	".globl place_reached, place_stored, place_loaded, place_single\n"
	".globl place_after, place_int1, place_stepped\n"
	"reach: " SEND "place_reached: nop\n" RETURN "store: " SEND
	"mov %rbx, watched(%rip)\n"
	"place_stored: nop\n" RETURN "load: " SEND "mov watched(%rip), %rax\n"
	"place_loaded: nop\n" RETURN "single: " SEND "place_single: nop\n"
	"place_after: nop\n" RETURN "int1: push %rbx\n"
	"mov %rdi, %rbx\n"
	".byte 0xf1\n"
	"place_int1: nop\n" RETURN "step: push %rbx\n"
	"mov %rdi, %rbx\n"
	"pushf\n"
	"orq $0x100, (%rsp)\n"
	"popf\n"
	"nop\n"
	"place_stepped: nop\n"
	"pushf\n"
	"andq $-0x101, (%rsp)\n"
	"popf\n" RETURN ".popsection\n");

static const struct way {
	const char *name;
	void (*call)(long i, long pid, long tid);
	const char *place;
} ways[] = {
	{"breakpoint", reach, place_reached}, {"store", store, place_stored},
	{"load", load, place_loaded},	      {"int1", int1, NULL},
	{"after", single, place_after},	      {"step", step, NULL},
};

static const struct way *way;
static int code;

/* Nobody sees this one: hardware watches the addresses that programs use. */
static void write_unseen(uint64_t value)
{
	struct iovec from = {&value, sizeof(value)}, to = {watched, sizeof(value)};

	if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != sizeof(value))
		_exit(2);
}

/* SIGTRAP is blocked here: it comes right when the handler has returned. */
static void on_signal(int number, siginfo_t *from, void *data)
{
	siginfo_t info = {.si_signo = SIGTRAP, .si_code = code};
	ucontext_t *context = data;
	long i = context->uc_mcontext.gregs[REG_RBX];

	(void)number;
	(void)from;
	if (way->call == store && i % 4 == 0)
		write_unseen((uint64_t)i);
	info.si_addr = (void *)(uintptr_t)way->place;
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGTRAP, &info) != 0)
		_exit(3);
	context->uc_mcontext.gregs[REG_RIP] = (long)way->place;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaddset(&action.sa_mask, SIGTRAP);
	sigaction(SIGUSR2, &action, NULL);
	code = argc > 3 ? atoi(argv[3]) : 0;
	for (size_t k = 0; argc > 2 && k < sizeof(ways) / sizeof(*ways); k++)
		if (strcmp(argv[1], ways[k].name) == 0)
			way = &ways[k];
	if (!way)
		return 1;
	for (long i = 1; i <= atol(argv[2]); i++)
		way->call(i, getpid(), gettid());
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
