# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Compares the page of the config's keys with the tables of keys and words that the program reads a config by."""
import re

TABLE = re.compile(r"known_key k_\w+\[\] = \{(.*?)\};", re.S)
KEY = re.compile(r'\{"(\w+)"(,[^}]*)?\}')  # with a second text: not built, and refused
WORDS = re.compile(r"string_view k_\w*(?:words|names)\[\] = \{(.*?)\};", re.S)
SPAN = re.compile(r"`([^`]+)`")


def keys_and_words(root):
    """What the sources of the config know: the keys that are built, and the words that a value may be."""
    keys, words = set(), set()
    for path in sorted((root / "src" / "config").glob("*.cpp")):
        text = path.read_text()
        for table in TABLE.findall(text):
            keys |= {name for name, later in KEY.findall(table) if not later}
        for list_of_words in WORDS.findall(text):
            words |= set(re.findall(r'"([\w-]+)"', list_of_words))
    return keys, words


def check_keys(page, root):
    """[(line, what is wrong)] of the page."""
    keys, words = keys_and_words(root)
    lines = page.lines
    said = set(re.findall(r"[\w-]+", " ".join(span for line in lines for span in SPAN.findall(line))))
    found = [(1, f"the key {key} is not on this page") for key in sorted(keys - said)]
    found += [(1, f"the word {word}, which a key may say, is not on this page") for word in sorted(words - said)]
    for number, line in enumerate(lines, 1):
        first = line.split("|")[1] if line.startswith("| `") else ""
        for span in SPAN.findall(first):
            name = span.split(".")[-1]
            if name not in keys:
                found.append((number, f"{span} is no key of a config"))
    return found
