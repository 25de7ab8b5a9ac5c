# SPDX-License-Identifier: Apache-2.0
"""The schemes, the plaintext types that each takes, and the choice among them: Python's only list of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ringmill import types
from ringmill.check import closest, shown
from ringmill.trace import Line, refuse
from ringmill.types import SLOTS, Type

# What the text of a program names whose types no scheme takes; no compiler takes it.
UNDECIDED = "none"


@dataclass(frozen=True)
class Scheme:
    """A scheme by its name in programs, the kinds of scalars it takes, in arrays too, and whether results are exact."""

    name: str
    kinds: frozenset[str]
    exact: bool = False

    def takes(self, kind: Type) -> bool:
        return kind.kind in self.kinds

    @property
    def slots(self) -> Type:
        """What the inputs of a program hold of whose types nothing is known."""
        return types.WHOLES if self.exact else types.SLOTS


_WHOLE = frozenset({types.integer.kind, types.bit.kind, types.uint(1).kind})

# In order of preference.
SCHEMES: tuple[Scheme, ...] = (
    Scheme("ckks", frozenset({types.real.kind, types.SLOTS.kind})),
    Scheme("bfv", _WHOLE, exact=True),
    Scheme("bgv", _WHOLE, exact=True),
)


@dataclass(frozen=True)
class Signature:
    """The types of a program's arguments by name, and the program's line."""

    types: Mapping[str, Type] = field(default_factory=dict)
    line: Line | None = None
    unknown: Type = SLOTS

    def of(self, name: str) -> Type:
        """The type of an argument; of a program read from text, which keeps none, vectors of its scheme's numbers."""
        return self.types.get(name, self.unknown)

    def lengths(self, slots: int) -> dict[str, int]:
        """Of the arguments that are arrays of fewer values than a program has slots."""
        kinds = self.types.items()
        return {name: kind.length for name, kind in kinds if kind.length is not None and kind.length < slots}


@dataclass(frozen=True)
class Choice:
    """A scheme's name, and why it is that one."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


def possible(signature: Signature) -> list[Scheme]:
    """The schemes that take all the arguments."""
    return [s for s in SCHEMES if all(s.takes(kind) for kind in signature.types.values())]


def named(name: str) -> Scheme | None:
    """The scheme of a name; None for one that is none."""
    return next((s for s in SCHEMES if s.name == name), None)


def of_text(name: str, lengths: Mapping[str, int | None] | None = None) -> Signature:
    """What is known of the arguments of a program read from text that names a scheme: names and lengths."""
    scheme = named(name)
    unknown = types.SLOTS if scheme is None else scheme.slots
    kinds = {name: unknown if length is None else unknown[length] for name, length in (lengths or {}).items()}
    return Signature(kinds, unknown=unknown)


def name_in_text(scheme: str | None, signature: Signature, given: str | None = None) -> str:
    """The scheme that the text of a program names while it is traced, which :func:`choose` then confirms or refuses."""
    if scheme in {s.name for s in SCHEMES}:
        return str(scheme)
    names = [s.name for s in possible(signature)]
    if given in names:
        return str(given)
    return names[0] if names else UNDECIDED


def choose(scheme: str | None, signature: Signature, given: str | None = None) -> Choice:
    """The scheme that is asked for or, where none is, the first that takes all the arguments.

    Where parameters are given and none is asked for, it is the one that they are `given` for.

    Raises :class:`CompileError` at the program's line for a name that is none, and with the argument's name and type
    for one that the scheme, or every scheme, does not take.
    """
    if scheme is not None:
        return _named(scheme, signature)
    found = possible(signature)
    kinds = _kinds(signature)
    if not found:
        for name, kind in signature.types.items():
            if not _takers(kind):
                told = types.named(kind)
                refuse(
                    f"argument {name} is of type {told}, which no scheme takes: {_all()}; @rm.circuit takes it",
                    signature.line,
                )
        refuse(f"no scheme takes {kinds} in one program: {_all()}", signature.line)
    if given is not None and given not in {s.name for s in found}:
        takes = ", ".join(s.name for s in found)
        refuse(f"the parameters are for {given}, which does not take {kinds}; use those of {takes}", signature.line)
    if len(found) == 1:
        return Choice(found[0].name, f"the only scheme here that takes {kinds}")
    if given is not None:
        return Choice(given, "the parameters are for it")
    names = ", ".join(s.name for s in found)
    return Choice(found[0].name, f"the first of {names}, which take {kinds}; scheme= names another")


def choose_for_text(scheme: str | None, text: str) -> Choice:
    """The scheme `text` that a program read from text names; `scheme`, if there is one, must be the same."""
    if scheme is not None and _known(scheme, None).name != text:
        refuse(f"scheme={shown(scheme)} is asked for, and the program is for the scheme {text}; leave scheme= out")
    return Choice(text, "the program names it")


def _named(scheme: str, signature: Signature) -> Choice:
    wanted = _known(scheme, signature.line)
    for name, kind in signature.types.items():
        if not wanted.takes(kind):
            others = _takers(kind)
            cure = f"scheme={others[0]!r} does" if others else f"no scheme does: {_all()}; @rm.circuit does"
            told = types.named(kind)
            refuse(f"{wanted.name} does not take {told}, the type of argument {name}; {cure}", signature.line)
    return Choice(wanted.name, "named by scheme=")


def _known(scheme: str, line: Line | None) -> Scheme:
    by_name = {s.name: s for s in SCHEMES}
    if scheme not in by_name:
        refuse(f"there is no scheme {shown(scheme)}; {closest(scheme, by_name)}", line)
    return by_name[scheme]


def _takers(kind: Type) -> list[str]:
    return [s.name for s in SCHEMES if s.takes(kind)]


def _kinds(signature: Signature) -> str:
    elements = dict.fromkeys(kind.element for kind in signature.types.values())
    return " and ".join(types.named(kind) for kind in elements)


def _all() -> str:
    """Each scheme with the types it takes."""
    takes = ((s.name, ", ".join(sorted(s.kinds - {types.SLOTS.kind}))) for s in SCHEMES)
    return "; ".join(f"{name} takes {kinds}" for name, kinds in takes)
