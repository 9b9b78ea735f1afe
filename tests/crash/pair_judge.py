#!/usr/bin/env python3
# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""What tools/pair's judge lets pass, and what it notices."""
import json
import unittest

from cluster import Failed
from judge import judge_answers, judge_messages, judge_resumes, judge_state
from stream import LATEST, STRICT, Expected


def record(name, number, kind="good", text=""):
    event = {"p": name, "n": number, "t": kind, "v": {"number": number, "text": text}}
    return {"payload": json.dumps(event)}


def message(ident, number, name="p00001"):
    body = json.dumps({"number": number})
    return (ident, name, ("good", body), body)


class Oracle(unittest.TestCase):
    def test_the_newest_event_counts_and_late_ones_and_repeats_are_not_sent_on(self):
        wanted = Expected()
        wanted.fold_latest([record("p1", n) for n in (1, 3, 2, 3, 5, 4)])
        self.assertEqual(wanted.states[LATEST]["p1"], (5, {"number": 5, "text": ""}))
        self.assertEqual([each["number"] for each in wanted.outputs[LATEST]["p1"]], [1, 3, 5])

    def test_numbers_count_in_turn_and_bad_ones_are_skipped(self):
        wanted = Expected()
        wanted.fold_strict([record("p1", 3, "bad"), record("p1", 1), record("p1", 2), record("p1", 1)])
        self.assertEqual(wanted.states[STRICT]["p1"], (3, {"number": 2, "text": ""}))
        self.assertEqual([each["number"] for each in wanted.outputs[STRICT]["p1"]], [1, 2])
        self.assertEqual(wanted.bad, {("p1", 3)})

    def test_a_number_that_was_never_sent_is_no_fault_of_ratchet(self):
        with self.assertRaises(Failed):
            Expected().fold_strict([record("p1", 1), record("p1", 3)])


class Messages(unittest.TestCase):
    wanted = {"p00001": [{"number": 1}, {"number": 2}]}

    def test_repeats_with_the_same_content_pass(self):
        self.assertEqual(judge_messages("it", [message("a", 1), message("b", 2), message("a", 1)], self.wanted), (2, 1))

    def notices(self, messages):
        with self.assertRaises(Failed):
            judge_messages("it", messages, self.wanted)

    def test_faults_are_noticed(self):
        self.notices([message("a", 1)])  # one is missing
        self.notices([message("b", 2), message("a", 1)])  # another order
        self.notices([message("a", 1), message("b", 2), message("a", 2)])  # one id, two contents
        self.notices([message("a", 1), message("b", 2), message("c", 2)])  # twice under two ids
        self.notices([message("a", 1), message("b", 2), message("c", 1, "p2")])  # of nobody


class Fake:
    """An instance, or a pair of them."""

    def __init__(self, **what):
        self.__dict__.update(what)


def instance(rows, verdicts, audit=()):
    status = {"streams": {name: {"consumed": sum(each.values()), "verdicts": each, "partitions": []}
                          for name, each in verdicts.items()}, "outbox": {"messages": 0}, "audit": list(audit)}
    told = {("scan", LATEST): rows, ("scan", STRICT): [], ("status", "--audit"): [status], ("waiting", "list"): []}
    return Fake(name="a", ask=lambda *words, timeout=0: told[words], status=lambda: json.loads(json.dumps(status)))


class State(unittest.TestCase):
    def setUp(self):
        self.wanted = Expected()
        self.wanted.fold_latest([record("p1", 1), record("p1", 2)])
        self.row = {"aggregate": "p1", "sequence": 2, "snapshot": {"number": 2, "text": ""}}

    def judge(self, rows, applied=2):
        judge_state(instance(rows, {LATEST: {"applied": applied}, STRICT: {"applied": 0}}), self.wanted)

    def test_what_the_oracle_says_passes(self):
        self.judge([self.row])

    def test_faults_are_noticed(self):
        for rows, applied in (([], 2), ([self.row | {"sequence": 1}], 2), ([self.row | {"snapshot": {}}], 2),
                              ([self.row, self.row | {"aggregate": "p2"}], 2), ([self.row], 3), ([self.row], 1)):
            with self.subTest(rows=rows, applied=applied), self.assertRaises(Failed):
                self.judge(rows, applied)


class Answers(unittest.TestCase):
    def judge(self, texts, answered):
        wanted = Expected()
        wanted.bad = {("p00007", 3)}
        rows = [{"kind": "waiting", "text": text} for text in texts]
        judge_answers(Fake(operator=Fake(answered=answered)), instance([], {}, rows), wanted)

    def test_each_decision_is_there_once(self):
        row = "stream strict: aggregate `p00007`: event 3, dead, was skipped"
        self.judge([row], [("p00007", 3)])
        for texts, answered in (([], []), ([row, row], [("p00007", 3)]), ([row], [("p00007", 4)])):
            with self.subTest(texts=texts), self.assertRaises(Failed):
                self.judge(texts, answered)


class Resumes(unittest.TestCase):
    def judge(self, offset, at):
        one = Fake(name="a", resumed=[(at, "t", 0, offset)])
        judge_resumes(Fake(both=[one], committed=[(100.0, "t", 0, 5), (101.0, "t", 1, 9)]))

    def test_no_owner_goes_on_below_a_commit(self):
        self.judge(5, 103.0)
        self.judge(4, 99.0)  # before it
        with self.assertRaises(Failed):
            self.judge(4, 103.0)


if __name__ == "__main__":
    unittest.main()
