# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Finds the commands of a page that call ratchet or a tool, and compares them with --help."""
import re
import shlex
import subprocess
from pathlib import Path

TRANSCRIPTS = {"console", "terminal", "shell-session"}  # commands behind a $, and what they print
LANGUAGES = {"sh", "bash", "shell"} | TRANSCRIPTS
OPTION = re.compile(r"^\s{2,}(-{1,2}[\w-]+(?:,-{1,2}[\w-]+)*)(?: (\S.*?))?(?:\s{2,}|$)")
LIMITS = ("Excludes:", "Needs:", "REQUIRED")
ENDS = {"|", "||", "&&", ";", "&", "(", ")", "{", "}", "!", "then", "do", "else", "|&", ";;"}
REDIRECTS = re.compile(r"^\d*(?:>>?|<<?<?|>&|&>|<>)$")
ELIDED = {"…", "..."}


class Command:
    """One command of ratchet, as its --help has it."""

    def __init__(self, binary, words):
        said = subprocess.run([binary, *words, "--help"], capture_output=True, text=True, timeout=60)
        self.options, self.commands = {}, {}
        inside = False
        for line in said.stdout.splitlines():
            if line and not line.startswith(" "):
                inside = line.startswith("Subcommands:")
            elif inside and (match := re.match(r"  ([a-z]+)\s", line)):
                self.commands[match.group(1)] = None
            elif match := OPTION.match(line):
                kind = match.group(2) or ""
                takes = kind if kind and not kind.startswith(LIMITS) else None
                for name in match.group(1).split(","):
                    self.options[name] = takes
        for name in self.commands:
            self.commands[name] = Command(binary, [*words, name])


def values_of(kind):
    """The words that an option takes, where it takes only some."""
    match = re.search(r"\{([\w-]+(?:,[\w-]+)*)\}", kind) or re.match(r"([a-z]+(?:\|[a-z]+)+)\b", kind)
    return re.split(r"[,|]", match.group(1)) if match else None


def is_placeholder(word):
    return word in ELIDED or not re.fullmatch(r"[a-z][a-z0-9_-]*", word)


def check_arguments(command, arguments):
    """What is wrong with these words behind `ratchet`, or None."""
    path, at = ["ratchet"], 0
    while at < len(arguments):
        word = arguments[at]
        at += 1
        if word == "--":
            return None
        if word.startswith("-") and word != "-":
            name, equals, value = word.partition("=")
            if name not in command.options and not name.startswith("--") and len(name) > 2 and name[:2] in command.options:
                name, equals, value = name[:2], "=", name[2:]
            if name not in command.options:
                return f"`{' '.join(path)}` has no option {name}"
            kind = command.options[name]
            if kind is None or kind.startswith("["):
                continue
            if not equals:
                value = arguments[at] if at < len(arguments) else None
                at += 1
            if value is None:
                return f"`{' '.join(path)} {name}` needs a value ({kind})"
            known = values_of(kind)
            if known and not is_placeholder(value) and value not in known:
                return f"`{' '.join(path)} {name}` takes {', '.join(known)}, and not {value}"
        elif command.commands and not is_placeholder(word):
            if word not in command.commands:
                return f"`{' '.join(path)}` has no command {word}"
            command = command.commands[word]
            path.append(word)
    return None


def simple_commands(line):
    """The words of each simple command of a line of a shell, without redirections and assignments."""
    line = re.sub(r"\$\(|<\(|>\(|`", " ; ", line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    found, skip = [[]], False
    for word in lexer:
        if skip:
            skip = False
        elif word in ENDS or re.fullmatch(r"[();|&]+", word):
            found.append([])
        elif REDIRECTS.match(word) or re.fullmatch(r"[<>&]+", word):
            skip = True
        else:
            found[-1].append(word)
    for words in found:
        while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
            words.pop(0)
        while words and words[0] in {"sudo", "time", "exec", "nohup", "then", "do"}:
            words.pop(0)
    return [words for words in found if words]


class Shell:
    def __init__(self, binary, root):
        self.top, self.root, self.helps = Command(binary, []), root, {}

    def check_words(self, words):
        name = Path(words[0]).name
        if name == "ratchet" and (words[0] == name or "bin/ratchet" in words[0]):
            return check_arguments(self.top, words[1:])
        if re.match(r"(?:\./)?(?:tools|bench|tests/docs)/[\w/-]+$", words[0]):
            return self.check_tool(words)
        return None

    def check_tool(self, words):
        path = self.root / words[0]
        if not path.exists():
            return f"{words[0]} does not exist"
        if not words[0].removeprefix("./").startswith("tools/") or path.name == "demo":
            return None  # a demo hands its options on
        if path not in self.helps:
            done = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=60, cwd=self.root)
            self.helps[path] = done.stdout + done.stderr
        for word in words[1:]:
            option = word.partition("=")[0]
            if re.fullmatch(r"--[a-z][\w-]*|-[A-Za-z]", option) and not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", self.helps[path]):
                if path.name != "kafka" or "run" not in words:  # which hands its options on
                    return f"{words[0]} has no option {option}"
        return None

    def check_line(self, line):
        """What is wrong with a line of a shell, or None. A line that is none is passed over."""
        try:
            commands = simple_commands(line)
        except ValueError:
            return None  # bash -n says what is wrong
        for words in commands:
            wrong = self.check_words(words)
            if wrong:
                return wrong
        return None

    def check_block(self, block):
        """[(line, what is wrong)] of a block in sh or console."""
        numbered = list(enumerate(block.text.split("\n"), block.line))
        if block.language in TRANSCRIPTS:
            script, keep = [], False
            for n, line in numbered:
                prompt = re.match(r"\s*\$ (.*)", line)
                if prompt or keep:
                    text = prompt.group(1) if prompt else line
                    script.append((n, text))
                    keep = text.rstrip().endswith("\\")
                else:
                    script.append((n, ""))
            numbered = script
        found = []
        done = subprocess.run(["bash", "-n"], input="\n".join(text for _, text in numbered) + "\n", capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            match = re.search(r"line (\d+): (.*)", done.stderr)
            at = numbered[min(int(match.group(1)), len(numbered)) - 1][0] if match else block.line
            found.append((at, "bash does not parse it: " + (match.group(2) if match else done.stderr.strip())))
        joined = ""
        for n, text in numbered:
            begin = begin if joined else n  # noqa: F821 - of the line before
            joined += text
            if joined.rstrip().endswith("\\"):
                joined = joined.rstrip()[:-1] + " "
                continue
            wrong = self.check_line(joined)
            if wrong:
                found.append((begin, wrong))
            joined = ""
        return found
