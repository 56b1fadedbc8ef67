/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/compiled.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "arch/register_table.h"
#include "bpf/kernel/hw_event.h"

unsigned char memory[MEMORY_SIZE];
struct compiled fixture;

static struct reg_def rows[NROWS];
static struct arch_ops test_arch;
static bool child_blocks_sigtrap;

__attribute__((noinline)) void hit(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
				   uint64_t e, uint64_t f)
{
	__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}

/*
 * A table of the test's own: the argument registers, narrow views of them, the
 * PC, and one that the context lacks. Offsets come from the processor's table.
 */
static const struct reg_def *test_registers(unsigned int *count)
{
	*count = NROWS;
	return rows;
}

static const struct reg_def *native_argument(unsigned int i)
{
	static const char *const names[][NARGS] = {
		{"rdi", "rsi", "rdx", "rcx", "r8", "r9"},
		{"x0", "x1", "x2", "x3", "x4", "x5"},
	};
	const struct reg_def *row = reg_by_name(arch_native(), names[0][i]);

	return row ? row : reg_by_name(arch_native(), names[1][i]);
}

static void make_arch(void)
{
	static const char *const names[] = {"a0", "a1",	  "a2",	  "a3",	 "a4",	"a5",
					    "w0", "half", "byte", "pc_", "xmm0"};
	_cleanup_error_ struct error *error = arch_native()->init();

	cr_assert_null(error);
	for (unsigned int i = 0; i < NARGS; i++)
		rows[i] = *native_argument(i);
	rows[ROW_32] = rows[0];
	rows[ROW_32].bits = 32;
	rows[ROW_16] = rows[1];
	rows[ROW_16].bits = 16;
	rows[ROW_8] = rows[2];
	rows[ROW_8].bits = 8;
	rows[ROW_PC] = *reg_by_number(arch_native(), arch_native()->pc_reg);
	rows[ROW_MISSING].bits = 64;
	rows[ROW_MISSING].bpf_offset = REG_NOT_IN_BPF_CONTEXT;
	for (unsigned int i = 0; i < NROWS; i++)
		rows[i].name = names[i];
	test_arch.name = "test";
	test_arch.registers = test_registers;
	test_arch.pc_reg = ROW_PC;
}

/* ---- the kernel side ---- */

static int on_record(void *data, void *record, size_t size)
{
	(void)data;
	cr_assert_eq(size, BPF_HIT_RECORD_HEAD);
	memcpy(&fixture.last_record, record, size);
	fixture.nrecords++;
	return 0;
}

/* task_struct.blocked in the kernel's BTF */
static int find_blocked(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int32_t id =
		btf ? btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT) : -1;
	const struct btf_type *type =
		id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;
	int offset = -1;

	for (unsigned int i = 0; type && i < btf_vlen(type); i++)
		if (strcmp(btf__name_by_offset(btf, btf_members(type)[i].name_off),
			   "blocked") == 0)
			offset = (int)(btf_member_bit_offset(type, i) / 8);
	btf__free(btf);
	return offset;
}

static void skip_if_refused(int result)
{
	if (result == -EPERM || result == -ENOSYS)
		cr_skip_test("this user may not load BPF programs here: %s",
			     strerror(-result));
}

static void make_maps(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	fixture.shared_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "shared", 4,
					   sizeof(*fixture.shared), 1, &opts);
	skip_if_refused(fixture.shared_fd);
	cr_assert_geq(fixture.shared_fd, 0, "map: %s", strerror(-fixture.shared_fd));
	fixture.shared = mmap(NULL, sizeof(*fixture.shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED, fixture.shared_fd, 0);
	cr_assert_neq(fixture.shared, MAP_FAILED);
	fixture.ring_fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, RECORDS_SIZE, NULL);
	skip_if_refused(fixture.ring_fd);
	cr_assert_geq(fixture.ring_fd, 0, "ring: %s", strerror(-fixture.ring_fd));
	fixture.ring = ring_buffer__new(fixture.ring_fd, on_record, NULL, NULL);
	cr_assert_not_null(fixture.ring);
}

static void on_trap(int signal)
{
	(void)signal;
	fixture.exchange->traps++;
	memory[0] = 0;
}

static void be_child(void)
{
	sigset_t set;
	char byte;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	if (child_blocks_sigtrap)
		sigprocmask(SIG_BLOCK, &set, NULL);
	else
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(SIGTRAP, on_trap);
	memory[0] = memory[0]; /* a page of its own, present */
	while (read(fixture.turns.to[0], &byte, 1) == 1) {
		const uint64_t *a = fixture.exchange->args;

		hit(a[0], a[1], a[2], a[3], a[4], a[5]);
		fixture.exchange->calls++;
		turns_give(fixture.turns.from);
	}
}

void set_up(void)
{
	make_arch();
	make_maps();
	fixture.blocked_offset = find_blocked();
	for (unsigned int i = 0; i < MEMORY_SIZE; i++)
		memory[i] = (unsigned char)(i * 37 + 129);
	fixture.exchange = mmap(NULL, sizeof(*fixture.exchange), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(fixture.exchange, MAP_FAILED);
	turns_open(&fixture.turns);
	fixture.child = child_start(be_child);
}

void set_up_blocked(void)
{
	child_blocks_sigtrap = true;
	set_up();
}

void tear_down(void)
{
	if (fixture.child > 0)
		child_end(fixture.child);
	ring_buffer__free(fixture.ring);
}

/* ---- programs ---- */

struct bpf_compile_options default_options(void)
{
	return (struct bpf_compile_options){
		.arch = &test_arch,
		.location = LOCATION,
		.shared_fd = fixture.shared_fd,
		.ring_fd = fixture.ring_fd,
		.task_blocked_offset = fixture.blocked_offset,
		.task_rseq_offset = -1,
		.signed_division = false,
		.loop_steps = LOOP_STEPS,
	};
}

static int load_logged(const struct bpf_code *code, char *log, uint32_t size)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = log, .log_size = size,
		    .log_level = log ? 1 : 0);

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "test", "Dual BSD/GPL",
			     code->insns, code->count, &opts);
}

/* With a log that is too short for it, a refusal would be another one. */
static int load(const struct bpf_code *code)
{
	static char log[1 << 16];
	int fd = load_logged(code, NULL, 0);

	if (fd >= 0 || fd == -E2BIG)
		return fd;
	skip_if_refused(fd);
	load_logged(code, log, sizeof(log));
	cr_assert_fail("load: %s\n%s", strerror(-fd), log);
	return fd;
}

int attach(int program, bool sigtrap)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uintptr_t)hit,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
		.sigtrap = sigtrap,
		.remove_on_exec = sigtrap,
	};
	int fd;

	if (!hw_event_fires())
		cr_skip_test("breakpoint registers do not fire on this machine");
	fd = (int)syscall(SYS_perf_event_open, &attr, fixture.child, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && (errno == ENOSPC || errno == ENOENT || errno == EOPNOTSUPP))
		cr_skip_test("no hardware breakpoint to be had: %s", strerror(errno));
	cr_assert_geq(fd, 0, "perf_event_open: %s", strerror(errno));
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_BPF, program), 0);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	return fd;
}

struct error *compile(struct agent_expr **exprs, size_t count,
		      const struct bpf_compile_options *options, struct bpf_code *ret)
{
	const struct agent_list conditions = {exprs, count};

	return bpf_compile(&conditions, NULL, options, ret);
}

int try_start(struct agent_expr **exprs, size_t count,
	      const struct bpf_compile_options *options, bool sigtrap)
{
	struct bpf_code code;
	struct error *error = compile(exprs, count, options, &code);
	int program, event;

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	program = load(&code);
	event = program < 0 ? program : attach(program, sigtrap);
	close(program);
	bpf_code_deinit(&code);
	return event;
}

int start(struct agent_expr **exprs, size_t count,
	  const struct bpf_compile_options *options, bool sigtrap)
{
	int event = try_start(exprs, count, options, sigtrap);

	cr_assert_geq(event, 0, "%s", strerror(-event));
	return event;
}

struct agent_expr *reg_equals(uint16_t reg, uint8_t value)
{
	return EXPR(REG(reg), CONST8(value), AGENT_EQUAL, AGENT_END);
}

/* ---- hits ---- */

void set_args(uint64_t a, uint64_t b)
{
	fixture.exchange->args[0] = a;
	fixture.exchange->args[1] = b;
}

void call_hit(void)
{
	turns_give(fixture.turns.to);
}

void await_return(void)
{
	turns_await(fixture.turns.from);
}

/* These programs do not translate thread ids into a PID name space (that is tested
 * with the whole server): in one of its own, a test cannot know what to expect. */
static bool numbers_are_the_kernels(void)
{
	const ino_t first_name_space = 0xeffffffc; /* include/linux/proc_ns.h */
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == first_name_space;
}

unsigned int take_records(void)
{
	fixture.nrecords = 0;
	ring_buffer__consume(fixture.ring);
	return fixture.nrecords;
}

enum bpf_verdict take_verdict(void)
{
	struct tally_hits hits = tally_total(fixture.shared, LOCATION);
	enum bpf_verdict verdict = BPF_FALSE;

	cr_assert_eq(hits.by[BPF_FALSE] + hits.by[BPF_TRUE] + hits.by[BPF_MAYBE], 1);
	cr_assert_eq(fixture.shared->locations[LOCATION].lost, 0);
	if (hits.by[BPF_TRUE])
		verdict = BPF_TRUE;
	else if (hits.by[BPF_MAYBE])
		verdict = BPF_MAYBE;
	tally_clear(fixture.shared, LOCATION);
	cr_assert_eq(take_records(), verdict != BPF_FALSE);
	if (verdict == BPF_FALSE)
		return verdict;
	cr_assert_eq(fixture.last_record.verdict, verdict);
	cr_assert_eq(fixture.last_record.location, LOCATION);
	if (numbers_are_the_kernels())
		cr_assert_eq(fixture.last_record.tid, (uint32_t)fixture.child);
	cr_assert_eq(fixture.last_record.pc, (uintptr_t)hit);
	return verdict;
}

enum bpf_verdict run(void)
{
	call_hit();
	await_return();
	return take_verdict();
}
