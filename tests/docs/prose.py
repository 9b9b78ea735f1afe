# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Finds sentences of the old manner: long ones, and those that a rule of words.txt meets."""
import math
import re

from pages import SPAN

LONGEST = 30  # words of a sentence
SENTENCE = re.compile(r"(?<=[.?!])[\"')*_]*\s+(?=[\"'(*_`\[]*[A-Z0-9`])")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")


def read_rules(path):
    """[(regular expression, whether it is of the beginning of a sentence, what to write instead)]."""
    rules = []
    for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, _, hint = line.partition("  ")
        try:
            rules.append((re.compile(pattern, re.I), hint.strip()))
        except re.error as error:
            raise SystemExit(f"{path}:{n}: {error}") from error
    return rules


def plain(text):
    """The text as it is read: code spans as one word, links as their text, no emphasis."""
    text = SPAN.sub("code", text)
    text = LINK.sub(lambda m: m.group(1), text)
    return re.sub(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)", "", text)


def sentences_of(paragraph):
    """[(line, sentence)] of the lines of a paragraph."""
    joined, lines = "", []
    for line, text in paragraph:
        # A code span may go over the end of a line.
        lines.append((len(joined), line))
        joined += text + " "
    found, at = [], 0
    for part in SENTENCE.split(joined):
        begin = joined.index(part, at)
        at = begin + len(part)
        line = max(line for offset, line in lines if offset <= begin)
        if part.strip():
            found.append((line, plain(part).strip()))
    return found


def check_sentence(sentence, rules, longest=LONGEST):
    """What is wrong with a sentence: its length, and each rule that it meets."""
    words = len(re.findall(r"[^\s]*\w[^\s]*", sentence))
    found = [f"{words} words in a sentence: {sentence[:60]}…"] if words > longest else []
    begins = set()
    for rule, hint in rules:
        match = rule.search(sentence)
        if match and match.start() not in begins:
            begins.add(match.start())
            shown = match.group(0).strip(" ,")
            found.append(f"\"{shown[:50]}\": {hint}")
    return found


def check_prose(page, rules):
    """[(line, what is wrong)]."""
    found = []
    for index, paragraph in enumerate(page.prose):
        longest = math.inf if index in page.titles else LONGEST
        for line, sentence in sentences_of(paragraph):
            found += [(line, wrong) for wrong in check_sentence(sentence, rules, longest)]
    return found
