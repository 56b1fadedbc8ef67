# SPDX-License-Identifier: BSD-2-Clause
"""A compiler of conditions to bytecode, for truehit's extension for lldb. A value on the
stack has 64 bits, extended from its type's by its sign. Where the outcome in lldb is not
certain (a bool that is neither 0 nor 1, a division by -1), the verdict is true: lldb is told
of the hit, and decides."""
import itertools

from truehit_bytecode import OPERATIONS, Refused, assemble, code_size
from truehit_lldb_expression import parse
from truehit_lldb_types import (BOOL, BY_NAME, INT, LONG, UNSIGNED_LONG, Type, element_size,
                                find_member, plain, pointer_to, same_pointers, type_of)


def constant(value):
    value &= (1 << 64) - 1
    for bits in (8, 16, 32, 64):
        if value < 1 << bits:
            return [(f"const{bits}", value)]
    return None


def link(code):
    """The bytes of operations with labels in them."""
    places, plain_code = {}, []
    for name, operand in code:
        if name == "label":
            places[operand] = code_size(plain_code)
        else:
            plain_code.append((name, operand))
    if code_size(plain_code) >= 1 << 16:
        raise Refused("it is too long")
    return assemble([(name, places[operand] if name in ("goto", "if_goto") else operand)
                     for name, operand in plain_code])


class Value:
    """type; code: pushes the value, or, if in_memory, which is its SBType then, its address.
    literal: the value of a number that stands in the text."""

    def __init__(self, type, code, in_memory=None, literal=None):
        self.type, self.code, self.in_memory, self.literal = type, code, in_memory, literal


def op(*names):
    return [(name, None) for name in names]


def shortened(type):
    """The code that makes of any value on the stack one of the type."""
    if type.size == 8 or type.kind == "bool":
        return []
    return [("ext" if type.signed else "zero_ext", 8 * type.size)]


class Compiler:
    """scope: what names mean, at one address. It has variable(NAME), which is a pair of an
    SBType and ("register", NUMBER) or ("memory", CODE), find_type(NAME), is_c, and guard(LABELS),
    what comes first."""

    def __init__(self, scope):
        self.scope = scope
        self.labels = itertools.count()

    def whole(self, text):
        tree = parse(text, lambda name: self.scope.find_type(name) is not None)
        code = self.truth(self.scalar(tree)) + op("end")
        return link(self.scope.guard(self.labels) + code)

    # ---- what is uncertain ----

    def unless(self, code, condition):
        """The code's value on the stack; true if the condition, code that pops it, is false."""
        sure = next(self.labels)
        return [*code, ("dup", None), *condition, ("if_goto", sure), ("const8", 1),
                ("end", None), ("label", sure)]

    def fetched(self, type, code):
        """Code that has pushed a scalar's bytes, zero-extended or not, made a value."""
        code = code + shortened(type)
        if type.kind == "bool":
            return self.unless(code + [("zero_ext", 8)], constant(2) + op("less_unsigned"))
        if type.kind == "enum":  # with or without a sign?
            return self.unless(code, constant(1 << (8 * type.size - 1)) + op("less_unsigned"))
        return code

    # ---- values ----

    def value(self, tree):
        return getattr(self, tree[0])(*tree[1:])

    def scalar(self, tree):
        """A value that is on the stack: no record, and of an array the address."""
        return self.loaded(self.value(tree))

    def loaded(self, value):
        if value.type.kind == "record":
            raise Refused("a whole struct or union is not translated")
        if value.type.kind == "array":
            return Value(pointer_to(value.type.to), value.code)
        if not value.in_memory:
            return value
        return Value(value.type, self.fetched(
            value.type, value.code + op(f"ref{8 * value.type.size}")))

    def arithmetic(self, tree):
        """A number, after the promotion to int."""
        value = self.scalar(tree)
        if value.type.kind == "pointer":
            raise Refused("a pointer stands where a number should")
        if value.type.kind == "enum":
            raise Refused("numbers are calculated from an enum, which may have a sign or not; "
                          "a cast says it")
        return self.promoted(value)

    @staticmethod
    def promoted(value):
        if value.type.kind in ("bool", "enum") or value.type.size < 4:
            return Value(INT, value.code, literal=value.literal)
        return value

    @staticmethod
    def common(one, other):
        """The type in which two promoted numbers are calculated with."""
        size = max(one.type.size, other.type.size)
        return Type("integer", size, all(value.type.signed for value in (one, other)
                                         if value.type.size == size))

    @staticmethod
    def converted(value, type):
        """A number's code, as one of an integer type."""
        size, signed = value.type.size, value.type.signed
        fits = type.size == 8 or (size, signed) == (type.size, type.signed) or (
            size < type.size and signed <= type.signed)
        return value.code if fits else value.code + shortened(type)

    @staticmethod
    def truth(value):
        """0 or 1."""
        if value.type.kind == "bool":
            return value.code
        return value.code + op("log_not", "log_not")

    # ---- what expressions are made of ----

    def name(self, name):
        sbtype, (where, what) = self.scope.variable(name)
        type = type_of(sbtype, self.scope.is_c)
        if where == "memory":
            return Value(type, what, in_memory=sbtype)
        if type.kind in ("record", "array"):
            raise Refused(f"{name} is not in memory here")
        return Value(type, self.fetched(type, [("reg", what)]))

    @staticmethod
    def number(value, name):
        return Value(BY_NAME[name], constant(value), literal=value)

    def unary(self, operator, tree):
        if operator == "*":
            return self.pointed(self.scalar(tree))
        if operator == "&":
            value = self.value(tree)
            if not value.in_memory:
                raise Refused("& of what is not in memory here")
            return Value(pointer_to(value.in_memory), value.code)
        if operator == "!":
            return Value(BOOL, self.truth(self.scalar(tree)) + op("log_not"))
        value = self.arithmetic(tree)
        if operator == "+":
            return Value(value.type, value.code)
        if operator == "~":
            return Value(value.type, value.code + op("bit_not") + shortened(value.type))
        return Value(value.type, constant(0) + value.code + op("sub") + shortened(value.type))

    def pointed(self, pointer):
        if pointer.type.kind != "pointer":
            raise Refused("what is no pointer is dereferenced")
        return Value(type_of(pointer.type.to, self.scope.is_c), pointer.code,
                     in_memory=pointer.type.to)

    def index(self, array, index):
        return self.pointed(self.moved(self.scalar(array), self.arithmetic(index), "add"))

    @staticmethod
    def moved(pointer, distance, operation):
        if pointer.type.kind != "pointer":
            raise Refused("what is no array is indexed")
        size = element_size(pointer.type)
        return Value(pointer.type, pointer.code + distance.code + constant(size) + op("mul")
                     + op(operation))

    def member(self, tree, field):
        return self.part(self.value(tree), field)

    def arrow(self, tree, field):
        return self.part(self.pointed(self.scalar(tree)), field)

    def part(self, record, field):
        if record.type.kind != "record" or not record.in_memory:
            raise Refused(f".{field} of what is no struct in memory")
        found = find_member(record.type.to, field)
        if not found:
            raise Refused(f"there is no member {field} in the type itself")
        type = type_of(found.sbtype, self.scope.is_c)
        code = record.code + (constant(found.bit // 8) + op("add") if found.bit >= 8 else [])
        if found.width:
            return self.bit_field(type, code, found.bit % 8, found.width)
        return Value(type, code, in_memory=found.sbtype)

    @staticmethod
    def bit_field(type, code, bit, width):
        """Of one that an int has room for, the type is int."""
        size = next((size for size in (1, 2, 4, 8) if bit + width <= 8 * size), None)
        if size is None or type.kind not in ("integer", "bool"):
            raise Refused("a bit field of this kind is not translated")
        code = code + op(f"ref{8 * size}")
        if bit:
            code += constant(bit) + op("rsh_unsigned")
        code.append(("ext" if type.signed else "zero_ext", width))
        return Value(INT if width < 32 or type.signed and width == 32 else type, code)

    def cast(self, name, stars, tree):
        value = self.scalar(tree)
        if stars or name not in BY_NAME:
            return self.named_cast(name, stars, value)
        return self.cast_to(BY_NAME[name], value)

    def named_cast(self, name, stars, value):
        sbtype = self.scope.find_type(name)
        if sbtype is None:
            raise Refused(f"the type {name} is not known here")
        for _ in range(stars):
            sbtype = sbtype.GetPointerType()
        return self.cast_to(type_of(sbtype, self.scope.is_c), value)

    def cast_to(self, type, value):
        if type.kind == "bool":
            return Value(BOOL, self.truth(value))
        if type.kind == "pointer" and value.type.size == 8 and value.type.kind != "enum":
            return Value(type, value.code)
        if type.kind != "integer":
            raise Refused("a cast to this type is not translated")
        if value.type.kind == "pointer" and type.size != 8:
            raise Refused("a pointer is cast to a smaller type")
        return Value(type, self.converted(value, type))

    # ---- operators ----

    def choice(self, condition, first, second):
        one, other = self.arithmetic(first), self.arithmetic(second)
        type, yes, end = self.common(one, other), next(self.labels), next(self.labels)
        return Value(type, self.truth(self.scalar(condition))
                     + [("if_goto", yes)] + self.converted(other, type) + [("goto", end)]
                     + [("label", yes)] + self.converted(one, type) + [("label", end)])

    def binary(self, operator, left, right):
        if operator in ("&&", "||"):
            return self.logical(operator, left, right)
        if operator in ("==", "!=", "<", ">", "<=", ">="):
            return self.comparison(operator, self.scalar(left), self.scalar(right))
        if operator in ("+", "-"):
            one, other = self.scalar(left), self.scalar(right)
            if "pointer" in (one.type.kind, other.type.kind):
                return self.pointer_sum(operator, one, other, left, right)
        one, other = self.arithmetic(left), self.arithmetic(right)
        if operator in ("<<", ">>"):
            return self.shift(operator, one, other)
        return self.sum(operator, one, other)

    def logical(self, operator, left, right):
        short, end = next(self.labels), next(self.labels)
        first, second = self.truth(self.scalar(left)), self.truth(self.scalar(right))
        if operator == "&&":
            first = first + op("log_not")
        return Value(BOOL, first + [("if_goto", short)] + second + [("goto", end),
                     ("label", short)] + constant(operator == "||") + [("label", end)])

    def pointer_sum(self, operator, one, other, left, right):
        if operator == "-" and one.type.kind == other.type.kind:
            if not same_pointers(one.type, other.type):
                raise Refused("pointers of different types are subtracted")
            size = element_size(one.type)
            return Value(LONG, one.code + other.code + op("sub") + constant(size)
                         + op("div_signed"))
        if one.type.kind == "pointer":
            return self.moved(one, self.arithmetic(right), "add" if operator == "+" else "sub")
        if operator == "-":
            raise Refused("a pointer is subtracted from a number")
        return self.moved(other, self.arithmetic(left), "add")

    OPERATORS = {"+": "add", "-": "sub", "*": "mul", "&": "bit_and", "|": "bit_or",
                 "^": "bit_xor", "/": "div", "%": "rem"}

    def sum(self, operator, one, other):
        type = self.common(one, other)
        first, second = self.converted(one, type), self.converted(other, type)
        operation = self.OPERATORS[operator]
        if operator in "/%":
            operation += "_signed" if type.signed else "_unsigned"
            if other.literal == 0:
                raise Refused("it divides by zero")
            if type.signed and other.literal is None:
                second = self.unless(second, constant(-1) + op("equal", "log_not"))
        return Value(type, first + second + op(operation) + shortened(type))

    def shift(self, operator, one, other):
        count = self.unless(other.code, constant(8 * one.type.size) + op("less_unsigned"))
        operation = "lsh" if operator == "<<" else (
            "rsh_signed" if one.type.signed else "rsh_unsigned")
        return Value(one.type, one.code + count + op(operation) + shortened(one.type))

    def comparison(self, operator, one, other):
        type = self.compared(operator, one, other)
        first, second = ((value.code if type.kind == "pointer" else self.converted(value, type))
                         for value in (self.promoted(one), self.promoted(other)))
        if operator in ("==", "!="):
            code = first + second + op("equal")
        else:
            less = op("less_signed" if type.signed else "less_unsigned")
            code = (first + second if operator in ("<", ">=") else
                    first + second + op("swap")) + less
        return Value(BOOL, code + (op("log_not") if operator in ("!=", "<=", ">=") else []))

    def compared(self, operator, one, other):
        """The type in which two values are compared."""
        pointers = [value for value in (one, other) if value.type.kind == "pointer"]
        if len(pointers) == 2:
            if not same_pointers(one.type, other.type):
                raise Refused("pointers of different types are compared")
            return one.type
        if pointers:
            number = other if pointers[0] is one else one
            if number.literal != 0 or number.type != INT or operator not in ("==", "!="):
                raise Refused("a pointer is compared with a number")
            return pointers[0].type
        self.check_enums(operator, one, other)
        return self.common(self.promoted(one), self.promoted(other))

    @staticmethod
    def check_enums(operator, one, other):
        """An enum of four bytes may count as int or as unsigned int: that makes a difference
        beside what may be negative."""
        for value, beside in ((one, other), (other, one)):
            if value.type.kind != "enum" or value.type.size < 4 or operator in ("==", "!="):
                continue
            if beside.type.kind == "enum" or (beside.literal is not None and beside.literal >= 0):
                continue
            raise Refused("an enum is compared with what may be negative; a cast says whether "
                          "the enum may be, too")
        kinds = {value.type.kind for value in (one, other)}
        if kinds == {"enum"} and plain(one.type.to).GetName() != plain(other.type.to).GetName():
            raise Refused("different enums are compared")


assert set(Compiler.OPERATORS.values()) - {"div", "rem"} <= set(OPERATIONS)
