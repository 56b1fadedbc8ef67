/* SPDX-License-Identifier: BSD-2-Clause */
/* accounts: what doc/guide.md debugs. Two threads move money between the accounts of
 * their banks, a million times each; now and then, a transfer loses some. */
#include <pthread.h>
#include <stdio.h>

enum { BANKS = 2, ACCOUNTS = 16, TRANSFERS = 1000000 };

struct account {
	long balance;
	unsigned int transfers;
};

struct bank {
	struct account account[ACCOUNTS];
	unsigned int seed;
} bank[BANKS];

static unsigned int next(struct bank *of)
{
	of->seed = of->seed * 1664525u + 1013904223u;
	return of->seed >> 16;
}

static void transfer(struct account *from, struct account *to, long amount)
{
	from->transfers++;
	from->balance -= amount;
	if (from->transfers == 54321)
		amount--;
	to->balance += amount;
}

static void *work(void *argument)
{
	struct bank *own = argument;

	for (int i = 0; i < TRANSFERS; i++)
		transfer(&own->account[next(own) % ACCOUNTS],
			 &own->account[next(own) % ACCOUNTS], next(own) % 100);
	return NULL;
}

int main(void)
{
	pthread_t thread[BANKS];
	long sum = 0;

	for (int i = 0; i < BANKS; i++) {
		bank[i].seed = i + 1;
		pthread_create(&thread[i], NULL, work, &bank[i]);
	}
	for (int i = 0; i < BANKS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < BANKS * ACCOUNTS; i++)
		sum += bank[i / ACCOUNTS].account[i % ACCOUNTS].balance;
	printf("sum %ld\n", sum);
	return 0;
}
