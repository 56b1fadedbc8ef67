/* SPDX-License-Identifier: BSD-2-Clause */
#include "stops/hit.h"

#include <errno.h>

#include "base/log.h"
#include "stops/breakpoints.h"

void hits_collect(struct engines *engines, const struct event *event, struct hits *hits)
{
	*hits = (struct hits){0};
	for (int i = 0; i < NENGINES; i++) {
		struct engine *engine = &engines->engine[i];

		if (!engine->unusable)
			engine->ops->on_stop(engine, event, hits);
	}
}

/* Inputs of an evaluation: the stopped thread, its registers as needed. */
struct inputs {
	struct thread *thread;
	struct regs regs;
};

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	struct inputs *inputs = data;
	ssize_t n = breakpoints_read_memory(inputs->thread->inferior, addr, value, len);

	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EFAULT;
}

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	struct inputs *inputs = data;
	const struct reg_def *reg = reg_by_number(inputs->regs.arch, number);
	int err = 0;

	if (!reg)
		return -ENOENT;
	if (inputs->regs.size[reg->regset] == 0)
		err = regs_fetch(inputs->thread, &inputs->regs, reg->regset);
	return err < 0 ? err : reg_read_u64(&inputs->regs, number, value);
}

static bool condition_holds(const struct location *location, struct thread *thread)
{
	struct inputs inputs;
	const struct agent_context context = {read_memory, read_register, &inputs};

	inputs.thread = thread;
	regs_init(&inputs.regs, thread->inferior->arch);
	for (size_t i = 0; i < location->nconditions; i++) {
		uint64_t value = 0;
		_cleanup_error_ struct error *error =
			agent_expr_evaluate(location->conditions[i], &context, &value);

		if (error)
			log_debug(LOG_STOPS, "%s *0x%jx: %s",
				  breakpoint_type_name(location->type),
				  (uintmax_t)location->addr, error_text(error));
		if (error || value != 0)
			return true;
	}
	return location->nconditions == 0;
}

static bool hit_is_true(const struct hit *hit, struct thread *thread)
{
	struct location *location = hit->location;
	bool is_true;

	if (hit->verdict == HIT_TRUE)
		return true; /* counted in the kernel */
	is_true = condition_holds(location, thread);
	if (hit->verdict == HIT_PLAIN)
		location->counts.hits++;
	if (is_true)
		location->counts.trues++;
	return is_true;
}

struct location *hits_evaluate(const struct hits *hits, struct thread *thread)
{
	struct location *first = NULL;

	for (unsigned int i = 0; i < hits->count; i++) {
		/* Every hit is evaluated, so that every one is counted. */
		if (hit_is_true(&hits->hit[i], thread) && !first)
			first = hits->hit[i].location;
	}
	return first;
}
