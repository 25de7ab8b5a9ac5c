# SPDX-License-Identifier: Apache-2.0
"""What a program function returned, so that decryption can give back the same structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ringmill.trace import Line, refuse


@dataclass(frozen=True)
class Shape:
    """One value, a tuple or a dict, and the names its values have as outputs of the program."""

    kind: Literal["one", "tuple", "dict"]
    names: tuple[str, ...]
    # Of each output, how many of its slots hold values; None where all do.
    lengths: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, returned: Any, line: Line, what: str) -> tuple[Shape, list[Any]]:
        """The shape of what a function, `what` in messages, returned, and its values in order."""
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
        """The shape of a program read from text: what it was saved with, otherwise its only output, or a dict."""
        if returned == "tuple" or (returned == "dict" and len(names) == 1):
            return cls(returned, tuple(names), tuple(lengths))
        return cls("one" if len(names) == 1 else "dict", tuple(names), tuple(lengths))

    def of_lengths(self, lengths: Sequence[int | None]) -> Shape:
        """The same shape of outputs of these lengths."""
        return replace(self, lengths=tuple(lengths))

    def arrays(self, vectors: Sequence[Any]) -> Any:
        """What is in whole vectors of slots, cut to the outputs' lengths, in the structure the function returned."""
        lengths = self.lengths or (None,) * len(self.names)
        return self.build([vector[:length] for vector, length in zip(vectors, lengths, strict=True)])

    def build(self, values: Sequence[Any]) -> Any:
        """The values in the structure the function returned them in."""
        match self.kind:
            case "one":
                return values[0]
            case "tuple":
                return tuple(values)
            case "dict":
                return dict(zip(self.names, values, strict=True))
