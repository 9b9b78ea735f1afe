# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Reads a C++ source into a tree of tokens and brackets, as far as its texts need it; and the comments of a header."""
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>(?:u8|L|u|U)?R"(?P<mark>[^()\s\\]{0,16})\((?P<body>.*?)\)(?P=mark)")
  | (?P<string>(?:u8|L|u|U)?"(?:[^"\\\n]|\\.)*")
  | (?P<char>'(?:[^'\\\n]|\\.)+')
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\\n|\\.)*)
  | (?P<number>\.?\d(?:[\w.]|'(?=\w)|[eEpP][+-])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|::|->|<<|\+=|-=|==|!=|&&|\|\||<=|>=|\+\+|--|[^\s\w])
""", re.X | re.S | re.M)
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.S)
PLAIN = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
CLOSES = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Token:
    kind: str  # string, char, number, name or sign
    text: str  # of a string its value
    line: int


@dataclass
class Group:
    """What stands between two brackets."""
    open: str
    line: int
    items: list = field(default_factory=list)  # of Token and Group

    kind = "group"
    text = ""

    def parts(self, at=(",", ";")):
        """Its items, divided at these signs."""
        found = [[]]
        for item in self.items:
            if item.kind == "sign" and item.text in at:
                found.append([])
            else:
                found[-1].append(item)
        return [part for part in found if part]


def unescaped(text):
    return ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else chr(int(m[2], 8)) if m[2] else PLAIN.get(m[3], m[3]), text)


def tokens(source):
    line, at = 1, 0
    for match in TOKEN.finditer(source):
        line += source.count("\n", at, match.start())
        at = match.start()
        kind = match.lastgroup
        if kind in ("comment", "directive"):
            continue
        if match["raw"] is not None:
            yield Token("string", match["body"], line)
        elif kind == "string":
            body = match["string"]
            yield Token("string", unescaped(body[body.index('"') + 1:-1]), line)
        else:
            yield Token(kind, match.group(0), line)


def read_tree(source):
    """The whole source as one group. Raises ValueError where brackets do not fit."""
    top = Group("{", 1)
    open_ones = [top]
    for token in tokens(source):
        if token.kind == "sign" and token.text in CLOSES:
            group = Group(token.text, token.line)
            open_ones[-1].items.append(group)
            open_ones.append(group)
        elif token.kind == "sign" and token.text in CLOSES.values():
            if len(open_ones) == 1 or CLOSES[open_ones[-1].open] != token.text:
                raise ValueError(f"line {token.line}: a {token.text} that closes nothing")
            open_ones.pop()
        else:
            open_ones[-1].items.append(token)
    if len(open_ones) > 1:
        raise ValueError(f"line {open_ones[-1].line}: a {open_ones[-1].open} that is never closed")
    return top


COMMENT_LINE = re.compile(r"^(.*?)(///<|///|//)\s?(.*)$")


def comments(source):
    """[[(line, text), ...]]: the paragraphs of the comments; code in them, which is indented, is left out."""
    found, paragraph, before = [], [], None
    for n, line in enumerate(source.splitlines(), 1):
        match = COMMENT_LINE.match(re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: '"' + "x" * (len(m[0]) - 2) + '"', line))
        if not match:
            before = None
        else:
            text = line[match.start(3):]
            is_code = text.startswith("   ") or text.startswith(("NOLINT", "clang-format", "Copyright"))
            follows = before == match.start(2) and not match[1].strip()
            if paragraph and (not follows or not text.strip() or is_code or text.lstrip().startswith("- ")):
                found.append(paragraph)
                paragraph = []
            if text.strip() and not is_code:
                paragraph.append((n, text.strip()))
            before = match.start(2)
    return found + ([paragraph] if paragraph else [])
