# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Finds the texts in src/ that a person can meet, and writes them as a catalogue."""
import re
from dataclasses import dataclass

from cxx import Group, read_tree, tokens

ENDS = {"=", "+=", "return", "<<", "?", ":", "==", "!=", "&&", "||", "case", "default", "throw", "else", "!", "<=", ">=", "%"}
SAME = {"string", "string_view", "to_string", "shown_text", "shell_word", "format_duration", "format_size", "name_of",
        "to_rfc3339", "move", "as_one_line", "quoted", "escaped_beginning", "sequence_word", "word_of", "number", "text_of"}
OF_VALUE = {"string", "str", "value", "c_str", "error", "value_or", "get", "data", "assume_value"}
CONTROL = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignas", "noexcept", "static_assert"}
FINDINGS = {"error", "warn", "add", "config_finding"}
HELP = {"add_option", "add_flag", "add_subcommand", "footer", "description", "App"}
NO_TEXT = {("src/outbox/dead_letters.cpp", "purpose_of"), ("src/outbox/published_rows.cpp", "purpose_of")}  # hashed into ids
LETTERS = re.compile(r"[A-Za-z]")
WORDS = re.compile(r"[A-Za-z]{2,}[^A-Za-z]* |  *[^A-Za-z]*[A-Za-z]{2,}")


@dataclass
class Message:
    line: int
    kind: str     # problem, log, kind of log line, config, help, text; missed where the reader failed
    trigger: str  # what leads to it: an error code, the kind of a log line, an option, a case
    place: str    # the function
    text: str
    hint: str = ""


def is_prose(text):
    """Whether a person reads it: two words, or a word and a value."""
    return bool(WORDS.search(re.sub(r"\{[^{}| ]*\}", "0", text).replace("\n", " ")))


def has_string(items):
    return any(i.kind == "string" or isinstance(i, Group) and has_string(i.items) for i in items)


def is_name(item, *texts):
    return item.kind == "name" and (not texts or item.text in texts)


def divided(items, at):
    """The items between these signs and names."""
    found = [[]]
    for item in items:
        if item.kind in ("sign", "name") and item.text in at:
            found.append([])
        else:
            found[-1].append(item)
    return found


def callee(items, at):
    """The name before the bracket at this index."""
    return items[at - 1].text if at > 0 and is_name(items[at - 1]) else ""


def undesignated(part):
    """`.text = x` without its name."""
    is_designated = len(part) > 3 and part[0].text == "." and part[2].text == "="
    return part[3:] if is_designated else part


def value_name(items):
    """A short name for an expression: of `std::to_string(f.log_start)` it is log_start."""
    name = ""
    for i, item in enumerate(items):
        if is_name(item, "message") and name and i + 1 < len(items) and isinstance(items[i + 1], Group):
            name = "cause"
        elif is_name(item) and item.text not in ("std", "const", "auto") and not (name and item.text in OF_VALUE):
            name = item.text
        elif isinstance(item, Group) and item.open != "[" and item.items and name in SAME | {""}:
            name = value_name(item.parts()[0]) or name
    return name.removesuffix("_")


class Reader:
    """The texts of one source, in the order in which they stand there."""

    def __init__(self, source):
        self.found = []
        self.walk_block(read_tree(source), "")

    # The shape of the source

    def walk_block(self, group, place):
        case, of_enum = "", False
        for statement in group.parts(at=(";",)):
            begin = 0
            for i, item in enumerate(statement):
                if is_name(item, "case", "default"):
                    begin, of_enum = i, True
                elif of_enum and item.kind == "sign" and item.text == ":":
                    case, begin, of_enum = self.case_of(statement[begin:i]), i + 1, False
                elif self.is_block(statement, i, begin):
                    self.expression(statement[begin:i], place, case)
                    self.walk_block(item, self.function_of(statement[begin:i]) or place)
                    begin = i + 1
            self.expression(statement[begin:], place, case)

    @staticmethod
    def case_of(items):
        return items[-1].text if items[-1].kind in ("name", "number", "string") else ""

    def is_block(self, items, at, begin):
        group = items[at]
        if not isinstance(group, Group) or group.open != "{":
            return False
        if any(i.kind == "sign" and i.text == ";" for i in group.items):
            # A lambda in an expression is walked where that is.
            return not any(isinstance(i, Group) and i.open == "[" for i in items[begin:at]) or self.is_function(items[begin:at])
        if any(is_name(i, "namespace", "class", "struct", "union") for i in items[begin:at]):
            return True
        before = items[at - 1] if at > begin else None
        return before is not None and is_name(before, "else", "try", "do", "const", "noexcept", "override")

    @staticmethod
    def is_function(items):
        """A function with an attribute, and no lambda."""
        first = next((i for i, item in enumerate(items) if isinstance(item, Group) and item.open == "["), None)
        return first == 0 and not any(i.kind == "sign" and i.text == "=" for i in items)

    @staticmethod
    def function_of(items):
        for i, item in enumerate(items):
            if isinstance(item, Group) and item.open == "(" and i > 0 and is_name(items[i - 1]):
                return "" if items[i - 1].text in CONTROL else items[i - 1].text
        return ""

    # Expressions

    def expression(self, items, place, case=""):
        """The texts of a statement or an argument."""
        if not has_string(items):
            return
        to = ""
        for at, part in self.segments(items):
            if at in ("=", "+="):
                to = self.target
            if has_string(part):
                self.chain(part, place, case or to)

    def segments(self, items):
        """(what it follows, items) of the parts of a statement that can be a text each."""
        self.target, before, part = "", "", []
        for item in items:
            if item.kind in ("sign", "name") and item.text in ENDS:
                yield before, part
                if item.text in ("=", "+="):
                    self.target = value_name(part)
                before, part = item.text, []
            else:
                part.append(item)
        yield before, part

    def chain(self, items, place, trigger):
        """`"a " + b + " c"`."""
        text, inner = self.render(items)
        line = self.line_of(items)
        if text is not None:
            self.emit(Message(line, "text", trigger, place, text))
        for call in inner:
            self.call(*call, place, trigger)

    @staticmethod
    def line_of(items):
        for item in items:
            if item.kind == "string":
                return item.line
            if isinstance(item, Group) and has_string(item.items):
                return Reader.line_of(item.items)
        return items[0].line if items else 0

    def render(self, items):
        """The text of a chain, None where it has no words of its own; and its calls that have texts: (name, group)."""
        text, own, inner = "", False, []
        for operand in divided(items, {"+"}):
            piece, is_own, calls = self.operand(operand)
            text += piece
            own = own or is_own
            inner += calls
        return (text if own else None), inner

    def alternatives(self, items):
        """`c ? "a" : "b"` as {a|b}; None where there is no question."""
        if not any(i.kind == "sign" and i.text == "?" for i in items):
            return None
        branches, inner, own = [], [], False
        for part in divided(items, {":"}):
            *questions, branch = divided(part, {"?"})
            text, calls = self.render(branch)
            inner += calls + [call for question in questions for call in self.calls_in(question)]
            own = own or text is not None
            branches.append(text if text is not None or not branch else "{" + value_name(branch) + "}")
        return "{" + "|".join(branches) + "}", own, inner

    def calls_in(self, items):
        return [(callee(items, i), item) for i, item in enumerate(items)
                if isinstance(item, Group) and has_string(item.items)]

    def operand(self, items):
        """(text, whether any of it is the source's own words, calls in it)."""
        if items and all(i.kind == "string" for i in items):
            return "".join(i.text for i in items), True, []
        if items and items[0].kind == "string":  # "a" b "c": a macro between
            return "".join(i.text if i.kind == "string" else "{" + i.text + "}" for i in items), True, []
        if items and isinstance(items[-1], Group):
            group, name = items[-1], callee(items, len(items) - 1)
            if name == "typed_command":
                return self.command(group), True, []
            if name == "counted":
                noun = next((i.text for i in group.items if i.kind == "string"), "")
                return "{" + value_name(group.parts()[0]) + "} " + noun + "(s)", " " in noun, []
            is_same = name in SAME or not name and group.open == "(" and len(items) == 1
            if is_same and has_string(group.items) and len(group.parts()) == 1:
                asked = self.alternatives(group.parts()[0])
                if asked:
                    return asked
                text, inner = self.render(group.parts()[0])
                if text is not None:
                    return text, True, inner
        return ("{" + value_name(items) + "}" if items else ""), False, self.calls_in(items)

    def command(self, group):
        words = []
        for part in group.parts():
            text, _ = self.render(part)
            words.append(text if text is not None else "{" + value_name(part) + "}")
        return "`ratchet " + " ".join([words[0], "-c CONFIG", *words[1:]] if words else []) + "`"

    # Calls

    def call(self, name, group, place, trigger):
        parts = [undesignated(part) for part in group.parts(at=(",",))] if not any(i.kind == "sign" and i.text == ";" for i in group.items) else None
        if parts is None:  # a lambda's body
            return self.walk_block(group, place)
        if name in ("tell", "tell_of") and any(has_string(part) for part in parts[1:]):
            return self.log_line(parts, place)
        if group.open == "{" and self.is_error(parts):
            return self.problem(parts, place, trigger)
        if name in FINDINGS or name == "push_back" and len(parts) == 1 and parts[0] and isinstance(parts[0][0], Group):
            inside = parts if name != "push_back" else parts[0][0].parts()
            if self.finding(name, inside, place):
                return None
        if name in HELP:
            return self.help(name, parts, place)
        if name == "log_rule" and len(parts) == 4:
            return self.emit(Message(self.line_of(parts[3]), "kind of log line", value_name(parts[0]), place,
                                     self.texts_of(parts[3])[0] or ""))
        for part in parts:
            self.expression(part, place, trigger)
        return None

    @staticmethod
    def is_error(parts):
        first = parts[0] if parts else []
        names = {i.text for i in first if i.kind == "name"}
        return len(parts) >= 2 and bool(names & {"errc", "make_error_code", "code", "error"}) and has_string(
            [i for part in parts[1:3] for i in part])

    def texts_of(self, items):
        """(text, the calls in it)."""
        asked = self.alternatives(items)
        if asked:
            text, own, inner = asked
            return (text if own else None), inner
        return self.render(items)

    def problem(self, parts, place, trigger):
        named = [i.text for i in self.flat(parts[0]) if i.kind == "name" and i.text not in ("errc", "make_error_code", "std")]
        texts, rest = [], []
        for part in parts[1:3]:
            text, inner = self.texts_of(part)
            rest += inner
            texts.append(text if text is not None else "{" + value_name(part) + "}" if part and part[0].kind != "string" else "")
        self.emit(Message(self.line_of(parts[1] + [i for p in parts[2:3] for i in p]), "problem", named[-1] if named else trigger,
                          place, texts[0], texts[1] if len(texts) > 1 and texts[1] not in ("{}",) else ""), always=True)
        for call in rest:
            self.call(*call, place, trigger)
        for part in parts[3:]:
            self.expression(part, place, trigger)

    def flat(self, items):
        for item in items:
            yield item
            if isinstance(item, Group):
                yield from self.flat(item.items)

    def finding(self, name, parts, place):
        """What a config has wrong: (..., message, hint), and braces behind. False where it is something else."""
        while parts and len(parts) > 2 and (isinstance(parts[-1][0], Group) or parts[-1][0].text == "judged_by"):
            parts = parts[:-1]
        if name in ("add", "push_back", "config_finding") and len(parts) < 3:
            return False
        if name in ("error", "warn") and (not parts or parts[0][0].kind == "name" and len(parts[0]) == 1 and len(parts) < 3):
            return False
        at = max(len(parts) - 2, 0)
        if not has_string(parts[at]) and not has_string(parts[-1]):
            return False
        texts, rest = [], []
        for part in parts[at:]:
            text, inner = self.texts_of(part)
            rest += inner
            texts.append(text if text is not None else "{" + value_name(part) + "}" if value_name(part) else "")
        path = self.texts_of(parts[at - 1])[0] if at > 0 else None
        self.emit(Message(self.line_of([i for p in parts[at:] for i in p]), "config", path or "", place, texts[0],
                          texts[1] if len(texts) > 1 else ""), always=True)
        for call in rest:
            self.call(*call, place, "")
        return True

    def log_line(self, parts, place):
        kind, at = "", len(parts)
        for i, part in enumerate(parts):
            if any(is_name(t, "log_kind") for t in part):
                kind = part[-1].text if part[-1].kind == "name" else value_name(part)
            if i > 0 and has_string(part):
                at = i
                break
        if at == len(parts):
            return
        text, inner = self.texts_of(parts[at])
        if text is not None:
            values = iter(parts[at + 1:])
            text = re.sub(r"\{(?::[^{}]*)?\}", lambda m: self.value_of(next(values, [])), text)
        self.emit(Message(self.line_of(parts[at]), "log", kind, place, text or ""))
        for part in parts[at + 1:]:
            if self.alternatives(part) is None:
                for call in self.calls_in(part):
                    if call[0] not in ("typed_command", "counted"):
                        self.call(*call, place, kind)
        for call in inner:
            self.call(*call, place, kind)

    def value_of(self, part):
        asked = self.alternatives(part)
        if asked:
            return asked[0]
        text, _, _ = self.operand(part)
        return text if text and text != "{}" else "{" + value_name(part) + "}"

    def help(self, name, parts, place):
        option = self.texts_of(parts[0])[0] or ""
        is_footer = name in ("footer", "description")
        for part in parts if is_footer else parts[1:] if name != "App" else parts:
            text, inner = self.texts_of(part)
            if text is not None and (LETTERS.search(text)) and (is_prose(text) or not re.fullmatch(r"[\w-]+", text)):
                self.emit(Message(self.line_of(part), "help", "" if is_footer else option, place, text))
            for call in inner:
                self.call(*call, place, option)

    def emit(self, message, always=False):
        if is_prose(message.text) or always and LETTERS.search(message.text + message.hint):
            self.found.append(message)


def missed(source, messages):
    """[Message] of the texts of a source that are in none of its messages, which is a fault of this reader."""
    have = "\n".join(part for m in messages for part in (m.text, m.hint, m.trigger))
    found, last = [], None
    for token in tokens(source):
        if token.kind == "string" and last is not None:
            last = Message(last.line, "missed", "", "", last.text + token.text)
        elif token.kind == "string":
            last = Message(token.line, "missed", "", "", token.text)
        elif last is not None:
            if is_prose(last.text) and not all(piece in have for piece in re.split(r"\{[^{}]*\}", last.text)):
                found.append(last)
            last = None
    return found


def read_messages(path):
    source = path.read_text(encoding="utf-8")
    try:
        found = Reader(source).found
    except ValueError as error:
        raise SystemExit(f"{path}: {error}") from error
    return found + missed(source, found)


def all_messages(root):
    """{path in the repository: [Message]} of src/, rooms in their order."""
    found = {}
    for path in sorted((root / "src").rglob("*.[ch]pp")):
        name = str(path.relative_to(root))
        messages = [m for m in read_messages(path) if (name, m.place) not in NO_TEXT]
        if messages:
            found[name] = messages
    return found


# The catalogue

CATALOGUE = "tests/golden/messages.txt"
HEAD = """Every text in src/ that a person can meet, by room and file. Written by tools/messages. Do not edit.

[KIND WHAT-LEADS-TO-IT] function     {value}; {one text|another}; -c CONFIG stands for what the command was given
    the text
    -> what to do

A problem has its error code and exit code; a log line its kind, level and when it is written; a finding of the config its key;
a help text its option; any other text the case or the variable that it is for.
"""


def exit_codes(root):
    """{error code: exit code} as src/core/error.cpp has them."""
    source = (root / "src/core/error.cpp").read_text(encoding="utf-8")
    numbers = dict(re.findall(r"constexpr int (k_exit_\w+) = (\d+);", source))
    found = {}
    for cases, to in re.findall(r"((?:case errc::\w+:[^\n]*\s+)+)return (k_exit_\w+);", source):
        found.update((code, numbers[to]) for code in re.findall(r"errc::(\w+)", cases))
    return found


def log_levels(root):
    """{kind of log line: (level, when)} as src/process/log_lines.cpp has them."""
    source = (root / "src/process/log_lines.cpp").read_text(encoding="utf-8")
    rules = re.findall(r'log_rule\{log_kind::(\w+), "\w+", k_(\w+),\s+"((?:[^"\\]|\\.)*)"\}', source)
    return {kind: (level, when) for kind, level, when in rules}


def indented(text, first="    ", rest="    "):
    shown = "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)
    lines = shown.rstrip("\n").split("\n")
    return "".join(f"{first if i == 0 else rest}{line.rstrip()}\n" for i, line in enumerate(lines))


def catalogue(messages, root):
    """The text of the catalogue."""
    exits, levels = exit_codes(root), log_levels(root)
    out, room = HEAD, ""
    for path, found in messages.items():
        if path.split("/")[1] != room:
            room = path.split("/")[1]
            out += f"\n==== {room}/\n"
        out += f"\n-- {path}\n\n"
        for m in found:
            trigger = m.trigger
            if m.kind == "problem" and trigger in exits:
                trigger += f", exit code {exits[trigger]}"
            if m.kind == "log" and trigger in levels:
                trigger += ", {}: {}".format(*levels[trigger])
            out += f"[{m.kind} {trigger}".rstrip() + f"] {m.place}".rstrip() + "\n" + indented(m.text)
            if m.hint:
                out += indented(m.hint, "    -> ", "       ")
    return out
