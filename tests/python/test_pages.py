# SPDX-License-Identifier: Apache-2.0
"""Tests that every code block of a page runs or says why not, and that every link and anchor leads somewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pages
import pytest

BIN = Path(sys.executable).parent
TEXTS = {pages.named(page): page.read_text() for page in pages.every_page()}
FENCES = {name: pages.fences(name, text) for name, text in TEXTS.items()}
ALL = [fence for found in FENCES.values() for fence in found]
IN_FULL = "RINGMILL_FUZZ_SECONDS" in os.environ

# What the blocks of a page need: a file that its commands name, and values that its Python goes on with.
PROGRAM = """
import ringmill as rm


@rm.program
def squares(x: rm.Encrypted):
    return x * x
"""
BEFORE = {
    "docs/compiler.md": "import ringmill as rm\n",
    "docs/devices.md": f"{PROGRAM}\ncompiled = squares.compile(slots=64)\n"
    "inputs = compiled.keygen().encrypt(x=[0.5] * 64)\n",
}


def runs(fence: pages.Fence) -> bool:
    return fence.mark is None or (fence.mark == "run in make full" and IN_FULL)


def commands(fence: pages.Fence) -> list[str]:
    """Returns the commands of a shell block, one a line, without lines that are comments."""
    joined = fence.text.replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]


@pytest.mark.parametrize("fence", ALL, ids=lambda fence: fence.place)
def test_every_block_says_what_becomes_of_it(fence):
    if fence.mark == "run by":
        path, _, name = fence.why.partition("::")
        source = (pages.ROOT / path).read_text()
        assert re.search(rf"^def {re.escape(name)}\(", source, re.M), f"{fence.place}: no test {fence.why}"
        assert Path(fence.page).name in source, f"{fence.place}: {path} does not read the page"
    elif fence.mark is not None:
        assert len(fence.why.split()) >= 4, f"{fence.place}: `{fence.mark}` needs a reason"
    else:
        assert fence.language in ("text", "toml", "python", "sh"), (
            f"{fence.place}: a block of `{fence.language}` neither runs nor is output; see tests/python/pages.py"
        )
    if fence.language == "sh" and fence.mark in (None, "run in make full"):
        for line in commands(fence):
            assert line.split()[0] in ("ringmill", "make"), f"{fence.place}: `{line}` is not run: mark the block"
    if fence.language == "toml":
        tomllib.loads(fence.text)


def test_targets_of_make_exist():
    makefile = (pages.ROOT / "Makefile").read_text()
    for fence in ALL:
        for line in commands(fence) if fence.language == "sh" else []:
            for target in re.findall(r"(?:^|&& )make ([\w-]+)", line):
                assert re.search(rf"^{target}:", makefile, re.M), f"{fence.place}: no `make {target}`"


def checkout(folder: Path) -> Path:
    """A folder that looks like a checkout to a page's commands, and takes what they write."""
    for name in ("Cargo.toml", "crates", "examples", "rtl", "target", ".venv"):
        (folder / name).symlink_to(pages.ROOT / name)
    (folder / "program.py").write_text(PROGRAM)
    return folder


SHELL = {name: [f for f in found if f.language == "sh" and runs(f)] for name, found in FENCES.items()}
PYTHON = {name: [f for f in found if f.language == "python" and runs(f)] for name, found in FENCES.items()}


@pytest.mark.parametrize("page", [name for name, found in SHELL.items() if found])
def test_commands_run(page, tmp_path):
    folder = checkout(tmp_path)
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    for fence in SHELL[page]:
        for line in commands(fence):
            if line.split()[0] == "ringmill":
                done = subprocess.run(
                    ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
                )
                assert done.returncode == 0, f"{fence.place}: `{line}`\n{done.stderr}"


@pytest.mark.parametrize("page", [name for name, found in PYTHON.items() if found])
def test_python_runs(page, tmp_path):
    """Runs a page's Python blocks one after another, in one namespace."""
    script = tmp_path / "page.py"
    script.write_text("\n".join([BEFORE.get(page, ""), *(fence.text for fence in PYTHON[page])]))
    done = subprocess.run([sys.executable, "-P", script], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{page}\n{done.stderr}"


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_somewhere(page):
    for target in pages.links(TEXTS[page]):
        if re.match(r"(?:https?|mailto):", target):
            continue
        path, _, anchor = target.partition("#")
        file = (pages.ROOT / page).parent / path if path else pages.ROOT / page
        assert file.exists(), f"{page}: no {target}"
        if anchor:
            assert anchor in pages.anchors(file.read_text()), f"{page}: {target} names no heading"


@pytest.mark.parametrize("page", TEXTS)
def test_files_that_a_page_names_exist(page):
    """A path is from the root or, beside a crate's name, from the crate's folder. A file's ending may be left out."""
    for path in re.findall(r"`((?:docs|examples|crates|fuzz|tests|rtl|benches)/[\w./-]*\w)`", TEXTS[page]):
        found = [*pages.ROOT.glob(path), *pages.ROOT.glob(f"{path}.*"), *pages.ROOT.glob(f"crates/*/{path}")]
        assert found or "NAME" in path, f"{page}: no {path}"


def cargo_commands(text: str) -> Iterator[tuple[dict[str, str], str]]:
    """Yields the options of each command `cargo test` or `cargo run` in a page, and the filter that names tests."""
    for found in re.finditer(r"cargo (?:test|run)((?: [\w:-]+)*)", text):
        options, words = {}, iter(found[1].split())
        names = ""
        for word in words:
            if word == "--":
                break
            if word in ("-p", "--test", "--bin", "--example", "--features"):
                options[word.lstrip("-")] = next(words)
            elif word.startswith("-"):
                options[word.lstrip("-")] = ""
            else:
                names = word
        yield options, names.removesuffix("::").rpartition("::")[2]


def test_cargo_commands_name_what_exists():
    """A package, a program of tests, an example or a program that a page names, and a filter that some test meets."""
    command = ["cargo", "metadata", "--no-deps", "--format-version=1", "--locked", "--offline"]
    made = json.loads(subprocess.run(command, cwd=pages.ROOT, capture_output=True, text=True, check=True).stdout)
    packages = {package["name"]: package["targets"] for package in made["packages"]}
    tests = "\n".join(
        path.read_text() for folder in ("crates", "tests") for path in (pages.ROOT / folder).rglob("*.rs")
    )
    commands = [(page, *command) for page, text in TEXTS.items() for command in cargo_commands(text)]
    assert len(commands) > 20
    for page, options, names in commands:
        assert options.get("p", "ringmill-cli") in packages, f"{page}: no package {options['p']}"
        targets = packages[options["p"]] if "p" in options else [each for found in packages.values() for each in found]
        for kind in {"test", "bin", "example"} & set(options):
            named = any(target["name"] == options[kind] and kind in target["kind"] for target in targets)
            assert named, f"{page}: no {kind} {options[kind]}"
        if "lib" in options:
            assert any(each["test"] for each in targets if "lib" in each["kind"]), f"{page}: no library here has tests"
        assert re.search(rf"\b(?:fn|mod) \w*{names}", tests), f"{page}: no test is named {names}"


def test_what_a_block_is():
    page = "a\n\n<!-- not run: a reason of five words -->\n```rust\nx\n```\n\n  ```sh\n  ls\n  ```\n"
    rust, sh = pages.fences("p.md", page)
    assert (rust.mark, rust.why, rust.language, rust.text) == ("not run", "a reason of five words", "rust", "x\n")
    assert (sh.mark, sh.text, sh.line) == (None, "ls\n", 8)
    with pytest.raises(ValueError, match=r"p.md:1: the code block has no end"):
        pages.fences("p.md", "```sh\nls\n")
    (full,) = pages.fences("p.md", "<!-- run in make full: it takes some minutes -->\n\n```sh\nls\n```\n")
    assert full.mark == "run in make full"


def test_anchors_are_githubs():
    text = "# The `ring` machine\n## A, b & c: d-e_f\n## RTL\n```text\n# no\n```\n## RTL\n"
    assert pages.anchors(text) == {"the-ring-machine", "a-b--c-d-e_f", "rtl", "rtl-1"}
    assert pages.slug("What [this](x.md) is") == "what-this-is"
    assert pages.links('[a](b.md#c) `[x](no)` ![p](q.svg) <img src="r.svg">') == ["b.md#c", "q.svg", "r.svg"]
