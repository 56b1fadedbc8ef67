/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/threaddb.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <thread_db.h>

#include "gdbstub/base/loader.h"
#include "gdbstub/base/log.h"
#include "gdbstub/base/rights.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/inferior/maps.h"
#include "gdbstub/symbols/ps.h"
#include "gdbstub/symbols/threaddb_path.h"
#include "gdbstub/symbols/tls.h"

/* The functions of libthread_db that are used, under their own names. */
struct functions {
	__typeof__(td_symbol_list) *td_symbol_list;
	__typeof__(td_ta_new) *td_ta_new;
	__typeof__(td_ta_delete) *td_ta_delete;
	__typeof__(td_ta_map_lwp2thr) *td_ta_map_lwp2thr;
	__typeof__(td_thr_get_info) *td_thr_get_info;
	__typeof__(td_thr_tls_get_addr) *td_thr_tls_get_addr;
	__typeof__(td_thr_tlsbase) *td_thr_tlsbase;
};

#define FUNCTION(name)                                                                 \
	{                                                                              \
#name, offsetof(struct functions, name)                                \
	}
static const struct {
	const char *name;
	size_t offset;
} function_table[] = {
	FUNCTION(td_symbol_list),  FUNCTION(td_ta_new),
	FUNCTION(td_ta_delete),	   FUNCTION(td_ta_map_lwp2thr),
	FUNCTION(td_thr_get_info), FUNCTION(td_thr_tls_get_addr),
	FUNCTION(td_thr_tlsbase),
};

struct threaddb {
	struct ps_prochandle ps;
	struct thread_symbols symbols;
	void *library;	  /* NULL: none is in use */
	uint64_t refused; /* maps_number() when none fitted; 0: not known */
	struct functions functions;
	td_thragent_t *agent; /* valid with library */
};

/* ---- errors ---- */

static const char *td_error_text(td_err_e code)
{
	static const char *const texts[] = {
		[TD_ERR] = "it failed",
		[TD_NOTHR] = "no such thread",
		[TD_NOLWP] = "no such thread",
		[TD_BADPH] = "it does not accept the process",
		[TD_BADTH] = "it does not accept the thread",
		[TD_BADTA] = "it does not accept the process",
		[TD_NOLIBTHREAD] = "no C library that it knows is mapped (yet)",
		[TD_NOCAPAB] = "it cannot do that",
		[TD_DBERR] = "it failed",
		[TD_MALLOC] = "out of memory",
		[TD_VERSION] = "the program's C library is of another version",
	};

	if (code < sizeof(texts) / sizeof(texts[0]) && texts[code])
		return texts[code];
	return "unknown error";
}

static struct error *td_error(td_err_e code, const char *function)
{
	return error_create(0, "libthread_db: %s: %s (%d)", function,
			    td_error_text(code), (int)code);
}

/* ---- the search path ---- */

int threaddb_set_path(struct inferiors *inferiors, const char *path)
{
	struct inferior *inferior;
	char *copy = NULL;

	if (path[0] != '\0' && strcmp(path, THREADDB_DEFAULT_PATH) != 0) {
		if (rights_are_lent())
			return -EPERM;
		copy = strdup(path);
		if (!copy)
			return -ENOMEM;
	}
	free(inferiors->threaddb_path);
	inferiors->threaddb_path = copy;
	TAILQ_FOREACH (inferior, &inferiors->list, link)
		threaddb_forget(inferior);
	return 0;
}

const char *threaddb_path(const struct inferiors *inferiors)
{
	return inferiors->threaddb_path ? inferiors->threaddb_path
					: THREADDB_DEFAULT_PATH;
}

/* ---- loading ---- */

static void close_library(struct threaddb *db)
{
	if (!db->library)
		return;
	proc_service_begin(&db->ps);
	db->functions.td_ta_delete(db->agent);
	loader_close(db->library);
	db->library = NULL;
}

void threaddb_forget(struct inferior *inferior)
{
	struct threaddb *db = take_ptr(inferior->threaddb);
	struct thread *thread;

	FOREACH_THREAD (thread, inferior)
		thread->handle = 0;
	if (!db)
		return;
	close_library(db);
	thread_symbols_deinit(&db->symbols);
	free(db);
}

/* The state of an inferior, made if need be. NULL: no memory. */
static struct threaddb *state_of(struct inferior *inferior)
{
	struct threaddb *db = inferior->threaddb;

	if (db)
		return db;
	db = calloc(1, sizeof(*db));
	if (!db)
		return NULL;
	db->ps.inferior = inferior;
	db->ps.symbols = &db->symbols;
	inferior->threaddb = db;
	inferior->forget_threaddb = threaddb_forget;
	if (thread_symbols_add(&db->symbols, tls_symbol_names()) == 0)
		return db;
	threaddb_forget(inferior);
	return NULL;
}

static struct error *find_functions(void *library, const char *file,
				    struct functions *functions)
{
	for (size_t i = 0; i < sizeof(function_table) / sizeof(function_table[0]);
	     i++) {
		void *address = loader_function(library, function_table[i].name);

		if (!address)
			return error_create(0, "%s has no function %s", file,
					    function_table[i].name);
		memcpy((char *)functions + function_table[i].offset, &address,
		       sizeof(address));
	}
	return NULL;
}

/* Does this library know the inferior's C library? */
static struct error *open_agent(struct threaddb *db, const struct functions *functions,
				td_thragent_t **agent)
{
	td_err_e r;

	if (thread_symbols_add(&db->symbols,
			       (const char *const *)functions->td_symbol_list()) < 0)
		return error_create(ENOMEM, "libthread_db");
	thread_symbols_read(&db->symbols, db->ps.inferior);
	proc_service_begin(&db->ps);
	r = functions->td_ta_new(&db->ps, agent);
	return r == TD_OK ? NULL : td_error(r, "td_ta_new");
}

static struct error *try_file(struct threaddb *db, const char *file)
{
	void *library;
	struct functions functions;
	td_thragent_t *agent;
	struct error *error = loader_open(file, &library);

	if (error)
		return error_prefix(error, "cannot load libthread_db");
	error = find_functions(library, file, &functions);
	if (!error)
		error = open_agent(db, &functions, &agent);
	if (error) {
		loader_close(library);
		return error;
	}
	db->library = library;
	db->functions = functions;
	db->agent = agent;
	log_debug(LOG_INFERIOR, "process %d: threads are known by %s",
		  (int)db->ps.inferior->pid, file);
	return NULL;
}

static struct error *try_part(struct threaddb *db, const char *part)
{
	struct error *error;
	_cleanup_free_ char *file = threaddb_file(db->ps.inferior, part, &error);

	if (file)
		error = try_file(db, file);
	if (error)
		log_debug(LOG_INFERIOR, "process %d: %s: %s", (int)db->ps.inferior->pid,
			  part, error_text(error));
	return error;
}

static struct error *try_path(struct threaddb *db)
{
	_cleanup_free_ char *path = strdup(threaddb_path(db->ps.inferior->owner));
	struct error *error = NULL;
	char *rest = NULL;

	for (char *part = path ? strtok_r(path, ":", &rest) : NULL; part;
	     part = strtok_r(NULL, ":", &rest)) {
		error_destroy(error);
		error = try_part(db, part);
		if (!error)
			return NULL;
	}
	return error ? error
		     : error_create(0, "no directory to load libthread_db from");
}

/* Loads a library that fits, unless that is done already. */
static struct error *load_library(struct threaddb *db)
{
	struct error *error = compat_refuse(db->ps.inferior);

	if (!error && !db->library)
		error = try_path(db);
	db->refused = error ? maps_number(db->ps.inferior) : 0;
	return error;
}

/* Since then, neither the program has run nor the client told of a symbol: what was no
 * fit is none now. */
static bool is_refused(const struct threaddb *db)
{
	return db->refused != 0 && db->refused == maps_number(db->ps.inferior);
}

/* ---- symbols ---- */

const char *threaddb_new_symbols(struct inferior *inferior, bool again)
{
	struct threaddb *db = inferior->compat ? NULL : state_of(inferior);

	if (!db)
		return NULL;
	if (!db->library) {
		if (again)
			thread_symbols_ask_again(&db->symbols);
		if (!is_refused(db))
			error_destroy(load_library(db));
	}
	if (!db->library && !inferior->owner->threaddb_path) {
		thread_symbols_read(&db->symbols, inferior);
		tls_is_described(&db->symbols);
	}
	if (db->library && !db->symbols.from_client)
		return NULL;
	return thread_symbols_ask(&db->symbols);
}

void threaddb_symbol(struct inferior *inferior, const char *name, uint64_t addr)
{
	struct threaddb *db = inferior->threaddb;

	if (!db)
		return;
	thread_symbols_answer(&db->symbols, name, addr);
	db->refused = 0;
}

/* ---- threads ---- */

/* With the library in use. */
static struct error *library_tls_address(struct threaddb *db,
					 const struct thread *thread, uint64_t map,
					 uint64_t offset, uint64_t *addr)
{
	const struct functions *td = &db->functions;
	const char *function = "td_ta_map_lwp2thr";
	td_thrhandle_t handle;
	psaddr_t found = NULL;
	td_err_e r;

	proc_service_begin(&db->ps);
	r = td->td_ta_map_lwp2thr(db->agent, thread->tid, &handle);
	if (r == TD_OK && map != 0) {
		function = "td_thr_tls_get_addr";
		r = td->td_thr_tls_get_addr(&handle, (psaddr_t)(uintptr_t)map, offset,
					    &found);
	} else if (r == TD_OK) {
		/* A static program is module 1: glibc's __libc_setup_tls. */
		function = "td_thr_tlsbase";
		r = td->td_thr_tlsbase(&handle, 1, &found);
		found = (psaddr_t)((uintptr_t)found + offset);
	}
	*addr = (uintptr_t)found;
	if (r == TD_TLSDEFER)
		return tls_not_allocated(thread);
	if (r == TD_NOTLS)
		return tls_no_storage(map);
	return r == TD_OK ? NULL : td_error(r, function);
}

struct error *threaddb_tls_address(struct thread *thread, uint64_t map, uint64_t offset,
				   uint64_t *addr)
{
	struct inferior *inferior = thread->inferior;
	struct threaddb *db = state_of(inferior);
	struct error *error;

	if (!db)
		return error_create(ENOMEM, "thread-local storage");
	error = load_library(db);
	if (!error)
		return library_tls_address(db, thread, map, offset, addr);
	if (inferior->owner->threaddb_path)
		return error;
	error_destroy(error);
	thread_symbols_read(&db->symbols, inferior);
	return tls_find(thread, &db->symbols, map, offset, addr);
}

/* With the library in use. */
static bool library_handle(struct threaddb *db, const struct thread *thread,
			   uint64_t *ret)
{
	td_thrhandle_t handle;
	td_thrinfo_t info;

	proc_service_begin(&db->ps);
	if (db->functions.td_ta_map_lwp2thr(db->agent, thread->tid, &handle) != TD_OK ||
	    db->functions.td_thr_get_info(&handle, &info) != TD_OK)
		return false;
	*ret = info.ti_tid;
	/* A thread that is being set up has none yet, or still its maker's. */
	return *ret != 0 && info.ti_lid == thread->tid;
}

bool threaddb_handle(struct thread *thread, uint64_t *handle)
{
	const struct inferior *inferior = thread->inferior;
	struct threaddb *db = inferior->threaddb;
	bool found = false;

	*handle = thread->handle;
	if (*handle != 0)
		return true;
	if (db && db->library)
		found = library_handle(db, thread, handle);
	else if (db && !inferior->owner->threaddb_path)
		found = tls_handle(thread, &db->symbols, handle);
	if (found)
		thread->handle = *handle;
	return found;
}
