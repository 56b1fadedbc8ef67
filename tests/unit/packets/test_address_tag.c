/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tagged addresses. Which bits are a tag, the kernel says in a line of
 * /proc/PID/status; here that is the one of the blocked signals, which a process can
 * choose: the real-time signals 49 to 63 are the bits 48 to 62.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gdbstub/client/client.h"
#include "gdbstub/client/report.h"
#include "gdbstub/packets/address_tag.h"
#include "gdbstub/packets/packet.h"
#include "tests/unit/run_place.h"
#include "tests/unit/support.h"

TestSuite(address_tag, .init = set_up, .fini = tear_down, .timeout = 300);

static const struct address_tags blocked_signals = {"SigBlk", 48};

/* Some signals cannot be blocked, and are bits that this does not have. */
#define PLACE_OF_DATA UINT64_C(0x10000000)
#define TAG	      (UINT64_C(0x2a) << 57)

static volatile uint32_t *const data = (volatile uint32_t *)PLACE_OF_DATA;
static struct client client = {.run = &run};

static void block_signals(void)
{
	sigset_t set;

	sigfillset(&set);
	for (int number = 49; number <= 63; number++)
		sigdelset(&set, number);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static int write_data(void)
{
	block_signals();
	for (uint32_t i = 1; i <= 3; i++)
		*data = i;
	return 6;
}

/* A processor that is as this one, and takes addresses with tags. */
static const struct arch_ops *tagging(const struct arch_ops *arch)
{
	static struct arch_ops copy;

	copy = *arch;
	copy.address_tags = &blocked_signals;
	return &copy;
}

Test(address_tag, is_left_out)
{
	const struct inferior inferior = {.pid = getpid(),
					  .arch = tagging(arch_native())};

	block_signals();
	cr_expect_eq(address_untag(&inferior, TAG | PLACE_OF_DATA), PLACE_OF_DATA);
}

Test(address_tag, other_addresses_are_as_they_are)
{
	struct inferior inferior = {.pid = getpid(), .arch = tagging(arch_native())};

	block_signals();
	/* No tag; bit 8 is not in the mask. */
	cr_expect_eq(address_untag(&inferior, 0x7fff00000100), 0x7fff00000100);
	/* The kernel's half. */
	cr_expect_eq(address_untag(&inferior, UINT64_C(0xffffffffff600100)),
		     UINT64_C(0xffffffffff600100));
	/* Nobody has a say. */
	inferior.arch = arch_native();
	cr_expect_eq(address_untag(&inferior, TAG | 1), TAG | 1);
}

static void send(struct error *(*packet)(struct client *, struct cursor *,
					 struct buffer *),
		 const char *text, struct buffer *reply)
{
	struct cursor args = {text, text + strlen(text)};
	struct error *error _cleanup_error_ = packet(&client, &args, reply);

	cr_assert_null(error, "%s: %s", text, error ? error_text(error) : "");
}

static void expect_ok(struct error *(*packet)(struct client *, struct cursor *,
					      struct buffer *),
		      const char *text)
{
	struct buffer reply _cleanup_buffer_ = {0};

	send(packet, text, &reply);
	cr_assert_str_eq(buffer_string(&reply), "OK");
}

/* What the client watches by a tagged address is where it says, and is told with the
 * tag; memory is read there. */
Test(address_tag, of_a_watchpoint)
{
	char place[64], range[64], name[64];
	struct inferior *inferior;
	struct stop stop;

	need_breakpoint_registers();
	cr_assert_eq(mmap((void *)data, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
		     data);
	block_signals();
	inferior = launch(write_data);
	inferior->arch = tagging(inferior->arch);
	client.session.general = (struct thread_id){.pid = inferior->pid};
	snprintf(place, sizeof(place), "2,%llx,4",
		 (unsigned long long)(TAG | PLACE_OF_DATA));
	snprintf(range, sizeof(range), "%llx,4",
		 (unsigned long long)(TAG | PLACE_OF_DATA));
	snprintf(name, sizeof(name), "watch:%llx;",
		 (unsigned long long)(TAG | PLACE_OF_DATA));
	expect_ok(packet_Z, place);
	for (int i = 1; i <= 2; i++) {
		struct buffer told _cleanup_buffer_ = {0}, read _cleanup_buffer_ = {0};
		char expected[16];

		stop = resume();
		if (inferior->arch->stores)
			break;
		report_stop(&client, &stop, &told);
		cr_expect_not_null(strstr(buffer_string(&told), name), "%s",
				   buffer_string(&told));
		send(packet_m, range, &read);
		snprintf(expected, sizeof(expected), "%02x000000", (unsigned int)i);
		cr_expect_str_eq(buffer_string(&read), expected);
	}
	expect_ok(packet_z, place);
	expect_exit(6);
}
