# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Compares docs/decisions with its form and its index, and the paths that pages for contributors name with the tree."""
import re

SECTIONS = ["Context", "Decision", "Consequences", "Alternatives", "Evidence"]
LONGEST = 60  # lines
NAME = re.compile(r"\d{4}-[a-z0-9-]+\.md")
PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*")


def exists(root, path):
    """A path of the tree, or of src/, also without the ending of a source file."""
    for base in (root, root / "src"):
        if any((base / (path + ending)).exists() for ending in ("", ".cpp", ".hpp")):
            return True
    return False


def check_paths(page, root, only_line=None):
    """[(line, what is wrong)] for the paths in code spans, or in those of lines that match `only_line`."""
    found = []
    for line, span in page.spans:
        if only_line and not only_line(line):
            continue
        path = span.split(":")[0]
        is_placeholder = re.search(r"(?:^|[/_])[A-Z]{3,}(?:$|[/._])", path) and not re.search(r"(?:README|HACKING|STYLE|LICENSE|CHANGELOG|ARCHITECTURE)", path)
        if PATH.fullmatch(path) and not is_placeholder and path.split("/")[0] not in ("build", "node_modules") and not exists(root, path):
            found.append((line, f"{path} does not exist"))
    return found


def check_decision(page, root):
    found = []
    lines = page.lines
    number = page.path.name[:4]
    if len(lines) - 1 > LONGEST:
        found.append((LONGEST, f"has {len(lines) - 1} lines, {LONGEST} at most"))
    if not re.match(rf"# {number}\. \S", lines[0]):
        found.append((1, f"begins with: # {number}. Title"))
    head = lines[1:8]
    for name, form in (("Status", r"- Status: (accepted|proposed|superseded)\b.* \d{4}-\d\d-\d\d"), ("Area", r"- Area: \S+$"), ("Code", r"- Code: `")):
        if not any(re.match(form, line) for line in head):
            found.append((2, f"has no line of this form: {form}"))
    titles = [line[3:] for line in lines if line.startswith("## ")]
    if titles != SECTIONS:
        found.append((2, f"has the sections {', '.join(titles)}, and not {', '.join(SECTIONS)}"))
    begin = next((n for n, line in enumerate(lines, 1) if line.startswith("- Code:")), 0)
    end = next((n for n, line in enumerate(lines, 1) if n > begin and not line.strip()), begin)
    return found + check_paths(page, root, lambda line: begin <= line < end)


def check_index(index, folder):
    """[(line, what is wrong)] with the list of decisions."""
    listed = [(line, target) for line, target in index.links if NAME.fullmatch(target)]
    names = [target for _, target in listed]
    files = sorted(path.name for path in folder.glob("[0-9]*.md"))
    found = [(1, f"does not list {name}") for name in files if name not in names]
    found += [(line, f"lists {name} twice") for n, (line, name) in enumerate(listed) if name in names[:n]]
    numbers = [name[:4] for name in files]
    found += [(1, f"the number {number} is used twice") for n, number in enumerate(numbers) if number in numbers[:n]]
    for line, name in listed:
        path = folder / name
        if path.exists():
            title = path.read_text(encoding="utf-8").split("\n", 1)[0].partition(". ")[2]
            if title not in index.lines[line - 1]:
                found.append((line, f"{name} has another title: {title}"))
    return found
