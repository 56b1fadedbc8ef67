/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/control/counter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gdbstub/base/rights.h"

enum { MEASURES, SIGNALS };

/* The first one of them is pinned, so that all count or none. */
static int open_event(const struct counter *counter, const struct counter_kind *kind,
		      pid_t tid)
{
	const unsigned int number = counter->events;
	const struct perf_event_attr attr = {
		.type = kind->raw.type,
		.size = sizeof(attr),
		.config = kind->raw.config,
		.sample_period =
			number == MEASURES ? 0 : counter->period + number - SIGNALS,
		.read_format = number == MEASURES
				       ? PERF_FORMAT_TOTAL_TIME_ENABLED |
						 PERF_FORMAT_TOTAL_TIME_RUNNING
				       : 0,
		.disabled = number == MEASURES,
		.pinned = number == MEASURES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1,
			    number == MEASURES ? -1 : counter->fd[MEASURES],
			    PERF_FLAG_FD_CLOEXEC);
}

/* Signals the thread once; it is off then. */
static int make_signal(int fd, pid_t tid)
{
	const struct f_owner_ex owner = {F_OWNER_TID, tid};

	if (fcntl(fd, F_SETOWN_EX, &owner) < 0 || fcntl(fd, F_SETSIG, SIGSTOP) < 0 ||
	    fcntl(fd, F_SETFL, O_ASYNC) < 0 || ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) < 0)
		return -errno;
	return 0;
}

static int open_all(struct counter *counter, const struct counter_kind *kind, pid_t tid)
{
	RIGHTS_RAISED_IN_SCOPE;
	const unsigned int events = counter->period == 0 ? 1 : kind->twice ? 3 : 2;

	while (counter->events < events) {
		const int fd = open_event(counter, kind, tid);

		if (fd < 0)
			return -errno;
		counter->fd[counter->events++] = fd;
	}
	return 0;
}

int counter_begin(struct counter *counter, const struct counter_kind *kind, pid_t tid,
		  uint64_t period)
{
	int err;

	*counter = (struct counter){.period = period};
	err = open_all(counter, kind, tid);
	if (err == 0 && period > 0)
		err = make_signal(counter->fd[SIGNALS], tid);
	if (err == 0 && ioctl(counter->fd[MEASURES], PERF_EVENT_IOC_ENABLE, 0) < 0)
		err = -errno;
	if (err < 0)
		counter_end(counter);
	return err;
}

int counter_read(const struct counter *counter, uint64_t *ret)
{
	struct {
		uint64_t count, enabled, running;
	} value;

	if (read(counter->fd[MEASURES], &value, sizeof(value)) !=
		    (ssize_t)sizeof(value) ||
	    value.enabled != value.running)
		return -EBUSY;
	*ret = value.count;
	return 0;
}

void counter_end(struct counter *counter)
{
	while (counter->events > 0)
		close(counter->fd[--counter->events]);
	counter->period = 0;
}

int counter_signals_by(const struct counter *counter)
{
	return counter->events > SIGNALS ? counter->fd[SIGNALS] : -1;
}

bool counter_made(const siginfo_t *info, int fd)
{
	return info->si_signo == SIGSTOP && fd >= 0 && info->si_fd == fd &&
	       (info->si_code == POLL_IN || info->si_code == POLL_HUP);
}

const char *counter_refusal(int err)
{
	switch (err) {
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENODEV:
		return "this machine has no counter of them for us (no PMU, as in many "
		       "virtual machines)";
	case -EACCES:
	case -EPERM:
		return "the kernel keeps counters from this user "
		       "(kernel.perf_event_paranoid)";
	default:
		return strerror(-err);
	}
}
