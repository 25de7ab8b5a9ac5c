# SPDX-License-Identifier: Apache-2.0
"""Parses documentation pages: code blocks with their marks, headings with their anchors, and links.

The language of a code block, or a comment before the block, says what a test does with it:

- `text` is output or a drawing, `toml` must parse, `python` and `sh` run;
- `<!-- run in make full: REASON -->`: only `make full` runs it;
- `<!-- run by FILE::TEST -->`: a test of its own runs it;
- `<!-- not run: REASON -->`: nothing runs it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"<!-- (run in make full|run by|not run):? (.+?) -->\s*$")
FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(\S*)(.*)$")


@dataclass(frozen=True)
class Fence:
    """A code block: its page, first line, language, mark with the mark's text, and content."""

    page: str
    line: int
    language: str
    mark: str | None
    why: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def every_page() -> list[Path]:
    """Returns the pages that a reader of the repository meets."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("benches/*.md"))]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def fences(name: str, text: str) -> list[Fence]:
    """Returns the code blocks of a page in their order."""
    lines = text.splitlines()
    found: list[Fence] = []
    at = 0
    while at < len(lines):
        begin = FENCE.match(lines[at])
        if begin is None:
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == begin[2]), None)
        if end is None:
            raise ValueError(f"{name}:{at + 1}: the code block has no end")
        before = next((line for line in reversed(lines[:at]) if line.strip()), "")
        mark = MARK.search(before)
        body = "".join(line.removeprefix(begin[1]) + "\n" for line in lines[at + 1 : end])
        kind, why = (mark[1], mark[2]) if mark else (None, "")
        found.append(Fence(name, at + 1, begin[3], kind, why, body))
        at = end + 1
    return found


def without_code(text: str) -> str:
    """Returns a page without its code blocks and inline code."""
    lines: list[str] = []
    closing = None
    for line in text.splitlines():
        fence = FENCE.match(line)
        if closing is None and fence is not None:
            closing = fence[2]
        elif closing is not None:
            closing = None if line.strip() == closing else closing
        else:
            lines.append(line)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", "\n".join(lines))


def slug(heading: str) -> str:
    """Returns GitHub's anchor of a heading: its text in small letters, with hyphens for spaces and no other
    punctuation.
    """
    shown = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """Returns the anchors of a page: those of its headings and named ones. The second heading of one name gets `-1`,
    and so on.
    """
    found: set[str] = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    seen: dict[str, int] = {}
    inside = None
    for line in text.splitlines():
        fence = FENCE.match(line)
        if inside is not None:
            inside = None if line.strip() == inside else inside
        elif fence is not None:
            inside = fence[2]
        elif heading := re.match(r"#{1,6} +(.*?) *#*$", line):
            name = slug(heading[1])
            count = seen.get(name, 0)
            seen[name] = count + 1
            found.add(f"{name}-{count}" if count else name)
    return found


def links(text: str) -> list[str]:
    """Returns the targets of a page's links and pictures, outside of code."""
    plain = without_code(text)
    inline = re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", plain)
    named_elsewhere = re.findall(r"^\[[^]]+\]:\s*(\S+)", plain, re.M)
    return [*inline, *named_elsewhere, *re.findall(r'(?:src|srcset|href)="([^"]+)"', plain)]
