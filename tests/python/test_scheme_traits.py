# SPDX-License-Identifier: Apache-2.0
"""Counts from the sources what a scheme must implement: few traits with few required functions, and none for one scheme
alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"
SCHEMES = {"ckks": "Ckks", "bfv": "Bfv", "bgv": "Bgv"}
# The most traits and functions that a scheme may need. `docs/adding.md` says what each trait is for.
MOST_TRAITS, MOST_FUNCTIONS, MOST_IN_ONE = 7, 60, 15
# Files for SEAL and their Python classes, which only schemes of SEAL need.
NOT_NEEDED = ("/seal/", "/seal.rs")
# Names of one scheme or of integers. No trait of all schemes may have them.
NAMES = re.compile(r"\b(ckks|bfv|bgv|Ckks|Bfv|Bgv|exact\w*|Exact\w*)\b")


@dataclass
class Trait:
    name: str
    place: str
    body: str

    def required(self) -> list[str]:
        """Returns the functions of the trait without a body."""
        body = re.sub(r"\[[^\[\]]*\]", "[]", self.body)
        found = re.findall(r"\bfn (\w+)\s*(?:<[^>]*>)?\s*\([^;{]*([;{])", body)
        return [name for name, end in found if end == ";"]


def without_comments(text: str) -> str:
    text = re.sub(r"//[^\n]*", "", text)
    tests = text.find("#[cfg(test)]\nmod tests {")
    return text if tests < 0 else text[:tests]


def braced(text: str, at: int) -> str:
    """Returns the text between the brace at or after `at` and its end."""
    start = text.index("{", at)
    depth = 0
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[start + 1 : place]
    raise ValueError(f"a brace is not closed: {text[at : at + 60]!r}")


def sources() -> dict[str, str]:
    files = sorted(CRATES.glob("*/src/**/*.rs"))
    named = {"/" + path.relative_to(CRATES).as_posix(): path for path in files}
    return {
        name: without_comments(path.read_text())
        for name, path in named.items()
        if not any(part in name for part in NOT_NEEDED) and "/tests/" not in name
    }


def traits(files: dict[str, str]) -> dict[str, list[Trait]]:
    found: dict[str, list[Trait]] = {}
    for place, text in files.items():
        for match in re.finditer(r"^\s*pub(?:\([a-z]+\))? trait (\w+)", text, re.MULTILINE):
            trait = Trait(match[1], place, braced(text, match.end()))
            found.setdefault(match[1], []).append(trait)
    return found


def own_types(files: dict[str, str], scheme: str) -> set[str]:
    """Returns the types that a scheme's folder declares. Types that ring schemes share are not among them."""
    folder = f"/schemes/src/{scheme}/"
    texts = [text for place, text in files.items() if place.startswith(folder)]
    declared = re.compile(r"\bpub (?:struct|enum) (\w+)")
    return {name for text in texts for name in declared.findall(text)}


def is_of(place: str, scheme: str) -> bool:
    return f"/{scheme}/" in place or place.endswith(f"/{scheme}.rs")


def implemented(files: dict[str, str], scheme: str) -> set[str]:
    """Returns the traits that are implemented for a scheme or its own types, alone or in a list of schemes."""
    types = own_types(files, scheme)
    header = re.compile(r"^\s*impl\s+([\w:]+)(?:<[^{]*?>)?\s+for\s+([^{]+?)\s*(?:where[^{]*)?\{", re.MULTILINE)
    found = set()
    for place, text in files.items():
        for trait, owner in header.findall(text):
            words = set(re.findall(r"\w+", owner))
            listed = "$scheme" in owner and re.search(rf"\b{scheme}::{{?{SCHEMES[scheme]}\b", text)
            # Folders have types of the same name. In a scheme's folder the name means its own type.
            own = words & types and [other for other in SCHEMES if is_of(place, other)] == [scheme]
            if listed or own or SCHEMES[scheme] in words:
                found.add(trait.split("::")[-1])
    return found


def needed() -> dict[str, list[Trait]]:
    """Returns for each scheme the traits of ours that it implements."""
    files = sources()
    ours = traits(files)
    return {scheme: [ours[name][0] for name in sorted(implemented(files, scheme) & set(ours))] for scheme in SCHEMES}


def counts(mine: list[Trait]) -> dict[str, int]:
    return {trait.name: len(trait.required()) for trait in mine}


def test_functions_without_a_body_are_counted() -> None:
    body = "const A: u8; fn a(&self) -> [u8; 3]; fn b<T>(x: T) -> u8 { c(); } fn d();"
    assert Trait("T", "t.rs", body).required() == ["a", "d"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_needs_few_traits_and_functions(scheme: str) -> None:
    mine = counts(needed()[scheme])
    assert {"Scheme", "Compiles", "Served"} <= set(mine), f"the count of {scheme} misses what every scheme has: {mine}"
    why = f"a scheme is to be one folder and a few pages, and {scheme} must implement {mine}"
    assert len(mine) <= MOST_TRAITS, f"{why}: more than {MOST_TRAITS} traits; merge two, or implement one for all"
    assert sum(mine.values()) <= MOST_FUNCTIONS, f"{why}: more than {MOST_FUNCTIONS} functions; give some a body"
    assert max(mine.values()) <= MOST_IN_ONE, f"{why}: more than {MOST_IN_ONE} functions in one; derive some"


def test_traits_of_all_schemes_name_none() -> None:
    shared = {trait.place: trait for mine in needed().values() for trait in mine if "/exact/" not in trait.place}
    assert len(shared) >= len(SCHEMES)
    for place, trait in shared.items():
        found = sorted(set(NAMES.findall(trait.body)))
        assert not found, f"{place}: the trait {trait.name} is of all schemes and names {found}"


if __name__ == "__main__":
    for scheme, mine in needed().items():
        print(f"{scheme}: {len(mine)} traits, {sum(counts(mine).values())} functions: {counts(mine)}")
