/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/threaddb.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "gdbstub/tracing/attach.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/symbols/tls.h"
#include "tests/unit/child.h"

/*
 * The inferior is a forked child with threads of its own, which it describes in
 * memory that it shares with us. One of them uses a library that came late; one
 * used another before that was unloaded, and has not used its successor.
 */
enum { MAIN, LIBRARY_USER, STALE, OTHER, THREADS };

static __thread int own;
struct described {
	pid_t tid;
	uint64_t own, late, always, handle;
};
static struct child {
	struct described threads[THREADS];
	uint64_t map, library_map, always_map, no_storage_map, wrong_map;
	char copy[1200]; /* the part of a link map that is looked at, and more */
} * child;

static struct inferiors inferiors;
static struct inferior *inferior;
static struct thread_symbols symbols;
static int ready[2];
static pid_t pid;
static pthread_barrier_t barrier;
static int *(*touch)(int), *(*touch_always)(int);

static void describe(int id)
{
	struct described *here = &child->threads[id];

	here->tid = (pid_t)syscall(SYS_gettid);
	here->own = (uintptr_t)&own;
	here->handle = (uint64_t)pthread_self();
	here->always = (uintptr_t)touch_always(0);
	if (id == LIBRARY_USER)
		here->late = (uintptr_t)touch(0);
	if (write(ready[1], "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void *thread_main(void *id)
{
	if ((uintptr_t)id == STALE)
		*touch(0) = 1;
	pthread_barrier_wait(&barrier);
	/* The libraries are loaded here. */
	pthread_barrier_wait(&barrier);
	describe((int)(uintptr_t)id);
	return NULL;
}

/* Loads a library; returns the address of its link map. */
static uint64_t load(const char *file, int *(**function)(int), void **handle)
{
	struct link_map *map;

	*handle = dlopen(file, RTLD_NOW);
	if (!*handle || dlinfo(*handle, RTLD_DI_LINKMAP, &map) != 0)
		_exit(1);
	if (function)
		*(void **)function = dlsym(*handle, "tls_touch");
	return (uintptr_t)map;
}

static void run_child(void)
{
	void *library;
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, THREADS);
	load(PROGS_DIR "/libtls.so", &touch, &library);
	for (uintptr_t i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, thread_main, (void *)i);
	pthread_barrier_wait(&barrier);
	dlclose(library);
	child->library_map = load(PROGS_DIR "/libtls.so", &touch, &library);
	child->always_map =
		load(PROGS_DIR "/libtls-static.so", &touch_always, &library);
	child->no_storage_map = load("libdl.so.2", NULL, &library);
	child->map = (uintptr_t)_r_debug.r_map;
	memcpy(child->copy, _r_debug.r_map, sizeof(child->copy));
	child->wrong_map = (uintptr_t)child->copy;
	pthread_barrier_wait(&barrier);
	describe(MAIN);
}

static void begin(void)
{
	struct error *error = arch_native()->init();
	char c;

	cr_assert_null(error);
	child = mmap(NULL, sizeof(*child), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(child, MAP_FAILED);
	cr_assert_eq(pipe(ready), 0);
	pid = child_start(run_child);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(read(ready[0], &c, 1), 1);
	inferiors_init(&inferiors);
	error = inferior_attach(&inferiors, pid, &inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	cr_assert_eq(thread_symbols_add(&symbols, tls_symbol_names()), 0);
	thread_symbols_read(&symbols, inferior);
}

static void end(void)
{
	inferior_kill(inferior);
	thread_symbols_deinit(&symbols);
	inferiors_deinit(&inferiors);
	munmap(child, sizeof(*child));
}

TestSuite(threaddb, .init = begin, .fini = end);

static struct thread *thread_of(int id)
{
	struct thread *thread = inferior_thread(inferior, child->threads[id].tid);

	cr_assert_not_null(thread);
	return thread;
}

/* The storage that @id has at &own in the module, which only the child knows. */
static uint64_t own_offset(void)
{
	uint64_t start;
	struct error *error = tls_find(thread_of(0), &symbols, child->map, 0, &start);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	cr_assert_leq(start, child->threads[0].own);
	return child->threads[0].own - start;
}

static void expect_error(struct error *error, const char *text)
{
	cr_assert_not_null(error);
	cr_assert(strstr(error_text(error), text) != NULL, "%s", error_text(error));
	error_destroy(error);
}

static void expect_own_by_reader(void)
{
	uint64_t offset = own_offset(), addr;

	for (int i = 0; i < THREADS; i++) {
		struct error *error =
			tls_find(thread_of(i), &symbols, child->map, offset, &addr);

		cr_assert_null(error, "%s", error ? error_text(error) : "");
		cr_assert_eq(addr, child->threads[i].own, "thread %d", i);
	}
}

Test(threaddb, reader_finds_the_storage_of_the_program)
{
	expect_own_by_reader();
}

Test(threaddb, reader_finds_the_storage_of_a_library_that_came_late)
{
	uint64_t addr;
	struct error *error = tls_find(thread_of(LIBRARY_USER), &symbols,
				       child->library_map, 0, &addr);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	cr_assert_eq(addr, child->threads[LIBRARY_USER].late);
	for (int i = 0; i < THREADS; i++)
		if (i != LIBRARY_USER)
			expect_error(tls_find(thread_of(i), &symbols,
					      child->library_map, 0, &addr),
				     "has not allocated");
}

Test(threaddb, reader_finds_storage_that_the_vector_does_not_tell_of_yet)
{
	uint64_t addr;

	for (int i = 0; i < THREADS; i++) {
		struct error *error =
			tls_find(thread_of(i), &symbols, child->always_map, 0, &addr);

		cr_assert_null(error, "%s", error ? error_text(error) : "");
		cr_assert_eq(addr, child->threads[i].always, "thread %d", i);
	}
}

Test(threaddb, reader_tells_what_is_wrong)
{
	struct thread *thread = thread_of(0);
	struct thread_symbols none = {0};
	uint64_t addr;

	expect_error(tls_find(thread, &none, child->map, 0, &addr), "no symbol");
	expect_error(tls_find(thread, &symbols, 8, 0, &addr), "cannot read");
	expect_error(tls_find(thread, &symbols, child->no_storage_map, 0, &addr),
		     "no thread-local storage");
	expect_error(tls_find(thread, &symbols, child->wrong_map, 0, &addr),
		     "is not loaded");
}

Test(threaddb, reader_finds_handles)
{
	uint64_t handle;

	for (int i = 0; i < THREADS; i++) {
		cr_assert(tls_handle(thread_of(i), &symbols, &handle));
		cr_assert_eq(handle, child->threads[i].handle);
	}
}

/* ---- through libthread_db ---- */

static void need_library(void)
{
	void *library = dlopen("libthread_db.so.1", RTLD_NOW);

	if (!library)
		cr_skip_test("no libthread_db here");
	dlclose(library);
}

static void expect_own(void)
{
	uint64_t offset = own_offset(), addr;

	for (int i = 0; i < THREADS; i++) {
		struct error *error =
			threaddb_tls_address(thread_of(i), child->map, offset, &addr);

		cr_assert_null(error, "%s", error ? error_text(error) : "");
		cr_assert_eq(addr, child->threads[i].own, "thread %d", i);
	}
}

Test(threaddb, library_finds_storage)
{
	uint64_t addr;

	need_library();
	expect_own();
	expect_error(threaddb_tls_address(thread_of(0), child->library_map, 0, &addr),
		     "has not allocated");
	expect_error(threaddb_tls_address(thread_of(0), 8, 0, &addr),
		     "td_thr_tls_get_addr");
}

Test(threaddb, handles_are_known_once_there_were_symbols)
{
	uint64_t handle;

	cr_assert_not(threaddb_handle(thread_of(1), &handle));
	cr_assert_null(threaddb_new_symbols(inferior, true));
	for (int i = 0; i < THREADS; i++) {
		cr_assert(threaddb_handle(thread_of(i), &handle));
		cr_assert_eq(handle, child->threads[i].handle);
	}
	threaddb_forget(inferior);
	cr_assert_not(threaddb_handle(thread_of(1), &handle));
}

Test(threaddb, a_path_of_the_user_is_obeyed)
{
	uint64_t addr, handle;

	cr_assert_str_eq(threaddb_path(&inferiors), THREADDB_DEFAULT_PATH);
	cr_assert_eq(threaddb_set_path(&inferiors, "/nowhere:/dev"), 0);
	cr_assert_str_eq(threaddb_path(&inferiors), "/nowhere:/dev");
	expect_error(threaddb_tls_address(thread_of(0), child->map, 0, &addr),
		     "/dev/libthread_db.so.1: No such file");
	threaddb_new_symbols(inferior, true);
	cr_assert_not(threaddb_handle(thread_of(0), &handle));
	cr_assert_eq(threaddb_set_path(&inferiors, ":"), 0);
	expect_error(threaddb_tls_address(thread_of(0), child->map, 0, &addr),
		     "no directory");
	cr_assert_eq(threaddb_set_path(&inferiors, ""), 0);
	cr_assert_str_eq(threaddb_path(&inferiors), THREADDB_DEFAULT_PATH);
	expect_own();
}

Test(threaddb, the_directory_of_the_c_library)
{
	uint64_t addr;

	need_library();
	cr_assert_eq(threaddb_set_path(&inferiors, "$pdir"), 0);
	expect_own();
	cr_assert_eq(threaddb_set_path(&inferiors, "$pdir/missing"), 0);
	expect_error(threaddb_tls_address(thread_of(0), child->map, 0, &addr),
		     "missing/libthread_db.so.1: No such file");
}

/* The first library that is tried in this directory; what the error says. */
static void expect_refusal(const char *dir, const char *text)
{
	uint64_t addr;

	cr_assert_eq(threaddb_set_path(&inferiors, dir), 0);
	expect_error(threaddb_tls_address(thread_of(0), child->map, 0, &addr), text);
}

/* Also if the user names it: its code would run with our rights. */
Test(threaddb, a_directory_of_the_user_that_others_can_change)
{
	char dir[] = "/tmp/truehit-XXXXXX", inner[64], file[PATH_MAX], link[64];

	cr_assert_not_null(mkdtemp(dir));
	snprintf(inner, sizeof(inner), "%s/inner", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(file, sizeof(file), "%s/libthread_db.so.1", inner);
	cr_assert_eq(mkdir(inner, 0755), 0);
	cr_assert_eq(symlink(inner, link), 0);
	cr_assert_eq(symlink(PROGS_DIR "/libtls.so", file), 0);
	expect_refusal(inner, "libtls.so has no function td_symbol_list");
	expect_refusal(link, "libtls.so has no function td_symbol_list");
	cr_expect_eq(unlink(file), 0);
	cr_expect_eq(mkfifo(file, 0644), 0);
	expect_refusal(inner, "could be changed by others");
	cr_expect_eq(unlink(file), 0);
	close(open(file, O_WRONLY | O_CREAT, 0644));
	expect_refusal(inner, "cannot load libthread_db");
	cr_expect_eq(chmod(inner, 0775), 0);
	expect_refusal(inner, "inner could be changed by others");
	cr_expect_eq(chmod(inner, 0755), 0);
	cr_expect_eq(chmod(dir, 0777), 0);
	expect_refusal(link, "could be changed by others");
	if (geteuid() == 0) {
		cr_expect_eq(chmod(dir, 0755), 0);
		cr_expect_eq(chown(inner, 65534, 65534), 0);
		expect_refusal(inner, "inner could be changed by others");
	}
	cr_expect_eq(unlink(file), 0);
	cr_expect_eq(unlink(link), 0);
	cr_expect_eq(rmdir(inner), 0);
	cr_expect_eq(rmdir(dir), 0);
}

/* A library in a directory of ours, found from the C library's on. */
Test(threaddb, what_others_can_change_is_not_loaded)
{
	char dir[] = "/tmp/truehit-XXXXXX", path[PATH_MAX], file[PATH_MAX];
	uint64_t addr;

	need_library();
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "$pdir/../../../../../../../..%s", dir);
	snprintf(file, sizeof(file), "%s/libthread_db.so.1", dir);
	cr_assert_eq(symlink(PROGS_DIR "/libtls.so", file), 0);
	cr_assert_eq(threaddb_set_path(&inferiors, path), 0);
	cr_expect_eq(chmod(PROGS_DIR "/libtls.so", 0777), 0);
	expect_error(threaddb_tls_address(thread_of(0), child->map, 0, &addr),
		     "libtls.so could be changed by others");
	cr_expect_eq(chmod(PROGS_DIR "/libtls.so", 0755), 0);
	expect_error(threaddb_tls_address(thread_of(0), child->map, 0, &addr),
		     "has no function td_symbol_list");
	cr_expect_eq(unlink(file), 0);
	cr_expect_eq(rmdir(dir), 0);
}

/* ---- symbols ---- */

Test(threaddb, client_is_asked_for_what_was_missed)
{
	const char *const names[] = {"symbol_that_is_not_there", "main", "another_one",
				     NULL};
	uint64_t addr;

	cr_assert_eq(thread_symbols_add(&symbols, names), 0);
	thread_symbols_read(&symbols, inferior);
	cr_assert(thread_symbols_find(&symbols, "main", &addr));
	cr_assert_not(thread_symbols_find(&symbols, "name_of_no_row", &addr));
	cr_assert_null(thread_symbols_ask(&symbols));

	cr_assert_not(thread_symbols_find(&symbols, names[0], &addr));
	cr_assert_str_eq(thread_symbols_ask(&symbols), names[0]);
	cr_assert_null(thread_symbols_ask(&symbols));
	thread_symbols_ask_again(&symbols);
	cr_assert_str_eq(thread_symbols_ask(&symbols), names[0]);

	/* What was not asked for is not taken. */
	thread_symbols_answer(&symbols, names[2], 1);
	cr_assert_not(symbols.from_client);
	thread_symbols_answer(&symbols, "name_of_no_row", 1);
	thread_symbols_answer(&symbols, names[0], 0x1234);
	cr_assert(thread_symbols_find(&symbols, names[0], &addr));
	cr_assert_eq(addr, 0x1234);

	/* The client knows more than we: it may know the others, too. */
	bool asked = false;
	for (const char *name; (name = thread_symbols_ask(&symbols));)
		asked = asked || strcmp(name, names[2]) == 0;
	cr_assert(asked);
}
