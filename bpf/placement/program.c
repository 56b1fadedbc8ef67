/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/placement/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/log.h"
#include "bpf/compiler/compile.h"

enum {
	VERIFIER_LOG_SIZE = 16 * 1024,
	/* Operations that loops may take: the verifier needs 0.1 s for this number,
	 * if all goes well, and hardly fails with the few. */
	LOOP_STEPS = 4096,
	LOOP_STEPS_FEW = 64,
};

void programs_init(struct programs *programs, struct bpf_kernel *kernel,
		   const struct arch_ops *arch, bool stop_by_signal)
{
	*programs = (struct programs){
		.kernel = kernel,
		.options = bpf_kernel_options(kernel, arch),
	};
	programs->options.stop_by_signal = stop_by_signal;
	programs->options.variables = &kernel->shared->variables;
	programs->options.constants_apart = true;
	TAILQ_INIT(&programs->list);
}

static void program_free(struct program *program)
{
	agent_list_clear(&program->conditions);
	agent_list_clear(&program->commands);
	cleanup_close(&program->fd);
	bpf_code_deinit(&program->code);
	free(program->form);
	free(program->refused);
	free(program->log);
	free(program);
}

static void program_destroy(struct programs *programs, struct program *program)
{
	if (!program_is_told(program))
		bpf_kernel_free_location(programs->kernel, program->location);
	program_free(program);
}

void programs_deinit(struct programs *programs)
{
	struct program *program;

	while ((program = TAILQ_FIRST(&programs->list))) {
		TAILQ_REMOVE(&programs->list, program, link);
		program_destroy(programs, program);
	}
	programs->nidle = 0;
}

static bool watch_equal(const struct bpf_watch *a, const struct bpf_watch *b)
{
	return a->access == b->access && a->addr == b->addr && a->len == b->len;
}

static bool store_equal(const struct insn_store *a, const struct insn_store *b)
{
	return a->len == b->len && a->base == b->base && a->index == b->index &&
	       a->scale == b->scale && a->displacement == b->displacement;
}

static bool site_equal(const struct bpf_site *a, const struct bpf_site *b)
{
	return a->kind == b->kind && watch_equal(&a->watch, &b->watch) &&
	       store_equal(&a->store, &b->store) && a->redirects == b->redirects &&
	       a->insn_len == b->insn_len && a->in_pad == b->in_pad;
}

static struct program *find_free(struct programs *programs,
				 const struct agent_list *conditions,
				 const struct agent_list *commands,
				 const struct bpf_site *site)
{
	struct program *program;

	TAILQ_FOREACH (program, &programs->list, link)
		if ((program->users == 0 || program_is_told(program)) &&
		    agent_list_equal(&program->conditions, conditions) &&
		    agent_list_equal(&program->commands, commands) &&
		    site_equal(&program->site, site))
			return program;
	return NULL;
}

/* Frees idle programs, the longest idle first, down to @max. */
static void trim(struct programs *programs, unsigned int max)
{
	struct program *program = TAILQ_LAST(&programs->list, program_list);

	while (program && programs->nidle > max) {
		struct program *previous = TAILQ_PREV(program, program_list, link);

		if (program->users == 0) {
			TAILQ_REMOVE(&programs->list, program, link);
			program_destroy(programs, program);
			programs->nidle--;
		}
		program = previous;
	}
}

/* -ENOSPC: all are in use. */
static int take_index(struct programs *programs)
{
	int location = bpf_kernel_take_location(programs->kernel);

	if (location >= 0)
		return location;
	trim(programs, 0);
	return bpf_kernel_take_location(programs->kernel);
}

/* A program without code, lists and location index only: 0, -ENOMEM, or -ENOSPC if
 * all indexes are in use. */
static int program_create(struct programs *programs,
			  const struct agent_list *conditions,
			  const struct agent_list *commands,
			  const struct bpf_site *site, struct program **ret)
{
	struct program *program = calloc(1, sizeof(*program));
	int location;

	if (!program)
		return -ENOMEM;
	program->fd = -1;
	program->site = *site;
	if (agent_list_set(&program->conditions, conditions) < 0 ||
	    agent_list_set(&program->commands, commands) < 0) {
		program_free(program);
		return -ENOMEM;
	}
	location = program_is_told(program) ? 0 : take_index(programs);
	if (location < 0) {
		program_free(program);
		return location;
	}
	program->location = (unsigned int)location;
	*ret = program;
	return 0;
}

/* The last line that says something: the verifier ends with statistics. */
static const char *last_words(char *log)
{
	const char *last = "no reason given";

	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
		if (strncmp(line, "processed ", 10) != 0 &&
		    strncmp(line, "stack depth ", 12) != 0 &&
		    strncmp(line, "verification time", 17) != 0)
			last = line;
	return last;
}

static const char *last_lines(const char *log, unsigned int count)
{
	const char *start = log + strlen(log);

	while (start > log && (start[-1] != '\n' || count-- > 0))
		start--;
	return start;
}

/* Is this the verifier speaking, and not a lack of rights or of memory? */
static bool is_refusal(int r)
{
	return r == -EINVAL || r == -EACCES || r == -E2BIG || r == -EFAULT;
}

/* An error without an errno: the verifier refused the code, and the text is what
 * it said last. More of that is in *log. */
static struct error *load(enum bpf_kind kind, const struct bpf_code *code, int *fd,
			  char **log)
{
	char words[VERIFIER_LOG_SIZE] = "";

	*fd = bpf_kernel_load(kind, code->insns, code->count, words, sizeof(words));
	if (*fd >= 0)
		return NULL;
	if (!is_refusal(*fd))
		return error_create(-*fd, "a BPF program cannot be loaded");
	*log = strdup(last_lines(words, PROGRAM_LOG_LINES));
	return error_create(0, "%s", last_words(words));
}

static struct error *compile_and_load(struct program *program,
				      const struct bpf_compile_options *options)
{
	struct error *error;

	bpf_code_deinit(&program->code);
	free(take_ptr(program->log));
	error = bpf_compile(&program->conditions, &program->commands, options,
			    &program->code);
	if (error)
		return error;
	return load(options->site.kind, &program->code, &program->fd, &program->log);
}

/* What the verifier has refused is made easier for it, once: a refusal can take it
 * most of a second, and gdb waits for our answer. */
static struct error *try_to_load(struct program *program,
				 struct bpf_compile_options options)
{
	struct error *error;

	options.loop_steps = LOOP_STEPS;
	options.hide_constants = agent_list_loops(&program->conditions) ||
				 agent_list_loops(&program->commands);
	error = compile_and_load(program, &options);
	if (!error || error_errno(error) != 0)
		return error;
	error_destroy(error);
	options.loop_steps = LOOP_STEPS_FEW;
	options.hide_constants = true;
	return compile_and_load(program, &options);
}

/* The program that calls every hit a maybe. */
static struct error *load_stand_in(struct program *program,
				   struct bpf_compile_options options)
{
	_cleanup_(bpf_code_deinit) struct bpf_code code = {0};
	_cleanup_free_ char *log = NULL;
	struct error *error;

	options.all_maybe = true;
	error = bpf_compile(NULL, NULL, &options, &code);
	return error ? error : load(options.site.kind, &code, &program->fd, &log);
}

/* What neither compiler nor verifier takes is left to the stub. */
static struct error *make_code(struct programs *programs, struct program *program)
{
	struct bpf_compile_options options = programs->options;
	_cleanup_error_ struct error *error = NULL;

	options.location = program->location;
	options.site = program->site;
	error = try_to_load(program, options);
	if (!error || (!program->conditions.count && !program->commands.count) ||
	    error_errno(error) == ENOMEM || error_errno(error) == EPERM ||
	    error_errno(error) == EMFILE)
		return take_ptr(error);
	log_debug(LOG_BPF, "a program is refused: %s", error_text(error));
	program->refused = strdup(error_text(error));
	if (!program->refused)
		return error_create(ENOMEM, "a program for the kernel");
	return load_stand_in(program, options);
}

struct error *program_error(int err)
{
	return error_create(-err == ENOSPC ? ENOBUFS : -err,
			    "no place for another program in the kernel (%d at most)",
			    BPF_LOCATIONS_MAX);
}

/* ---- conditions of the same form ---- */

/* Without instructions, it has none: as loops are made easier for the verifier, or as
 * the compiler does not take it. */
static struct error *make_form(const struct programs *programs,
			       const struct agent_list *conditions,
			       const struct agent_list *commands,
			       const struct bpf_site *site, struct bpf_code *ret)
{
	struct bpf_compile_options options = programs->options;
	struct error *error;

	*ret = (struct bpf_code){0};
	if (agent_list_loops(conditions) || agent_list_loops(commands))
		return NULL;
	options.site = *site;
	error = bpf_compile(conditions, commands, &options, ret);
	if (!error || error_errno(error) != 0)
		return error;
	error_destroy(error);
	return NULL;
}

static bool has_form(const struct program *program, const struct bpf_code *form)
{
	const struct bpf_insn *insns =
		program_is_told(program) ? program->code.insns : program->form;

	return insns && !program->refused && program->code.count == form->count &&
	       memcmp(insns, form->insns, form->count * sizeof(*insns)) == 0;
}

static struct program *find_like(const struct programs *programs,
				 const struct bpf_code *form,
				 const struct agent_list *commands,
				 const struct bpf_site *site)
{
	struct program *program;

	if (!form->insns)
		return NULL;
	TAILQ_FOREACH (program, &programs->list, link)
		if ((program->users == 0 || program_is_told(program)) &&
		    has_form(program, form) &&
		    agent_list_equal(&program->commands, commands) &&
		    site_equal(&program->site, site))
			return program;
	return NULL;
}

/* What is loaded for it is for these conditions now. */
static struct error *adopt(struct program *program, const struct agent_list *conditions,
			   struct bpf_code *form)
{
	if (agent_list_set(&program->conditions, conditions) < 0)
		return error_create(ENOMEM, "a program for the kernel");
	if (program_is_told(program)) {
		free(form->insns);
	} else {
		free(program->form);
		program->form = form->insns;
	}
	form->insns = take_ptr(program->code.insns);
	bpf_code_deinit(&program->code);
	program->code = *form;
	*form = (struct bpf_code){0};
	return NULL;
}

/* What is loaded for the other one is for it, too. */
static struct error *share(struct program *program, const struct program *other,
			   struct bpf_code *form)
{
	program->fd = fcntl(other->fd, F_DUPFD_CLOEXEC, 3);
	if (program->fd < 0)
		return error_create(errno, "a program for the kernel");
	program->code = *form;
	*form = (struct bpf_code){0};
	return NULL;
}

/* ---- the cache ---- */

/* One that is new, for which what is loaded for @like serves as well, or NULL. */
static struct error *
program_add(struct programs *programs, const struct agent_list *conditions,
	    const struct agent_list *commands, const struct bpf_site *site,
	    const struct program *like, struct bpf_code *form, struct program **ret)
{
	struct program *program = NULL;
	struct error *error;
	int r = program_create(programs, conditions, commands, site, &program);

	if (r < 0)
		return program_error(r);
	error = like ? share(program, like, form) : make_code(programs, program);
	if (error) {
		program_destroy(programs, program);
		return error;
	}
	if (!program_is_told(program))
		program->form = take_ptr(form->insns);
	TAILQ_INSERT_HEAD(&programs->list, program, link);
	*ret = program;
	return NULL;
}

static struct error *program_make(struct programs *programs,
				  const struct agent_list *conditions,
				  const struct agent_list *commands,
				  const struct bpf_site *site, struct program **ret)
{
	_cleanup_(bpf_code_deinit) struct bpf_code form = {0};
	struct error *error = make_form(programs, conditions, commands, site, &form);
	struct program *like;

	if (error)
		return error;
	like = find_like(programs, &form, commands, site);
	if (!like || like->users > 0)
		return program_add(programs, conditions, commands, site, like, &form,
				   ret);
	error = adopt(like, conditions, &form);
	if (error)
		return error;
	programs->nidle--;
	*ret = like;
	return NULL;
}

/* All counts are zero, and its conditions compare with what they are to. */
static void begin_location(const struct programs *programs,
			   const struct program *program, unsigned int index)
{
	struct bpf_location *location = &programs->kernel->shared->locations[index];

	*location = (struct bpf_location){0};
	memcpy(location->constants, program->code.constants,
	       sizeof(location->constants));
}

struct error *program_get(struct programs *programs,
			  const struct agent_list *conditions,
			  const struct agent_list *commands,
			  const struct bpf_site *site, struct program **ret)
{
	static const struct bpf_site breakpoint = {0};
	static const struct agent_list none = {0};
	struct program *program;

	conditions = conditions ? conditions : &none;
	commands = commands ? commands : &none;
	site = site ? site : &breakpoint;
	program = find_free(programs, conditions, commands, site);
	if (program) {
		programs->nidle -= program->users == 0;
	} else {
		struct error *error =
			program_make(programs, conditions, commands, site, &program);

		if (error)
			return error;
	}
	if (!program_is_told(program))
		begin_location(programs, program, program->location);
	program->users++;
	*ret = program;
	return NULL;
}

void programs_forget_idle(struct programs *programs)
{
	trim(programs, 0);
}

void program_put(struct programs *programs, struct program *program)
{
	if (!program)
		return;
	if (!program_is_told(program))
		tally_clear(programs->kernel->shared, program->location);
	if (--program->users > 0)
		return;
	programs->nidle++;
	TAILQ_REMOVE(&programs->list, program, link);
	TAILQ_INSERT_HEAD(&programs->list, program, link);
	trim(programs, PROGRAMS_IDLE_MAX);
}

int program_take_location(struct programs *programs, const struct program *program)
{
	int index;

	if (!program_is_told(program))
		return (int)program->location;
	index = take_index(programs);
	if (index >= 0)
		begin_location(programs, program, (unsigned int)index);
	return index;
}

void program_give_location(struct programs *programs, const struct program *program,
			   unsigned int location)
{
	if (!program_is_told(program))
		return;
	tally_clear(programs->kernel->shared, location);
	bpf_kernel_free_location(programs->kernel, location);
}
