# SPDX-License-Identifier: Apache-2.0
"""Remembers the structure of a program function's result, so that decryption can return the same structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ringmill.trace import Line, refuse


@dataclass(frozen=True)
class Shape:
    """The structure of a result (a value, a tuple or a dict), and the names of its values as outputs of the program."""

    kind: Literal["one", "tuple", "dict"]
    names: tuple[str, ...]
    # For each output, how many of its slots hold values, or None if all do.
    lengths: tuple[int | None, ...] = ()
    # The types of the vectors of slots, if they are not those of the arguments.
    signature: Any = None

    @classmethod
    def of(cls, returned: Any, line: Line, what: str) -> tuple[Shape, list[Any]]:
        """Returns the shape of a function's result, and its values in order. Messages name the function `what`."""
        if isinstance(returned, dict):
            if not all(isinstance(name, str) and name.isidentifier() for name in returned):
                refuse(f"{what} returns a dict, and a dict names its values with identifiers", line)
            shape, values = cls("dict", tuple(returned)), list(returned.values())
        elif isinstance(returned, (tuple, list)):
            shape, values = cls("tuple", tuple(f"out{i}" for i in range(len(returned)))), list(returned)
        else:
            shape, values = cls("one", ("out",)), [returned]
        if not values or returned is None:
            refuse(f"{what} returns nothing; return the encrypted values it computes", line)
        return shape, values

    @classmethod
    def of_text(cls, names: Sequence[str], returned: str | None, lengths: Sequence[int | None] = ()) -> Shape:
        """Returns the shape of a program read from text: the saved one, else its only output, or a dict."""
        if returned == "tuple" or (returned == "dict" and len(names) == 1):
            return cls(returned, tuple(names), tuple(lengths))
        return cls("one" if len(names) == 1 else "dict", tuple(names), tuple(lengths))

    def of_lengths(self, lengths: Sequence[int | None]) -> Shape:
        """Returns the same shape, with outputs of these lengths."""
        return replace(self, lengths=tuple(lengths))

    def arrays(self, vectors: Sequence[Any]) -> Any:
        """Cuts whole vectors of slots to the outputs' lengths, and returns them in the structure of the result."""
        lengths = self.lengths or (None,) * len(self.names)
        return self.build([vector[:length] for vector, length in zip(vectors, lengths, strict=True)])

    def build(self, values: Sequence[Any]) -> Any:
        """Returns the values in the structure of the function's result."""
        match self.kind:
            case "one":
                return values[0]
            case "tuple":
                return tuple(values)
            case "dict":
                return dict(zip(self.names, values, strict=True))
