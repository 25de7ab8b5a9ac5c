# SPDX-License-Identifier: Apache-2.0
"""Classes of the compiler's decisions on a program, which :meth:`Compiled.explain` returns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Levels:
    """The levels of a program; a ciphertext at level l has l + 1 primes."""

    available: int
    """The highest level that the parameters have."""
    needed: int | None
    """The highest level at which the program has a ciphertext; None for BFV, whose ciphertexts stay at one level."""
    products: int
    """Products in sequence on the longest chain."""


@dataclass(frozen=True)
class Step:
    """A step of the longest chain of products."""

    file: str | None
    line: int | None
    operation: str
    """The macro instruction."""
    taken: str
    """What takes levels, as ``"product"``, ``"plain-product"``, ``"constant"``, or gives them back, ``"bootstrap"``."""
    level_before: int
    level_after: int
    rescales: int
    """Primes between the two levels that the value was divided by; the others were dropped."""
    times: int
    """How often a repeat runs the step."""


@dataclass(frozen=True)
class Chain:
    """The longest chain of products, from an input to an output."""

    products: int
    steps: list[Step]
    cut: bool
    """Whether there are more steps than are listed."""


@dataclass(frozen=True)
class Digits:
    """The digits into which key switching cuts polynomials: their number, and the numbers of primes."""

    dnum: int
    ciphertext_primes: int
    special_primes: int


@dataclass(frozen=True)
class KeyCost:
    """An evaluation key of the program, and its bytes."""

    kind: str
    """``"relinearisation"``, ``"rotation"``, ``"automorphism"`` or ``"bootstrapping"``."""
    steps: int | None
    """The steps to the left of a rotation."""
    element: int | None
    """The Galois element of an automorphism."""
    bytes: int


@dataclass(frozen=True)
class Place:
    """A line of the program, and how often it carries out operations of one kind."""

    file: str | None
    line: int | None
    count: int


@dataclass(frozen=True)
class Count:
    """How often the program carries out operations of one kind, and at which lines."""

    count: int
    places: list[Place]


@dataclass(frozen=True)
class Work:
    """The limb instructions of one kind of operation."""

    operations: str
    calls: int
    limb_instructions: int
    share: float


@dataclass(frozen=True)
class Costs:
    """The operations that the compiler put into a program, by kind. Repeats count each turn."""

    bootstraps: Count
    relinearisations: Count
    rotations: Count
    key_switches: int
    """Relinearisations and rotations, without those inside bootstraps."""
    rescales: Count
    drops: Count
    refactors: Count
    work: list[Work]


@dataclass(frozen=True)
class Advice:
    """A change that the compiler tried, and what it saves. Each pair has the value before and after the change."""

    file: str | None
    line: int | None
    change: str
    levels: tuple[int, int]
    log_n: tuple[int, int]
    key_bytes: tuple[int, int]


@dataclass(frozen=True, repr=False)
class Explanation:
    """What the compiler decided about a program, and what each decision costs; ``print`` it for text."""

    program: str
    scheme: str
    log_n: int
    levels: Levels
    chain: Chain
    digits: Digits
    key_bytes: int
    keys: list[KeyCost]
    costs: Costs
    advice: list[Advice]
    advice_left_out: str | None
    """The reason why no change was tried, or None if changes were tried."""
    data: dict[str, Any]
    """The same as plain data, which ``ringmill compile --explain --json`` prints."""
    _text: str
    _html: str

    @classmethod
    def _of(cls, text: str, data: str, html: str) -> Explanation:
        plain = json.loads(data)
        chain, costs = plain["chain"], plain["costs"]
        pairs = ("levels", "log_n", "key_bytes")
        made = {
            "levels": Levels(**plain["levels"]),
            "chain": Chain(**{**chain, "steps": [Step(**step) for step in chain["steps"]]}),
            "digits": Digits(**plain["digits"]),
            "keys": [KeyCost(**key) for key in plain["keys"]],
            "costs": Costs(**{name: _counted(item) for name, item in costs.items()}),
            "advice": [Advice(**{**one, **{pair: tuple(one[pair]) for pair in pairs}}) for one in plain["advice"]],
        }
        return cls(**{**plain, **made}, data=plain, _text=text, _html=html)

    def _repr_html_(self) -> str:
        return self._html

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def _counted(item: Any) -> Any:
    """Converts a field of the costs from JSON: a number, a count with its places, or the work of each kind of
    operation.
    """
    if isinstance(item, dict):
        return Count(item["count"], [Place(**place) for place in item["places"]])
    return [Work(**work) for work in item] if isinstance(item, list) else item
