# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/python.md has exactly the public names of the package, with their arguments."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ringmill as rm
from ringmill.program import compile_traced

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "python.md").read_text()
# The first cells of tables, the names in them, and their arguments where a name is called.
CELLS = [line.split(" | ")[0].removeprefix("| ") for line in PAGE.splitlines() if line.startswith("| `")]
ITEMS = [item for cell in CELLS for item in re.findall(r"`([^`]+)`", cell)]
NAMES = [item.partition("(")[0] for item in ITEMS]


def owner_and_object(name: str) -> tuple[Any, Any]:
    """Returns the object that a name on the page stands for, and the class that has it."""
    first, _, rest = name.partition(".")
    if first == "rm":
        return None, getattr(rm, rest)
    owner = getattr(rm, first)
    # The objects of a class have the names that the class only annotates.
    return owner, inspect.getattr_static(owner, rest, None) or owner.__annotations__[rest]


def test_every_public_name_is_on_the_page():
    shown = [name.removeprefix("rm.") for name in NAMES if name.startswith("rm.")]
    assert sorted(shown) == sorted(rm.__all__)


def test_every_name_on_the_page_exists():
    dotted = [name for name in NAMES if "." in name]
    assert len(dotted) > 120
    for name in dotted:
        owner_and_object(name)


def public(owner: type) -> set[str]:
    """Returns the methods and properties that a class of the package, or a base of it in the package, defines."""
    classes = [base for base in owner.__mro__ if base.__module__.startswith("ringmill")]
    found = {name: item for base in classes for name, item in vars(base).items() if not name.startswith("_")}
    return {name for name, item in found.items() if callable(item) or isinstance(item, property)}


@pytest.mark.parametrize("name", ["Program", "Compiled", "Client", "Report", "CompiledCircuit", "CircuitClient"])
def test_the_page_has_what_a_class_has(name):
    shown = {item.split(".")[1] for item in NAMES if item.startswith(f"{name}.")}
    assert public(getattr(rm, name)) - shown <= {"signature"}


def arguments(text: str) -> list[tuple[str, str | None]]:
    """Returns the names of arguments in a call as the page writes it, each with its default."""
    made = ast.parse(f"def f{text[text.index('(') :]}: pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    of = made.args
    defaults = [None] * (len(of.args) - len(of.defaults)) + [ast.unparse(default) for default in of.defaults]
    found = [(argument.arg, default) for argument, default in zip(of.args, defaults, strict=True)]
    only = zip(of.kwonlyargs, of.kw_defaults, strict=True)
    found += [(argument.arg, default and ast.unparse(default)) for argument, default in only]
    return found + [(argument.arg, None) for argument in (of.vararg, of.kwarg) if argument]


@pytest.mark.parametrize("item", [item for item in ITEMS if "(" in item])
def test_the_arguments_are_those_of_the_call(item):
    owner, called = owner_and_object(item.partition("(")[0])
    signature = inspect.signature(called)
    given = [
        (name, None if one.default is inspect.Parameter.empty else repr(one.default))
        for name, one in signature.parameters.items()
        if not (owner is not None and name == "self")
    ]
    assert sorted(arguments(item)) == sorted(given)


def test_every_compile_option_is_on_the_page():
    decided = {"traced", "shape", "signature", "choice"}
    options = (set(inspect.signature(compile_traced).parameters) | {"slots", "scheme", "batch"}) - decided
    rows = PAGE.split("| option | default |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", rows, re.M)) == options


def test_the_example_runs_as_it_says():
    block, _ = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=300, check=True)
    names, bits = done.stdout.splitlines()
    assert f"  # {names}\n" in block
    assert float(bits) > 20


def test_a_client_and_a_server_send_bytes():
    _, block = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=300, check=True)
    assert f"  # {done.stdout}" in block
