# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Gives each YAML block of a page to `ratchet validate`, a part of a config completed with what it lacks."""
import itertools
import re
import subprocess
import textwrap
from pathlib import Path

TOP = {"version", "kafka", "state", "streams", "step", "sinks", "dead_letter", "rejections", "outbox", "http", "replicate", "memory_limit"}
STREAM = {"name", "topics", "start", "envelope", "order", "first", "epoch_change", "gap", "handling", "waiting", "retry", "dedup",
          "record_times", "reducer", "emit", "outputs", "tables", "rejected", "poison", "dead_letter", "rejections",
          "types", "ignore", "ties", "after_delete", "too_old"}
NOTHING = re.compile(r"^\s*(?:#\s*)?(?:\.\.\.|…)\s*$")  # a line that stands for what was left out
KEY = re.compile(r"^([\w.]+):", re.M)

REFUSED = re.compile(r"refused:\s*(.*)", re.S)
OTHER = re.compile(r"other\b")

LACKS = {"kafka": {"brokers": '["localhost:9092"]', "group": "docs"}, "state": {"path": "docs-state"}}
READS = ["topics: [{name}]", "start: earliest",
         "envelope: {{aggregate: /payment/id, event_id: /id, sequence: /sequence, type: /type, time: /occurred_at}}"]
ORDERS = [[], ["order: strict"], ["order: arrival"], ["order: arrival", "dedup: {ids: opaque, window: 24h}"], ["dedup: off"]]
REDUCERS = [[], ["reducer: {kind: own, name: docs, version: 1}"]]


def keys_of(text):
    return KEY.findall(text)


def items_of(text):
    """The items of a list that begins in the first column, each as the text of its map."""
    found = []
    for line in text.split("\n"):
        if line.startswith("- "):
            found.append("  " + line[2:])
        elif found:
            found[-1] += "\n" + line
    return [textwrap.dedent(item) for item in found]


def sections_of(text):
    """[(key, its lines)] of the keys in the first column."""
    found = []
    for line in text.split("\n"):
        match = KEY.match(line)
        if match:
            found.append((match.group(1), line))
        elif found:
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line)
    return found


def complete_section(key, text):
    """A section with the keys that it lacks; without `text` all of them."""
    lacks = {name: value for name, value in LACKS.get(key, {}).items() if not re.search(rf"\b{name}:", text or "")}
    if not lacks:
        return text
    inside = ", ".join(f"{name}: {value}" for name, value in lacks.items())
    if not text or re.match(rf"{key}:\s*\{{\s*\}}", text):
        return f"{key}: {{{inside}}}"
    if re.match(rf"{key}:\s*\{{", text):
        return re.sub(r"\{", "{" + inside + ", ", text, count=1)
    width = re.search(r"^( +)\S", text, re.M)
    return text.rstrip("\n") + "".join(f"\n{width.group(1) if width else '  '}{name}: {value}" for name, value in lacks.items())


def listed(item):
    return "  - " + textwrap.indent(item.strip("\n"), "    ").lstrip()


def complete_stream(text, reads, order, reducer):
    """A stream with the keys that it lacks."""
    keys = keys_of(text)
    name = re.search(r"^name:\s*(\S+)", text, re.M)
    added = [] if name else ["name: payments"]
    name = name.group(1) if name else "payments"
    for line in [line.format(name=name) for line in reads] + order + reducer:
        if line.split(":")[0] not in keys:
            added.append(line)
    return listed(text.rstrip("\n") + "\n" + "\n".join(added))


def with_sinks(top):
    """The config, with each sink that it names and does not have."""
    named = set(re.findall(r"\bsink:\s*([\w-]+)", top)) | set(re.findall(r"[\"']sink:([\w-]+)", top))
    named -= set(re.findall(r"^\s*- name:\s*([\w-]+)", top, re.M)) | set(re.findall(r"\{\s*name:\s*([\w-]+)", top))
    if not named or re.search(r"^sinks:", top, re.M):
        return top
    return top + "sinks:\n" + "".join(f"  - {{name: {n}, http: {{url: https://{n}.example/}}}}\n" for n in sorted(named))


def candidates(text):
    """(what it was taken for, [whole configs, any of which may be valid])."""
    text = textwrap.dedent("\n".join(line for line in text.split("\n") if not NOTHING.match(line)))
    first = next((line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")), "")
    keys = set(keys_of(text))
    # The usual way first: what it is refused with is shown.
    ways = list(itertools.product([READS, []], ORDERS, REDUCERS))
    if first.startswith("- "):
        items = items_of(text)
        if all({"http", "callback"} & set(keys_of(item)) for item in items):
            return "sinks", completed([("sinks", "sinks:\n" + "\n".join(listed(item) for item in items))], ways)
        return "streams", completed([("streams", "streams:\n" + "\n".join(listed(item) for item in items))], ways)
    if "version" in keys:
        return "a whole config", [text]
    if keys and keys <= TOP and not (keys <= STREAM and keys - {"dead_letter", "rejections"}):
        return "a part of a config", completed(sections_of(text), ways)
    if keys and keys <= STREAM | TOP and keys & STREAM:
        return "a part of a stream", completed([("streams", "streams:\n" + listed(text))], ways)
    return None, []


def completed(sections, ways):
    """Whole configs of sections of one, an item for each way of completing its streams."""
    keys = [key for key, _ in sections]
    others = "\n".join(complete_section(key, text) for key, text in sections if key != "streams") + "\n"
    streams = [text for key, text in sections if key == "streams"]
    items = items_of(textwrap.dedent(streams[0].split("\n", 1)[1])) if streams else [""]
    found = []
    for reads, order, reducer in ways:
        top = ["version: 1"] + [complete_section(key, None) for key in LACKS if key not in keys]
        body = "\n".join(complete_stream(item, reads, order, reducer) for item in items)
        found.append(with_sinks("\n".join(top) + "\n" + others + "streams:\n" + body + "\n"))
    return list(dict.fromkeys(found))


class Validator:
    """Asks the binary. Secrets of a config lie in a file of its own."""

    def __init__(self, binary, place):
        self.binary, self.place, self.known = binary, Path(place), {}
        self.secret = self.place / "secret"
        self.secret.write_text("secret\n")
        self.secret.chmod(0o600)

    def validate(self, text):
        """(whether it is valid, what was said)."""
        text = re.sub(r"\{\s*(?:file|env):\s*[^{}]+\}", f"{{file: {self.secret}}}", text)
        if text not in self.known:
            path = self.place / "config.yaml"
            path.write_text(text)
            done = subprocess.run([self.binary, "validate", "-c", path], capture_output=True, text=True, timeout=60)
            said = " ".join((done.stdout + done.stderr).split()).replace(str(path), "config")
            self.known[text] = (done.returncode == 0, said)
        return self.known[text]


def check_block(block, validator):
    """What is wrong with a YAML block, or None."""
    marker = block.marker or ""
    if OTHER.match(marker):
        return None
    kind, configs = candidates(block.text)
    if kind is None:
        return ("its keys are those of no config; where it is none, put <!-- other --> before it, where it is a part of one, "
                "begin it with the keys of that part")
    refused = REFUSED.match(marker)
    if refused:
        words = " ".join(refused.group(1).split())
        answers = [validator.validate(text) for text in configs]
        if any(valid for valid, _ in answers):
            return f"is valid, but is to be refused with: {words}"
        if not any(words.lower() in said.lower() for _, said in answers):
            return f"is refused with other words than: {words}: {answers[0][1]}"
        return None
    # The first way that is valid is enough.
    if any(validator.validate(text)[0] for text in configs):
        return None
    return f"is refused, taken for {kind}: {validator.validate(configs[0])[1]}"
