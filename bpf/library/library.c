/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/library/library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

int context_fail(struct truehit *truehit, struct error *error)
{
	const int err = error_errno(error);

	snprintf(truehit->why, sizeof(truehit->why), "%s", error_text(error));
	error_destroy(error);
	return err ? -err : -EINVAL;
}

static struct error *begin(struct truehit *truehit)
{
	struct error *error = truehit->arch->init();

	if (!error)
		error = bpf_kernel_init(&truehit->kernel, context_take_record, truehit);
	if (!error && !hw_event_fires())
		error = error_create(ENODEV, "breakpoint registers do not fire on this "
					     "machine, as in some virtual machines");
	if (!error && getrandom(&truehit->cookie, sizeof(truehit->cookie), 0) !=
			      (ssize_t)sizeof(truehit->cookie))
		error = error_create(errno, "no random numbers");
	return error;
}

int truehit_create(struct truehit **ret)
{
	struct error *error;

	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->arch = arch_native();
	(*ret)->last = &(*ret)->first;
	error = begin(*ret);
	return error ? context_fail(*ret, error) : 0;
}

void truehit_destroy(struct truehit *truehit)
{
	struct waiting *next;

	if (!truehit)
		return;
	for (unsigned int i = 0; i < MATCHES_MAX; i++)
		truehit_close(truehit->filters[i]);
	for (struct waiting *waiting = truehit->first; waiting; waiting = next) {
		next = waiting->next;
		free(waiting);
	}
	bpf_kernel_deinit(&truehit->kernel);
	free(truehit);
}

const char *truehit_why(const struct truehit *truehit)
{
	return truehit ? truehit->why : "out of memory";
}

int truehit_fd(const struct truehit *truehit)
{
	return truehit->kernel.hits.fd;
}
