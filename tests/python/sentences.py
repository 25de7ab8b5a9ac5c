# SPDX-License-Identifier: Apache-2.0
"""Splits prose into sentences and counts their words.

Prose is the text of Markdown pages, the doc comments of Rust (`///` and `//!`), the docstrings of Python and the header
comment of a SystemVerilog file. Headings, tables, code blocks, formulas and HTML comments are no prose. Inline code is
one word, and a link is its text. A full stop, a question mark or an exclamation mark ends a sentence. So does the end
of a paragraph or of an item of a list. A colon or a semicolon ends none.

`python tests/python/sentences.py [PATH ...]` prints each sentence of more than 40 words with its file and line. Then
come the totals of each area. With `--json` it prints one object with both.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The most words of a sentence, and the highest mean of a page.
LONGEST = 40
MEAN = 18.0

FENCE = re.compile(r"(`{3,}|~{3,})")
BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
# A few bold or italic words before the text of an item or a paragraph: a heading, which is no sentence.
RUN_IN = re.compile(r"\s*(\*\*|\*|__)(?P<head>[^*_\n]+?[.:])\1(?=\s)")
INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
IMAGE = re.compile(r"!\[[^]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^]]*)\](?:\([^)]*\)|\[[^]]*\])")
COMMENT = re.compile(r"<!--.*?-->", re.S)
TAG = re.compile(r"</?[a-zA-Z][^>]*>")
WORD = re.compile(r"[^\W_]")
# What may follow the mark that ends a sentence: closing quotes, brackets and emphasis.
STOP = re.compile(r"[.!?][\"')\]*_]*(?=\s|$)")
# A full stop after these is part of the word: always, before a number or a bracket, and unless a capital follows.
ABBREVIATIONS = frozenset(["e.g", "i.e", "cf", "vs", "approx", "resp", "dr", "prof", "incl"])
REFERENCES = frozenset(
    ["fig", "figs", "eq", "eqs", "sec", "alg", "tab", "thm", "def", "prop", "app", "no", "pp", "vol"]
)
ENDINGS = frozenset(["etc", "al"])
CODE = "CODE"


@dataclass(frozen=True)
class Sentence:
    """A sentence with its file, its first line and its words."""

    file: str
    line: int
    text: str
    words: int


def words(text: str) -> int:
    """The words of a plain text: what stands between spaces and has a letter or a digit."""
    return sum(1 for token in text.split() if WORD.search(token))


def plain(text: str) -> str:
    """A text without its markup, in as many lines as before: code is one word, a link its text."""

    def lines_of(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    text = INLINE_CODE.sub(lambda found: lines_of(found) + CODE, text)
    text = IMAGE.sub(lines_of, text)
    text = LINK.sub(lambda found: "\n" * (found[0].count("\n") - found[1].count("\n")) + found[1], text)
    return TAG.sub(lines_of, text).replace("**", "")


def is_end(text: str, at: int) -> bool:
    """Whether the mark at a place ends a sentence, which an abbreviation's or an initial's full stop does not."""
    if text[at] != ".":
        return True
    tokens = text[:at].split()
    last = tokens[-1].lstrip("(\"'[*") if tokens else ""
    after = text[at + 1 :].lstrip("\"')]*_ \n")
    if last.lower() in ABBREVIATIONS or not after:
        return not after
    if last.lower() in REFERENCES:
        return not (after[0].isdigit() or text[at + 1 :].lstrip().startswith("("))
    if last.lower() in ENDINGS:
        return after[0].isupper()
    if re.fullmatch(r"[A-Z]", last) and after[:1].isupper():
        before = tokens[-2] if len(tokens) > 1 else ","
        return not (before.endswith(",") or before in ("and", "by") or re.fullmatch(r"[A-Z]\.", before))
    return True


def split(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of one paragraph or item, each with the number of lines before it."""
    shown = plain(text)
    begin = 0
    for found in STOP.finditer(shown):
        if is_end(shown, found.start()):
            yield from whole(shown, begin, found.end())
            begin = found.end()
    yield from whole(shown, begin, len(shown))


def whole(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    """The sentence between two places, if there are words."""
    part = text[begin:end]
    if words(part):
        skipped = len(part) - len(part.lstrip())
        yield text[: begin + skipped].count("\n"), " ".join(part.split())


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs and items of a Markdown text, each with its first line's number."""
    text = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    fence = None
    held: list[str] = []
    first = 0
    listed = False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = line.strip()
        mark = FENCE.match(bare)
        if fence is not None:
            fence = None if bare == fence else fence
            continue
        item = BULLET.match(line)
        table = bare.startswith("|")
        heading = re.match(r"\s{0,3}#{1,6} ", line) or (bare and not bare.strip("-=*"))
        html = bare.startswith("<") and not re.match(r"<(https?|mailto):", bare) and TAG.match(bare)
        formula = not held and not listed and line.startswith("    ")
        if not bare or mark or item or table or heading or html or formula:
            if held:
                yield first, without_run_in("\n".join(held))
            held = []
            fence = mark[1] if mark else None
            if bare and not item and not line.startswith(" "):
                listed = False
        if item:
            listed = True
            held, first = [line[item.end() :]], number
        elif bare and not (mark or table or heading or html or formula):
            if not held:
                first = number
                listed = listed and line.startswith(" ")
            held.append(line)


def without_run_in(text: str) -> str:
    """A paragraph without the bold heading that it begins with, unless nothing follows."""
    found = RUN_IN.match(text)
    return text[found.end() :] if found and words(text[found.end() :]) else text


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a page, each with its line."""
    for first, paragraph in paragraphs(text):
        for skipped, sentence in split(paragraph):
            yield first + skipped, sentence


def rust(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of doc comments, each with its line."""
    yield from commented(text, re.compile(r"\s*//[/!](?!/) ?(.*)$"))


def commented(text: str, comment: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The sentences of runs of lines that are comments, each with its line."""
    run: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        found = comment.match(line)
        if found:
            run.append(found[1])
        elif run:
            for at, sentence in markdown("\n".join(run)):
                yield number - len(run) + at - 1, sentence
            run = []


def systemverilog(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a file's header comment, each with its line: the comments before the first line of code.

    Lines that are set in are tables and formulas, unless they go on with an item of a list.
    """
    head: list[str] = []
    listed = False
    for line in text.splitlines():
        if line.strip() and not line.startswith("//"):
            break
        said = line.removeprefix("//").removeprefix(" ")
        listed = BULLET.match(said) is not None or (listed and said.startswith("  "))
        set_in = said.startswith("  ") and not listed
        head.append("//" if set_in or "SPDX-License-Identifier" in line else line)
    yield from commented("\n".join(head), re.compile(r"// ?(.*)$"))


def python(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of docstrings, each with its line."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            first = node.body[0].lineno
            for at, sentence in markdown(ast.get_docstring(node) or ""):
                yield first + at - 1, sentence


READERS = {".md": markdown, ".rs": rust, ".py": python, ".pyi": python, ".sv": systemverilog, ".svh": systemverilog}


def sentences(path: Path) -> list[Sentence]:
    """The sentences of a file, in the order of its lines."""
    file = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    found = READERS[path.suffix](path.read_text())
    return sorted((Sentence(file, line, text, words(text)) for line, text in found), key=lambda one: one.line)


def pages() -> list[Path]:
    """The pages that are held to the rule."""
    return [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *ROOT.glob("docs/**/*.md")]


def area(file: str) -> str:
    """What a file's sentences are counted under: `pages`, `CHANGELOG.md`, a crate's folder, `rtl`, `python`."""
    parts = Path(file).parts
    if parts[0] == "docs" or file in ("README.md", "CONTRIBUTING.md", "SECURITY.md"):
        return "pages"
    return "/".join(parts[:2]) if parts[0] == "crates" else parts[0]


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files that are read under some paths, in the order of their names."""
    for path in paths:
        yield from [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in READERS)


def everything() -> list[Path]:
    """The files that are read if none is named."""
    sources = [*ROOT.glob("crates/*/src"), ROOT / "rtl", *ROOT.glob("python/ringmill*")]
    return [*sorted(pages()), ROOT / "CHANGELOG.md", *files(sorted(sources))]


@dataclass(frozen=True)
class Total:
    """How many sentences there are, how many are above the limit, the longest's words and the mean."""

    sentences: int
    above: int
    longest: int
    mean: float


def total(found: Iterable[Sentence]) -> Total:
    """What some sentences come to."""
    lengths = [one.words for one in found]
    mean = round(sum(lengths) / max(1, len(lengths)), 2)
    return Total(len(lengths), sum(n > LONGEST for n in lengths), max(lengths, default=0), mean)


def totals(found: Iterable[Sentence]) -> dict[str, Total]:
    """What the sentences of each area come to."""
    areas: dict[str, list[Sentence]] = {}
    for one in found:
        areas.setdefault(area(one.file), []).append(one)
    return {name: total(areas[name]) for name in sorted(areas)}


def main() -> None:
    """Prints what is long, and the totals."""
    arguments = argparse.ArgumentParser(description="Counts the words of sentences in pages and doc comments.")
    arguments.add_argument("paths", nargs="*", type=Path, help="files and folders; none: pages and sources")
    arguments.add_argument("--json", action="store_true", help="print one JSON object")
    asked = arguments.parse_args()
    found = [one for path in files(asked.paths) or () for one in sentences(path.resolve())]
    if not asked.paths:
        found = [one for path in everything() for one in sentences(path)]
    above = [one for one in found if one.words > LONGEST]
    if asked.json:
        areas = {name: vars(each) for name, each in totals(found).items()}
        print(json.dumps({"areas": areas, "above": [vars(one) for one in above]}))
        return
    for one in above:
        print(f"{one.file}:{one.line}: {one.words} words: {one.text}")
    for name, each in [*totals(found).items(), ("all", total(found))]:
        print(f"{name}: {each.sentences} sentences, mean {each.mean}, longest {each.longest}, above {each.above}")


if __name__ == "__main__":
    main()
