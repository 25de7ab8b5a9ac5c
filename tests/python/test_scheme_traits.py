"""What a scheme must implement, counted from the sources: few traits, few required functions, and no scheme's name in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CRATES = Path(__file__).parents[2] / "crates"
SCHEMES = {"ckks": "Ckks", "bfv": "Bfv", "bgv": "Bgv"}
# What a scheme may need; `docs/adding.md` says what each trait is for.
MOST_TRAITS, MOST_FUNCTIONS, MOST_IN_ONE = 7, 60, 15
# Reading and writing SEAL's files and Python's classes for them: only for schemes that SEAL has too.
NOT_NEEDED = ("/seal/", "/seal.rs")
# Fixed words of CKKS alone, and of the schemes of integers: no trait of all schemes has them.
NAMES = re.compile(r"\b(ckks|bfv|bgv|Ckks|Bfv|Bgv|exact\w*|Exact\w*)\b")


@dataclass
class Trait:
    name: str
    place: str
    body: str

    def required(self) -> list[str]:
        """Its functions without a body."""
        found = re.findall(r"\bfn (\w+)\s*(?:<[^>]*>)?\s*\([^;{]*([;{])", self.body)
        return [name for name, end in found if end == ";"]


def without_comments(text: str) -> str:
    text = re.sub(r"//[^\n]*", "", text)
    tests = text.find("#[cfg(test)]\nmod tests {")
    return text if tests < 0 else text[:tests]


def braced(text: str, at: int) -> str:
    """What is between the brace at or after `at` and its end."""
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
    """The types that a scheme's folder declares; what ring schemes share is none of them."""
    folder = f"/schemes/src/{scheme}/"
    texts = [text for place, text in files.items() if place.startswith(folder)]
    declared = re.compile(r"\bpub (?:struct|enum) (\w+)")
    return {name for text in texts for name in declared.findall(text)}


def implemented(files: dict[str, str], scheme: str) -> set[str]:
    """The traits that are implemented for a scheme, for it alone or by a list of schemes."""
    types = own_types(files, scheme)
    header = re.compile(r"^\s*impl\s+([\w:]+)(?:<[^{]*?>)?\s+for\s+([^{]+?)\s*(?:where[^{]*)?\{", re.MULTILINE)
    found = set()
    for place, text in files.items():
        for trait, owner in header.findall(text):
            in_folder = f"/{scheme}/" in place or place.endswith(f"/{scheme}.rs")
            others = any(f"/{other}/" in place or place.endswith(f"/{other}.rs") for other in SCHEMES if other != scheme)
            words = set(re.findall(r"\w+", owner))
            listed = re.search(r"\$scheme\b", owner) and re.search(rf"\b{scheme}::{{?{SCHEMES[scheme]}\b", text)
            if listed or SCHEMES[scheme] in words or (words & types and in_folder and not others):
                found.add(trait.split("::")[-1])
    return found


def needed() -> dict[str, dict[str, list[str]]]:
    """For each scheme the traits of ours that it implements, each with its required functions."""
    files = sources()
    ours = traits(files)
    table = {}
    for scheme in SCHEMES:
        mine = sorted(name for name in implemented(files, scheme) if name in ours)
        table[scheme] = {name: ours[name][0].required() for name in mine}
    return table


def test_a_scheme_needs_few_traits_and_functions() -> None:
    for scheme, mine in needed().items():
        counts = {name: len(functions) for name, functions in mine.items()}
        assert "Scheme" in counts and "Compiles" in counts, f"the count of {scheme} is broken: {counts}"
        why = f"a scheme is to be one folder and a few pages, and {scheme} must implement {counts}"
        assert len(counts) <= MOST_TRAITS, f"{why}: more than {MOST_TRAITS} traits; merge two, or implement one for all"
        assert sum(counts.values()) <= MOST_FUNCTIONS, f"{why}: more than {MOST_FUNCTIONS} functions; give some a body"
        assert max(counts.values()) <= MOST_IN_ONE, f"{why}: more than {MOST_IN_ONE} functions in one; split or derive some"


def test_traits_of_all_schemes_name_none() -> None:
    files = sources()
    shared = set.intersection(*(set(mine) for mine in needed().values()))
    for name in sorted(shared):
        for trait in traits(files)[name]:
            found = NAMES.findall(trait.body)
            assert not found, f"{trait.place}: the trait {name} is of all schemes and names {sorted(set(found))}"


if __name__ == "__main__":
    for scheme, mine in needed().items():
        counts = {name: len(functions) for name, functions in mine.items()}
        print(f"{scheme}: {len(counts)} traits, {sum(counts.values())} functions: {counts}")
