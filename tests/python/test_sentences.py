# SPDX-License-Identifier: Apache-2.0
"""Sentences of pages and doc comments stay short, and the splitter that counts their words splits where they end."""

from __future__ import annotations

from pathlib import Path

import pytest
import sentences
from sentences import LONGEST, MEAN, ROOT, Total, total


def of(paths: list[Path]) -> list[sentences.Sentence]:
    return [one for path in paths for one in sentences.sentences(path)]


def folders() -> dict[str, list[Path]]:
    """The folders whose doc comments are counted, each with the files in it."""
    crates = {f"crates/{path.parent.name}": [path] for path in ROOT.glob("crates/*/src")}
    return {name: [*sentences.files(at)] for name, at in {**crates, "rtl": [ROOT / "rtl"]}.items()} | {
        "python": [*sentences.files(ROOT.glob("python/ringmill*"))]
    }


@pytest.mark.parametrize("page", sorted(sentences.pages()), ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_of_a_page_are_short(page):
    found = of([page])
    long = [f"{one.file}:{one.line}: {one.words} words: {one.text}" for one in found if one.words > LONGEST]
    assert not long, "say it in two sentences (docs/style.md):\n" + "\n".join(long)
    assert total(found).mean <= MEAN


def test_the_mean_of_the_pages_is_low():
    assert total(of(sentences.pages())).mean <= MEAN


@pytest.mark.parametrize("area", sorted(folders()))
def test_doc_comments_are_short(area):
    found = total(of(folders()[area]))
    assert found.above == 0, f"`python tests/python/sentences.py {area}` lists them"
    assert found.mean <= MEAN


def split(text: str) -> list[str]:
    return [sentence for _, sentence in sentences.markdown(text)]


def test_full_stops_question_and_exclamation_marks_end_a_sentence():
    assert split("It runs. Does it? It does! Yes") == ["It runs.", "Does it?", "It does!", "Yes"]
    assert split('He says "stop." Then he goes.\nOn.') == ['He says "stop."', "Then he goes.", "On."]
    assert split("It holds (see below.) And on.") == ["It holds (see below.)", "And on."]


@pytest.mark.parametrize(
    "text",
    [
        "A scheme, e.g. CKKS, is read.",
        "A prime, i.e. A number, is read.",
        "So says Fig. 3 of the paper, and Eq. (7).",
        "It takes 3.5 ms at 1.25 GHz in version 0.17.6 of the tool.",
        "Terms, factors etc. are read.",
        "J. H. Cheon and A. Kim wrote it.",
        "Halevi et al. show it.",
        "Two are read: one; two; three; and more.",
        "It calls `a. B`, then [c](d. E) too.",
        "It is at docs/style.md or in file.py of the tree.",
    ],
)
def test_what_ends_no_sentence(text):
    assert len(split(text)) == 1


def test_ends_that_look_like_abbreviations():
    assert split("There is one of degree N. The next is of degree M.") == [
        "There is one of degree N.",
        "The next is of degree M.",
    ]
    assert split("The answer is no. That is all, etc. Then it ends.") == [
        "The answer is no.",
        "That is all, etc.",
        "Then it ends.",
    ]


def test_items_and_paragraphs_end_sentences_and_colons_do_not():
    assert split("It has:\n\n- one\n- two,\n  and more\n1. three\n\nEnd") == [
        "It has:",
        "one",
        "two, and more",
        "three",
        "End",
    ]


def test_what_is_no_prose():
    page = """
# A heading. It is long.

<!-- a comment. Another. -->
| a. | b. |
| --- | --- |

```sh
make. all.
```

    a = b. c

<picture>

Text with `code of some words` and [a link](https://x.y/z).
"""
    assert split(page) == ["Text with CODE and a link."]
    assert sentences.words("Text with CODE - and a = link.") == 6


def test_a_bold_heading_is_no_sentence():
    assert split("- **Results.** They are the same.") == ["They are the same."]
    assert split("**Results.**") == ["Results."]


def test_lines_are_those_where_sentences_begin():
    assert [*sentences.markdown("# H\n\nOne\ntwo. Three `four\nfive` six.\nSeven.")] == [
        (3, "One two."),
        (4, "Three CODE six."),
        (6, "Seven."),
    ]


def test_doc_comments_of_rust():
    text = "//! Crate. It runs.\n\n// no\n/// One\n/// two.\n///\n/// ```\n/// code. code.\n/// ```\nfn f() {} /// no\n"
    assert [*sentences.rust(text)] == [(1, "Crate."), (1, "It runs."), (4, "One two.")]


def test_docstrings_of_python():
    text = '"""Module."""\n\ndef f():\n    """One.\n\n    Two.\n    """\n    x = "No. No."\n'
    assert [*sentences.python(text)] == [(1, "Module."), (4, "One."), (6, "Two.")]


def test_headers_of_systemverilog():
    text = (
        "// SPDX-License-Identifier: Apache-2.0\n// One. Two\n// three:\n//\n//   a   table.\n//\n// - four\n"
        "//   five\n\nmodule m; // no\n"
    )
    assert [*sentences.systemverilog(text)] == [(2, "One."), (2, "Two three:"), (7, "four five")]


def test_totals():
    found = [sentences.Sentence("docs/a.md", 1, "", words) for words in (41, 40, 3)]
    assert total(found) == Total(sentences=3, above=1, longest=41, mean=28.0)
    assert sentences.totals(found) == {"pages": total(found)}
    assert sentences.area("crates/math/src/lib.rs") == "crates/math"
    assert sentences.area("README.md") == "pages"
