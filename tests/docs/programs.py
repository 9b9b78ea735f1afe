# Copyright the Ratchet authors. SPDX-License-Identifier: Apache-2.0
"""Holds a page's program to the configs of the page: whoever copies both must have what runs."""
import re

TRAITS = re.compile(r"struct\s+(\w+)\s*\{[^{}]*?reducer_traits\s+traits\{(.*?)\};(.*?)(?=\n\};)", re.S)
NAME, VERSION = re.compile(r'\.name\s*=\s*"([^"]+)"'), re.compile(r"\.version\s*=\s*(\d+)")
TOPIC = re.compile(r'\.topic\s*=\s*"([^"]+)"')


def reducers_of(blocks):
    """{class: (name, version, topics that it publishes to)}."""
    found = {}
    for block in blocks:
        for kind, traits, body in TRAITS.findall(block.text):
            name, version = NAME.search(traits), VERSION.search(traits)
            if name and version:
                found[kind] = (name.group(1), version.group(1), TOPIC.findall(body))
    return found


def lacks_of(text, name, version, topics):
    """What a block of a config does not say of the reducer."""
    has = re.search(r"reducer:\s*\{([^}]*)\}", text)
    own = has and re.search(r"\bkind:\s*own\b", has.group(1)) and re.search(rf"\bname:\s*{re.escape(name)}\b", has.group(1)) \
        and (re.search(rf"\bversion:\s*{version}\b", has.group(1)) or (version == "1" and "version:" not in has.group(1)))
    lacks = [] if own else [f"reducer: {{kind: own, name: {name}, version: {version}}}"]
    outputs = re.search(r"outputs:\s*\[([^\]]*)\]", text)
    listed = [word.strip(' "\'') for word in outputs.group(1).split(",")] if outputs else []
    return lacks + [f"{topic} in outputs" for topic in topics if topic not in listed]


def check_programs(page):
    """[(line, what is wrong)] of programs that open an app with a reducer of the page."""
    cpp = [block for block in page.blocks if block.language in ("cpp", "c++", "cxx")]
    configs = [block.text for block in page.blocks if block.language in ("yaml", "yml")]
    reducers, found = reducers_of(cpp), []
    for block in cpp:
        for stream, kind in re.findall(r'\.add\(\s*"([^"]+)",\s*(\w+)\{', block.text) if "int main" in block.text else []:
            if kind not in reducers:
                continue
            if not any(re.search(rf"\bname:\s*{re.escape(stream)}\b", text) for text in configs):
                found.append((block.line, f"no config of this page has the stream {stream} of its program"))
            lacks = min((lacks_of(text, *reducers[kind]) for text in configs), key=len, default=["a config"])
            if lacks:
                found.append((block.line, f"no config of this page fits its program: it lacks {'; '.join(lacks)}"))
    return found
