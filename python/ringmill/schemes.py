# SPDX-License-Identifier: Apache-2.0
"""Lists the schemes with the plaintext types that each takes, and chooses among them. It is Python's only such list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ringmill import types
from ringmill.check import closest, shown
from ringmill.trace import Line, refuse
from ringmill.types import SLOTS, Type

# The scheme that a traced program's text names if no scheme takes its types. No compiler takes it.
UNDECIDED = "none"


@dataclass(frozen=True)
class Scheme:
    """A scheme: its name in programs, the kinds of scalars that it takes, in arrays too, and whether it is exact."""

    name: str
    kinds: frozenset[str]
    exact: bool = False

    def takes(self, kind: Type) -> bool:
        return kind.kind in self.kinds

    @property
    def slots(self) -> Type:
        """The type of inputs whose types are not known."""
        return types.WHOLES if self.exact else types.SLOTS


_WHOLE = frozenset({types.integer.kind, types.bit.kind, types.uint(1).kind})

# The order is the order of preference.
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
        """Returns the type of an argument. A program read from text keeps no types, so its arguments are vectors of the
        scheme's numbers.
        """
        return self.types.get(name, self.unknown)

    def lengths(self, slots: int) -> dict[str, int]:
        """Returns the lengths of the arguments that are arrays of fewer values than the program has slots."""
        kinds = self.types.items()
        return {name: kind.length for name, kind in kinds if kind.length is not None and kind.length < slots}


@dataclass(frozen=True)
class Choice:
    """A scheme's name, and the reason for the choice."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


def possible(signature: Signature) -> list[Scheme]:
    """Returns the schemes that take all the arguments."""
    return [s for s in SCHEMES if all(s.takes(kind) for kind in signature.types.values())]


def named(name: str) -> Scheme | None:
    """Returns the scheme with this name, or None."""
    return next((s for s in SCHEMES if s.name == name), None)


def of_text(name: str, lengths: Mapping[str, int | None] | None = None) -> Signature:
    """Returns what is known about the arguments of a program read from text: their names and lengths, and the scheme's
    numbers.
    """
    scheme = named(name)
    unknown = types.SLOTS if scheme is None else scheme.slots
    kinds = {name: unknown if length is None else unknown[length] for name, length in (lengths or {}).items()}
    return Signature(kinds, unknown=unknown)


def name_in_text(scheme: str | None, signature: Signature, given: str | None = None) -> str:
    """Returns the scheme that a program's text names while it is traced. :func:`choose` confirms or refuses it
    afterwards.
    """
    if scheme in {s.name for s in SCHEMES}:
        return str(scheme)
    names = [s.name for s in possible(signature)]
    if given in names:
        return str(given)
    return names[0] if names else UNDECIDED


def choose(scheme: str | None, signature: Signature, given: str | None = None) -> Choice:
    """Returns the requested scheme, or by default the first scheme that takes all the arguments.

    If parameters are given and no scheme is requested, it is the scheme of the parameters, `given`.

    Raises :class:`CompileError` at the program's line for an unknown name, and with the argument's name and type for an
    argument that the scheme, or every scheme, does not take.
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
    """Returns the scheme `text` that a program's text names. `scheme`, if it is given, must be the same."""
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
    """Returns each scheme with the types that it takes, as text."""
    takes = ((s.name, ", ".join(sorted(s.kinds - {types.SLOTS.kind}))) for s in SCHEMES)
    return "; ".join(f"{name} takes {kinds}" for name, kinds in takes)
