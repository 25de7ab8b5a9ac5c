# SPDX-License-Identifier: Apache-2.0
"""The package's errors: each says what was expected, what came and what to do.

All are :class:`RingmillError`. What is wrong decides the class, whatever Python would have raised:

* in a program, :class:`CompileError`, with the file and line of the program;
* parameters and what chooses them, :class:`ParameterError`; values, :class:`DataError`; keys, :class:`KeysError`;
  devices, :class:`DeviceError`; paths and files, :class:`FileError`;
* the call itself (an argument that is unknown, missing or given twice) and switches that belong to none of these,
  :class:`ArgumentError`, which is a :class:`TypeError` too.

Three more are of Python's own kinds as well, so that code that asks before it takes goes on working. An attribute that
a traced vector does not have is a ``CompileError`` and an ``AttributeError``. One that another object does not have is
a ``RingmillError`` and an ``AttributeError``. A name that a result does not hold is a ``DataError`` and a ``KeyError``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringmill._ringmill import (
    CompileError,
    DataError,
    DeviceError,
    FileError,
    KeysError,
    ParameterError,
    RingmillError,
)


class KeysWarning(UserWarning):
    """It cannot be checked that a ciphertext and a key belong together, since one of them carries no identity."""


__all__ = [
    "ArgumentError",
    "CompileError",
    "DataError",
    "DefaultBoundWarning",
    "DeviceError",
    "FileError",
    "Interrupted",
    "KeysError",
    "KeysWarning",
    "ParameterError",
    "RingmillError",
]

if TYPE_CHECKING:
    from ringmill.runtime import Run


class ArgumentError(RingmillError, TypeError):
    """A call that does not fit: an argument that is unknown, missing, given twice, or of the wrong kind."""


class DefaultBoundWarning(UserWarning):
    """A program was compiled without a word on how large its inputs are, so that they must be small."""


class MissingAttribute(CompileError, AttributeError):
    """An attribute that a traced vector does not have."""


class UnknownAttribute(RingmillError, AttributeError):
    """An attribute that an object of the package does not have."""


class UnknownName(DataError, KeyError):
    """A name that is not among those of the inputs or outputs."""

    __str__ = Exception.__str__  # KeyError's own would quote the message


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a run on several devices; `runs` holds those that were complete, in order."""

    def __init__(self, message: str, runs: list[Run]) -> None:
        super().__init__(message)
        self.runs = runs
