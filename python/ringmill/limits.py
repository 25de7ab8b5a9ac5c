# SPDX-License-Identifier: Apache-2.0
"""What work may take: one place to read and set it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ringmill._ringmill import memory_limit
from ringmill.check import arguments, integer, optional, shown, text
from ringmill.errors import ArgumentError

_BYTES = integer(1, 2**64 - 1)


def _memory(name: str, value: Any) -> str:
    if isinstance(value, str):
        return text()(name, value)
    try:
        return str(_BYTES(name, value))
    except ArgumentError:
        wanted = "a positive number of bytes or text such as '4GiB'"
        raise ArgumentError(f"{name} must be {wanted}, and is {shown(value)}") from None


@dataclass(frozen=True)
class Limits:
    """The limits that hold, for this process."""

    memory: int
    """Bytes that one piece of work (reading a file, compiling, making keys, a run) may take."""


Limits.__init__ = arguments("rm.Limits", memory=_BYTES)(Limits.__init__)  # type: ignore[method-assign]


@arguments("rm.limits", memory=optional(_memory))
def limits(*, memory: int | str | None = None) -> Limits:
    """Sets the limits that are given, for all work begun from now on, and returns those that hold.

    `memory` is a number of bytes, or text such as ``"4GiB"`` or ``"512M"``. What would take more raises ``MemoryError``
    before it is begun. Where nothing is set here, the environment variable ``RINGMILL_MAX_MEMORY`` counts, and without
    it four fifths of the memory that is available to the process. Raises :class:`ArgumentError` for what is no size.

    >>> import ringmill as rm
    >>> before = rm.limits()
    >>> rm.limits(memory="2GiB").memory
    2147483648
    >>> rm.limits(memory=before.memory) == before
    True
    """
    try:
        return Limits(memory_limit(memory))  # the check made text of it
    except ValueError as error:
        raise ArgumentError(f"memory: {error}") from None
