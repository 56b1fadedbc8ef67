/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/kernel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/log.h"
#include "gdbstub/base/rights.h"
#include "gdbstub/base/setcap.h"
#include "gdbstub/inferior/proc.h"
#include "bpf/kernel/alive.h"

/* A power of two and a multiple of every page size. A thread leaves a record per
 * location before it stops: room for thousands of threads at one instant. At a uprobe,
 * a record that is lost would be a stop in the wrong place. */
enum { HITS_SIZE = 2 * 1024 * 1024 };

/* What commands print in 10 ms, and more (server.c). */
enum { OUTPUT_SIZE = 1024 * 1024 };

enum { ALIVE_TIMEOUT = 10000 }; /* ms; a load takes less than one */

/* The verifier's division of signed numbers is marked in the offset, since Linux
 * 6.6 (Documentation/bpf/standardization/instruction-set.rst, "Arithmetic"). */
enum { SIGNED_DIVISION = 1 };

/* The verifier's words are its last, and figures; with all steps on the way there
 * it would take many times as long (BPF_LOG_STATS of include/linux/bpf_verifier.h). */
enum { LOG_STATS = 4 };

int bpf_kernel_load(enum bpf_kind kind, const struct bpf_insn *insns, size_t count,
		    char *log, size_t log_size)
{
	RIGHTS_RAISED_IN_SCOPE;
	enum bpf_prog_type type = kind == BPF_KIND_EVENT ? BPF_PROG_TYPE_PERF_EVENT
							 : BPF_PROG_TYPE_KPROBE;
	struct bpf_prog_load_opts options = {
		.sz = sizeof(options),
		.expected_attach_type =
			kind == BPF_KIND_UPROBE_MULTI ? UPROBE_MULTI_ATTACH_TYPE : 0,
		.log_buf = log,
		.log_size = log ? (uint32_t)log_size : 0,
		.log_level = log ? LOG_STATS : 0,
	};

	/* The licence is what the kernel wants to see for its reading helpers. */
	return bpf_prog_load(type, "truehit", "Dual BSD/GPL", insns, count, &options);
}

int bpf_kernel_load_false(enum bpf_kind kind)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_kernel_load(kind, insns, sizeof(insns) / sizeof(*insns), NULL, 0);
}

struct error *bpf_kernel_rights_error(int err, const char *what)
{
	_cleanup_free_ char *command = setcap_command(NULL);
	long paranoid = proc_number("/proc/sys/kernel/perf_event_paranoid");
	const char *lower = "";

	/* Above 2, which only kernels of distributions know, capabilities other than
	 * CAP_SYS_ADMIN open no event. */
	if (paranoid > 2)
		lower = "sysctl kernel.perf_event_paranoid=2 and ";
	return error_create(err, "%s (needs root, or: %s%s)", what, lower,
			    command ? command : "setcap");
}

static int load_any(void)
{
	return bpf_kernel_load_false(BPF_KIND_EVENT);
}

static struct error *check_rights(void)
{
	struct error *error = bpf_alive(load_any, ALIVE_TIMEOUT);
	_cleanup_close_ int fd = error ? -1 : load_any();

	if (error)
		return error;
	if (fd == -EPERM || fd == -EACCES)
		return bpf_kernel_rights_error(-fd, "BPF programs may not be loaded");
	if (fd < 0)
		return error_create(-fd, "BPF programs cannot be loaded");
	return NULL;
}

bool bpf_kernel_divides_signed(void)
{
	static const struct bpf_insn divide[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = -6},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 2},
		{.code = BPF_ALU64 | BPF_DIV | BPF_X,
		 .dst_reg = BPF_REG_0,
		 .src_reg = BPF_REG_1,
		 .off = SIGNED_DIVISION},
		{.code = BPF_JMP | BPF_EXIT},
	};
	_cleanup_close_ int fd = bpf_kernel_load(
		BPF_KIND_EVENT, divide, sizeof(divide) / sizeof(*divide), NULL, 0);

	return fd >= 0;
}

/* The offset of a member in bytes, looking into unnamed members (a randomised
 * layout wraps everything into one), and its type; -1: not there. */
static int find_member(const struct btf *btf, uint32_t id, const char *name,
		       unsigned int depth, uint32_t *member_type)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const struct btf_member *member;

	if (!type || !btf_is_composite(type) || depth > 4)
		return -1;
	member = btf_members(type);
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const char *other = btf__name_by_offset(btf, member[i].name_off);
		int at = (int)btf_member_bit_offset(type, i) / 8, inner;

		if (other && !strcmp(other, name)) {
			*member_type = member[i].type;
			return at;
		}
		if (other && *other)
			continue;
		inner = find_member(btf, member[i].type, name, depth + 1, member_type);
		if (inner >= 0)
			return at + inner;
	}
	return -1;
}

static int member_offset(const struct btf *btf, uint32_t id, const char *name)
{
	uint32_t type;

	return find_member(btf, id, name, 0, &type);
}

/* A pointer of task_struct, or a structure that has one (since Linux 6.19). */
static int rseq_offset(const struct btf *btf, uint32_t task)
{
	uint32_t type = 0;
	int at = find_member(btf, task, "rseq", 0, &type), inner;

	if (at < 0 || !btf_is_composite(btf__type_by_id(btf, type)))
		return at;
	inner = member_offset(btf, type, "usrptr");
	return inner < 0 ? -1 : at + inner;
}

/* To map the file takes half the time of reading it, which is done page by page. NULL:
 * it cannot be mapped (before Linux 6.16, kernel/bpf/sysfs_btf.c). */
static struct btf *map_kernel_btf(void)
{
	_cleanup_close_ int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct btf *btf = NULL;
	struct stat file;
	void *data;

	if (fd < 0 || fstat(fd, &file) < 0 || file.st_size <= 0)
		return NULL;
	data = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return NULL;
	btf = btf__new(data, (uint32_t)file.st_size);
	munmap(data, (size_t)file.st_size);
	return btf;
}

static struct btf *load_kernel_btf(void)
{
	struct btf *btf = map_kernel_btf();

	return btf ? btf : btf__load_vmlinux_btf();
}

static void find_task_members(struct bpf_kernel *kernel)
{
	struct btf *btf = load_kernel_btf();
	int id;

	kernel->task_blocked_offset = -1;
	kernel->task_flags_offset = -1;
	kernel->task_ptrace_offset = -1;
	kernel->task_rseq_offset = -1;
	if (!btf) {
		log_debug(LOG_BPF, "the kernel's BTF: %s", strerror(errno));
		return;
	}
	id = btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT);
	if (id > 0) {
		uint32_t task = (uint32_t)id;

		kernel->task_blocked_offset = member_offset(btf, task, "blocked");
		kernel->task_flags_offset = member_offset(btf, task, "flags");
		kernel->task_ptrace_offset = member_offset(btf, task, "ptrace");
		kernel->task_rseq_offset = rseq_offset(btf, task);
	}
	btf__free(btf);
}

/* The inode of the system's own PID name space (include/linux/proc_ns.h). */
static const ino_t pid_ns_init_inode = 0xeffffffc;

/* In a container, tids differ from those that programs get by default. */
static void find_pid_ns(struct bpf_kernel *kernel)
{
	enum { MINOR_BITS = 20 }; /* of the kernel's dev_t */
	struct stat ns;

	if (stat("/proc/self/ns/pid", &ns) < 0 || ns.st_ino == pid_ns_init_inode)
		return;
	kernel->pid_ns_device =
		(uint64_t)major(ns.st_dev) << MINOR_BITS | minor(ns.st_dev);
	kernel->pid_ns_inode = ns.st_ino;
}

static struct error *make_shared(struct bpf_kernel *kernel)
{
	RIGHTS_RAISED_IN_SCOPE;
	const struct bpf_map_create_opts options = {
		.sz = sizeof(options),
		.map_flags = BPF_F_MMAPABLE,
	};
	void *shared;
	int err;

	kernel->shared_fd =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "truehit_shared", sizeof(uint32_t),
			       sizeof(struct bpf_shared), 1, &options);
	if (kernel->shared_fd < 0)
		return error_create(-kernel->shared_fd,
				    "the BPF map of the counts cannot be made");
	err = server_word_map(kernel->shared_fd, sizeof(struct bpf_shared), &shared);
	if (err < 0)
		return error_create(-err, "the BPF map of the counts cannot be mapped");
	/* A child that is to be traced has nothing of it (gdbstub/base/rights.h). */
	madvise(shared, sizeof(struct bpf_shared), MADV_DONTFORK);
	kernel->shared = shared;
	return NULL;
}

/* The kernel lets such a map have to do with programs of one kind only. */
static struct error *make_nothing(struct bpf_kernel *kernel)
{
	RIGHTS_RAISED_IN_SCOPE;

	for (unsigned int kind = BPF_KIND_UPROBE; kind < BPF_KINDS; kind++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "truehit_nothing",
					sizeof(uint32_t), sizeof(uint32_t), 1, NULL);

		if (fd < 0)
			return error_create(-fd, "an empty BPF map cannot be made");
		kernel->nothing_fds[kind] = fd;
	}
	return NULL;
}

static bool take_record(void *data, const void *record, size_t size)
{
	struct bpf_hit_record complete = {0};
	struct bpf_kernel *kernel = data;

	if (size < BPF_HIT_RECORD_HEAD)
		return true;
	memcpy(&complete, record, size < sizeof(complete) ? size : sizeof(complete));
	kernel->on_record(kernel->data, &complete);
	return true;
}

static const struct bpf_kernel no_kernel = {
	.shared_fd = -1,
	.hits = {.fd = -1},
	.output = {.fd = -1},
	.nothing_fds = {-1, -1, -1},
};

struct error *bpf_kernel_init(struct bpf_kernel *kernel, bpf_record_fn *on_record,
			      void *data)
{
	struct error *error;

	*kernel = no_kernel;
	kernel->on_record = on_record;
	kernel->data = data;

	error = check_rights();
	if (!error)
		error = make_shared(kernel);
	if (!error)
		error = ring_create(&kernel->hits, "truehit_hits", HITS_SIZE);
	if (!error)
		error = ring_create(&kernel->output, "truehit_output", OUTPUT_SIZE);
	if (!error)
		error = make_nothing(kernel);
	if (error) {
		bpf_kernel_deinit(kernel);
		return error;
	}
	kernel->signed_division = bpf_kernel_divides_signed();
	find_task_members(kernel);
	find_pid_ns(kernel);
	return NULL;
}

__attribute__((format(printf, 2, 0))) static int
log_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	char text[512];

	if (level == LIBBPF_DEBUG || !log_enabled(LOG_BPF))
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	log_debug(LOG_BPF, "%s", text);
	return 0;
}

void bpf_kernel_log(void)
{
	libbpf_set_print(log_libbpf);
}

void bpf_kernel_hold_word(struct bpf_kernel *kernel)
{
	const int err =
		server_word_hold(kernel->shared, offsetof(struct bpf_shared, server));

	if (err < 0)
		log_debug(LOG_BPF, "programs will not be told of the server's end: %s",
			  strerror(-err));
}

void bpf_kernel_deinit(struct bpf_kernel *kernel)
{
	if (kernel->shared)
		server_word_unmap(kernel->shared);
	ring_destroy(&kernel->hits);
	ring_destroy(&kernel->output);
	for (unsigned int kind = 0; kind < BPF_KINDS; kind++)
		cleanup_close(&kernel->nothing_fds[kind]);
	cleanup_close(&kernel->shared_fd);
	*kernel = no_kernel;
}

struct bpf_compile_options bpf_kernel_options(const struct bpf_kernel *kernel,
					      const struct arch_ops *arch)
{
	return (struct bpf_compile_options){
		.arch = arch,
		.shared_fd = kernel->shared_fd,
		.ring_fd = kernel->hits.fd,
		.output_fd = kernel->output.fd,
		.nothing_fds = kernel->nothing_fds,
		.task_blocked_offset = kernel->task_blocked_offset,
		.task_flags_offset = kernel->task_flags_offset,
		.task_ptrace_offset = kernel->task_ptrace_offset,
		.task_rseq_offset = kernel->task_rseq_offset,
		.pid_ns_device = kernel->pid_ns_device,
		.pid_ns_inode = kernel->pid_ns_inode,
		.signed_division = kernel->signed_division,
	};
}

void bpf_kernel_drain(struct bpf_kernel *kernel)
{
	ring_drain(&kernel->hits, take_record, kernel);
}

int bpf_kernel_take_location(struct bpf_kernel *kernel)
{
	for (unsigned int word = 0; word <= BPF_LOCATIONS_MAX / 64; word++) {
		const uint64_t free_ones = ~kernel->taken[word];
		unsigned int i;

		if (free_ones == 0)
			continue;
		i = 64 * word + (unsigned int)__builtin_ctzll(free_ones);
		if (i >= BPF_LOCATIONS_MAX)
			break;
		kernel->taken[word] |= UINT64_C(1) << (i % 64);
		kernel->shared->locations[i] = (struct bpf_location){0};
		return (int)i;
	}
	return -ENOSPC;
}

void bpf_kernel_free_location(struct bpf_kernel *kernel, unsigned int location)
{
	kernel->taken[location / 64] &= ~(UINT64_C(1) << (location % 64));
}
