/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/register_table.h"
#include "bpf/compiler/compile.h"
#include "bpf/library/library.h"
#include "gdbstub/agent/expr.h"
#include "gdbstub/base/cleanup.h"

enum { VERIFIER_WORDS = 4096, LOOP_STEPS = 64 };

static struct bpf_match *match_of(const struct truehit_filter *filter)
{
	return &filter->truehit->kernel.shared->matches[filter->index];
}

static struct bpf_location *location_of(const struct truehit_filter *filter)
{
	return &filter->truehit->kernel.shared->locations[filter->index];
}

/* ---- programs ---- */

static enum bpf_deed deed_of(enum truehit_deed deed, bool is_own)
{
	switch (deed) {
	case TRUEHIT_STOP:
		return is_own ? BPF_TRAP : BPF_SIGNAL;
	case TRUEHIT_RECORD:
		return BPF_RECORD;
	case TRUEHIT_COUNT:
		break;
	}
	return BPF_COUNT;
}

static struct error *compile(struct truehit_filter *filter,
			     const struct truehit_options *options, bool is_own,
			     const struct agent_list *conditions, struct bpf_code *ret)
{
	struct bpf_compile_options compiling =
		bpf_kernel_options(&filter->truehit->kernel, filter->truehit->arch);

	compiling.location = filter->index;
	compiling.deed = deed_of(options->deed, is_own);
	compiling.matches = true;
	compiling.keeps_values = filter->keeps_values;
	compiling.reads_counter = filter->counter_fd >= 0;
	compiling.counter_fd = filter->counter_fd;
	compiling.loop_steps = LOOP_STEPS;
	compiling.hide_constants = true;
	return bpf_compile(conditions, NULL, &compiling, ret);
}

static struct error *load(struct truehit_filter *filter, const struct bpf_code *code)
{
	char words[VERIFIER_WORDS] = "";

	filter->program_fd = bpf_kernel_load(BPF_KIND_EVENT, code->insns, code->count,
					     words, sizeof(words));
	return filter->program_fd >= 0
		       ? NULL
		       : error_create(-filter->program_fd,
				      "the kernel does not take the program: %.200s",
				      words);
}

static struct error *make_program(struct truehit_filter *filter,
				  const struct truehit_options *options, bool is_own)
{
	_cleanup_(agent_list_clear) struct agent_list conditions = {0};
	_cleanup_(bpf_code_deinit) struct bpf_code code = {0};
	struct agent_expr *expr;
	struct error *error;

	if (options->condition) {
		error = agent_expr_create(options->condition, options->condition_len,
					  &expr);
		if (error)
			return error_prefix(error, "the condition");
		if (agent_list_append(&conditions, expr) < 0)
			return error_create(ENOMEM, "the condition");
	}
	error = compile(filter, options, is_own, &conditions, &code);
	return error ? error : load(filter, &code);
}

/* ---- events ---- */

static int add_event(struct truehit_filter *filter, pid_t tid)
{
	int *fds = reallocarray(filter->fds, filter->count + 1, sizeof(*fds)), fd;

	if (!fds)
		return -ENOMEM;
	filter->fds = fds;
	fd = hw_event_open(&filter->event, tid);
	if (fd >= 0)
		fds[filter->count++] = fd;
	return fd < 0 ? fd : 0;
}

/* Threads that end meanwhile need none. */
static int add_all_events(struct truehit_filter *filter, pid_t pid)
{
	_cleanup_closedir_ DIR *directory = NULL;
	const struct dirent *entry;
	char name[32];
	int r = 0;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	directory = opendir(name);
	if (!directory)
		return errno == ENOENT ? -ESRCH : -errno;
	while (r == 0 && (entry = readdir(directory))) {
		const pid_t tid = atoi(entry->d_name);

		r = tid > 0 ? add_event(filter, tid) : 0;
		if (r == -ESRCH)
			r = 0;
	}
	return r < 0 || filter->count > 0 ? r : -ESRCH;
}

static struct error *add_events(struct truehit_filter *filter, pid_t pid)
{
	const int r = filter->event.one_thread ? add_event(filter, pid)
					       : add_all_events(filter, pid);

	switch (-r) {
	case 0:
		return NULL;
	case ENOSPC:
		return error_create(ENOSPC, "no breakpoint register is free");
	case ESRCH:
		return error_create(ESRCH, "process %d", pid);
	default:
		return error_create(-r, "a breakpoint's event cannot be opened");
	}
}

/* ---- filters ---- */

/* Not one that the last filter with this index has had. */
static uint64_t next_signal(const struct truehit_filter *filter, uint64_t last)
{
	const uint32_t next = (uint32_t)last + (1U << SIG_INDEX_BITS);

	return (uint64_t)filter->truehit->cookie << 32 |
	       (next & ~(uint32_t)(MATCHES_MAX - 1)) | filter->index;
}

/* Of this very process? */
static bool is_own_task(pid_t tid)
{
	char name[48];

	snprintf(name, sizeof(name), "/proc/self/task/%d", tid);
	return access(name, F_OK) == 0;
}

static struct error *fill(struct truehit_filter *filter, pid_t pid,
			  const struct truehit_options *options)
{
	struct hw_region nowhere = {.kind = HW_EXECUTE};
	struct error *error = counter_open(filter, options);

	if (error)
		return error;
	filter->pid = pid;
	filter->keeps_values = options->flags & TRUEHIT_VALUES;
	values_open(filter);
	error = make_program(filter, options, is_own_task(pid));
	if (error)
		return error;
	filter->deed = options->deed;
	filter->data = options->data;
	filter->truehit->arch->hw_plan(&nowhere, &nowhere, 1);
	filter->event = (struct hw_event_options){
		.arch = filter->truehit->arch,
		.region = nowhere,
		.program_fd = filter->program_fd,
		.sigtrap = options->deed == TRUEHIT_STOP,
		.sig_data = next_signal(filter,
					filter->truehit->last_signal[filter->index]),
		.one_thread = options->flags & TRUEHIT_ONE_THREAD,
	};
	return add_events(filter, pid);
}

static int take_index(struct truehit *truehit)
{
	const int index = bpf_kernel_take_location(&truehit->kernel);

	if (index < MATCHES_MAX)
		return index;
	bpf_kernel_free_location(&truehit->kernel, (unsigned int)index);
	return -ENOSPC;
}

static int make(struct truehit *truehit, pid_t pid,
		const struct truehit_options *options, struct truehit_filter *filter)
{
	const int index = take_index(truehit);
	struct error *error;

	if (index < 0)
		return context_fail(
			truehit,
			error_create(-index, "there are %d filters", MATCHES_MAX));
	filter->truehit = truehit;
	filter->index = (unsigned int)index;
	filter->counter_fd = -1;
	filter->program_fd = -1;
	filter->memory_fd = -1;
	truehit->filters[index] = filter;
	*match_of(filter) = (struct bpf_match){0};
	error = fill(filter, pid, options);
	return error ? context_fail(truehit, error) : 0;
}

int truehit_open(struct truehit *truehit, pid_t pid,
		 const struct truehit_options *options, struct truehit_filter **ret)
{
	struct truehit_options known = {0};
	struct truehit_filter *filter;
	int err;

	memcpy(&known, options,
	       options->size < sizeof(known) ? options->size : sizeof(known));
	if (!truehit->kernel.shared)
		return -ENOTSUP;
	if (pid == 0)
		pid = known.flags & TRUEHIT_ONE_THREAD ? gettid() : getpid();
	filter = calloc(1, sizeof(*filter));
	if (!filter)
		return -ENOMEM;
	err = make(truehit, pid, &known, filter);
	if (err == 0)
		*ret = filter;
	else if (filter->truehit)
		truehit_close(filter);
	else
		free(filter);
	return err;
}

void truehit_close(struct truehit_filter *filter)
{
	struct truehit *truehit;

	if (!filter)
		return;
	truehit = filter->truehit;
	for (size_t i = 0; i < filter->count; i++)
		close(filter->fds[i]);
	cleanup_close(&filter->program_fd);
	cleanup_close(&filter->counter_fd);
	cleanup_close(&filter->memory_fd);
	context_forget(truehit, filter->index);
	truehit->last_signal[filter->index] = filter->event.sig_data;
	truehit->filters[filter->index] = NULL;
	bpf_kernel_free_location(&truehit->kernel, filter->index);
	free(filter->fds);
	free(filter);
}

static int aim_events(const struct truehit_filter *filter)
{
	int err = 0;

	for (size_t i = 0; i < filter->count; i++) {
		const int r = hw_event_aim(filter->fds[i], &filter->event);

		if (r < 0 && r != -ESRCH) /* else the thread is gone */
			err = r;
	}
	return err;
}

/* Others may get a signal of the new aim before this returns. */
int truehit_aim(struct truehit_filter *filter, enum truehit_kind kind, uint64_t addr,
		size_t len)
{
	static const enum hw_kind kinds[] = {
		[TRUEHIT_EXECUTE] = HW_EXECUTE,
		[TRUEHIT_WRITE] = HW_WRITE,
		[TRUEHIT_READ] = HW_READ,
		[TRUEHIT_ACCESS] = HW_ACCESS,
	};
	const struct hw_event_options before = filter->event;
	const struct hw_region whole = {kinds[kind], addr, (unsigned int)len};
	struct hw_region region;
	const int parts = len > 8 ? -EINVAL : before.arch->hw_plan(&whole, &region, 1);
	int err;

	if (parts != 1)
		return parts == -EOPNOTSUPP ? parts : -EINVAL;
	filter->event.region = region;
	__atomic_store_n(&filter->event.sig_data, next_signal(filter, before.sig_data),
			 __ATOMIC_SEQ_CST);
	values_begin_aim(filter);
	err = aim_events(filter);
	if (err < 0)
		filter->event = before;
	values_end_aim(filter, err == 0);
	return err;
}

/* ---- what is in the map ---- */

int truehit_set(struct truehit_filter *filter, const struct truehit_match *match)
{
	struct bpf_match *shared = match_of(filter);
	const int64_t armed = __atomic_exchange_n(&shared->armed, 0, __ATOMIC_SEQ_CST);
	struct truehit_match known = {0};
	int err = 0;

	memcpy(&known, match,
	       match->size < sizeof(known) ? match->size : sizeof(known));
	if (known.registers >> filter->truehit->arch->pc_reg > 1 ||
	    (known.changes && !filter->keeps_values) ||
	    (known.counts && filter->counter_fd < 0)) {
		err = -EINVAL;
	} else if (known.changes && values_come_before(filter->truehit)) {
		err = -EOPNOTSUPP;
	} else {
		shared->registers = known.registers;
		memcpy(shared->value, known.value, sizeof(shared->value));
		shared->flags_mask = known.flags_mask;
		shared->flags = known.flags;
		shared->only_tid = (uint32_t)known.only_tid;
		shared->not_tid = (uint32_t)known.not_tid;
		shared->seen.changes = known.changes != 0;
		shared->counter = known.counter;
		shared->counts = known.counts != 0;
	}
	__atomic_store_n(&shared->armed, armed, __ATOMIC_SEQ_CST);
	return err;
}

void truehit_arm(struct truehit_filter *filter, int64_t hits)
{
	__atomic_store_n(&match_of(filter)->armed, hits, __ATOMIC_SEQ_CST);
}

void truehit_read(const struct truehit_filter *filter, struct truehit_counts *ret)
{
	const struct bpf_location *location = location_of(filter);
	const struct tally_hits *hits = &location->others.hits;
	const size_t size = ret->size < sizeof(*ret) ? ret->size : sizeof(*ret);
	struct truehit_counts counts = {
		.size = ret->size,
		.skipped = hits->by[BPF_FALSE],
		.maybes = hits->by[BPF_MAYBE] +
			  __atomic_load_n(&filter->unexplained, __ATOMIC_SEQ_CST),
		.ignored = location->gate.ignored,
		.lost = location->lost + filter->truehit->dropped,
	};

	counts.hits = counts.skipped + counts.maybes + hits->by[BPF_TRUE];
	counts.told = counts.hits - counts.skipped - counts.ignored;
	memcpy(ret, &counts, size);
}
