/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comes to many kinds of instructions: pads ROUNDS [timer]. With `timer`, one
 * interrupts it all the time; it tells at its end how often its signal handler has
 * interrupted what is neither its own text nor a library's.
 */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>

enum { RANGES_MAX = 16, PERIOD_US = 50 };

static struct {
	uintptr_t start, end;
} text[RANGES_MAX];
static int ntexts;
static volatile long interrupts, from_elsewhere, sum, rounds, added;
static volatile double share;
static volatile char letter;

static int note_text(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) ||
		    ntexts == RANGES_MAX)
			continue;
		text[ntexts].start = info->dlpi_addr + part->p_vaddr;
		text[ntexts].end = text[ntexts].start + part->p_memsz;
		ntexts++;
	}
	return 0;
}

static uintptr_t place_of(const ucontext_t *context)
{
#ifdef __x86_64__
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
	return context->uc_mcontext.pc;
#endif
}

static void on_timer(int signal, siginfo_t *info, void *data)
{
	uintptr_t pc = place_of(data);

	(void)signal;
	(void)info;
	interrupts++;
	for (int i = 0; i < ntexts; i++)
		if (pc >= text[i].start && pc < text[i].end)
			return;
	from_elsewhere++;
}

static void set_timer(long period)
{
	const struct itimerval timer = {{0, period}, {0, period}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

#ifdef __x86_64__
/* A byte that nobody executes, of which a decoder makes an instruction with the
 * beginning of the function after it. */
__asm__(".text\n"
	"gap: .byte 0\n"
	".globl after_gap\n"
	"after_gap:\n"
	"sub $8, %rsp\n"
	"add $8, %rsp\n"
	"ret");
/* A jump in the place of the first instruction, whose end is what follows, leads into
 * the program itself. Some calls come to the second one without the first. */
__asm__(".text\n"
	".globl short_one, second_one\n"
	".type short_one, @function\n"
	"short_one:\n"
	"nop\n"
	"second_one:\n"
	".byte 0x05, 3, 0, 0, 0\n" /* add $3, %eax */
	"ret\n"
	".size short_one, . - short_one");
static long call_short_one(long i)
{
	long value = i;

	/* Past the red zone. */
	if (i % 4 == 3)
		__asm__ volatile("sub $128, %%rsp; call second_one; add $128, %%rsp"
				 : "+a"(value)
				 :
				 : "cc", "memory");
	else
		__asm__ volatile("sub $128, %%rsp; call short_one; add $128, %%rsp"
				 : "+a"(value)
				 :
				 : "cc", "memory");
	return value;
}
#else
void after_gap(void)
{
}
static long call_short_one(long i)
{
	return i + 3;
}
#endif
void after_gap(void);

static long twice(long x)
{
	return 2 * x; /* CALLED */
}

static long (*volatile by_pointer)(long) = twice;

static void turn(long i)
{
	long local = i; /* STORE */

	local += 3;		       /* CHANGE */
	sum += local;		       /* VARIABLE */
	if (i % 3 == 1)		       /* BRANCH */
		sum -= 1;	       /* TAKEN */
	sum += twice(i);	       /* CALL */
	sum += by_pointer(i);	       /* POINTER */
	share += (double)i / 4;	       /* VECTOR */
	letter = (char)(i % 26 + 'a'); /* BYTE */
	rounds++;		       /* COUNT */
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_sigaction = on_timer,
					 .sa_flags = SA_SIGINFO | SA_RESTART};
	const long wanted = argc > 1 ? atol(argv[1]) : 1000;

	dl_iterate_phdr(note_text, NULL); /* BEGIN */
	sigaction(SIGALRM, &action, NULL);
	if (argc > 2)
		set_timer(PERIOD_US);
	for (long i = 0; i < wanted; i++) {
		turn(i);
		added += call_short_one(i);
	}
	set_timer(0);
	after_gap();
	printf("%ld rounds, sum %ld, share %.2f, letter %c\n", rounds, sum, share,
	       letter); /* END */
	printf("%ld added\n", added);
	printf("%ld from elsewhere of %s\n", from_elsewhere,
	       interrupts > 10 ? "many" : "few");
	return 0;
}
