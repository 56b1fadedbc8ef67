/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Differential fuzzing of conditions: programs of random bytecode are compiled and
 * run by the kernel at real hits, and by the interpreter on the same registers and
 * memory. The kernel's verdict must be the interpreter's, or a maybe.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/fuzz/directed.h"
#include "gdbstub/inferior/proc.h"
#include "tests/fuzz/judge.h"

enum {
	SKIPPED = 77, /* automake's status for a test that cannot run here */
	JOBS_MAX = 64,
	REPORT_SECONDS = 10,
	LOAD_SECONDS = 5, /* a load that sleeps longer will never end */
	TAP_COUNT = 2000,
};

struct settings {
	uint64_t seed, count;
	uint64_t only; /* UINT64_MAX: all */
	unsigned int jobs, states;
	bool directed, tap;
};

/* What a job tells while it works; shared memory. */
struct job {
	struct sums sums;
	volatile uint64_t loading;
	pid_t pid; /* 0: it has ended */
	bool failed;
};

static const char usage[] =
	"usage: bytecode [OPTION]...\n"
	"  --seed N    which programs (default 1)\n"
	"  --count N   how many (default 20000)\n"
	"  --only I    program I alone, with all details\n"
	"  --states N  runs of each program, with other registers (default 4)\n"
	"  --jobs N    processes (default 1); the programs are the same\n"
	"  --directed  the table of edge cases instead\n"
	"  --tap=-     both, a bounded number, reported in TAP\n"
	"Exits 0: no verdict is wrong; 1: some are; 77: BPF may not be used here.\n";

/* ---- printing ---- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_line(const struct sums *s)
{
	printf("# %" PRIu64 " programs, %" PRIu64 " states: %" PRIu64 " true, %" PRIu64
	       " false, %" PRIu64 " maybe, %" PRIu64 " wrong\n",
	       s->programs, s->states, s->verdicts[BPF_TRUE], s->verdicts[BPF_FALSE],
	       s->verdicts[BPF_MAYBE], s->wrong);
	fflush(stdout);
}

static void print_sums(const struct sums *s)
{
	print_line(s);
	printf("# %" PRIu64 " programs not valid, %" PRIu64
	       " refused by the verifier, %.1f %% true in one state and false in "
	       "another, %" PRIu64 " loads\n",
	       s->invalid, s->refused, percent(s->depending, s->programs - s->invalid),
	       s->loads);
	for (unsigned int i = 0; i < WHYS; i++)
		printf("# maybe: %8" PRIu64 "  (%.3f %%)  %s\n", s->why[i],
		       percent(s->why[i], s->states), why_texts[i]);
	printf("# general registers and resident memory only: %" PRIu64
	       " states, %" PRIu64 " maybe (%.3f %%)\n",
	       s->plain_states, s->plain_maybes,
	       percent(s->plain_maybes, s->plain_states));
	for (unsigned int i = 0; i < WHYS; i++)
		if (s->plain_why[i])
			printf("#   maybe: %6" PRIu64 "  (%.3f %%)  %s\n",
			       s->plain_why[i],
			       percent(s->plain_why[i], s->plain_states), why_texts[i]);
	fflush(stdout);
}

/* All members are numbers of the same type. */
static void sums_add(struct sums *sums, const struct sums *more)
{
	uint64_t *to = (uint64_t *)sums;
	const uint64_t *from = (const uint64_t *)more;

	for (size_t i = 0; i < sizeof(*sums) / sizeof(*to); i++)
		to[i] += from[i];
}

static struct sums add_up(const struct job *jobs, unsigned int count)
{
	struct sums sums = {0};

	for (unsigned int i = 0; i < count; i++)
		sums_add(&sums, &jobs[i].sums);
	return sums;
}

/* ---- a job ---- */

static struct error *run_batches(const struct settings *settings, struct judge *judge,
				 unsigned int number)
{
	struct error *error = NULL;
	uint64_t first = (uint64_t)number * BATCH;

	if (settings->directed)
		return number == 0 ? directed_run(judge) : NULL;
	if (judge->verbose)
		return judge_random(judge, settings->only / BATCH * BATCH, BATCH,
				    settings->only);
	for (; first < settings->count && !error; first += settings->jobs * BATCH) {
		uint64_t left = settings->count - first;

		error = judge_random(judge, first,
				     left < BATCH ? (unsigned int)left : BATCH,
				     UINT64_MAX);
	}
	return error;
}

static struct error *job_run(const struct settings *settings, struct job *job,
			     unsigned int number)
{
	struct machine machine;
	struct judge judge = {
		.machine = &machine,
		.sums = &job->sums,
		.seed = settings->seed,
		.states = settings->states,
		.verbose = settings->only != UINT64_MAX,
		.loading = &job->loading,
	};
	struct error *error = machine_init(&machine);

	if (!error)
		error = run_batches(settings, &judge, number);
	machine_deinit(&machine);
	return error;
}

static void job_start(const struct settings *settings, struct job *job,
		      unsigned int number)
{
	pid_t parent = getpid(), pid;
	struct error *error;

	fflush(stdout);
	pid = fork();
	if (pid != 0) {
		job->pid = pid;
		job->failed = pid < 0;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	error = job_run(settings, job, number);
	if (error)
		printf("# failed: %s\n", error_text(error));
	fflush(stdout);
	_exit(error ? 1 : 0);
}

/* ---- all jobs ---- */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec;
}

/* A job whose load hangs cannot be ended, so that nobody waits for it. The verifier may
 * take its time, too, but does not sleep. */
static bool hangs(const struct job *job)
{
	uint64_t since = job->loading;
	char state[4];

	return since != 0 && now() > since + LOAD_SECONDS &&
	       proc_stat_field(job->pid, PROC_STAT_STATE, state, sizeof(state)) &&
	       *state == 'D';
}

/* Takes note of jobs that have ended. How many still work? */
static unsigned int reap(struct job *jobs, unsigned int count)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < count; i++) {
		int status = 0;

		if (jobs[i].pid > 0 && waitpid(jobs[i].pid, &status, WNOHANG) != 0) {
			jobs[i].failed = status != 0;
			jobs[i].pid = 0;
		}
		left += jobs[i].pid > 0;
	}
	return left;
}

static void stop_jobs(const struct job *jobs, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (jobs[i].pid > 0)
			kill(jobs[i].pid, SIGKILL);
}

/* False: the kernel no longer loads programs. */
static bool await(struct job *jobs, unsigned int count)
{
	const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
	uint64_t report = now() + REPORT_SECONDS;

	while (reap(jobs, count) > 0) {
		for (unsigned int i = 0; i < count; i++)
			if (jobs[i].pid > 0 && hangs(&jobs[i])) {
				stop_jobs(jobs, count);
				return false;
			}
		if (now() >= report) {
			struct sums sums = add_up(jobs, count);

			print_line(&sums);
			report = now() + REPORT_SECONDS;
		}
		nanosleep(&moment, NULL);
	}
	return true;
}

/* Runs what the settings say: true if it came to its end, and nothing was wrong. */
static bool run(const struct settings *settings, struct job *jobs)
{
	struct sums sums;
	bool good;

	memset(jobs, 0, JOBS_MAX * sizeof(*jobs));
	for (unsigned int i = 0; i < settings->jobs; i++)
		job_start(settings, &jobs[i], i);
	good = await(jobs, settings->jobs);
	if (!good)
		printf("# stopped: a BPF program has been loading for more than %d s, "
		       "asleep: this kernel takes no more\n",
		       LOAD_SECONDS);
	for (unsigned int i = 0; i < settings->jobs; i++)
		good &= !jobs[i].failed;
	sums = add_up(jobs, settings->jobs);
	print_sums(&sums);
	return good && sums.wrong == 0;
}

static bool run_tap(struct settings settings, struct job *jobs)
{
	bool directed, random;

	printf("1..2\n");
	settings.directed = true;
	directed = run(&settings, jobs);
	printf("%sok 1 - every operation on its edge values\n", directed ? "" : "not ");
	settings.directed = false;
	settings.count = TAP_COUNT;
	random = run(&settings, jobs);
	printf("%sok 2 - %d random programs\n", random ? "" : "not ", TAP_COUNT);
	return directed && random;
}

/* ---- the command line ---- */

static bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

enum argument { SEED, COUNT, ONLY, STATES, JOBS, DIRECTED, TAP };

static bool apply(struct settings *settings, int option, const char *text)
{
	uint64_t number = 0;

	if (option <= JOBS && !parse_number(text, &number))
		return false;
	switch (option) {
	case SEED:
		settings->seed = number;
		return true;
	case COUNT:
		settings->count = number;
		return true;
	case ONLY:
		settings->only = number;
		return true;
	case STATES:
		settings->states = (unsigned int)number;
		return number >= 1 && number <= 1000;
	case JOBS:
		settings->jobs = (unsigned int)number;
		return number >= 1 && number <= JOBS_MAX;
	case DIRECTED:
		settings->directed = true;
		return true;
	case TAP:
		settings->tap = true;
		return strcmp(text, "-") == 0;
	}
	return false;
}

static bool parse(struct settings *settings, int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, SEED},
		{"count", required_argument, NULL, COUNT},
		{"only", required_argument, NULL, ONLY},
		{"states", required_argument, NULL, STATES},
		{"jobs", required_argument, NULL, JOBS},
		{"directed", no_argument, NULL, DIRECTED},
		{"tap", required_argument, NULL, TAP},
		{NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!apply(settings, option, optarg))
			return false;
	return optind == argc;
}

/* Why not, if programs cannot be run here. */
static struct error *try_here(void)
{
	struct machine machine;
	struct error *error = machine_init(&machine);
	const struct agent_list none = {0};

	if (!error)
		error = machine_load(&machine, &none, false);
	machine_deinit(&machine);
	return error;
}

int main(int argc, char **argv)
{
	struct settings settings = {
		.seed = 1, .count = 20000, .only = UINT64_MAX, .jobs = 1, .states = 4};
	_cleanup_error_ struct error *error = NULL;
	struct job *jobs;

	if (!parse(&settings, argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	error = try_here();
	if (error) {
		printf(settings.tap ? "1..0 # SKIP %s\n" : "skipped: %s\n",
		       error_text(error));
		return settings.tap ? 0 : SKIPPED;
	}
	jobs = mmap(NULL, JOBS_MAX * sizeof(*jobs), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (jobs == MAP_FAILED)
		return 1;
	if (settings.tap)
		return run_tap(settings, jobs) ? 0 : 1;
	return run(&settings, jobs) ? 0 : 1;
}
