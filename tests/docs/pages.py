# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Reads a Markdown page into blocks of code, links, headings and prose, each with its line."""
import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*([^\s`{]*)")
COMMENT = re.compile(r"<!--(.*?)-->", re.S)
SPAN = re.compile(r"(`+)(.+?)\1", re.S)
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(\s*<?([^()\s>]*(?:\([^()\s]*\)[^()\s>]*)*)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^\s{0,3}\[([^\]]+)\]:\s*(\S+)")
ATTRIBUTE = re.compile(r"(?:src|href|srcset)\s*=\s*\"([^\"\s]+)")


@dataclass
class Block:
    """A fenced block: the line of its first line of text, its language, its text, and the marker before it."""
    line: int
    language: str
    text: str
    marker: str | None = None


@dataclass
class Page:
    path: Path
    blocks: list = field(default_factory=list)  # Block
    links: list = field(default_factory=list)   # (line, target)
    anchors: set = field(default_factory=set)
    spans: list = field(default_factory=list)   # (line, text of an inline code span)
    indented: list = field(default_factory=list)  # (line, text) of lines of indented code
    in_lists: list = field(default_factory=list)  # lines of indented code in a list
    prose: list = field(default_factory=list)   # [(line, text), ...]: the lines of one paragraph, item, cell or heading
    titles: set = field(default_factory=set)    # indexes in prose that are headings
    lines: list = field(default_factory=list)


def slug(title, seen):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").strip().lower()
    text = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
    seen[text] = seen.get(text, -1) + 1
    return text if seen[text] == 0 else f"{text}-{seen[text]}"


def blank_comments(text):
    """The text without its comments, with as many lines; and the comments by the line where they end."""
    found = {}

    def blank(match):
        found[text.count("\n", 0, match.end()) + 1] = match.group(1).strip()
        return "\n" * match.group(0).count("\n")

    return COMMENT.sub(blank, text), found


def dedent(lines, width):
    return [line[width:] if line[:width].strip() == "" else line for line in lines]


class Reader:
    def __init__(self, path):
        self.page = Page(path)
        source = path.read_text(encoding="utf-8")
        self.fenced = self.find_fences(source.split("\n"))
        # A comment inside of a fence is code.
        outside = "\n".join("" if n in self.fenced else line for n, line in enumerate(source.split("\n"), 1))
        blanked, self.comments = blank_comments(outside)
        self.page.lines = source.split("\n")
        self.text = blanked.split("\n")
        self.paragraph = []

    def find_fences(self, lines):
        inside, begin, fenced = None, 0, set()
        self.ranges = []
        for n, line in enumerate(lines, 1):
            match = FENCE.match(line)
            if inside is None and match:
                inside, begin = match, n
            elif inside is not None and match and match.group(2).startswith(inside.group(2)) and not match.group(3):
                self.ranges.append((begin, n, inside))
                inside = None
        fenced.update(n for first, last, _ in self.ranges for n in range(first, last + 1))
        if inside is not None:
            self.page.blocks.append(Block(begin, "unclosed", ""))
        return fenced

    def marker_before(self, line):
        """The comment that ends on the last line before this one that has any text."""
        at = line - 1
        while at > 0 and self.text[at - 1].strip() == "" and at not in self.comments and at not in self.fenced:
            at -= 1
        return self.comments.get(at)

    def end_paragraph(self, is_title=False):
        if self.paragraph:
            if is_title:
                self.page.titles.add(len(self.page.prose))
            self.page.prose.append(self.paragraph)
        self.paragraph = []

    def read(self):
        page = self.page
        for first, last, match in self.ranges:
            body = dedent(page.lines[first:last - 1], len(match.group(1)))
            page.blocks.append(Block(first + 1, match.group(3).lower(), "\n".join(body), self.marker_before(first)))
        seen, was_blank, in_list = {}, True, False
        for n, line in enumerate(self.text, 1):
            if n in self.fenced or not line.strip():
                self.end_paragraph()
                was_blank = True
                continue
            is_item = re.match(r"\s*(?:[-*+]|\d+[.)])\s+", line)
            if (was_blank or page.indented and page.indented[-1][0] == n - 1) and line.startswith("    ") and not in_list:
                page.indented.append((n, line.strip()))
                was_blank = False
                continue
            if was_blank and in_list and not is_item and line.startswith("      "):
                page.in_lists.append(n)
            in_list = bool(is_item) or in_list and line.startswith(" ")
            was_blank = False
            self.read_line(n, line, is_item, seen)
        self.end_paragraph()
        for paragraph in page.prose:
            self.read_inline(paragraph)
        return page

    def read_line(self, n, line, is_item, seen):
        page = self.page
        heading = re.match(r"(#{1,6})\s+(.*?)\s*#*\s*$", line)
        explicit = re.findall(r"(?:id|name)=\"([^\"]+)\"|\{\s*#([\w-]+)", line)
        page.anchors.update(a or b for a, b in explicit)
        page.links += [(n, target) for target in ATTRIBUTE.findall(line)]
        reference = REFERENCE.match(line)
        if heading:
            self.end_paragraph()
            page.anchors.add(slug(re.sub(r"\{\s*#.*\}", "", heading.group(2)), seen))
            self.paragraph = [(n, heading.group(2))]
            self.end_paragraph(is_title=True)
        elif reference:
            page.links.append((n, reference.group(2)))
        elif line.lstrip().startswith("|"):
            self.end_paragraph()
            if re.fullmatch(r"[\s|:\-]+", line):
                return
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                self.paragraph = [(n, cell.strip())]
                self.end_paragraph()
        else:
            if is_item:
                self.end_paragraph()
                line = line[is_item.end():]
            self.paragraph.append((n, re.sub(r"^\s*(>\s*)+", "", line).strip()))

    def read_inline(self, paragraph):
        page = self.page
        joined = "\n".join(text for _, text in paragraph)
        line_of = lambda at: paragraph[joined.count("\n", 0, at)][0]  # noqa: E731
        spans = list(SPAN.finditer(joined))
        page.spans += [(line_of(m.start()), " ".join(m.group(2).split())) for m in spans]
        plain = SPAN.sub(lambda m: re.sub(r"[^\n]", "x", m.group(0)), joined)
        page.links += [(line_of(m.start()), m.group(2)) for m in LINK.finditer(plain)]
        # A link around an image: the outer target.
        page.links += [(line_of(m.start()), m.group(1)) for m in re.finditer(r"\)\]\(([^()\s]+)\)", plain)]


def read_page(path):
    return Reader(path).read()
