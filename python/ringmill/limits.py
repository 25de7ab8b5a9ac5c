# SPDX-License-Identifier: Apache-2.0
"""Limits on the resources of work, read and set in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ringmill._ringmill import memory_limit
from ringmill.check import arguments, integer, optional, shown, text
from ringmill.errors import ArgumentError

_BYTES = integer(1, 2**64 - 1)


def memory_size(name: str, value: Any) -> str:
    if isinstance(value, str):
        return text()(name, value)
    try:
        return str(_BYTES(name, value))
    except ArgumentError:
        wanted = "a positive number of bytes or text such as '4GiB'"
        raise ArgumentError(f"{name} must be {wanted}, and is {shown(value)}") from None


@dataclass(frozen=True)
class Limits:
    """The limits in force in this process."""

    memory: int
    """The bytes that one piece of work (reading a file, compiling, making keys, a run) may take."""


Limits.__init__ = arguments("rm.Limits", memory=_BYTES)(Limits.__init__)  # type: ignore[method-assign]


@arguments("rm.limits", memory=optional(memory_size))
def limits(*, memory: int | str | None = None) -> Limits:
    """Sets the given limits for all work begun from now on, and returns the limits in force.

    `memory` is a number of bytes, or text such as ``"4GiB"`` or ``"512M"``. Work that would take more raises
    ``MemoryError`` before it begins, and work that turns out to take more raises it on the way. If nothing is set here,
    the environment variable ``RINGMILL_MAX_MEMORY`` counts. Without the variable the limit is four fifths of the memory
    that is available to the process. Raises :class:`ArgumentError` for an invalid size.

    >>> import ringmill as rm
    >>> before = rm.limits()
    >>> rm.limits(memory="2GiB").memory
    2147483648
    >>> rm.limits(memory=before.memory) == before
    True
    """
    try:
        return Limits(memory_limit(memory))  # the check turned it into text
    except ValueError as error:
        raise ArgumentError(f"memory: {error}") from None
