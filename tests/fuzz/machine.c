/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/compile.h"
#include "tests/fuzz/machine.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "gdbstub/agent/interp.h"
#include "arch/register_table.h"
#include "tests/fuzz/arena.h"
#include "bpf/kernel/hw_event.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"

enum {
	/* The kernel frees programs by and by; a kernel that is given too many at
	 * once may lock up, and never load another. */
	LOADS_UNTIL_PAUSE = 128,
	PAUSE_MS = 5,
	/* Hits that the kernel forgets (doc/exactness/verdicts.md) are repeated, so
	 * many times. */
	FORGOTTEN_MAX = 10,
};

static void on_record(void *data, const struct bpf_hit_record *record)
{
	struct machine *machine = data;

	machine->records++;
	machine->recorded = record->verdict;
}

/* ---- the child ---- */

static _Noreturn void child_main(const struct arch_ops *arch, int fresh, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || arena_map(arch, fresh) < 0 ||
	    ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		_exit(1);
	raise(SIGSTOP);
	_exit(1);
}

/* Waits until the child stops by @signal; others are not for it. */
static struct error *wait_stop(const struct machine *machine, int signal)
{
	for (;;) {
		int status = 0;
		pid_t pid = waitpid(machine->thread->tid, &status, __WALL);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return error_create(errno, "the child is lost");
		if (!WIFSTOPPED(status))
			return error_create(0, "the child ended (status 0x%x)",
					    (unsigned int)status);
		if (WSTOPSIG(status) == signal)
			return NULL;
		if (WSTOPSIG(status) == SIGSEGV || WSTOPSIG(status) == SIGILL)
			return error_create(0, "the child got signal %d",
					    WSTOPSIG(status));
		ptrace(PTRACE_CONT, pid, 0, 0);
	}
}

static unsigned int general_regset(const struct machine *machine)
{
	const struct arch_ops *arch = machine->roles.arch;

	return reg_by_number(arch, arch->pc_reg)->regset;
}

static int fetch_registers(struct machine *machine)
{
	/* An emulated x86 processor may keep a hit's RF until after the trap. */
	int r = thread_hit_again(machine->thread);

	if (r >= 0)
		r = regs_fetch(machine->thread, &machine->regs,
			       general_regset(machine));
	if (r < 0)
		return r;
	/* The trap is after the hit. */
	return reg_write_u64(&machine->regs, machine->roles.arch->pc_reg, arena_code());
}

static struct error *start_child(struct machine *machine)
{
	const struct arch_ops *arch = machine->roles.arch;
	struct inferior *inferior;
	pid_t parent = getpid(), pid;
	struct error *error;
	int r;

	machine->fresh = arena_file();
	if (machine->fresh < 0)
		return error_create(-machine->fresh, "a file for memory");
	pid = fork();
	if (pid == 0)
		child_main(arch, machine->fresh, parent);
	if (pid < 0)
		return error_create(errno, "a child");
	inferior = inferior_create(&machine->inferiors, pid, false);
	if (!inferior)
		return error_create(ENOMEM, "a child");
	machine->thread = TAILQ_FIRST(&inferior->threads);
	error = wait_stop(machine, SIGSTOP);
	if (error)
		return error_prefix(error, "memory at fixed addresses");
	regs_init(&machine->regs, arch);
	r = fetch_registers(machine);
	return r < 0 ? error_create(-r, "the child's registers") : NULL;
}

static void end_child(struct machine *machine)
{
	if (machine->thread) {
		kill(machine->thread->tid, SIGKILL);
		waitpid(machine->thread->tid, NULL, __WALL);
	}
	inferiors_deinit(&machine->inferiors);
	cleanup_close(&machine->fresh);
}

struct error *machine_init(struct machine *machine)
{
	struct error *error;

	memset(machine, 0, sizeof(*machine));
	machine->event = machine->fresh = -1;
	inferiors_init(&machine->inferiors);
	error = arch_native()->init();
	if (error)
		return error;
	if (!hw_event_fires())
		return error_create(ENODEV, "breakpoint registers do not fire here");
	roles_init(&machine->roles);
	error = bpf_kernel_init(&machine->kernel, on_record, machine);
	if (error)
		return error;
	programs_init(&machine->programs, &machine->kernel, machine->roles.arch, false);
	variables_share(&machine->variables, &machine->kernel.shared->variables);
	for (unsigned int i = 0; i < FUZZ_VARIABLES && !error; i++)
		error = variables_set(&machine->variables, i + 1, 0);
	return error ? error : start_child(machine);
}

static void unload(struct machine *machine)
{
	cleanup_close(&machine->event);
	machine->event = -1;
	if (machine->program)
		program_put(&machine->programs, take_ptr(machine->program));
}

void machine_deinit(struct machine *machine)
{
	unload(machine);
	end_child(machine);
	variables_deinit(&machine->variables);
	if (machine->programs.kernel) {
		programs_deinit(&machine->programs);
		bpf_kernel_deinit(&machine->kernel);
	}
}

/* ---- programs ---- */

/* Lets the kernel free what was given back. */
static void pause_loading(struct machine *machine)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};

	if (++machine->loads < LOADS_UNTIL_PAUSE)
		return;
	machine->loads = 0;
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	nanosleep(&pause, NULL);
}

static int open_event(const struct machine *machine)
{
	const struct hw_region code = {HW_EXECUTE, arena_code(), 1};
	struct hw_event_options options = {
		.arch = machine->roles.arch,
		.program_fd = machine->program->fd,
	};
	int fd = options.arch->hw_plan(&code, &options.region, 1);

	if (fd < 0)
		return fd;
	fd = hw_event_open(&options, machine->thread->tid);
	if (fd >= 0)
		hw_event_enable(fd);
	return fd;
}

struct error *machine_load(struct machine *machine, const struct agent_list *conditions,
			   bool emulated)
{
	struct error *error;

	unload(machine);
	pause_loading(machine);
	machine->programs.options.signed_division =
		machine->kernel.signed_division && !emulated;
	error = program_get(&machine->programs, conditions, NULL, NULL,
			    &machine->program);
	if (error)
		return error;
	machine->event = open_event(machine);
	if (machine->event < 0)
		return error_create(-machine->event, "a breakpoint event");
	return NULL;
}

static void free_code(struct bpf_code *code)
{
	bpf_code_deinit(code);
}

static struct error *compile(struct machine *machine, struct agent_expr *expr,
			     struct bpf_code *code)
{
	const struct agent_list list = {&expr, 1};

	return bpf_compile(&list, NULL, &machine->programs.options, code);
}

/* A condition that is a maybe, and nothing else. */
static struct error *make_maybe(struct agent_expr **expr)
{
	static const uint8_t one_by_zero[] = {
		AGENT_CONST8, 1, AGENT_CONST8, 0, AGENT_DIV_SIGNED, AGENT_END};

	return agent_expr_create(one_by_zero, sizeof(one_by_zero), expr);
}

static void free_expr(struct agent_expr **expr)
{
	agent_expr_unref(*expr);
}

struct error *machine_load_maybe(struct machine *machine)
{
	_cleanup_(free_expr) struct agent_expr *expr = NULL;
	struct error *error = make_maybe(&expr);
	const struct agent_list list = {&expr, 1};

	return error ? error : machine_load(machine, &list, false);
}

bool machine_gives_up(struct machine *machine, struct agent_expr *expr)
{
	_cleanup_(free_expr) struct agent_expr *maybe_expr = NULL;
	_cleanup_(free_code) struct bpf_code code = {0}, maybe = {0};
	_cleanup_error_ struct error *error = compile(machine, expr, &code);

	if (!error)
		error = make_maybe(&maybe_expr);
	if (!error)
		error = compile(machine, maybe_expr, &maybe);
	return !error && code.count == maybe.count &&
	       memcmp(code.insns, maybe.insns, code.count * sizeof(*code.insns)) == 0;
}

char *machine_undecided(struct machine *machine, struct agent_expr *expr)
{
	_cleanup_(free_code) struct bpf_code code = {0};
	_cleanup_error_ struct error *error = compile(machine, expr, &code);

	return error ? strdup(error_text(error)) : take_ptr(code.undecided);
}

/* ---- hits ---- */

void machine_refresh(struct machine *machine)
{
	arena_refresh(machine->fresh);
}

void machine_plant(struct machine *machine, const struct fuzz_program *program)
{
	struct shadow_range traps[FUZZ_TRAPS];
	struct bpf_shared *shared = machine->kernel.shared;
	struct shadow shadow;

	memcpy(traps, program->traps, sizeof(traps));
	shadow = shadow_around(traps, program->ntraps);
	shared->shadow_start = shadow.all.start;
	shared->shadow_end = shadow.all.end;
	memcpy(shared->shadow_gaps, shadow.gaps, sizeof(shadow.gaps));
	machine->planted = program;
}

/* They exist already, so that it cannot fail. */
void machine_set_variables(struct machine *machine, const uint64_t *values)
{
	for (unsigned int i = 0; i < FUZZ_VARIABLES; i++)
		error_destroy(
			variables_set(&machine->variables, i + 1, (int64_t)values[i]));
}

void machine_get_variables(const struct machine *machine, uint64_t *values)
{
	for (unsigned int i = 0; i < FUZZ_VARIABLES; i++)
		variables_get(&machine->variables, i + 1, &values[i]);
}

void machine_set(struct machine *machine, const struct fuzz_state *state,
		 uint64_t selector)
{
	const struct roles *roles = &machine->roles;

	for (unsigned int i = 0; i < roles->ngeneral; i++)
		reg_write_u64(&machine->regs, roles->general[i], state->registers[i]);
	reg_write_u64(&machine->regs, roles->selector, selector);
	machine_set_variables(machine, state->variables);
}

/* The child runs: first the event, then the trap. */
static struct error *pass(struct machine *machine)
{
	struct error *error;
	int r = regs_store(machine->thread, &machine->regs, general_regset(machine));

	if (r < 0)
		return error_create(-r, "the child's registers");
	if (ptrace(PTRACE_CONT, machine->thread->tid, 0, 0) < 0)
		return error_create(errno, "the child does not run");
	error = wait_stop(machine, SIGTRAP);
	if (error)
		return error;
	r = fetch_registers(machine);
	return r < 0 ? error_create(-r, "the child's registers") : NULL;
}

/* What the location has counted so far. */
static struct tally_hits count_hits(struct machine *machine)
{
	struct bpf_shared *shared = machine->kernel.shared;
	unsigned int location = machine->program->location;

	/* All into one place, so that nobody has to search the whole table. */
	tally_retire(shared, location, (uint32_t)machine->thread->tid);
	return shared->locations[location].others.hits;
}

/* The verdict that was counted once more than @before; -1: none. */
static int counted_verdict(struct machine *machine, const struct tally_hits *before)
{
	struct tally_hits hits = count_hits(machine);

	for (int verdict = BPF_FALSE; verdict <= BPF_MAYBE; verdict++)
		if (hits.by[verdict] == before->by[verdict] + 1)
			return verdict;
	return -1;
}

/* True hits and maybes leave a record each. */
static struct error *check_record(struct machine *machine, enum bpf_verdict verdict)
{
	machine->records = 0;
	bpf_kernel_drain(&machine->kernel);
	if (machine->records != (verdict != BPF_FALSE) ||
	    (machine->records > 0 && machine->recorded != verdict))
		return error_create(0, "verdict %d left %u records, verdict %d",
				    verdict, machine->records, machine->recorded);
	return NULL;
}

struct error *machine_hit(struct machine *machine, enum bpf_verdict *verdict)
{
	struct tally_hits before = count_hits(machine);

	for (unsigned int i = 0; i < FORGOTTEN_MAX; i++) {
		struct error *error = pass(machine);
		int counted;

		if (error)
			return error;
		counted = counted_verdict(machine, &before);
		if (counted < 0)
			continue;
		*verdict = (enum bpf_verdict)counted;
		error = check_record(machine, *verdict);
		if (machine->program->refused && *verdict == BPF_TRUE)
			*verdict = BPF_MAYBE;
		return error;
	}
	return error_create(0, "the program does not run");
}

/* ---- the interpreter ---- */

struct inputs {
	struct machine *machine;
	struct interpretation *seen;
	struct variables_draft variables;
};

static bool is_planted(const struct fuzz_program *program, uint64_t addr)
{
	for (unsigned int i = 0; i < program->ntraps; i++)
		if (addr >= program->traps[i].start && addr < program->traps[i].end)
			return true;
	return false;
}

/* What the stub knows of the bytes under its traps: here, that they are others. */
static void lift_traps(const struct fuzz_program *program, uint64_t addr,
		       uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (is_planted(program, addr + i))
			bytes[i] = (uint8_t)~bytes[i];
}

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	const struct inputs *inputs = data;
	struct machine *machine = inputs->machine;
	const struct bpf_shared *shared = machine->kernel.shared;
	ssize_t n = inferior_read(machine->thread->inferior, addr, value, len);

	if (!arena_is_resident(addr, len))
		inputs->seen->elsewhere = true;
	if ((size_t)n != len) {
		inputs->seen->unreadable = true;
		return -EFAULT;
	}
	if (addr < shared->shadow_end && addr + len > shared->shadow_start)
		inputs->seen->planted = true;
	lift_traps(machine->planted, addr, value, len);
	return 0;
}

static int fetch_register(struct machine *machine, unsigned int number, uint64_t *value)
{
	const struct reg_def *reg = reg_by_number(machine->roles.arch, number);
	int r = 0;

	if (number == AGENT_REG_THREAD) {
		*value = (uint64_t)machine->thread->tid;
		return 0;
	}
	if (!reg)
		return -ENOENT;
	if (reg->regset != general_regset(machine))
		r = regs_fetch(machine->thread, &machine->regs, reg->regset);
	if (r == 0)
		r = reg_read_u64(&machine->regs, number, value);
	/* The child has gone on to the trap: what is only set at the hit itself. */
	*value |= reg->bpf_rule.set;
	return r;
}

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	const struct inputs *inputs = data;
	int r = fetch_register(inputs->machine, number, value);

	if (r < 0)
		inputs->seen->no_register = true;
	return r;
}

static int read_variable(void *data, unsigned int number, uint64_t *value)
{
	struct inputs *inputs = data;

	return variables_draft_read(&inputs->variables, number, value);
}

static int write_variable(void *data, unsigned int number, uint64_t value)
{
	struct inputs *inputs = data;

	return variables_draft_write(&inputs->variables, number, value);
}

void machine_interpret(struct machine *machine, const struct agent_expr *expr,
		       struct interpretation *result)
{
	struct inputs inputs = {.machine = machine, .seen = result};
	const struct agent_context context = {
		.read_memory = read_memory,
		.read_register = read_register,
		.read_variable = read_variable,
		.write_variable = write_variable,
		.data = &inputs,
	};
	_cleanup_error_ struct error *error = NULL;

	*result = (struct interpretation){.verdict = BPF_MAYBE};
	variables_draft_init(&inputs.variables, &machine->variables);
	error = agent_expr_evaluate(expr, &context, &result->value);
	variables_draft_commit(&inputs.variables);
	if (!error) {
		result->verdict = result->value ? BPF_TRUE : BPF_FALSE;
		return;
	}
	result->divided_by_zero = strstr(error_text(error), "division by zero");
	result->looped = strstr(error_text(error), "loops");
}
