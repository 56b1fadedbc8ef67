/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled conditions, loaded and run by the kernel at a real breakpoint of a
 * child process, held against the interpreter.
 */
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

#include "agent/expr.h"
#include "agent/insn.h"
#include "agent/interp.h"
#include "agent/print.h"
#include "arch/registers.h"
#include "bpf/compile.h"
#include "bpf/hits.h"
#include "bpf/kernel.h"
#include "tests/unit/child.h"
#include "tests/unit/expr.h"
#include "tests/unit/rng.h"

enum {
	NARGS = 6,
	LOCATION = 5,
	MEMORY_SIZE = 128,
	RECORDS_SIZE = 4096,
	LOOP_STEPS = 1000,
	/* Rows of the register table below, behind the arguments. */
	ROW_32 = NARGS,
	ROW_16,
	ROW_8,
	ROW_PC,
	ROW_MISSING,
	NROWS
};

/* What child and test share. */
struct exchange {
	uint64_t args[NARGS];
	uint64_t traps; /* SIGTRAPs that the child got */
	uint64_t calls; /* returns from hit() */
};

static unsigned char memory[MEMORY_SIZE];
static struct reg_def rows[NROWS];
static struct arch_ops test_arch;
static struct exchange *exchange;
static struct bpf_shared *shared;
static int shared_fd, ring_fd, blocked_offset;
static struct turns turns;
static struct ring_buffer *ring;
static struct bpf_hit_record last_record;
static unsigned int nrecords;
static pid_t child;
static bool child_blocks_sigtrap;

void hit(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f);

/* The breakpoint is here: the arguments are in known registers. */
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

/* The kernel side */

static int on_record(void *data, void *record, size_t size)
{
	(void)data;
	cr_assert_eq(size, BPF_HIT_RECORD_HEAD);
	memcpy(&last_record, record, size);
	nrecords++;
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

	shared_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "shared", 4, sizeof(*shared), 1,
				   &opts);
	skip_if_refused(shared_fd);
	cr_assert_geq(shared_fd, 0, "map: %s", strerror(-shared_fd));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      shared_fd, 0);
	cr_assert_neq(shared, MAP_FAILED);
	ring_fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, RECORDS_SIZE, NULL);
	skip_if_refused(ring_fd);
	cr_assert_geq(ring_fd, 0, "ring: %s", strerror(-ring_fd));
	ring = ring_buffer__new(ring_fd, on_record, NULL, NULL);
	cr_assert_not_null(ring);
}

static void on_trap(int signal)
{
	(void)signal;
	exchange->traps++;
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
	while (read(turns.to[0], &byte, 1) == 1) {
		const uint64_t *a = exchange->args;

		hit(a[0], a[1], a[2], a[3], a[4], a[5]);
		exchange->calls++;
		turns_give(turns.from);
	}
}

static void setup(void)
{
	make_arch();
	make_maps();
	blocked_offset = find_blocked();
	for (unsigned int i = 0; i < MEMORY_SIZE; i++)
		memory[i] = (unsigned char)(i * 37 + 129);
	exchange = mmap(NULL, sizeof(*exchange), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(exchange, MAP_FAILED);
	turns_open(&turns);
	child = child_start(be_child);
}

static void setup_blocked(void)
{
	child_blocks_sigtrap = true;
	setup();
}

static void teardown(void)
{
	if (child > 0)
		child_end(child);
	ring_buffer__free(ring);
}

TestSuite(compile, .init = setup, .fini = teardown, .timeout = 300);
TestSuite(compile_blocked, .init = setup_blocked, .fini = teardown, .timeout = 300);

/* Programs */

static struct bpf_compile_options default_options(void)
{
	return (struct bpf_compile_options){
		.arch = &test_arch,
		.location = LOCATION,
		.shared_fd = shared_fd,
		.ring_fd = ring_fd,
		.task_blocked_offset = blocked_offset,
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

/* An event at hit() in the child that runs the program; closed by the caller. */
static int attach(int program, bool sigtrap)
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
	int fd = (int)syscall(SYS_perf_event_open, &attr, child, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && (errno == ENOSPC || errno == ENOENT || errno == EOPNOTSUPP))
		cr_skip_test("no hardware breakpoint to be had: %s", strerror(errno));
	cr_assert_geq(fd, 0, "perf_event_open: %s", strerror(errno));
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_BPF, program), 0);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	return fd;
}

/* bpf_compile, of an array of conditions and no commands */
static struct error *compile(struct agent_expr **exprs, size_t count,
			     const struct bpf_compile_options *options,
			     struct bpf_code *ret)
{
	const struct agent_list conditions = {exprs, count};

	return bpf_compile(&conditions, NULL, options, ret);
}

/* An event with a program; -E2BIG: the verifier gives up on its loops, so that the stub
 * would decide. */
static int try_start(struct agent_expr **exprs, size_t count,
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

static int start(struct agent_expr **exprs, size_t count,
		 const struct bpf_compile_options *options, bool sigtrap)
{
	int event = try_start(exprs, count, options, sigtrap);

	cr_assert_geq(event, 0, "%s", strerror(-event));
	return event;
}

static void call_hit(void)
{
	turns_give(turns.to);
}

static void await_return(void)
{
	turns_await(turns.from);
}

/* These programs do not translate thread ids into a PID name space (that is tested
 * with the whole server): in one of its own, a test cannot know what to expect. */
static bool numbers_are_the_kernels(void)
{
	const ino_t first_name_space = 0xeffffffc; /* include/linux/proc_ns.h */
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == first_name_space;
}

/* What the counters and the ring tell of the one hit since the last call. */
static enum bpf_verdict take_verdict(void)
{
	struct tally_hits hits = tally_total(shared, LOCATION);
	enum bpf_verdict verdict = BPF_FALSE;

	cr_assert_eq(hits.by[BPF_FALSE] + hits.by[BPF_TRUE] + hits.by[BPF_MAYBE], 1);
	cr_assert_eq(shared->locations[LOCATION].lost, 0);
	if (hits.by[BPF_TRUE])
		verdict = BPF_TRUE;
	else if (hits.by[BPF_MAYBE])
		verdict = BPF_MAYBE;
	tally_clear(shared, LOCATION);
	nrecords = 0;
	ring_buffer__consume(ring);
	cr_assert_eq(nrecords, verdict != BPF_FALSE);
	if (verdict == BPF_FALSE)
		return verdict;
	cr_assert_eq(last_record.verdict, verdict);
	cr_assert_eq(last_record.location, LOCATION);
	if (numbers_are_the_kernels())
		cr_assert_eq(last_record.tid, (uint32_t)child);
	cr_assert_eq(last_record.pc, (uintptr_t)hit);
	return verdict;
}

static enum bpf_verdict run(void)
{
	call_hit();
	await_return();
	return take_verdict();
}

/* The same by the interpreter: what it cannot evaluate is a maybe. */

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	uint64_t offset = addr - (uintptr_t)memory;

	(void)data;
	if (offset > MEMORY_SIZE - len)
		return -EFAULT;
	memcpy(value, memory + offset, len);
	return 0;
}

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	(void)data;
	if (number < NARGS)
		*value = exchange->args[number];
	else if (number == ROW_32)
		*value = (uint32_t)exchange->args[0];
	else if (number == ROW_16)
		*value = (uint16_t)exchange->args[1];
	else if (number == ROW_8)
		*value = (uint8_t)exchange->args[2];
	else if (number == ROW_PC)
		*value = (uintptr_t)hit;
	else
		return -ENODATA;
	return 0;
}

static const struct agent_context context = {.read_memory = read_memory,
					     .read_register = read_register};

static enum bpf_verdict interpret(const struct agent_expr *expr, uint64_t *value)
{
	_cleanup_error_ struct error *error =
		agent_expr_evaluate(expr, &context, value);

	if (error)
		return BPF_MAYBE;
	return *value ? BPF_TRUE : BPF_FALSE;
}

static void describe(const struct agent_expr *expr, struct buffer *out)
{
	agent_expr_disassemble(expr, &test_arch, out);
	for (unsigned int i = 0; i < NARGS; i++)
		buffer_printf(out, "$a%u = 0x%" PRIx64 "\n", i, exchange->args[i]);
}

/* A loop may be a maybe, as the kernel gives it fewer rounds. */
static enum bpf_verdict expect_as_interpreted(const struct agent_expr *expr)
{
	_cleanup_buffer_ struct buffer text = {0};
	uint64_t value = 0;
	enum bpf_verdict expected = interpret(expr, &value);
	enum bpf_verdict got = run();

	if (got == BPF_MAYBE && agent_expr_jumps_back(expr))
		return got;
	if (got != expected)
		describe(expr, &text);
	cr_assert_eq(got, expected, "kernel: %d, interpreter: %d\n%s", got, expected,
		     buffer_string(&text));
	return got;
}

/* Each operation */

static const uint64_t values[] = {
	0,
	1,
	2,
	5,
	63,
	64,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	0x7fffffffffffffff,
	0x8000000000000000,
	0x8000000000000001,
	(uint64_t)-7,
	(uint64_t)-2,
	UINT64_MAX,
};
enum { NVALUES = sizeof(values) / sizeof(values[0]) };

/* Where operands come from: a register, a slot, a slot on BPF's stack. */
enum source { FROM_REGISTER, FROM_SLOT, FROM_DEEP_SLOT, NSOURCES };

static void push_argument(struct text *t, uint16_t number, enum source source)
{
	text_put(t, REG(number));
	if (source == FROM_REGISTER)
		return;
	text_put(t, AGENT_BIT_NOT, AGENT_BIT_NOT);
}

static void push_ballast(struct text *t, enum source source)
{
	for (int i = 0; source == FROM_DEEP_SLOT && i < 5; i++)
		push_argument(t, 3, FROM_SLOT);
}

/* Runs a program for every pair of values, once with the right result expected
 * in $a2 and once with a wrong one. */
static void try_pairs(const struct text *operation, unsigned int noperands)
{
	struct text t = *operation, bare = *operation;
	struct agent_expr *expr, *value_expr;
	struct bpf_compile_options options = default_options();

	value_expr = text_expr(&bare);
	text_put(&t, REG(2), AGENT_EQUAL);
	expr = text_expr(&t);
	for (int native = 0; native <= bpf_kernel_divides_signed(); native++) {
		int event;

		options.signed_division = native;
		event = start(&expr, 1, &options, false);
		for (unsigned int i = 0; i < NVALUES; i++) {
			for (unsigned int j = 0; j < (noperands > 1 ? NVALUES : 1U);
			     j++) {
				uint64_t value = 0;

				exchange->args[0] = values[i];
				exchange->args[1] = values[j];
				interpret(value_expr, &value);
				exchange->args[2] = value;
				expect_as_interpreted(expr);
				exchange->args[2] = value ^ 1ULL << (i + j) % 64;
				expect_as_interpreted(expr);
			}
		}
		close(event);
	}
	agent_expr_unref(expr);
	agent_expr_unref(value_expr);
}

static void try_binary(uint8_t code, enum source source)
{
	struct text t = {0};

	push_ballast(&t, source);
	push_argument(&t, 0, source);
	push_argument(&t, 1, source);
	text_put(&t, code);
	try_pairs(&t, 2);
}

static void try_all_binaries(enum source source)
{
	for (unsigned int code = 0; code < 256; code++) {
		const struct agent_opcode *opcode = agent_opcode((uint8_t)code);

		if (opcode && (opcode->class == AGENT_CLASS_ARITH ||
			       opcode->class == AGENT_CLASS_COMPARE))
			try_binary((uint8_t)code, source);
	}
}

Test(compile, binary_operations_on_registers)
{
	try_all_binaries(FROM_REGISTER);
}

Test(compile, binary_operations_on_slots)
{
	try_all_binaries(FROM_SLOT);
}

Test(compile, binary_operations_on_the_stack)
{
	try_all_binaries(FROM_DEEP_SLOT);
}

/* One operand a constant: immediates, and what does not fit into one. */
static void try_constant(uint8_t code, uint64_t value, bool left)
{
	struct text t = {0};

	if (left)
		text_put(&t, CONST64(value));
	text_put(&t, REG(0));
	if (!left)
		text_put(&t, CONST64(value));
	text_put(&t, code);
	try_pairs(&t, 1);
}

Test(compile, binary_operations_on_constants)
{
	static const uint64_t constants[] = {
		0, 3, 64, 0x80000000, UINT64_MAX, 0x8000000000000000};

	for (unsigned int code = 0; code < 256; code++) {
		const struct agent_opcode *opcode = agent_opcode((uint8_t)code);

		if (!opcode || (opcode->class != AGENT_CLASS_ARITH &&
				opcode->class != AGENT_CLASS_COMPARE))
			continue;
		for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
			try_constant((uint8_t)code, constants[i], false);
			try_constant((uint8_t)code, constants[i], true);
		}
	}
}

Test(compile, unary_operations)
{
	for (enum source source = FROM_REGISTER; source < NSOURCES; source++) {
		static const uint8_t codes[] = {AGENT_LOG_NOT, AGENT_BIT_NOT};

		for (int i = 0; i < 2; i++) {
			struct text t = {0};

			push_ballast(&t, source);
			push_argument(&t, 0, source);
			text_put(&t, codes[i]);
			try_pairs(&t, 1);
		}
	}
}

Test(compile, extensions)
{
	static const uint8_t widths[] = {1, 7, 8, 16, 31, 32, 33, 63, 64, 255};

	for (enum source source = FROM_REGISTER; source < NSOURCES; source++) {
		for (size_t i = 0; i < sizeof(widths); i++) {
			struct text s = {0}, z;

			push_ballast(&s, source);
			push_argument(&s, 0, source);
			z = s;
			text_put(&s, EXT(widths[i]));
			text_put(&z, ZERO_EXT(widths[i]));
			try_pairs(&s, 1);
			try_pairs(&z, 1);
		}
	}
}

/* Of ext 8, only copies of the sign are needed: it is that of ext 7 ^ $a1. */
Test(compile, sign_of_an_extension)
{
	struct text t = {0};

	text_put(&t, REG(0), EXT(7), REG(1), AGENT_BIT_XOR, EXT(8), CONST8(8),
		 AGENT_RSH_SIGNED);
	try_pairs(&t, 2);
}

Test(compile, narrow_registers_are_zero_extended)
{
	for (uint16_t row = ROW_32; row <= ROW_PC; row++) {
		struct text t = {0};

		text_put(&t, REG(row));
		try_pairs(&t, 2);
	}
}

Test(compile, shuffles)
{
	static const uint8_t codes[][3] = {
		{AGENT_SWAP, 0, 0},
		{AGENT_ROT, 0, 0},
		{AGENT_ROT, AGENT_ROT, 0},
		{AGENT_DUP, AGENT_ROT, 0},
		{AGENT_POP, AGENT_SWAP, 0},
		{AGENT_PICK, 0, AGENT_SUB},
		{AGENT_PICK, 1, AGENT_SUB},
		{AGENT_PICK, 2, AGENT_SUB},
		{AGENT_SWAP, AGENT_ROT, AGENT_DUP},
	};

	for (enum source source = FROM_REGISTER; source < NSOURCES; source++) {
		for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
			struct text t = {0};

			push_ballast(&t, source);
			push_argument(&t, 1, source);
			text_put(&t, CONST64(1000));
			push_argument(&t, 0, source);
			for (int j = 0; j < 3; j++)
				if (codes[i][j] || codes[i][0] == AGENT_PICK)
					text_put(&t, codes[i][j]);
			text_put(&t, AGENT_SUB);
			try_pairs(&t, 2);
		}
	}
}

/* Cells in a circle have to be in their places where paths join. */
Test(compile, shuffled_cells_at_a_join)
{
	struct text t = {0};
	size_t over;

	for (uint16_t i = 0; i < 4; i++)
		push_argument(&t, i % 2, FROM_SLOT);
	push_argument(&t, 0, FROM_SLOT);
	over = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, AGENT_ROT, AGENT_SWAP, PICK(3), AGENT_ROT, AGENT_ADD, AGENT_ROT);
	text_land(&t, over);
	text_put(&t, AGENT_SUB, AGENT_SWAP, AGENT_SUB, AGENT_MUL);
	try_pairs(&t, 2);
}

/* Memory */

static void push_address(struct text *t, const void *base)
{
	text_put(t, CONST64((uintptr_t)base), REG(0), AGENT_ADD);
}

static struct agent_expr *make_ref(uint8_t code, enum source source)
{
	struct text t = {0};

	push_ballast(&t, source);
	push_address(&t, memory);
	text_put(&t, code, REG(1), AGENT_EQUAL);
	return text_expr(&t);
}

Test(compile, references)
{
	struct bpf_compile_options options = default_options();

	for (uint8_t code = AGENT_REF8; code <= AGENT_REF64; code++) {
		struct agent_expr *expr =
			make_ref(code, code % 2 ? FROM_REGISTER : FROM_DEEP_SLOT);
		int event = start(&expr, 1, &options, false);

		for (uint64_t offset = 0; offset < 20; offset++) {
			uint64_t value = 0;

			memcpy(&value, memory + offset, agent_opcode(code)->size);
			exchange->args[0] = offset;
			exchange->args[1] = value;
			cr_assert_eq(run(), BPF_TRUE);
			exchange->args[1] = value ^ 0x80;
			cr_assert_eq(run(), BPF_FALSE);
		}
		/* An address that nothing is at, one of the kernel's. */
		exchange->args[0] = 16 - (uintptr_t)memory;
		cr_assert_eq(run(), BPF_MAYBE);
		exchange->args[0] = UINT64_MAX - (uintptr_t)memory;
		cr_assert_eq(run(), BPF_MAYBE);
		close(event);
		agent_expr_unref(expr);
	}
}

static unsigned int count_reads(const struct bpf_code *code)
{
	unsigned int count = 0;

	for (size_t i = 0; i < code->count; i++)
		count += code->insns[i].code == (BPF_JMP | BPF_CALL) &&
			 code->insns[i].imm == BPF_FUNC_probe_read_user;
	return count;
}

/* A condition on @size bytes at an offset into the watched ones. */
static void try_watched(uint8_t code, uint64_t offset, unsigned int len)
{
	struct bpf_compile_options options = default_options();
	unsigned int size = agent_opcode(code)->size;
	bool is_there = offset % size == 0 && offset + size <= len;
	struct text t = {0};
	struct agent_expr *expr;
	struct bpf_code made;
	uint64_t value = 0;
	int event;

	text_put(&t, CONST64((uintptr_t)memory + offset), code, REG(1), AGENT_EQUAL);
	expr = text_expr(&t);
	options.site.watch = (struct bpf_watch){
		.access = true, .addr = (uintptr_t)memory, .len = len};
	cr_assert_null(compile(&expr, 1, &options, &made));
	cr_expect_eq(count_reads(&made), is_there ? 1 : 2, "%u bytes at %d", size,
		     (int)offset);
	bpf_code_deinit(&made);

	event = start(&expr, 1, &options, false);
	memcpy(&value, memory + offset, size);
	for (int differs = 0; differs < 2; differs++) {
		exchange->args[1] = value ^ (differs ? 0x80 : 0);
		shared->locations[LOCATION].last = (struct watch_last){.unsure = 1};
		cr_expect_eq(run(), differs ? BPF_FALSE : BPF_TRUE, "%u bytes at %d",
			     size, (int)offset);
	}
	shared->shadow_start = (uintptr_t)memory + offset;
	shared->shadow_end = shared->shadow_start + 1;
	shared->locations[LOCATION].last.unsure = 1;
	cr_expect_eq(run(), BPF_MAYBE);
	shared->shadow_start = shared->shadow_end = 0;
	close(event);
	agent_expr_unref(expr);
}

/* The value filter reads the watched bytes; a condition on them is about these. */
Test(compile, watched_bytes_are_read_once)
{
	static const uint64_t offsets[] = {0, 2, 4, 8, 11, 12};

	for (uint8_t code = AGENT_REF8; code <= AGENT_REF64; code++)
		for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
			try_watched(code, offsets[i], 12);
}

Test(compile, planted_bytes_are_a_maybe)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = make_ref(AGENT_REF32, FROM_REGISTER);
	int event = start(&expr, 1, &options, false);

	exchange->args[1] = 1; /* not the value anywhere */
	shared->shadow_start = (uintptr_t)memory + 10;
	shared->shadow_end = (uintptr_t)memory + 12;
	for (uint64_t offset = 0; offset < 20; offset++) {
		exchange->args[0] = offset;
		cr_expect_eq(run(),
			     offset + 4 > 10 && offset < 12 ? BPF_MAYBE : BPF_FALSE);
	}
	shared->shadow_start = shared->shadow_end = 0;
	exchange->args[0] = 10;
	cr_expect_eq(run(), BPF_FALSE);
	close(event);
	agent_expr_unref(expr);
}

/* [4, 6) is planted, then [9, 10), [15, 16) and [20, 21). */
Test(compile, gaps_between_planted_bytes_are_no_maybe)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = make_ref(AGENT_REF16, FROM_REGISTER);
	uint64_t base = (uintptr_t)memory;
	struct shadow_range planted[] = {{base + 4, base + 6},
					 {base + 9, base + 10},
					 {base + 15, base + 16},
					 {base + 20, base + 21}};
	struct shadow shadow = shadow_around(planted, 4);
	int event = start(&expr, 1, &options, false);

	exchange->args[1] = 1; /* not the value anywhere */
	shared->shadow_start = shadow.all.start;
	shared->shadow_end = shadow.all.end;
	memcpy(shared->shadow_gaps, shadow.gaps, sizeof(shadow.gaps));
	for (uint64_t offset = 0; offset < 24; offset++) {
		bool touches = false;

		for (int i = 0; i < 4; i++)
			touches |= base + offset + 2 > planted[i].start &&
				   base + offset < planted[i].end;
		exchange->args[0] = offset;
		cr_expect_eq(run(), touches ? BPF_MAYBE : BPF_FALSE, "at %d",
			     (int)offset);
	}
	shared->shadow_start = shared->shadow_end = 0;
	memset(shared->shadow_gaps, 0, sizeof(shared->shadow_gaps));
	close(event);
	agent_expr_unref(expr);
}

/* Control flow */

/* ($a0 < $a1 && $a0 != 5) || (x ? $a1 : $a0) == 2, as gdb writes it */
Test(compile, gdb_shapes)
{
	struct text t = {0};
	size_t if1, if2, go1, go2, end, or1, or2;

	text_put(&t, REG(0), REG(1), AGENT_LESS_SIGNED);
	if1 = text_jump(&t, AGENT_IF_GOTO);
	go1 = text_jump(&t, AGENT_GOTO);
	text_land(&t, if1);
	text_put(&t, REG(0), CONST8(5), AGENT_EQUAL, AGENT_LOG_NOT);
	if2 = text_jump(&t, AGENT_IF_GOTO);
	go2 = text_jump(&t, AGENT_GOTO);
	text_land(&t, if2);
	text_put(&t, CONST8(1));
	end = text_jump(&t, AGENT_GOTO);
	text_land(&t, go1);
	text_land(&t, go2);
	text_put(&t, CONST8(0));
	text_land(&t, end);
	or1 = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, REG(1), AGENT_LOG_NOT);
	if1 = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, REG(1));
	end = text_jump(&t, AGENT_GOTO);
	text_land(&t, if1);
	text_put(&t, REG(0));
	text_land(&t, end);
	text_put(&t, CONST8(2), AGENT_EQUAL);
	or2 = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, CONST8(0));
	end = text_jump(&t, AGENT_GOTO);
	text_land(&t, or1);
	text_land(&t, or2);
	text_put(&t, CONST8(1));
	text_land(&t, end);
	try_pairs(&t, 2);
}

static struct agent_expr *reg_equals(uint16_t reg, uint8_t value)
{
	struct text t = {0};

	text_put(&t, REG(reg), CONST8(value), AGENT_EQUAL);
	return text_expr(&t);
}

static struct agent_expr *constant_expr(uint8_t value)
{
	struct text t = {0};

	text_put(&t, CONST8(value));
	return text_expr(&t);
}

static void set_args(uint64_t a, uint64_t b)
{
	exchange->args[0] = a;
	exchange->args[1] = b;
}

Test(compile, the_first_condition_that_is_not_false_decides)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *list[] = {reg_equals(0, 1), reg_equals(ROW_MISSING, 1),
				     reg_equals(1, 1)};
	struct agent_expr *plain[] = {list[0], list[2]};
	int event = start(list, 3, &options, false);

	set_args(1, 0);
	cr_expect_eq(run(), BPF_TRUE);
	set_args(0, 1);
	cr_expect_eq(run(), BPF_MAYBE);
	close(event);
	event = start(plain, 2, &options, false);
	set_args(0, 1);
	cr_expect_eq(run(), BPF_TRUE);
	set_args(1, 0);
	cr_expect_eq(run(), BPF_TRUE);
	set_args(0, 0);
	cr_expect_eq(run(), BPF_FALSE);
	close(event);
	for (int i = 0; i < 3; i++)
		agent_expr_unref(list[i]);
}

Test(compile, constant_conditions)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *no = constant_expr(0), *yes = constant_expr(7);
	struct agent_expr *lists[][3] = {{no, no, no}, {no, yes, no}, {yes, no, no}};

	for (int i = 0; i < 3; i++) {
		int event = start(lists[i], 3, &options, false);

		cr_expect_eq(run(), i == 0 ? BPF_FALSE : BPF_TRUE);
		close(event);
	}
	agent_expr_unref(no);
	agent_expr_unref(yes);
}

Test(compile, an_empty_list_is_true)
{
	struct bpf_compile_options options = default_options();
	int event = start(NULL, 0, &options, false);

	cr_expect_eq(run(), BPF_TRUE);
	close(event);
}

/* Compiles, expects the note, runs, expects a maybe. */
static void expect_undecided(const struct text *t, const char *note)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = text_expr(t);
	struct bpf_code code;
	struct error *error = compile(&expr, 1, &options, &code);
	int event;

	cr_assert_null(error);
	cr_assert_not_null(code.undecided);
	cr_expect_str_eq(code.undecided, note);
	bpf_code_deinit(&code);
	event = start(&expr, 1, &options, false);
	cr_expect_eq(run(), BPF_MAYBE);
	close(event);
	agent_expr_unref(expr);
}

static void expect_doubts(const struct text *t, unsigned int doubts)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = text_expr(t);
	struct bpf_code code;

	cr_assert_null(compile(&expr, 1, &options, &code));
	cr_expect_null(code.undecided);
	cr_expect_eq(code.doubts, doubts, "0x%x", code.doubts);
	bpf_code_deinit(&code);
	agent_expr_unref(expr);
}

Test(compile, what_may_become_a_maybe_is_told)
{
	struct text plain = {0}, reads = {0}, divides = {0};

	text_put(&plain, REG(0));
	expect_doubts(&plain, 0);

	text_put(&reads, REG(0), AGENT_REF8);
	expect_doubts(&reads, 1U << BPF_DOUBT_PAGE | 1U << BPF_DOUBT_TRAP);

	text_put(&divides, REG(0), REG(1), AGENT_REM_UNSIGNED);
	expect_doubts(&divides, 1U << BPF_DOUBT_DIVISOR);
	divides.len = 3;
	text_put(&divides, CONST8(7), AGENT_REM_UNSIGNED);
	expect_doubts(&divides, 0);
}

Test(compile, what_cannot_be_decided_is_a_maybe)
{
	struct text missing = {0}, deep = {0}, loop;
	struct text zero = {0}, variable = {0};

	text_put(&missing, REG(ROW_MISSING), REG(ROW_MISSING), AGENT_ADD);
	expect_undecided(&missing, "reads $xmm0");

	missing.bytes[2] = 99;
	expect_undecided(&missing, "reads register 99");

	for (uint16_t i = 0; i < 80; i++)
		push_argument(&deep, i % NARGS, FROM_SLOT);
	loop = deep;
	text_put(&loop, REG(0), IF_GOTO(loop.len));
	for (int i = 0; i < 79; i++) {
		text_put(&deep, AGENT_SUB);
		text_put(&loop, AGENT_SUB);
	}
	expect_undecided(&deep, "needs a deeper stack");
	expect_undecided(&loop, "needs a deeper stack");

	text_put(&zero, REG(0), CONST8(0), AGENT_DIV_SIGNED);
	expect_undecided(&zero, "divides by zero");

	text_put(&variable, REG(0), SETV(1), GETV(1), AGENT_EQUAL);
	expect_undecided(&variable, "uses a trace state variable");
}

/* for (cell = $a0; cell != 0; cell--) sum += cell; and sum == $a1 */
static struct agent_expr *make_sum(void)
{
	struct text t = {0};
	size_t over, head;

	text_put(&t, CONST8(0), REG(0));
	head = t.len;
	text_put(&t, AGENT_DUP, AGENT_LOG_NOT);
	over = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, AGENT_SWAP, PICK(1), AGENT_ADD, AGENT_SWAP, CONST8(1), AGENT_SUB,
		 GOTO(head));
	text_land(&t, over);
	text_put(&t, AGENT_POP, REG(1), AGENT_EQUAL);
	return text_expr(&t);
}

Test(compile, loops_are_exact_for_as_many_rounds_as_they_get)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = make_sum();

	for (int hide = 0; hide < 2; hide++) {
		const uint64_t operations = 11; /* in a round */
		uint64_t n = 0, rounds;
		int event;

		options.hide_constants = hide;
		event = start(&expr, 1, &options, false);
		do {
			rounds = n++;
			set_args(n, n * (n + 1) / 2 + 1);
		} while (run() == BPF_FALSE);
		cr_expect_geq(rounds, LOOP_STEPS / 2 / operations);
		cr_expect_leq(rounds, LOOP_STEPS / operations);
		for (n = 0; n < rounds; n++) {
			set_args(n, n * (n + 1) / 2);
			cr_expect_eq(run(), BPF_TRUE);
		}
		set_args(rounds + 1, 0);
		cr_expect_eq(run(), BPF_MAYBE);
		set_args(UINT64_MAX, 0);
		cr_expect_eq(run(), BPF_MAYBE);
		close(event);
	}
	agent_expr_unref(expr);
}

/* What jumps back from code that is never reached is no loop. */
Test(compile, endless_and_empty_loops)
{
	struct bpf_compile_options options = default_options();
	struct text endless = {0}, entered = {0};
	struct agent_expr *exprs[2];
	int event;

	text_put(&endless, GOTO(0));
	text_put(&entered, CONST8(1), IF_GOTO(11)); /* always: over the loop */
	text_put(&entered, REG(0), IF_GOTO(5), CONST8(1));
	exprs[0] = text_expr(&entered);
	exprs[1] = text_expr(&endless);
	event = start(exprs, 1, &options, false);
	cr_expect_eq(run(), BPF_TRUE);
	close(event);
	event = start(exprs + 1, 1, &options, false);
	cr_expect_eq(run(), BPF_MAYBE);
	close(event);
	agent_expr_unref(exprs[0]);
	agent_expr_unref(exprs[1]);
}

Test(compile, a_missing_register_matters_on_its_path_only)
{
	struct bpf_compile_options options = default_options();
	struct text t = {0};
	struct agent_expr *expr;
	size_t over;
	int event;

	text_put(&t, CONST8(0), REG(0));
	over = text_jump(&t, AGENT_IF_GOTO);
	text_put(&t, AGENT_POP, REG(ROW_MISSING));
	text_land(&t, over);
	expr = text_expr(&t);
	event = start(&expr, 1, &options, false);
	set_args(1, 0);
	cr_expect_eq(run(), BPF_FALSE);
	set_args(0, 0);
	cr_expect_eq(run(), BPF_MAYBE);
	close(event);
	agent_expr_unref(expr);
}

Test(compile, the_deepest_stack_that_fits)
{
	struct bpf_compile_options options = default_options();
	struct text t = {0};
	struct agent_expr *expr;
	int event;

	for (uint16_t i = 0; i < 62; i++)
		push_argument(&t, i % NARGS, FROM_SLOT);
	for (int i = 0; i < 61; i++)
		text_put(&t, i % 3 ? AGENT_SUB : AGENT_ROT);
	expr = text_expr(&t);
	event = start(&expr, 1, &options, false);
	for (unsigned int i = 0; i < NVALUES; i++) {
		set_args(values[i], values[NVALUES - 1 - i]);
		expect_as_interpreted(expr);
	}
	close(event);
	agent_expr_unref(expr);
}

/* Long code is an error, not a wrong jump. */
Test(compile, too_much_code)
{
	struct bpf_compile_options options = default_options();
	size_t len = 60000;
	uint8_t *bytes = malloc(len);
	struct agent_expr *expr = NULL;
	struct bpf_code code;
	_cleanup_error_ struct error *error = NULL;

	cr_assert_not_null(bytes);
	memset(bytes, AGENT_BIT_NOT, len);
	bytes[0] = AGENT_REG;
	bytes[1] = bytes[2] = 0;
	bytes[3] = AGENT_REF8;
	bytes[len - 1] = AGENT_END;
	cr_assert_null(agent_expr_create(bytes, len, &expr));
	error = compile(&expr, 1, &options, &code);
	cr_assert_not_null(error);
	cr_expect_str_eq(error_text(error),
			 "the condition needs more code than a jump can span");
	agent_expr_unref(expr);
	free(bytes);
}

Test(compile, a_location_that_does_not_exist)
{
	struct bpf_compile_options options = default_options();
	struct bpf_code code;
	_cleanup_error_ struct error *error = NULL;

	options.location = BPF_LOCATIONS_MAX;
	error = bpf_compile(NULL, NULL, &options, &code);
	cr_expect_not_null(error);
}

/* The exits */

Test(compile, false_path_is_short)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = reg_equals(0, 1);
	struct bpf_code code;

	/* context, load, compare; then the verdict, and off to the exits */
	cr_assert_null(compile(&expr, 1, &options, &code));
	cr_assert_geq(code.count, 5);
	cr_expect_eq(code.insns[3].code, BPF_ALU64 | BPF_MOV | BPF_K);
	cr_expect_eq(code.insns[3].imm, BPF_FALSE);
	cr_expect_eq(code.insns[4].code, BPF_JMP | BPF_JA);
	bpf_code_deinit(&code);
	agent_expr_unref(expr);
}

/* Waits until hit() has returned, or the child got so many SIGTRAPs; the event's end is
 * the end of these, too. */
static void close_after(int event, uint64_t traps)
{
	struct pollfd answer = {.fd = turns.from[0], .events = POLLIN};

	while (poll(&answer, 1, 1) == 0)
		if (__atomic_load_n(&exchange->traps, __ATOMIC_SEQ_CST) >= traps)
			break;
	close(event);
	await_return();
}

/* Before Linux 6.10, an event's SIGTRAP comes whatever its program says. */
static bool false_hits_trap(void)
{
	int program = bpf_kernel_load_false(BPF_KIND_EVENT), event;

	cr_assert_geq(program, 0, "load: %s", strerror(-program));
	event = attach(program, true);
	exchange->traps = 0;
	call_hit();
	close_after(event, 1);
	close(program);
	return exchange->traps > 0;
}

/* Is its first byte what it is until the handler of SIGTRAP has run? aarch64 hits again
 * when that returns: for ever, where false hits trap. */
static struct agent_expr *memory_is_new(void)
{
	struct text t = {0};

	text_put(&t, CONST64((uintptr_t)memory), AGENT_REF8, CONST64(memory[0]),
		 AGENT_EQUAL);
	return text_expr(&t);
}

Test(compile, a_true_hit_raises_sigtrap)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = memory_is_new();
	int event;

	if (blocked_offset < 0)
		cr_skip_test("the kernel has no BTF that tells of task_struct.blocked");
	event = start(&expr, 1, &options, true);
	call_hit();
	close_after(event, 2);
	cr_expect_eq(tally_total(shared, LOCATION).by[BPF_TRUE], 1);
	nrecords = 0;
	ring_buffer__consume(ring);
	cr_expect_eq(nrecords, 1);
	cr_expect_eq(last_record.verdict, BPF_TRUE);
	cr_expect_eq(last_record.by_stop, 0);
	cr_expect(exchange->traps == 1 || (exchange->traps > 1 && false_hits_trap()));
	agent_expr_unref(expr);
}

static void expect_stop_by_signal(const struct bpf_compile_options *options,
				  bool sigtrap)
{
	struct agent_expr *expr = reg_equals(0, 1);
	int event = start(&expr, 1, options, sigtrap);

	set_args(1, 0);
	call_hit();
	cr_expect_eq(child_wait_stop(child), SIGSTOP);
	cr_expect_eq(exchange->calls, 0, "it stopped behind the hit");
	kill(child, SIGCONT);
	await_return();
	cr_expect_eq(take_verdict(), BPF_TRUE);
	cr_expect_eq(last_record.by_stop, 1);
	cr_expect_eq(exchange->traps, 0);
	set_args(0, 0);
	cr_expect_eq(run(), BPF_FALSE);
	close(event);
	agent_expr_unref(expr);
}

Test(compile, stop_by_signal)
{
	struct bpf_compile_options options = default_options();

	options.stop_by_signal = true;
	expect_stop_by_signal(&options, false);
}

Test(compile, unknown_task_layout_stops_by_signal)
{
	struct bpf_compile_options options = default_options();

	options.task_blocked_offset = -1;
	expect_stop_by_signal(&options, false);
}

Test(compile_blocked, a_blocked_sigtrap_stops_by_signal)
{
	struct bpf_compile_options options = default_options();

	if (blocked_offset < 0)
		cr_skip_test("the kernel has no BTF that tells of task_struct.blocked");
	expect_stop_by_signal(&options, false);
}

Test(compile, a_full_ring_is_counted)
{
	struct bpf_compile_options options = default_options();
	int event = start(NULL, 0, &options, false);
	unsigned int hits = 2 * RECORDS_SIZE / BPF_HIT_RECORD_HEAD;
	struct tally_hits counted;
	uint64_t lost;

	for (unsigned int i = 0; i < hits; i++) {
		call_hit();
		await_return();
	}
	nrecords = 0;
	ring_buffer__consume(ring);
	lost = shared->locations[LOCATION].lost;
	counted = tally_total(shared, LOCATION);
	cr_expect_gt(lost, 0);
	cr_expect_eq(lost + nrecords, hits);
	cr_expect_eq(counted.by[BPF_TRUE], nrecords);
	cr_expect_eq(counted.by[BPF_MAYBE], lost, "the stub evaluates those");
	close(event);
}

/* Random programs */

struct random {
	struct rng rng;
	bool loops; /* are there any? */
};

static unsigned int draw(struct random *r, unsigned int below)
{
	return rng_below(&r->rng, below);
}

static void random_value(struct random *r, struct text *t, unsigned int level);

static void random_leaf(struct random *r, struct text *t)
{
	switch (draw(r, 5)) {
	case 0:
		text_op(t, AGENT_CONST64, values[draw(r, NVALUES)]);
		break;
	case 1:
		text_op(t, AGENT_CONST8, draw(r, 256));
		break;
	case 2:
		text_op(t, AGENT_REG, draw(r, 60) ? ROW_32 + draw(r, 4) : ROW_MISSING);
		break;
	default:
		text_op(t, AGENT_REG, draw(r, NARGS));
	}
}

static void random_unary(struct random *r, struct text *t)
{
	switch (draw(r, 4)) {
	case 0:
		text_put(t, AGENT_LOG_NOT);
		break;
	case 1:
		text_put(t, AGENT_BIT_NOT);
		break;
	case 2:
		text_op(t, AGENT_EXT, 1 + draw(r, 70));
		break;
	default:
		text_op(t, AGENT_ZERO_EXT, draw(r, 70));
	}
}

static void random_binary(struct random *r, struct text *t)
{
	static const uint8_t codes[] = {
		AGENT_ADD,	    AGENT_SUB,		AGENT_MUL,
		AGENT_DIV_SIGNED,   AGENT_DIV_UNSIGNED, AGENT_REM_SIGNED,
		AGENT_REM_UNSIGNED, AGENT_LSH,		AGENT_RSH_SIGNED,
		AGENT_RSH_UNSIGNED, AGENT_BIT_AND,	AGENT_BIT_OR,
		AGENT_BIT_XOR,	    AGENT_EQUAL,	AGENT_LESS_SIGNED,
		AGENT_LESS_UNSIGNED};

	text_op(t, codes[draw(r, sizeof(codes))], 0);
}

static void random_ref(struct random *r, struct text *t, unsigned int level)
{
	random_value(r, t, level);
	if (draw(r, 20)) {
		text_put(t, CONST8(MEMORY_SIZE / 2 - 1), AGENT_BIT_AND,
			 CONST64((uintptr_t)memory), AGENT_ADD);
	} else {
		text_put(t, ZERO_EXT(12));
	}
	text_op(t, (uint8_t)(AGENT_REF8 + draw(r, 4)), 0);
}

static void random_branch(struct random *r, struct text *t, unsigned int level)
{
	size_t over, end = 0;
	bool leaves;

	random_value(r, t, level);
	over = text_jump(t, AGENT_IF_GOTO);
	random_value(r, t, level);
	leaves = draw(r, 10) == 0;
	if (leaves)
		text_put(t, AGENT_END);
	else
		end = text_jump(t, AGENT_GOTO);
	text_land(t, over);
	random_value(r, t, level);
	if (!leaves)
		text_land(t, end);
}

/* Three values, shuffled, made one. */
static void random_shuffle(struct random *r, struct text *t, unsigned int level)
{
	static const uint8_t codes[] = {AGENT_SWAP, AGENT_ROT, AGENT_ROT, AGENT_SWAP};
	unsigned int depth = 3, steps = draw(r, 6);

	for (int i = 0; i < 3; i++)
		random_value(r, t, level);
	for (; steps > 0; steps--) {
		if (draw(r, 3)) {
			text_op(t, codes[draw(r, sizeof(codes))], 0);
		} else {
			text_op(t, AGENT_PICK, draw(r, depth));
			depth++;
		}
		if (draw(r, 8) == 0) {
			random_branch(r, t, 0);
			text_put(t, AGENT_ADD);
		}
	}
	for (; depth > 1; depth--) {
		if (draw(r, 5))
			random_binary(r, t);
		else
			text_put(t, AGENT_POP);
	}
}

/* A value, and a count of rounds: do { value = f(value) } while (--count). For a
 * count of 0, many rounds. */
static void random_loop(struct random *r, struct text *t, unsigned int level)
{
	size_t head;

	random_value(r, t, level);
	text_op(t, AGENT_REG, draw(r, NARGS));
	text_op(t, AGENT_CONST8, draw(r, 8));
	text_put(t, AGENT_BIT_AND);
	head = t->len;
	text_put(t, AGENT_SWAP);
	random_value(r, t, level);
	random_binary(r, t);
	if (draw(r, 2))
		random_unary(r, t);
	text_put(t, AGENT_SWAP, CONST8(1), AGENT_SUB, AGENT_DUP, IF_GOTO(head),
		 AGENT_POP);
}

static void random_value(struct random *r, struct text *t, unsigned int level)
{
	if (level == 0) {
		random_leaf(r, t);
		return;
	}
	level--;
	if (r->loops && draw(r, 6) == 0) {
		random_loop(r, t, level);
		return;
	}
	switch (draw(r, 8)) {
	case 0:
		random_leaf(r, t);
		break;
	case 1:
		random_value(r, t, level);
		random_unary(r, t);
		break;
	case 2:
		random_ref(r, t, level);
		break;
	case 3:
		random_branch(r, t, level);
		break;
	case 4:
		random_shuffle(r, t, level);
		break;
	default:
		random_value(r, t, level);
		random_value(r, t, level);
		random_binary(r, t);
	}
}

static void random_args(struct random *r)
{
	for (unsigned int i = 0; i < NARGS; i++)
		exchange->args[i] =
			draw(r, 2) ? values[draw(r, NVALUES)] : rng_next(&r->rng);
}

/* A random value, compared to what it is for the first arguments. */
static struct agent_expr *random_condition(struct random *r)
{
	struct text t = {0}, bare;
	struct agent_expr *expr;
	uint64_t value = 0;

	random_value(r, &t, 4);
	bare = t;
	expr = text_expr(&bare);
	random_args(r);
	interpret(expr, &value);
	agent_expr_unref(expr);
	text_op(&t, AGENT_CONST64, draw(r, 4) ? value : value ^ 1);
	text_put(&t, AGENT_EQUAL);
	return text_expr(&t);
}

static void try_random(uint64_t seed, bool loops, unsigned int count)
{
	struct random r = {{seed}, loops};
	struct bpf_compile_options options = default_options();
	unsigned int verdicts[3] = {0};
	bool natively = bpf_kernel_divides_signed();

	for (unsigned int i = 0; i < count; i++) {
		struct agent_expr *expr = random_condition(&r);
		int event;

		options.signed_division = natively && i % 2;
		options.hide_constants = loops || i % 3 == 0;
		event = try_start(&expr, 1, &options, false);
		for (int j = 0; event >= 0 && j < 4; j++) {
			verdicts[expect_as_interpreted(expr)]++;
			random_args(&r);
		}
		close(event);
		agent_expr_unref(expr);
	}
	/* The programs have to be of some use. */
	cr_expect_gt(verdicts[BPF_FALSE], count / 2);
	cr_expect_gt(verdicts[BPF_TRUE], count / 2);
	cr_expect_gt(verdicts[BPF_MAYBE], count / 10);
	cr_log_info("false %u, true %u, maybe %u", verdicts[BPF_FALSE],
		    verdicts[BPF_TRUE], verdicts[BPF_MAYBE]);
}

Test(compile, random_programs)
{
	try_random(0x9e3779b97f4a7c15, false, 300);
}

Test(compile, random_programs_that_loop)
{
	try_random(0xd1b54a32d192ed03, true, 100);
}
