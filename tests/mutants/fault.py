# SPDX-License-Identifier: Apache-2.0
"""A fault: a place in a source, and the text that replaces it."""

from dataclasses import dataclass, field
from typing import Literal

# A part of the changed text: new text, or a range of the source that may hold faults of its own.
Part = str | tuple[int, int]
Form = Literal["expression", "statement", "entry"]


@dataclass(frozen=True)
class Fault:
    """One change of one expression, statement or function."""

    crate: str
    path: str
    line: int
    start: int
    end: int
    form: Form
    changed: tuple[Part, ...]
    old: str = field(compare=False)
    new: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.old} -> {self.new}"
