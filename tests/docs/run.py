# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the pages on a small state: a command that the program refuses as it stands is a finding."""
import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from shell import LANGUAGES, simple_commands

# A state with applied, rejected, early and dead events, and the names that the pages use. No broker answers at this port.
CONFIG = """version: 1
kafka: {brokers: ["127.0.0.1:1"], group: docs, connect_timeout: 1s}
state: {path: state}
memory_limit: 64MiB
sinks: [{name: receipts, http: {url: "http://127.0.0.1:1/"}}]
streams:
  - name: payments
    topics: [payments]
    start: earliest
    envelope: {aggregate: /payment, event_id: /id, sequence: /sequence, type: /type}
    order: strict
    dedup: {ids: opaque}
    reducer: {kind: flaky, fail: {type: broken, how: give_up}}
    outputs: [cashback, "sink:receipts"]
    tables: {name: by-customer, key: text}
  - name: orders
    topics: [orders]
    start: earliest
    envelope: {aggregate: /order, sequence: /sequence}
    order: strict
    dedup: off
  - name: payment-status
    topics: [payment-status]
    start: earliest
    envelope: {aggregate: /payment/id, event_id: /id, sequence: /sequence, type: /type}
  - {name: ledger, order: arrival}
"""
EVENTS = [("p-1001", n, "broken" if n in (6, 7) else "paid") for n in (1, 2, 3, 4, 5, 6, 7, 8)] + [("p-1002", 4, "paid")]
WHOLE = {"init", "version", "completion", "gen"}  # which need neither a config nor a state
LONG = {"demo", "bench"}
PLACEHOLDER = re.compile(r"(?:\[.*\](?:\.\.\.)?|\S*…\S*|[A-Z][A-Z_:]*(?:\.\.\.)?|.*/[A-Z]{3,})$")
ACCEPTED = {0, 1, 69}  # 1: there is no such event here; 69: no broker answers


def is_whole(words):
    """Whether a person could type it unchanged."""
    if any(PLACEHOLDER.match(word) for word in words[1:]) or words[1] in LONG:
        return False
    named = any(word in ("-c", "--state", "--brokers", "--help") for word in words)
    return named or words[1] in WHOLE and len(words) > 2 or words[1] == "init"


def commands_of(page):
    """[(line, words)] of the commands that can be run."""
    found = []
    lines = list(page.indented) + [(n, text) for n, text in page.spans if text.startswith("ratchet ")]
    for block in page.blocks:
        if block.language in LANGUAGES | {"text"}:
            lines += enumerate((line.removeprefix("$ ") for line in block.text.split("\n")), block.line)
    begun = ""
    for n, text in lines:
        if text.endswith("\\"):
            begun, begin = begun + text[:-1], begin if begun else n  # noqa: F821 - of the line before
            continue
        text, n, begun = begun + text, begin if begun else n, ""
        try:
            commands = simple_commands(text)
        except ValueError:
            continue
        found += [(n, words) for words in commands if words[0] == "ratchet" and len(words) > 1 and is_whole(words)]
    return found


class Runner:
    def __init__(self, binary, place):
        self.binary, self.place, self.made = Path(binary), Path(place) / "run", 0
        home = self.place / "fixture"
        home.mkdir(parents=True)
        (home / "ratchet.yaml").write_text(CONFIG)
        (home / "fixed.json").write_text("{}\n")
        events = [json.dumps({"payment": p, "id": f"{p}-{n}", "sequence": n, "type": kind}) for p, n, kind in EVENTS]
        (home / "first.ndjson").write_text("\n".join(events) + "\nno JSON\n")
        self.in_place(home, ["gen", "--events", "200", "--seed", "7", "-o", "events.ndjson"])
        for stream, file in (("payments", "first.ndjson"), ("payment-status", "events.ndjson")):
            self.in_place(home, ["apply", "-c", "ratchet.yaml", "--stream", stream, file])
        self.home = home

    def in_place(self, home, words):
        return subprocess.run([self.binary, *words], cwd=home, capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "HOME": str(home), "TMPDIR": str(home)})

    def words_here(self, words):
        """The command with the paths and brokers of this machine."""
        found = list(words[1:])
        for i, word in enumerate(found):
            before = found[i - 1] if i else ""
            if before == "-c":
                found[i] = "ratchet.yaml"
            elif before == "--state":
                found[i] = "state"
            elif before == "--brokers":
                found[i] = "127.0.0.1:1"
            elif word.startswith("/backup/"):
                found[i] = "copy"
        if found[0] == "topics":  # the fixture has no log
            found += ["--set", "replicate={topic: l, instance: i}", "--print"]
        return found + (["--stream", "payment-status"] if found[0] == "apply" and "--stream" not in found else [])

    def check(self, words):
        """Why the command is no good, or None."""
        self.made += 1
        home = self.place / str(self.made)
        shutil.copytree(self.home, home)
        try:
            done = self.in_place(home, self.words_here(words))
        except subprocess.TimeoutExpired:
            return f"`{' '.join(words)}` does not end"
        finally:
            shutil.rmtree(home, ignore_errors=True)
        if done.returncode in ACCEPTED:
            return None
        return f"`{' '.join(words)}` ends with {done.returncode}: {' '.join(done.stderr.split())[:200]}"

    def check_all(self, commands):
        """{command: why it is no good, or None}."""
        different = sorted({tuple(words) for words in commands})
        with ThreadPoolExecutor(8) as pool:
            return dict(zip(different, pool.map(self.check, different)))
