/* SPDX-License-Identifier: BSD-2-Clause */
#include "judge.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "agent/insn.h"
#include "generate.h"

const char *const why_texts[WHYS] = {
	[WHY_ZERO] = "division by zero",
	[WHY_UNREADABLE] = "unreadable memory",
	[WHY_ABSENT] = "memory that is not resident",
	[WHY_PLANTED] = "memory under a trap",
	[WHY_REGISTER] = "register outside the context",
	[WHY_LOOP] = "loop bound",
	[WHY_DEPTH] = "stack too deep",
	[WHY_REFUSED] = "refused by the verifier",
	[WHY_UNKNOWN] = "no reason known",
};

static const char *const verdict_names[] = {
	[BPF_FALSE] = "false", [BPF_TRUE] = "true", [BPF_MAYBE] = "maybe"};

/* ---- loading ---- */

static enum fate check(struct judge *judge, const struct fuzz_program *program,
		       struct agent_expr **expr)
{
	const struct text *text = &program->text;
	_cleanup_error_ struct error *error = NULL;

	*expr = NULL;
	if (!text->full)
		error = agent_expr_create(text->bytes, text->len, expr);
	if (!*expr) {
		if (judge->verbose)
			printf("# not valid: %s\n",
			       error ? error_text(error) : "too long");
		return FATE_INVALID;
	}
	return machine_gives_up(judge->machine, *expr) ? FATE_GIVEN_UP : FATE_COMPILED;
}

void judge_prepare(struct judge *judge, struct batch *batch)
{
	for (unsigned int i = 0; i < batch->count; i++) {
		batch->fates[i] = check(judge, &batch->programs[i], &batch->exprs[i]);
		judge->sums->programs++;
		judge->sums->invalid += batch->fates[i] == FATE_INVALID;
	}
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec;
}

static struct error *load(struct judge *judge, const struct agent_list *list,
			  bool emulated)
{
	struct error *error;

	judge->sums->loads++;
	*judge->loading = now();
	error = machine_load(judge->machine, list, emulated);
	*judge->loading = 0;
	return error;
}

struct error *judge_load(struct judge *judge, const struct batch *batch, enum fate fate,
			 bool emulated)
{
	struct agent_expr *exprs[BATCH];
	struct agent_list list = {exprs, 0};

	for (unsigned int i = 0; i < batch->count; i++)
		if (batch->fates[i] == fate)
			exprs[list.count++] = batch->exprs[i];
	if (list.count == 0)
		return NULL;
	/* Among others it would be a maybe in their turn, too. */
	if (fate == FATE_GIVEN_UP)
		return machine_load_maybe(judge->machine);
	return load(judge, &list, emulated);
}

void judge_unload(struct batch *batch)
{
	for (unsigned int i = 0; i < batch->count; i++)
		agent_expr_unref(take_ptr(batch->exprs[i]));
}

/* ---- verdicts ---- */

static bool contains(const char *text, const char *part)
{
	return text && strstr(text, part);
}

static enum why why_maybe(struct machine *machine, struct agent_expr *expr,
			  const struct interpretation *seen)
{
	_cleanup_free_ char *undecided = NULL;

	if (machine->program->refused)
		return WHY_REFUSED;
	if (seen->planted)
		return WHY_PLANTED;
	if (seen->unreadable)
		return WHY_UNREADABLE;
	if (seen->divided_by_zero)
		return WHY_ZERO;
	if (seen->no_register)
		return WHY_REGISTER;
	if (seen->elsewhere)
		return WHY_ABSENT;
	undecided = machine_undecided(machine, expr);
	if (contains(undecided, "stack"))
		return WHY_DEPTH;
	if (contains(undecided, "reads"))
		return WHY_REGISTER;
	return seen->looped || agent_expr_jumps_back(expr) ? WHY_LOOP : WHY_UNKNOWN;
}

/* What is known of one hit. */
struct finding {
	enum bpf_verdict verdict; /* the kernel's */
	struct interpretation seen;
	enum why why; /* of a maybe */
};

static void tell(const struct judge *judge, const struct batch *batch,
		 unsigned int position, const uint64_t *values, const char *name,
		 const struct finding *finding)
{
	const struct fuzz_program *program = &batch->programs[position];
	const struct roles *roles = &judge->machine->roles;
	struct buffer text _cleanup_buffer_ = {0};

	buffer_printf(&text, "%s: kernel %s, interpreter %s (%" PRIu64 ")\n", name,
		      verdict_names[finding->verdict],
		      verdict_names[finding->seen.verdict], finding->seen.value);
	if (finding->verdict == BPF_MAYBE)
		buffer_printf(&text, "  maybe: %s\n", why_texts[finding->why]);
	if (judge->machine->program->refused)
		buffer_printf(&text, "  refused: %s\n",
			      judge->machine->program->refused);
	if (program->shadow_start != program->shadow_end)
		buffer_printf(&text, "  traps 0x%" PRIx64 "-0x%" PRIx64 "\n",
			      program->shadow_start, program->shadow_end);
	for (unsigned int i = 0; i < roles->ngeneral; i++)
		buffer_printf(&text, "  %s 0x%" PRIx64 "\n",
			      reg_by_number(roles->arch, roles->general[i])->name,
			      values[i]);
	agent_expr_disassemble(batch->exprs[position], roles->arch, &text);
	fputs(buffer_string(&text), stdout);
	fflush(stdout);
}

static void add(struct sums *sums, const struct fuzz_program *program,
		const struct finding *finding)
{
	bool plain = fuzz_program_is_plain(program);

	sums->states++;
	sums->plain_states += plain;
	sums->verdicts[finding->verdict]++;
	if (finding->verdict != BPF_MAYBE)
		return;
	sums->why[finding->why]++;
	sums->plain_maybes += plain;
	sums->plain_why[finding->why] += plain;
}

struct error *judge_state(struct judge *judge, const struct batch *batch,
			  unsigned int position, const uint64_t *values,
			  const char *name, enum bpf_verdict *verdict)
{
	const struct fuzz_program *program = &batch->programs[position];
	struct machine *machine = judge->machine;
	struct finding finding;
	struct error *error;
	bool wrong;

	machine_plant(machine, program->shadow_start, program->shadow_end);
	machine_set(machine, values, position);
	error = machine_hit(machine, &finding.verdict);
	if (error)
		return error;
	machine_interpret(machine, batch->exprs[position], &finding.seen);
	if (finding.verdict == BPF_MAYBE)
		finding.why = why_maybe(machine, batch->exprs[position], &finding.seen);
	add(judge->sums, program, &finding);
	wrong = finding.verdict != BPF_MAYBE && finding.verdict != finding.seen.verdict;
	judge->sums->wrong += wrong;
	if (wrong || judge->verbose)
		tell(judge, batch, position, values, name, &finding);
	*verdict = finding.verdict;
	return NULL;
}

/* ---- random programs ---- */

static struct error *run_one(struct judge *judge, const struct batch *batch,
			     unsigned int position, uint64_t index)
{
	const struct fuzz_program *program = &batch->programs[position];
	const struct roles *roles = &judge->machine->roles;
	unsigned int seen = 0;

	if (program->other_memory)
		machine_refresh(judge->machine);
	judge->sums->refused += judge->machine->program->refused != NULL;
	for (unsigned int state = 0; state < judge->states; state++) {
		enum bpf_verdict verdict;
		uint64_t values[ROLES_MAX];
		struct error *error;
		char name[128];

		generate_state(values, program, roles, judge->seed, index, state);
		snprintf(name, sizeof(name),
			 "seed %" PRIu64 ", program %" PRIu64 ", state %u", judge->seed,
			 index, state);
		error = judge_state(judge, batch, position, values, name, &verdict);
		if (error)
			return error_prefix(error, "%s", name);
		seen |= 1U << verdict;
	}
	judge->sums->depending += (seen & 1U << BPF_TRUE) && (seen & 1U << BPF_FALSE);
	return NULL;
}

/* One that the verifier refuses must not be the others' loss. */
static struct error *load_alone(struct judge *judge, struct agent_expr *expr,
				bool emulated)
{
	struct agent_list list = {&expr, 1};

	return load(judge, &list, emulated);
}

static struct error *run_fate(struct judge *judge, const struct batch *batch,
			      enum fate fate, uint64_t first, uint64_t only)
{
	bool emulated = first / BATCH % 4 == 0, refused;
	struct error *error = judge_load(judge, batch, fate, emulated);

	refused = !error && judge->machine->program && judge->machine->program->refused;
	for (unsigned int i = 0; i < batch->count && !error; i++) {
		if (batch->fates[i] != fate ||
		    (only != UINT64_MAX && only != first + i))
			continue;
		if (refused)
			error = load_alone(judge, batch->exprs[i], emulated);
		if (!error)
			error = run_one(judge, batch, i, first + i);
	}
	return error;
}

struct error *judge_random(struct judge *judge, uint64_t first, unsigned int count,
			   uint64_t only)
{
	struct batch batch = {.count = count};
	struct error *error;

	for (unsigned int i = 0; i < count; i++)
		generate_program(&batch.programs[i], &judge->machine->roles,
				 judge->seed, first + i);
	judge_prepare(judge, &batch);
	error = run_fate(judge, &batch, FATE_COMPILED, first, only);
	if (!error)
		error = run_fate(judge, &batch, FATE_GIVEN_UP, first, only);
	judge_unload(&batch);
	return error;
}
