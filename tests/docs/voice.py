# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Holds messages of the program and comments of public headers to the rules for prose."""
import re

from cxx import comments
from pages import SPAN
from prose import check_sentence, plain, sentences_of

BRANCHES = re.compile(r"\{([^{}]*\|[^{}]*)\}")
VALUE = re.compile(r"\{[^{}]*\}")
VALUE_IN_BRANCH = re.compile(r"\{[^{}|]*\}(?:\(s\))?")
PARTS = re.compile(r"\n|;\s|:\s|(?<=[.?!])\s+(?=[A-Z`\"'(])")
COMMAND = re.compile(r"`(ratchet [^`]*)`")
CLAUSE = re.compile(r", (?:which|who|whose|where|while|because|so that|until|unless|although|as)\b")
FORMAL = {"problem", "log", "config"}  # lower case and without a full stop; others may be sentences of a help text
UNJUDGED = ("src/cli/manual_text.cpp", "src/config/template.cpp", "src/sniff/suggested_config.cpp")  # troff, shell and YAML


def spelled(text):
    """The text with each of its alternatives, the first ones, the second ones and so on, and values as a word."""
    most = max([m.group(1).count("|") + 1 for m in BRANCHES.finditer(VALUE_IN_BRANCH.sub("value", text))] or [1])
    found = []
    for i in range(most):
        def choose(match, i=i):
            branches = match.group(1).split("|")
            return branches[min(i, len(branches) - 1)]
        one = VALUE_IN_BRANCH.sub("value", text)
        while BRANCHES.search(one):
            one = BRANCHES.sub(choose, one)
        found.append(VALUE.sub("value", one))
    return found


def wrong_in(text, rules, is_wrapped=False):
    """What is wrong with a message, sentence by sentence. is_wrapped: a line feed ends no sentence unless an example follows."""
    found = []
    for way in spelled(re.sub(r"\n(?! |Examples?:)", " ", text) if is_wrapped else text):
        for part in PARTS.split(SPAN.sub("code", way)):
            sentence = plain(part).strip(" .")
            found += check_sentence(sentence, rules)
            if len(CLAUSE.findall(sentence)) > 1:
                found.append(f"two subordinate clauses: {sentence[:60]}…")
    return found


def wrong_in_form(message):
    found = ["the catalogue misses it: tests/docs/messages.py does not understand this place"] if message.kind == "missed" else []
    if message.kind in FORMAL:
        for text in (message.text, message.hint):
            if re.search(r"[a-z)`]\.$", text.rstrip("}")) and not text.endswith("..."):
                found.append(f"a full stop at the end: …{text[-40:]}")
        if re.match(r"(?:The|An?|This|There|No|It|Some|Not)\b", message.text):
            found.append(f"a capital: {message.text[:40]}")
    return found


def commands_in(text):
    """The commands of ratchet that it shows, as a person would type them."""
    return [re.sub(r"-c CONFIG\b", "-c ratchet.yaml", command) for way in spelled(text) for command in COMMAND.findall(way)]


def check_messages(messages, rules, check_command):
    """[(line, what is wrong)] of the messages of a source. check_command(text) says what is wrong with a command, or None."""
    found = []
    for message in messages:
        wrong = wrong_in_form(message)
        for text in (message.text, message.hint):
            wrong += wrong_in(text, rules, message.kind == "help")
            wrong += [said for said in map(check_command, commands_in(text)) if said]
        found += [(message.line, one) for one in dict.fromkeys(wrong)]
    return found


def check_comments(source, rules):
    """[(line, what is wrong)] of the comments of a header."""
    found = []
    for paragraph in comments(source):
        for line, sentence in sentences_of(paragraph):
            found += [(line, wrong) for wrong in check_sentence(sentence, rules)]
            if len(CLAUSE.findall(sentence)) > 1:
                found.append((line, f"two subordinate clauses: {sentence[:60]}…"))
    return found
