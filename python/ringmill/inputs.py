# SPDX-License-Identifier: Apache-2.0
"""Describes how a compiled program's inputs are given, for the messages about inputs that are missing or given in the
wrong way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Given:
    """The names of a program's inputs, and the calls that take them."""

    encrypted: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    key: str | None = None
    """The name of the public key that encrypts, or None for the client's own secret key."""

    @classmethod
    def of(cls, inputs: Sequence[tuple[str, bool]]) -> Given:
        """Makes the description from inputs by name, each with whether it arrives encrypted."""
        return cls(
            tuple(name for name, encrypted in inputs if encrypted),
            tuple(name for name, encrypted in inputs if not encrypted),
        )

    @property
    def encrypt(self) -> str:
        """The call that encrypts the inputs."""
        if self.key is None:
            return f"client.encrypt({_keywords(self.encrypted)})"
        return f"compiled.encrypt({self.key}, {_keywords(self.encrypted)})"

    @property
    def measure(self) -> str:
        """The call that takes all inputs in the clear."""
        return f"client.measure(run, {_keywords((*self.encrypted, *self.plain))})"

    @property
    def run(self) -> str:
        """The call that runs the program on the encrypted inputs."""
        plain = ", ".join(f'"{name}": ...' for name in self.plain)
        return f"compiled.run(inputs, plain={{{plain}}})" if plain else "compiled.run(inputs)"

    @property
    def run_of_encrypted(self) -> str:
        """Both calls, one after the other."""
        return f"encrypt the values first, inputs = {self.encrypt}, and then {self.run}"

    def refused_by_encrypt(self, inputs: Collection[str]) -> str | None:
        """Returns the fault in the names that are given to encrypt, or None."""
        for name in inputs:
            if name in self.plain:
                return f"input `{name}` is plain and is not encrypted; give it to the run, {self.run}"
        missing = _first_missing(self.encrypted, inputs)
        return missing and (
            f"no value was given for encrypted input `{missing}`; pass one by that name, {self.encrypt}: every "
            "encrypted input is given, used or not"
        )

    def refused_by_run(self, ciphertexts: Collection[str], plain: Mapping[str, Any]) -> str | None:
        """Returns the fault in the names that are given to a run, or None."""
        missing = _first_missing(self.encrypted, ciphertexts)
        if missing:
            return (
                f"no ciphertext was given for encrypted input `{missing}`; encrypt it with the others, {self.encrypt}"
            )
        if any(name not in self.plain for name in plain):
            return None  # the compiled half names the right ones
        missing = _first_missing(self.plain, plain)
        return missing and f"no value was given for plain input `{missing}`; give it to the run, {self.run}"


def _keywords(names: Iterable[str]) -> str:
    return ", ".join(f"{name}=..." for name in names) or "name=..."


def _first_missing(names: Iterable[str], given: Collection[str]) -> str | None:
    return next((name for name in names if name not in given), None)
