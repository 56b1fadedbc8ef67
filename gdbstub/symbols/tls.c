/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Source of the facts: Drepper, "ELF Handling For Thread-Local Storage", chapter 3;
 * glibc's elf/dl-tls.c (modules, generations), sysdeps/generic/dl-dtv.h,
 * nptl_db/structs.def (names and forms of the descriptions).
 *
 * A thread's storage hangs on its dynamic thread vector (DTV): a row for each module
 * by the module's number. The linker's list of modules says since which generation
 * a number belongs to a module; a vector of an older generation has not taken
 * notice yet, and its row is of another module or not there.
 */
#include "gdbstub/symbols/tls.h"

#include <errno.h>

#include "gdbstub/inferior/memory.h"
#include "gdbstub/inferior/registers.h"

/* The list is the inferior's and may be damaged. */
enum { SLOT_LISTS_MAX = 65536 };

/* How one field, or one row of an array, is described: _thread_db_NAME. */
struct field {
	uint32_t bits;
	uint32_t count;
	uint32_t offset;
};

static const char *const symbol_names[] = {
	"__nptl_rtld_global",
	"_dl_tls_dtv_slotinfo_list",
	"_thread_db__dl_tls_dtv_slotinfo_list",
	"_thread_db_const_thread_area",
	"_thread_db_dtv_dtv",
	"_thread_db_dtv_slotinfo_gen",
	"_thread_db_dtv_slotinfo_list_len",
	"_thread_db_dtv_slotinfo_list_next",
	"_thread_db_dtv_slotinfo_list_slotinfo",
	"_thread_db_dtv_slotinfo_map",
	"_thread_db_dtv_t_counter",
	"_thread_db_dtv_t_pointer_val",
	"_thread_db_link_map_l_tls_modid",
	"_thread_db_link_map_l_tls_offset",
	"_thread_db_pthread_dtvp",
	"_thread_db_pthread_tid",
	"_thread_db_rtld_global__dl_tls_dtv_slotinfo_list",
	NULL,
};

const char *const *tls_symbol_names(void)
{
	return symbol_names;
}

bool tls_is_described(struct thread_symbols *symbols)
{
	uint64_t addr;

	return thread_symbols_find(symbols, "_thread_db_const_thread_area", &addr);
}

/* Where the search goes on: an inferior, and its symbols. */
struct view {
	struct inferior *inferior;
	struct thread_symbols *symbols;
};

static struct error *unreadable(uint64_t addr)
{
	return error_create(0, "cannot read the C library's data at %#llx",
			    (unsigned long long)addr);
}

/* A number of 4 or 8 bytes. */
static struct error *read_number(const struct view *view, uint64_t addr, size_t size,
				 uint64_t *value)
{
	*value = 0;
	if (inferior_read(view->inferior, addr, value, size) != (ssize_t)size)
		return unreadable(addr);
	return NULL;
}

static struct error *need_symbol(const struct view *view, const char *name,
				 uint64_t *addr)
{
	if (thread_symbols_find(view->symbols, name, addr))
		return NULL;
	return error_create(0,
			    "the program's C library does not tell where it keeps "
			    "thread-local storage (no symbol %s)",
			    name);
}

static struct error *describe(const struct view *view, const char *name,
			      struct field *field)
{
	struct error *error;
	uint64_t addr;

	error = need_symbol(view, name, &addr);
	if (error)
		return error;
	if (inferior_read(view->inferior, addr, field, sizeof(*field)) !=
	    (ssize_t)sizeof(*field))
		return unreadable(addr);
	if (field->bits == 0 || field->bits % 8 != 0)
		return error_create(0, "%s describes no field", name);
	return NULL;
}

/* The number in row @index of the field @name of the structure at @base. */
static struct error *read_field(const struct view *view, const char *name,
				uint64_t base, uint64_t *value)
{
	struct field field;
	struct error *error = describe(view, name, &field);

	if (error)
		return error;
	if (field.bits != 32 && field.bits != 64)
		return error_create(0, "%s describes no number", name);
	return read_number(view, base + field.offset, field.bits / 8, value);
}

/* The address of row @index of the array @name in the structure at @base. */
static struct error *row_address(const struct view *view, const char *name,
				 uint64_t base, uint64_t index, uint64_t *addr)
{
	struct field field;
	struct error *error = describe(view, name, &field);

	if (!error)
		*addr = base + field.offset + index * (field.bits / 8);
	return error;
}

/* ---- threads ---- */

struct error *tls_not_allocated(const struct thread *thread)
{
	return error_create(0,
			    "thread %d has not allocated this thread-local storage yet",
			    (int)thread->tid);
}

struct error *tls_no_storage(uint64_t map)
{
	return error_create(0, "the module at %#llx has no thread-local storage",
			    (unsigned long long)map);
}

static struct error *no_registers(const struct thread *thread, int r)
{
	return error_create(-r, "thread %d: no access to its thread pointer",
			    (int)thread->tid);
}

/* The thread's struct pthread, whose address is its pthread_t. */
static struct error *find_pthread(const struct view *view, const struct thread *thread,
				  uint64_t *addr)
{
	uint64_t where, index;
	struct error *error;
	int r;

	error = need_symbol(view, "_thread_db_const_thread_area", &where);
	if (!error)
		error = read_number(view, where, sizeof(uint32_t), &index);
	if (error)
		return error;
	r = thread_get_area(thread, (int32_t)index, addr);
	if (r < 0)
		return no_registers(thread, r);
	/* Before the C library has set the thread up. */
	return *addr == 0 ? tls_not_allocated(thread) : NULL;
}

bool tls_handle(const struct thread *thread, struct thread_symbols *symbols,
		uint64_t *handle)
{
	const struct view view = {thread->inferior, symbols};
	_cleanup_error_ struct error *error = NULL;
	uint64_t tid = 0;

	error = find_pthread(&view, thread, handle);
	if (!error)
		error = read_field(&view, "_thread_db_pthread_tid", *handle, &tid);
	return !error && (pid_t)tid == thread->tid;
}

/* ---- modules ---- */

struct module {
	uint64_t number;
	uint64_t generation; /* since which the number is this module's */
	uint64_t map;	     /* its struct link_map; 0: not known */
};

/* The first part of the list of modules: in the linker, or in a static program. */
static struct error *find_first_list(const struct view *view, uint64_t *list)
{
	uint64_t addr;
	struct error *error;

	if (thread_symbols_find(view->symbols, "_dl_tls_dtv_slotinfo_list", &addr))
		return read_field(view, "_thread_db__dl_tls_dtv_slotinfo_list", addr,
				  list);
	error = need_symbol(view, "__nptl_rtld_global", &addr);
	if (!error)
		error = read_number(view, addr, sizeof(addr), &addr);
	if (!error)
		error = read_field(view,
				   "_thread_db_rtld_global__dl_tls_dtv_slotinfo_list",
				   addr, list);
	return error;
}

/* What the list says of a module's number; *slot == 0: nothing. */
static struct error *find_slot(const struct view *view, uint64_t number, uint64_t *slot)
{
	uint64_t list, len;
	struct error *error = find_first_list(view, &list);
	struct patience patience;

	*slot = 0;
	inferior_patience(view->inferior, &patience, PATIENCE_ENDLESS);
	for (int i = 0; !error && list != 0 && i < SLOT_LISTS_MAX; i++) {
		if (patience_ended(&patience))
			return error_create(0,
					    "the list of modules is not searched: %s",
					    patience.verdict);
		error = read_field(view, "_thread_db_dtv_slotinfo_list_len", list,
				   &len);
		if (error)
			break;
		if (number < len)
			return row_address(view,
					   "_thread_db_dtv_slotinfo_list_slotinfo",
					   list, number, slot);
		number -= len;
		error = read_field(view, "_thread_db_dtv_slotinfo_list_next", list,
				   &list);
	}
	return error;
}

static struct error *find_module(const struct view *view, uint64_t map,
				 struct module *module)
{
	struct error *error = NULL;
	uint64_t slot;

	/* A static program is the one module there is: glibc's __libc_setup_tls. */
	module->number = 1;
	if (map != 0)
		error = read_field(view, "_thread_db_link_map_l_tls_modid", map,
				   &module->number);
	if (error)
		return error;
	if (module->number == 0)
		return tls_no_storage(map);
	error = find_slot(view, module->number, &slot);
	if (!error && slot == 0)
		error = tls_no_storage(map);
	if (!error)
		error = read_field(view, "_thread_db_dtv_slotinfo_gen", slot,
				   &module->generation);
	if (!error)
		error = read_field(view, "_thread_db_dtv_slotinfo_map", slot,
				   &module->map);
	if (!error && map != 0 && module->map != map)
		error = error_create(0, "the module at %#llx is not loaded",
				     (unsigned long long)map);
	return error;
}

/* ---- storage ---- */

static struct error *read_dtv(const struct view *view, uint64_t dtv, uint64_t index,
			      const char *field, uint64_t *value)
{
	uint64_t row;
	struct error *error = row_address(view, "_thread_db_dtv_dtv", dtv, index, &row);

	return error ? error : read_field(view, field, row, value);
}

/* The storage that hangs on the vector; *base == 0: not there. */
static struct error *find_dynamic(const struct view *view, const struct thread *thread,
				  const struct module *module, uint64_t *base)
{
	uint64_t pthread, dtv = 0, generation;
	struct error *error = find_pthread(view, thread, &pthread);

	*base = 0;
	if (!error)
		error = read_field(view, "_thread_db_pthread_dtvp", pthread, &dtv);
	if (error || dtv == 0)
		return error;
	error = read_dtv(view, dtv, 0, "_thread_db_dtv_t_counter", &generation);
	if (error || generation < module->generation)
		return error;
	error = read_dtv(view, dtv, module->number, "_thread_db_dtv_t_pointer_val",
			 base);
	/* Unallocated is all ones; the lowest bit also marked it in glibc 2.3. */
	if (!error && (*base & 1) != 0)
		*base = 0;
	return error;
}

/*
 * The storage at a fixed distance from the thread pointer, which a thread has even if
 * its vector does not say so yet; *base == 0: the module's is not of this kind.
 */
static struct error *find_static(const struct view *view, const struct thread *thread,
				 const struct module *module, uint64_t *base)
{
	const struct arch_ops *arch = view->inferior->arch;
	uint64_t distance, pointer;
	struct error *error;
	int r;

	*base = 0;
	error = read_field(view, "_thread_db_link_map_l_tls_offset", module->map,
			   &distance);
	/* Not decided yet, or decided to be dynamic (glibc's NO_TLS_OFFSET and
	 * FORCED_DYNAMIC_TLS_OFFSET). */
	if (error || distance == 0 || distance >= UINT64_MAX - 1)
		return error;
	r = thread_get_pointer(thread, &pointer);
	if (r < 0)
		return no_registers(thread, r);
	*base = arch->tls_above_pointer ? pointer + distance : pointer - distance;
	return NULL;
}

struct error *tls_find(const struct thread *thread, struct thread_symbols *symbols,
		       uint64_t map, uint64_t offset, uint64_t *addr)
{
	const struct view view = {thread->inferior, symbols};
	struct module module;
	uint64_t base = 0;
	struct error *error = find_module(&view, map, &module);

	if (!error)
		error = find_dynamic(&view, thread, &module, &base);
	if (!error && base == 0)
		error = find_static(&view, thread, &module, &base);
	if (!error && base == 0)
		error = tls_not_allocated(thread);
	if (!error)
		*addr = base + offset;
	return error;
}
