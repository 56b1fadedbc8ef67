/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/server_word.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Before the memory there is as much of the server's own, in which the entry is where
 * the word is in the memory. */
enum { DISTANCE = SERVER_WORD_MEMORY };

static uint8_t *own_part(void *memory)
{
	return (uint8_t *)memory - DISTANCE;
}

int server_word_map(int fd, size_t len, void **ret)
{
	uint8_t *both =
		mmap(NULL, DISTANCE + SERVER_WORD_MEMORY, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int err;

	if (both == MAP_FAILED)
		return -errno;
	*ret = mmap(both + DISTANCE, len, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, 0);
	if (*ret != MAP_FAILED)
		return 0;
	err = -errno;
	munmap(both, DISTANCE + SERVER_WORD_MEMORY);
	return err;
}

/* ---- the thread's list ---- */

/* The kernel keeps where it is, so nobody else has to. NULL: it is another's. */
static struct robust_list_head *find_list(void)
{
	struct robust_list_head *head = NULL;
	size_t len;

	if (syscall(SYS_get_robust_list, 0, &head, &len) < 0 || !head ||
	    head->futex_offset != DISTANCE)
		return NULL;
	return head;
}

/* It stays as long as the thread. */
static int make_list(struct robust_list_head **ret)
{
	struct robust_list_head *head =
		mmap(NULL, sizeof(*head), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (head == MAP_FAILED)
		return -errno;
	head->list.next = &head->list;
	head->futex_offset = DISTANCE;
	head->list_op_pending = NULL;
	if (syscall(SYS_set_robust_list, head, sizeof(*head)) < 0) {
		const int err = -errno;

		munmap(head, sizeof(*head));
		return err;
	}
	*ret = head;
	return 0;
}

static uint32_t *word_of(struct robust_list *entry)
{
	return (uint32_t *)(void *)((uint8_t *)entry + DISTANCE);
}

int server_word_hold(void *memory, size_t at)
{
	struct robust_list *entry = (void *)(own_part(memory) + at);
	struct robust_list_head *head = find_list();
	int err = head ? 0 : make_list(&head);

	if (err < 0)
		return err;
	entry->next = head->list.next;
	/* The thread may be killed between any two of these. */
	__atomic_store_n(&head->list.next, entry, __ATOMIC_SEQ_CST);
	__atomic_store_n(word_of(entry), (uint32_t)gettid(), __ATOMIC_SEQ_CST);
	return 0;
}

static bool is_in(const void *entry, void *memory)
{
	const uintptr_t at = (uintptr_t)entry, start = (uintptr_t)own_part(memory);

	return at >= start && at - start < DISTANCE;
}

static void leave_list(void *memory)
{
	struct robust_list_head *head = find_list();
	struct robust_list *entry;

	if (!head)
		return;
	for (entry = &head->list; entry->next != &head->list; entry = entry->next) {
		if (!is_in(entry->next, memory))
			continue;
		*word_of(entry->next) = 0;
		__atomic_store_n(&entry->next, entry->next->next, __ATOMIC_SEQ_CST);
		return;
	}
}

void server_word_unmap(void *memory)
{
	leave_list(memory);
	munmap(own_part(memory), DISTANCE + SERVER_WORD_MEMORY);
}
