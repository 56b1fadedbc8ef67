# SPDX-License-Identifier: BSD-2-Clause
"""The conditions of lldb's breakpoints, read as lldb's own compiler reads them, for truehit's
extension for lldb. What is not here is refused, and stays with lldb.

An expression is a tuple: its kind, and what it is made of.
    ("name", NAME)  ("number", VALUE, TYPE)  ("unary", OPERATOR, X)  ("binary", OPERATOR, X, Y)
    ("choice", CONDITION, X, Y)  ("cast", TYPE, STARS, X)  ("index", X, Y)  ("member", X, FIELD)
    ("arrow", X, FIELD)
"""
import re

from truehit_bytecode import Refused

TOKEN = re.compile(r"""\s*(?:
    (?P<number>(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)\w*)
  | (?P<character>'(?:\\(?:[0-7]{1,3}|x[0-9a-fA-F]+|[^x0-7])|[^\\'])')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<other_operator>\+\+|--|->\*|\.\*|\.\.\.|<=>|<<=|>>=|[-+*/%&|^]=|::|<:|:>|<%|%>|%:)
  | (?P<operator>->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>()[\].?:])
  | (?P<other>\S))""", re.X)

BINARY = [("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="),
          ("<<", ">>"), ("+", "-"), ("*", "/", "%")]
ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "e": 27,
           "\\": 92, "'": 39, '"': 34, "?": 63}

# The words of types of C, as they may be combined, in order of the alphabet.
TYPES = {
    "bool": "bool", "char": "char", "char signed": "signed char", "char unsigned": "unsigned char",
    "short": "short", "int short": "short", "short signed": "short", "int short signed": "short",
    "short unsigned": "unsigned short", "int short unsigned": "unsigned short",
    "int": "int", "signed": "int", "int signed": "int",
    "unsigned": "unsigned int", "int unsigned": "unsigned int",
    "long": "long", "int long": "long", "long signed": "long", "int long signed": "long",
    "long unsigned": "unsigned long", "int long unsigned": "unsigned long",
    "long long": "long", "int long long": "long", "long long signed": "long",
    "long long unsigned": "unsigned long", "int long long unsigned": "unsigned long",
}
TYPE_WORDS = {word for words in TYPES for word in words.split()} | {"const", "volatile"}

# lldb reads conditions as C++ (and Objective-C++), also in programs that are written in C.
RESERVED = set("""
    alignas alignof and and_eq asm auto bitand bitor break case catch char8_t char16_t char32_t
    class compl concept consteval constexpr constinit const_cast continue co_await co_return
    co_yield decltype default delete do dynamic_cast else enum explicit export extern final float
    double for friend goto if inline mutable namespace new noexcept not not_eq nullptr operator or
    or_eq override private protected public register reinterpret_cast requires restrict return
    sizeof static static_assert static_cast struct switch template this thread_local throw try
    typedef typeid typename typeof union using virtual void wchar_t while xor xor_eq id self super
    in out inout oneway bycopy byref SEL IMP Class YES NO nil Nil""".split())
BIGGEST = {"int": 1 << 31, "unsigned int": 1 << 32, "long": 1 << 63, "unsigned long": 1 << 64}


def tokens(text):
    """Pairs of kind and text."""
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        at = match.end()
        found.append((match.lastgroup, match[match.lastgroup]))
    return found


def number(text):
    """The value and the type of an integer literal."""
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)(\w*)", text)
    digits, suffix = match[1], match[2].lower()
    if suffix not in ("", "u", "l", "ul", "lu", "ll", "ull", "llu"):
        raise Refused(f"{text} is no integer")
    octal = re.fullmatch(r"0\d+", digits)
    try:
        value = int(digits, 8 if octal else 0)
    except ValueError:
        raise Refused(f"{text} is no integer") from None
    is_decimal = digits == "0" or digits[0] != "0"
    for name in ("int", "unsigned int", "long", "unsigned long"):
        if name == "unsigned int" and is_decimal and "u" not in suffix:
            continue
        if (name.startswith("unsigned") or "u" not in suffix) and value < BIGGEST[name] and (
                name.endswith("long") or "l" not in suffix):
            if name == "unsigned long" and is_decimal and "u" not in suffix:
                break
            return value, name
    raise Refused(f"{text} is too big")


def character(text):
    """The value of a character literal: a char, which has a sign."""
    inner = text[1:-1]
    if inner[0] != "\\":
        value = ord(inner)
        if value > 127:
            raise Refused(f"{text} is no character of one byte")
    elif inner[1] in "01234567":
        value = int(inner[1:], 8)
    elif inner[1] == "x":
        value = int(inner[2:], 16)
    elif inner[1] in ESCAPES:
        value = ESCAPES[inner[1]]
    else:
        raise Refused(f"the escape in {text} is not known")
    if value > 255:
        raise Refused(f"{text} is no character of one byte")
    return value - 256 if value > 127 else value


class Parser:
    """is_type: tells of a name whether it is that of a type, and not of a variable."""

    def __init__(self, text, is_type):
        self.tokens, self.at, self.is_type = tokens(text), 0, is_type

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else (None, None)

    def take(self, *operators):
        """The operator that comes next, if it is one of these."""
        kind, text = self.peek()
        if kind != "operator" or text not in operators:
            return None
        self.at += 1
        return text

    def need(self, operator):
        if not self.take(operator):
            raise Refused(f"there is no {operator} where one is expected")

    def whole(self):
        found = self.choice()
        kind, text = self.peek()
        if kind:
            raise Refused(f"{text} is not translated")
        return found

    def choice(self):
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        first = self.choice()
        self.need(":")
        return ("choice", condition, first, self.choice())

    def binary(self, level):
        if level == len(BINARY):
            return self.unary()
        found = self.binary(level + 1)
        while operator := self.take(*BINARY[level]):
            found = ("binary", operator, found, self.binary(level + 1))
        return found

    def unary(self):
        operator = self.take("!", "~", "-", "+", "*", "&")
        if operator:
            return ("unary", operator, self.unary())
        if self.peek() == ("operator", "(") and self.begins_type(1):
            self.at += 1
            name, stars = self.type_name()
            self.need(")")
            return ("cast", name, stars, self.unary())
        return self.postfix()

    def begins_type(self, ahead):
        kind, text = self.peek(ahead)
        return kind == "name" and (text in TYPE_WORDS or self.is_type(text))

    def type_name(self):
        """A type's name and how many * follow it."""
        words, stars = [], 0
        while self.peek()[0] == "name" and self.begins_type(0):
            words.append(self.peek()[1])
            self.at += 1
        words = [word for word in words if word not in ("const", "volatile")]
        name = words[0] if len(words) == 1 and words[0] not in TYPES else TYPES.get(
            " ".join(sorted(words)))
        if not name:
            raise Refused(f"{' '.join(words) or 'const'} is no type that is known")
        while self.take("*"):
            stars += 1
            while self.peek()[1] in ("const", "volatile"):
                self.at += 1
        return name, stars

    def postfix(self):
        found = self.primary()
        while operator := self.take("[", ".", "->", "("):
            if operator == "(":
                raise Refused("it calls a function")
            if operator == "[":
                found = ("index", found, self.choice())
                self.need("]")
            else:
                found = ("member" if operator == "." else "arrow", found, self.field())
        return found

    def field(self):
        kind, text = self.peek()
        if kind != "name" or text in RESERVED:
            raise Refused("there is no name of a member where one is expected")
        self.at += 1
        return text

    def primary(self):
        kind, text = self.peek()
        self.at += 1
        if kind == "number":
            return ("number", *number(text))
        if kind == "character":
            return ("number", character(text), "char")
        if kind == "name":
            if text in ("true", "false"):
                return ("number", int(text == "true"), "bool")
            if text in RESERVED or text in TYPE_WORDS:
                raise Refused(f"{text} is a word of C++")
            return ("name", text)
        if (kind, text) == ("operator", "("):
            found = self.choice()
            self.need(")")
            return found
        if kind is None:
            raise Refused("it ends too early")
        raise Refused(f"{text} is not translated")


def parse(text, is_type):
    if not text.isascii():
        raise Refused("it has other characters than those of ASCII")
    if "/*" in text or "//" in text:
        raise Refused("it has a comment")
    return Parser(text, is_type).whole()
