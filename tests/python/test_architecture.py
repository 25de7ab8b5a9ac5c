# SPDX-License-Identifier: Apache-2.0
"""Checks from manifests and sources which crate imports which, and that a crate's modules form no cycle (a knot)."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = "ringmill-"


@dataclass(frozen=True)
class Row:
    """The crates of ours that a crate may import, and the reason for no more."""

    imports: frozenset[str]
    why: str
    # Imports behind a cargo feature alone, each with the feature's name.
    optional: tuple[tuple[str, str], ...] = ()


def row(imports: str, why: str, **optional: str) -> Row:
    return Row(frozenset(imports.split()) | set(optional), why, tuple(optional.items()))


GROUND = "limits math isa"
LEFT = f"{GROUND} device schemes compiler"
EVERY = f"{LEFT} circuits runtime cpu machines hdl sim"
MEET = "the towers meet in `device` alone"

# The crates from the lowest to the highest. `docs/crates.md` has the same table.
TABLE = {
    "limits": row("", "every crate bounds its work with it, so it stands on none"),
    "math": row("limits", "arithmetic knows no scheme, no program and no machine"),
    "isa": row("math", "programs are data: what makes or runs them stands above"),
    "device": row(GROUND, "it says what a device is, and a device runs programs of any scheme"),
    "schemes": row(f"{GROUND} device", f"{MEET}: a scheme's operations are programs, whatever runs them"),
    "compiler": row(f"{GROUND} device schemes", f"{MEET}: what a target asks of parameters is data in `isa`"),
    "circuits": row(LEFT, f"{MEET}: a circuit runs on whatever holds the values of its program"),
    "runtime": row(LEFT, f"{MEET}: client and server run on a device that they are given"),
    "cpu": row(f"{GROUND} device", f"{MEET}: kernels run any limb program, whoever wrote it"),
    "machines": row(f"{GROUND} device", f"{MEET}: a machine schedules any limb program, whoever wrote it"),
    "hdl": row(f"{GROUND} device machines", f"{MEET}: RTL is held to its machine's model and to nothing else"),
    "sim": row(f"{GROUND} device cpu machines", f"{MEET}: results are the CPU's, cycles the machine's", hdl="rtl"),
    "papers": row(EVERY, "what stands below makes figures; commands print them"),
    "cli": row(f"{EVERY} papers", "it is the command, and nothing but Python's copy of it stands above"),
    "python": row(f"{EVERY} cli", "it serves Python; papers are the command's, which it calls as a whole"),
}

# Crates that import only some names of another: those names, and why.
NAMES = {
    ("python", "cli"): (
        # The command's entry point, and the types of its parameters and its result.
        frozenset({"main", "Trace", "TracedFile", "Untraced", "INTERRUPTED"}),
        "pip installs the command, whose `main` is all that Python needs of it; what both need is in `runtime`",
    ),
}


def knot(modules: str) -> frozenset[str]:
    return frozenset(modules.split())


# Crates whose modules form no knot.
UNTIED = frozenset({"machines", "compiler"})
# The knots that the other crates still have. A test fails on a new knot, and on a row whose knot is gone.
KNOTS: dict[str, dict[frozenset[str], str]] = {
    "math": {
        knot(
            "basext doubles error kernels modmul modulus ntt plans primes ring rns simd simd256 word"
        ): "plans time the kernels and transforms that they choose among, and these ask the plans",
    },
    "isa": {knot("def error mid"): "one error tells what is wrong on each level, in its words"},
    "schemes": {
        knot("file rlwe"): "ring values write themselves into files, whose readers know ring values",
    },
    "hdl": {
        knot(
            "area build hdl instances place prove python synth timing"
        ): "`Hdl` is the one handle of the tools: its methods are the stages, and each stage takes it",
    },
    "python": {knot("data params"): "a ciphertext is of parameters, which read ciphertexts"},
}


# ---- The crates, by their manifests.


def crates(metadata: Mapping) -> dict[str, dict[str, dict]]:
    """Returns the packages below `crates/` by their short names, each with its normal dependencies of ours."""
    found = {}
    for package in metadata["packages"]:
        if Path(package["manifest_path"]).parent.parent.name != "crates":
            continue
        normal = (d for d in package["dependencies"] if d["kind"] is None and d["name"].startswith(OURS))
        name = package["name"].removeprefix(OURS)
        found[name] = {d["name"].removeprefix(OURS): d | {"features_of": package["features"]} for d in normal}
    return found


def faults_of_crates(found: Mapping[str, Mapping[str, dict]], table: Mapping[str, Row] = TABLE) -> list[str]:
    faults = [
        f"crates/{name} has no row: say what it may import, and why nothing else" for name in found.keys() - table
    ]
    faults += [f"the table has a row for {name}, and there is no such crate" for name in table if name not in found]
    for name, dependencies in found.items():
        if (row := table.get(name)) is None:
            continue
        for other in sorted(set(dependencies) - row.imports):
            faults.append(f"{name} must not import {other}: {row.why}")
        for other, feature in row.optional:
            if (dependency := dependencies.get(other)) is None:
                continue
            enables = dependency["features_of"].get(feature, [])
            if not dependency["optional"] or f"dep:{OURS}{other}" not in enables:
                faults.append(
                    f"{name} imports {other} behind its feature `{feature}` alone, so that builds without need none"
                )
    return faults


# ---- The sources.

# Comments, strings and characters. The rest is code.
NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\bb?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\[^']+|[^'\\\n])'""", re.S | re.X
)
FOR_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*")
MODULE = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")


def end_of_item(code: str, at: int) -> int:
    """Returns the end of the item that begins at `at`: a semicolon, or the brace that closes the item."""
    depth = 0
    for mark in re.compile(r"[{};]").finditer(code, at):
        depth += {"{": 1, "}": -1, ";": 0}[mark[0]]
        if depth <= 0:
            return mark.end()
    return len(code)


def without_tests(text: str) -> tuple[str, set[str]]:
    """Returns the code of a file, and the modules in other files that it declares for tests alone."""
    code = NO_CODE.sub(lambda found: '""' if found[0].endswith('"') else " ", text)
    kept, modules, at = [], set(), 0
    for found in FOR_TESTS.finditer(code):
        if found.start() < at:
            continue
        kept.append(code[at : found.start()])
        if declared := MODULE.match(code, found.end()):
            modules.add(declared[1])
        at = end_of_item(code, found.end())
    return "".join([*kept, code[at:]]), modules


def path_of(file: str) -> tuple[str, ...]:
    """Returns the module path of a file of `src`, which is empty for `lib.rs` and `main.rs`."""
    *folders, last = file.removesuffix(".rs").split("/")
    if last == "mod" or (not folders and last in ("lib", "main")):
        return tuple(folders)
    return (*folders, last)


def code_of(files: Mapping[str, str]) -> dict[str, str]:
    """Returns the files of a crate's `src` without code for tests."""
    stripped = {file: without_tests(text) for file, text in files.items()}
    tests = {(*path_of(file), module) for file, (_, modules) in stripped.items() for module in modules}

    def tested(path: tuple[str, ...]) -> bool:
        return "tests" in path or any(path[:length] in tests for length in range(1, len(path) + 1))

    return {file: code for file, (code, _) in stripped.items() if not tested(path_of(file))}


def first_names(code: str, at: int) -> Iterable[str]:
    """Yields the first name of each path that begins at `at`. A list in braces has one for each item."""
    if (name := re.compile(r"\s*(\w+)").match(code, at)) is not None:
        yield name[1]
        return
    depth, wanted = 0, False
    for mark in re.compile(r"[{},;]|\w+(?:\s*::\s*)?").finditer(code, at):
        if mark[0] == "{":
            depth += 1
            wanted = depth == 1
        elif mark[0] == "}":
            depth -= 1
            if depth == 0:
                return
        elif mark[0] == ",":
            wanted = depth == 1
        elif mark[0] == ";":
            return
        elif wanted:
            yield re.match(r"\w+", mark[0])[0]
            wanted = False


IMPORTED = re.compile(r"\bringmill_(\w+)")


def faults_of_imports(name: str, code: Mapping[str, str], table: Mapping[str, Row] = TABLE) -> list[str]:
    """Returns the faults in what a crate's sources import, against the crate's row."""
    row, faults = table[name], []
    for file, text in code.items():
        for found in IMPORTED.finditer(text):
            other = found[1]
            if other == name or other not in table:
                continue
            line = f"crates/{name}/src/{file}"
            if other not in row.imports:
                faults.append(f"{name} must not import {other} ({line}): {row.why}")
                continue
            names, why = NAMES.get((name, other), (None, ""))
            path = re.compile(r"\s*::").match(text, found.end())
            taken = set(first_names(text, path.end())) if path else {"all of it"}
            if names is not None and (more := taken - names):
                faults.append(f"{name} must not import {', '.join(sorted(more))} of {other} ({line}): {why}")
    return faults


# ---- Knots of modules.


def exported(lib: str) -> dict[str, str]:
    """Returns names that `lib.rs` exports from a module, each with that module."""
    names = {}
    for use in re.finditer(r"\bpub(?:\([^)]*\))?\s+use\s+(?:(?:crate|self)\s*::\s*)?(\w+)\s*::([^;]*);", lib):
        words = re.findall(r"\w+(?!\s*::)", use[2])
        names.update(dict.fromkeys(words, use[1]))
    return names


def graph(code: Mapping[str, str]) -> dict[str, dict[str, set[str]]]:
    """Returns for each top-level module the modules that it names, with the files that name them."""
    modules = {path[0] for file in code if (path := path_of(file))}
    names = exported(code.get("lib.rs", ""))
    names.update(
        (macro, path_of(file)[0])
        for file, text in code.items()
        if path_of(file)
        for macro in re.findall(r"#\[macro_export\]\s*macro_rules!\s*(\w+)", text)
    )
    edges: dict[str, dict[str, set[str]]] = {module: {} for module in modules}
    for file, text in code.items():
        if not (path := path_of(file)):
            continue
        # Paths from the root begin with `crate::`, or with as many `super::` as the module is deep.
        for root in re.finditer(r"(?<![\w:])(?:\$?crate\s*::|((?:super\s*::\s*)+))", text):
            if root[1] and root[1].count("super") != len(path):
                continue
            for name in first_names(text, root.end()):
                target = name if name in modules else names.get(name)
                if target in modules and target != path[0]:
                    edges[path[0]].setdefault(target, set()).add(file)
    return edges


def knots(edges: Mapping[str, Iterable[str]]) -> set[frozenset[str]]:
    """Returns the sets of two or more modules that reach each other."""

    def reach(start: str) -> set[str]:
        seen, left = set(), [start]
        while left:
            for other in edges.get(left.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    left.append(other)
        return seen

    reached = {module: reach(module) for module in edges}
    found = {frozenset(other for other in reached[module] if module in reached[other]) for module in edges}
    return {knot for knot in found if len(knot) > 1}


def faults_of_modules(name: str, code: Mapping[str, str], known: Mapping[frozenset[str], str]) -> list[str]:
    edges = graph(code)
    found, faults = knots(edges), []
    for knot in found - set(known):
        uses = [
            f"{one} uses {other} in {', '.join(sorted(files))}"
            for one in sorted(knot)
            for other, files in sorted(edges[one].items())
            if other in knot
        ]
        faults.append(
            f"the modules {', '.join(sorted(knot))} of {name} form a knot: none is read or changed without the others. "
            + "; ".join(uses)
        )
    gone = set(known) - found
    faults += [f"the knot {', '.join(sorted(knot))} of {name} stands no longer: take its row away" for knot in gone]
    return faults


# ---- The rules hold.


@cache
def metadata() -> dict:
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


@cache
def sources() -> dict[str, dict[str, str]]:
    """Returns the code of every crate, by file."""
    found = {}
    for src in sorted(ROOT.glob("crates/*/src")):
        files = {file.relative_to(src).as_posix(): file.read_text() for file in sorted(src.rglob("*.rs"))}
        found[src.parent.name] = code_of(files)
    return found


def told(faults: list[str]) -> None:
    assert not faults, "\n".join(["", *faults])


def test_crates_import_what_stands_below_them():
    told(faults_of_crates(crates(metadata())))


def test_sources_name_what_their_crate_may_import():
    told([fault for name, code in sources().items() if name in TABLE for fault in faults_of_imports(name, code)])


def test_modules_form_no_knots():
    there = sources()
    told([fault for name, code in there.items() for fault in faults_of_modules(name, code, KNOTS.get(name, {}))])
    assert not UNTIED & set(KNOTS), "machines and compiler have no knots, so none is excused"
    told([f"knots of {name} are excused, and there is no such crate" for name in KNOTS if name not in there])


def needed(found: Mapping[str, Mapping[str, dict]], *wanted: str) -> set[str]:
    """Returns the crates of ours that a build of these needs, without features that are off by default."""
    seen, left = set(wanted), list(wanted)
    while left:
        others = found[left.pop()].items()
        more = {name for name, dependency in others if not dependency["optional"]} - seen
        seen |= more
        left += more
    return seen


def test_a_user_of_the_cpu_builds_neither_machines_nor_their_tools():
    found = crates(metadata())
    evaluates = {"limits", "math", "isa", "device", "schemes", "cpu"}
    assert needed(found, "schemes", "cpu") == evaluates, "evaluating on the CPU takes six crates"
    compiles = evaluates | {"compiler", "runtime"}
    assert needed(found, "runtime", "cpu") == compiles, "compiling and running on the CPU takes eight crates"
    assert "hdl" not in needed(found, "sim"), "who asks for no RTL builds none of its tools"


def test_the_page_has_the_same_table():
    page = (ROOT / "docs/crates.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", page.replace(" behind its feature `rtl`", ""), re.M)
    assert [name for name, _ in rows] == list(TABLE), "docs/crates.md lists the crates in the table's order"
    for name, imports in rows:
        assert set(re.findall(r"`(\w+)`", imports)) == TABLE[name].imports, f"docs/crates.md, {name}"


# ---- Each rule can fail.


Dependency = tuple[str, str | None, bool]


def package(name: str, *dependencies: Dependency, features: dict | None = None, folder: str = "crates") -> dict:
    """Returns a package as `cargo metadata` has it. A dependency has a name, a kind and whether it is optional."""
    return {
        "name": OURS + name,
        "manifest_path": f"/x/{folder}/{name}/Cargo.toml",
        "features": features or {},
        "dependencies": [{"name": OURS + n, "kind": kind, "optional": optional} for n, kind, optional in dependencies],
    }


TOY = {
    "ground": row("", "it stands on nothing"),
    "tower": row("ground", "towers stand alone"),
    "roof": row("ground tower", "it sees all", model="rtl"),
    "model": row("ground", "it is a model"),
}


def test_a_manifest_that_imports_too_much_is_told():
    whole = [
        package("ground", ("roof", "dev", False)),
        package("tower", ("ground", None, False)),
        package("roof", ("tower", None, False), ("model", None, True), features={"rtl": [f"dep:{OURS}model"]}),
        package("model"),
        package("suite", ("roof", None, False), folder="tests"),
    ]
    assert faults_of_crates(crates({"packages": whole}), TOY) == []
    for number, other, said in (
        (1, package("tower", ("model", None, False)), "tower must not import model: towers stand alone"),
        (0, package("ground", ("tower", "build", False), ("tower", None, True)), "ground must not import tower"),
        (2, package("roof", ("model", None, False)), "behind its feature `rtl` alone"),
        (2, package("roof", ("model", None, True), features={"rtl": []}), "behind its feature `rtl` alone"),
        (3, package("mode"), "crates/mode has no row"),
        (3, package("mode"), "a row for model, and there is no such crate"),
    ):
        changed = [other if at == number else one for at, one in enumerate(whole)]
        assert any(said in fault for fault in faults_of_crates(crates({"packages": changed}), TOY)), said


def test_a_source_that_names_too_much_is_told():
    clean = """
        //! As [`ringmill_roof::Roof`] does.
        use ringmill_ground::{Ground, deep::{Deeper}};
        const NAME: &str = "ringmill_roof"; /* ringmill_roof */
        #[cfg(test)]
        #[allow(dead_code)]
        mod tests { use ringmill_roof::Roof; fn f() { let brace = '}'; } }
        #[cfg(test)]
        use ringmill_model::Model;
        #[cfg(test)]
        mod toy;
    """
    files = {"lib.rs": clean, "toy.rs": "use ringmill_roof::Roof;", "a/tests.rs": "use ringmill_roof::Roof;"}
    assert faults_of_imports("tower", code_of(files), TOY) == []
    for text in ("use ringmill_roof::Roof;", "fn f(x: ringmill_model::Model) {}", clean + "use ::ringmill_roof as r;"):
        faults = faults_of_imports("tower", code_of({"a/b.rs": text}), TOY)
        assert len(faults) == 1, text
        assert "a/b.rs): towers stand alone" in faults[0], text


def test_python_takes_the_command_alone():
    def faults(text: str) -> list[str]:
        return faults_of_imports("python", code_of({"command.rs": text}))

    assert faults("use ringmill_cli::{Trace, Untraced}; fn f() { ringmill_cli::main() }") == []
    assert "must not import Bar of cli" in faults("use ringmill_cli::{Bar, main};")[0]
    assert "must not import scheme of cli" in faults("use ringmill_cli::scheme::{main};")[0]
    assert "must not import all of it of cli" in faults("use ringmill_cli as cli;")[0]
    assert "must not import papers" in faults("use ringmill_papers::Papers;")[0]


def test_a_knot_is_told():
    lib = "mod a; mod b; mod c; pub use b::{Two, deep::Three as Four};"
    base = {"lib.rs": lib, "a.rs": "use crate::{b::One, Two};", "b/mod.rs": "", "c.rs": "use crate::a;"}
    base["b/deep.rs"] = ""
    assert knots(graph(code_of(base))) == set()
    for file, text in (
        ("b/mod.rs", "use crate::a::One;"),
        ("b/mod.rs", "use super::a;"),
        ("b/deep.rs", "use super::super::{c, b};"),
        ("b/deep.rs", "fn f() -> crate::a::One {}"),
        ("b/deep.rs", "use crate::{b::{a, Two}, c::Three};"),
    ):
        faults = faults_of_modules("toy", code_of(base | {file: text}), {})
        assert len(faults) == 1, (file, text)
        assert f" in {file}" in faults[0], (file, text)
    # A re-exported name belongs to its module. A nested module with the name of a top-level one is another module.
    exported = {"lib.rs": lib, "b.rs": "use crate::a::X;", "a.rs": "use crate::Four;"}
    assert faults_of_modules("toy", code_of(exported), {})
    deep = "use super::a; #[cfg(test)] mod tests { use crate::a; }"
    assert faults_of_modules("toy", code_of(base | {"b/deep.rs": deep}), {}) == []
    # An excused knot may shrink, never grow.
    tied = code_of(base | {"b/mod.rs": "use crate::a::One;"})
    assert faults_of_modules("toy", tied, {frozenset("ab"): "why"}) == []
    assert "take its row away" in faults_of_modules("toy", code_of(base), {frozenset("ab"): "why"})[0]
    wider = code_of(base | {"b/mod.rs": "use crate::c;"})
    assert len(faults_of_modules("toy", wider, {frozenset("ab"): "why"})) == 2
