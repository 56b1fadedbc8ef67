/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>

#include "bpf/library/library.h"
#include "gdbstub/base/rights.h"

/* The event is the array's from then on, until that is closed. */
static struct error *put_event(int array_fd, int event_fd)
{
	const uint32_t first = 0;

	if (bpf_map_update_elem(array_fd, &first, &event_fd, BPF_ANY) == 0)
		return NULL;
	if (errno == EBADF)
		return error_create(EBADF, "the counter is not an open perf event");
	if (errno == EOPNOTSUPP)
		return error_create(EINVAL, "the counter is not of one thread alone: "
					    "it is inherited");
	return error_create(errno, "programs cannot have the counter");
}

struct error *counter_open(struct truehit_filter *filter,
			   const struct truehit_options *options)
{
	RIGHTS_RAISED_IN_SCOPE;

	if (!(options->flags & TRUEHIT_COUNTER))
		return NULL;
	/* The kernel reads a thread's event in that thread only. */
	if (!(options->flags & TRUEHIT_ONE_THREAD))
		return error_create(EINVAL,
				    "a counter is of one thread, and so has the "
				    "filter to be (TRUEHIT_ONE_THREAD)");
	filter->counter_fd =
		bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "truehit_counter",
			       sizeof(uint32_t), sizeof(uint32_t), 1, NULL);
	if (filter->counter_fd < 0)
		return error_create(-filter->counter_fd,
				    "the BPF map of the counter cannot be made");
	return put_event(filter->counter_fd, options->counter_fd);
}
