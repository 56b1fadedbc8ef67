/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/judge.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/insn.h"
#include "gdbstub/agent/print.h"
#include "arch/register_table.h"
#include "tests/fuzz/generate.h"

const char *const why_texts[WHYS] = {
	[WHY_ZERO] = "division by zero",
	[WHY_UNREADABLE] = "unreadable memory",
	[WHY_ABSENT] = "memory that is not resident",
	[WHY_PLANTED] = "memory under or between traps",
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
	/* What the variables were afterwards. */
	uint64_t by_kernel[FUZZ_VARIABLES], by_interpreter[FUZZ_VARIABLES];
};

/* A maybe leaves everything to the stub. */
static bool is_wrong(const struct finding *finding, const struct fuzz_state *state)
{
	const uint64_t *right = finding->verdict == BPF_MAYBE ? state->variables
							      : finding->by_interpreter;

	if (finding->verdict != BPF_MAYBE && finding->verdict != finding->seen.verdict)
		return true;
	return memcmp(finding->by_kernel, right, sizeof(finding->by_kernel)) != 0;
}

/* By the kernel, and then by the interpreter. */
static struct error *try_state(struct machine *machine, struct agent_expr *expr,
			       const struct fuzz_state *state, unsigned int position,
			       struct finding *finding)
{
	struct error *error;

	machine_set(machine, state, position);
	error = machine_hit(machine, &finding->verdict);
	if (error)
		return error;
	machine_get_variables(machine, finding->by_kernel);
	machine_set_variables(machine, state->variables);
	machine_interpret(machine, expr, &finding->seen);
	machine_get_variables(machine, finding->by_interpreter);
	if (finding->verdict == BPF_MAYBE)
		finding->why = why_maybe(machine, expr, &finding->seen);
	return NULL;
}

static void tell(const struct judge *judge, const struct batch *batch,
		 unsigned int position, const struct fuzz_state *state,
		 const char *name, const struct finding *finding)
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
	for (unsigned int i = 0; i < program->ntraps; i++)
		buffer_printf(&text, "  trap 0x%" PRIx64 "-0x%" PRIx64 "\n",
			      program->traps[i].start, program->traps[i].end);
	for (unsigned int i = 0; i < roles->ngeneral; i++)
		buffer_printf(&text, "  %s 0x%" PRIx64 "\n",
			      reg_by_number(roles->arch, roles->general[i])->name,
			      state->registers[i]);
	for (unsigned int i = 0; i < FUZZ_VARIABLES && program->variables; i++)
		buffer_printf(&text,
			      "  variable %u 0x%" PRIx64 ", then kernel 0x%" PRIx64
			      ", interpreter 0x%" PRIx64 "\n",
			      i + 1, state->variables[i], finding->by_kernel[i],
			      finding->by_interpreter[i]);
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
			  unsigned int position, const struct fuzz_state *state,
			  const char *name, enum bpf_verdict *verdict)
{
	const struct fuzz_program *program = &batch->programs[position];
	struct finding finding;
	struct error *error;
	bool wrong;

	machine_plant(judge->machine, program);
	error = try_state(judge->machine, batch->exprs[position], state, position,
			  &finding);
	if (error)
		return error;
	wrong = is_wrong(&finding, state);
	add(judge->sums, program, &finding);
	judge->sums->wrong += wrong;
	if (wrong || judge->verbose)
		tell(judge, batch, position, state, name, &finding);
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
	for (unsigned int i = 0; i < judge->states; i++) {
		enum bpf_verdict verdict;
		struct fuzz_state state;
		struct error *error;
		char name[128];

		generate_state(&state, program, roles, judge->seed, index, i);
		snprintf(name, sizeof(name),
			 "seed %" PRIu64 ", program %" PRIu64 ", state %u", judge->seed,
			 index, i);
		error = judge_state(judge, batch, position, &state, name, &verdict);
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
