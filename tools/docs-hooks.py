# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""What mkdocs does for this repository beyond its own: mkdocs.yml names this file.

Pages link to files beside docs/, as a reader on a code host wants it. On the site those that are pages too get a page,
and of the others the words stay without the link. A link to nothing is a warning, and so an error: tools/docs is strict.
"""
import logging
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

LOG = logging.getLogger("mkdocs.hooks.ratchet")
ROOT = Path(__file__).resolve().parent.parent

# Pages outside docs/, and what they are called on the site.
OUTSIDE = {"README.md": "overview.md", "CHANGELOG.md": "changelog.md", "bench/README.md": "performance/programs.md",
           "bench/peers/README.md": "performance/peers.md"}
INSIDE = {to: source for source, to in OUTSIDE.items()}

WORDY = 25  # characters of a cell on average: such a column has words, and no figures
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def pages_of(folder):
    """The pages of a folder of docs/: README.md first, the others by name."""
    found = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs" / folder).glob("*.md")]
    return sorted(found, key=lambda page: (not page.endswith("/README.md"), page))


def on_config(config):
    for entry in config.nav:
        for title, what in entry.items():
            if isinstance(what, str) and what.endswith("/"):
                entry[title] = pages_of(what)
                if not entry[title]:
                    LOG.warning("docs/%s has no pages", what)
    return config


def on_files(files, config):
    for source, to in OUTSIDE.items():
        files.append(File.generated(config, to, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    uri = page.file.src_uri
    source = INSIDE.get(uri, "docs/" + uri)

    def as_site_has_it(link):
        picture, words, where = link.groups()
        path, mark, anchor = where.partition("#")
        if not path or re.match(r"[a-z]+:", where):
            return link[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if target in OUTSIDE:
            to = OUTSIDE[target]
        elif target.startswith("docs/"):
            to = target.removeprefix("docs/")
        elif (ROOT / target).exists():
            return words
        else:
            LOG.warning("%s links to %s, which does not exist", source, where)
            return words
        return f"{picture}[{words}]({posixpath.relpath(to, posixpath.dirname(uri) or '.')}{mark}{anchor})"

    if uri == "overview.md":  # its picture is HTML, which mkdocs leaves as it is
        markdown = markdown.replace('="docs/images/', '="images/')
    return LINK.sub(as_site_has_it, markdown)


def on_page_content(html, page, config, files):
    """Gives each cell of a table of three columns or more, of words, the name of its column, for phones: see site.css."""
    def named(table):
        names = [re.sub(r"<[^>]*>", "", name).strip() for name in re.findall(r"<th[^>]*>(.*?)</th>", table[0], re.S)]
        cells = [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", table[0], re.S)]
        longest = max((sum(map(len, column)) / len(column) for column in (cells[n::len(names)] for n in range(1, len(names))) if column),
                      default=0)
        if len(names) < 3 or longest < WORDY:
            return table[0]
        at = -1

        def cell(match):
            nonlocal at
            at = (at + 1) % len(names)
            return f'<td data-name="{names[at]}"{match[1]}>'
        return '<div class="cards">' + re.sub(r"<td([^>]*)>", cell, table[0]) + "</div>"
    return re.sub(r"<table>.*?</table>", named, html, flags=re.S)
