/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/format.h"

#include <string.h>

enum { DIGITS_MAX = 22 }; /* of 64 bits, in octal */

/* ---- taking apart ---- */

static const struct escape {
	char letter, meaning;
} escapes[] = {
	{'\\', '\\'}, {'"', '"'},  {'a', '\a'}, {'b', '\b'}, {'e', '\033'},
	{'f', '\f'},  {'n', '\n'}, {'r', '\r'}, {'t', '\t'}, {'v', '\v'},
};

static const struct modifier {
	const char *text;
	unsigned int size;
} modifiers[] = {
	/* a longer one before its beginning */
	{"hh", 1}, {"h", 2}, {"ll", 8}, {"l", 8}, {"z", 8}, {"j", 8}, {"t", 8},
};

/* The flags are those that gdb lets pass. */
static const struct conversion {
	char letter;
	enum format_kind kind;
	const char *flags;
	bool has_precision, has_modifier;
	bool is_signed, upper;
	unsigned int base;
} conversions[] = {
	{'d', FORMAT_INTEGER, "-+ #0", true, true, true, false, 10},
	{'i', FORMAT_INTEGER, "-+ #0", true, true, true, false, 10},
	{'u', FORMAT_INTEGER, "-0", true, true, false, false, 10},
	{'o', FORMAT_INTEGER, "-#0", true, true, false, false, 8},
	{'x', FORMAT_INTEGER, "-#0", true, true, false, false, 16},
	{'X', FORMAT_INTEGER, "-#0", true, true, false, true, 16},
	{'c', FORMAT_CHAR, "-#", false, false, false, false, 0},
	{'s', FORMAT_STRING, "-#", true, false, false, false, 0},
	{'p', FORMAT_POINTER, "-", false, false, false, false, 16},
};

static const struct refusal {
	const char *letters, *reason;
} refusals[] = {
	{"aAeEfFgG", "floating point is not supported"},
	{"HDL", "floating point is not supported"},
	{"*", "a width that is an argument is not supported"},
	{"n", "storing is not supported"},
};

/* For a message. A '#' or '$' would look odd in a packet's text. */
static char shown(char c)
{
	return c > ' ' && c <= '~' && c != '#' && c != '$' && c != '*' && c != '}'
		       ? c
		       : '?';
}

static struct error *take_escape(const char **format, struct format_piece *piece)
{
	char letter = (*format)[1];

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		if (letter != escapes[i].letter)
			continue;
		*piece = (struct format_piece){
			.kind = FORMAT_TEXT, .text = &escapes[i].meaning, .len = 1};
		*format += 2;
		return NULL;
	}
	if (letter == '\0')
		return error_create(0, "the text ends in '\\'");
	return error_create(0, "unknown escape '\\%c'", shown(letter));
}

/* A decimal number; what is too big for us stays too big. */
static unsigned int take_number(const char **p)
{
	unsigned int value = 0;

	for (; **p >= '0' && **p <= '9'; ++*p)
		if (value <= FORMAT_WIDTH_MAX)
			value = value * 10 + (unsigned int)(**p - '0');
	return value;
}

static unsigned int take_modifier(const char **p)
{
	for (size_t i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); i++) {
		size_t len = strlen(modifiers[i].text);

		if (strncmp(*p, modifiers[i].text, len) != 0)
			continue;
		*p += len;
		return modifiers[i].size;
	}
	return 0;
}

static const struct conversion *find_conversion(char letter)
{
	for (size_t i = 0; i < sizeof(conversions) / sizeof(conversions[0]); i++)
		if (conversions[i].letter == letter)
			return &conversions[i];
	return NULL;
}

static struct error *unknown_conversion(char letter)
{
	if (letter == '\0')
		return error_create(0, "it is cut off");
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (strchr(refusals[i].letters, letter))
			return error_create(0, "%s", refusals[i].reason);
	return error_create(0, "unknown conversion '%c'", shown(letter));
}

static void take_flags(const char **p, struct format_piece *piece)
{
	for (; **p != '\0' && strchr("-+ #0", **p); ++*p) {
		piece->left |= **p == '-';
		piece->plus |= **p == '+';
		piece->space |= **p == ' ';
		piece->alternate |= **p == '#';
		piece->zeros |= **p == '0';
	}
}

/* Do the parts between '%' and the conversion suit it? */
static struct error *check_directive(const struct conversion *conversion,
				     const struct format_piece *piece,
				     const char *flags, size_t nflags)
{
	char letter = conversion->letter;

	for (size_t i = 0; i < nflags; i++)
		if (!strchr(conversion->flags, flags[i]))
			return error_create(0, "a flag that '%c' does not have",
					    letter);
	if (piece->precision >= 0 && !conversion->has_precision)
		return error_create(0, "'%c' has no precision", letter);
	if (piece->size > 0 && !conversion->has_modifier)
		return error_create(0, "'%c' with a size is not supported", letter);
	if (piece->width > FORMAT_WIDTH_MAX || piece->precision > FORMAT_WIDTH_MAX)
		return error_create(0, "wider than %d", FORMAT_WIDTH_MAX);
	return NULL;
}

static struct error *take_directive(const char **format, struct format_piece *piece)
{
	const char *flags = *format + 1, *p = flags;
	const struct conversion *conversion;
	size_t nflags;

	*piece = (struct format_piece){.precision = -1};
	take_flags(&p, piece);
	nflags = (size_t)(p - flags);
	piece->width = take_number(&p);
	if (*p == '.') {
		p++;
		piece->precision = (int)take_number(&p);
	}
	piece->size = take_modifier(&p);
	conversion = find_conversion(*p);
	if (!conversion)
		return unknown_conversion(*p);
	*format = p + 1;
	piece->kind = conversion->kind;
	piece->base = conversion->base;
	piece->is_signed = conversion->is_signed;
	piece->upper = conversion->upper;
	return check_directive(conversion, piece, flags, nflags);
}

struct error *format_next(const char **format, struct format_piece *piece)
{
	size_t len = strcspn(*format, "%\\");

	if (len == 0 && **format == '\\')
		return take_escape(format, piece);
	if (len == 0 && **format == '%' && (*format)[1] != '%')
		return take_directive(format, piece);
	*piece = (struct format_piece){.kind = FORMAT_TEXT, .text = *format};
	if (**format == '\0')
		piece->kind = FORMAT_END;
	piece->len = len;
	if (len == 0 && **format == '%') { /* of "%%", the first */
		piece->len = 1;
		*format += 1;
	}
	*format += piece->len;
	return NULL;
}

/* ---- filling in ---- */

static void append_repeated(struct buffer *out, char c, size_t count)
{
	while (count-- > 0)
		buffer_append_char(out, c);
}

/* A field: the sign or 0x, zeros, and the rest. */
static void append_field(const struct format_piece *piece, const char *prefix,
			 size_t zeros, const char *text, size_t len, struct buffer *out)
{
	size_t all = strlen(prefix) + zeros + len;
	size_t padding = piece->width > all ? piece->width - all : 0;

	if (!piece->left)
		append_repeated(out, ' ', padding);
	buffer_append_string(out, prefix);
	append_repeated(out, '0', zeros);
	buffer_append(out, text, len);
	if (piece->left)
		append_repeated(out, ' ', padding);
}

static size_t zeros_before(const struct format_piece *piece, size_t prefix,
			   size_t digits)
{
	size_t wanted = 0;

	if (piece->precision >= 0)
		wanted = (size_t)piece->precision;
	else if (piece->zeros && !piece->left && piece->width > prefix)
		wanted = piece->width - prefix;
	return wanted > digits ? wanted - digits : 0;
}

/* What of the argument counts, and its sign. */
static uint64_t magnitude(const struct format_piece *piece, uint64_t value,
			  const char **sign)
{
	unsigned int unused = 64 - 8 * (piece->size ? piece->size : sizeof(int));
	int64_t number = (int64_t)(value << unused) >> unused;

	if (!piece->is_signed)
		return value << unused >> unused;
	if (number < 0) {
		*sign = "-";
		return -(uint64_t)number;
	}
	*sign = piece->plus ? "+" : piece->space ? " " : "";
	return (uint64_t)number;
}

static void append_integer(const struct format_piece *piece, uint64_t value,
			   struct buffer *out)
{
	const char *alphabet = piece->upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char digits[DIGITS_MAX];
	size_t first = sizeof(digits), len, zeros;
	const char *prefix = "";
	uint64_t rest = magnitude(piece, value, &prefix);
	bool lone_zero = rest == 0 && piece->precision != 0;

	if (piece->alternate && piece->base == 16 && rest != 0)
		prefix = piece->upper ? "0X" : "0x";
	if (lone_zero)
		digits[--first] = '0';
	for (; rest != 0; rest /= piece->base)
		digits[--first] = alphabet[rest % piece->base];
	len = sizeof(digits) - first;
	zeros = zeros_before(piece, strlen(prefix), len);
	if (piece->alternate && piece->base == 8 && zeros == 0 && !lone_zero)
		zeros = 1;
	append_field(piece, prefix, zeros, digits + first, len, out);
}

void format_value(const struct format_piece *piece, uint64_t value, struct buffer *out)
{
	struct format_piece address = *piece;
	char c = (char)value;

	if (piece->kind == FORMAT_INTEGER) {
		append_integer(piece, value, out);
	} else if (piece->kind == FORMAT_CHAR) {
		append_field(piece, "", 0, &c, 1, out);
	} else if (value == 0) {
		append_field(piece, "", 0, "(nil)", strlen("(nil)"), out);
	} else {
		address.alternate = true;
		address.size = sizeof(value);
		append_integer(&address, value, out);
	}
}

void format_string(const struct format_piece *piece, const char *text, size_t len,
		   struct buffer *out)
{
	append_field(piece, "", 0, text, len, out);
}
