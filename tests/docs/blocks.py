# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Compiles the C++ blocks of a page, without linking them, and parses its JSON."""
import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

NOTHING = re.compile(r"^\s*(?:\.\.\.|…)\s*;?\s*$", re.M)
INCLUDE = re.compile(r"^\s*#\s*include\b", re.M)


def programs_of(text):
    """The ways in which a block may be meant: a file, a part of a file, or a part of a function."""
    text = NOTHING.sub("", text)
    if INCLUDE.search(text):
        return [text]
    prelude = ""
    for name in re.findall(r"^(?:struct|class) (\w+)", text, re.M):
        prelude += f"#define DOCS_OWN_{name}\n"
    if re.search(r"^\s*TEST(?:_[FP])?\(", text, re.M):
        prelude += "#include <gtest/gtest.h>\n"
    prelude += '#include "prelude.hpp"\n'
    return [prelude + text, prelude + "void docs_body(DOCS_NAMES) {{\n" + text + "\n}}\n"]


class Compiler:
    def __init__(self, root, place):
        self.root, self.place = root, Path(place)
        self.gxx = shutil.which("g++")

    def says(self, text):
        """The first errors of the compiler; empty where it takes the text."""
        done = subprocess.run([self.gxx, "-std=c++20", "-fsyntax-only", "-O0", f"-I{self.root / 'include'}",
                               f"-I{self.root / 'tests' / 'docs'}", "-x", "c++", "-"],
                              input=text, capture_output=True, text=True, timeout=300)
        if done.returncode == 0:
            return ""
        errors = re.findall(r"error: (.*)", done.stderr)
        return "; ".join(errors[:3]) or done.stderr.strip()[:300]

    def check(self, block):
        """What is wrong with a block of C++, or None."""
        programs = programs_of(block.text)
        is_file = INCLUDE.search(block.text) or re.search(r"^(?:struct|class|enum|namespace|template|TEST)\b", block.text, re.M)
        if not is_file:
            programs.reverse()
        likely = self.says(programs[0])  # what it says of the likely form is what its author wants to know
        if not likely or any(not self.says(other) for other in programs[1:]):
            return None
        return "does not compile: " + likely

    def check_all(self, blocks):
        """[what is wrong, or None] for each; two at a time."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(self.check, blocks))


def check_json(block):
    """What is wrong with a JSON block, or None: one value, or one a line."""
    try:
        json.loads(block.text)
        return None
    except ValueError as whole:
        reason = whole
    for n, line in enumerate(block.text.split("\n"), block.line):
        if line.strip():
            try:
                json.loads(line)
            except ValueError as error:
                return f"neither JSON ({reason}) nor a value a line (line {n}: {error})"
    return None


def check_cmake(block, place):
    """What is wrong with a CMakeLists.txt, or None. Its packages are stubs, its sources are empty."""
    home = Path(place) / f"cmake{block.line}"
    home.mkdir()
    (home / "CMakeLists.txt").write_text(block.text + "\n")
    for source in re.findall(r"\b[\w/]+\.cpp\b", block.text):
        (home / source).write_text("int main() {}\n")
    for package in re.findall(r"find_package\((\w+)", block.text):
        targets = sorted(set(re.findall(rf"\b{package}::\w+", block.text)))
        (home / f"{package}Config.cmake").write_text("".join(f"add_library({t} INTERFACE IMPORTED)\n" for t in targets))
        (home / f"{package}ConfigVersion.cmake").write_text("set(PACKAGE_VERSION 0.1)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
    packages = [f"-D{package}_DIR={home}" for package in re.findall(r"find_package\((\w+)", block.text)]
    done = subprocess.run(["cmake", "-S", home, "-B", home / "build", "-DCMAKE_FIND_PACKAGE_PREFER_CONFIG=ON", *packages],
                          capture_output=True, text=True, timeout=300)
    return None if done.returncode == 0 else "cmake: " + " ".join(done.stderr.split())[:300]


def check_properties(block):
    """What is wrong with Java properties, or None."""
    for n, line in enumerate(block.text.split("\n"), block.line):
        if line.strip() and not line.startswith("#") and not re.match(r"[\w.-]+=\S", line):
            return f"line {n} is no KEY=VALUE"
    return None
