# SPDX-License-Identifier: Apache-2.0
"""The package's errors. Each message names the expected value, the value found and a cure.

All but :class:`Interrupted` are :class:`RingmillError`. The class tells the kind of fault, whatever Python would have
raised:

* in a program, :class:`CompileError`, with the file and line of the program;
* parameters and the options that choose them, :class:`ParameterError`; values, :class:`DataError`; keys,
  :class:`KeysError`; devices, :class:`DeviceError`; paths and files, :class:`FileError`;
* the call itself (an argument that is unknown, missing or given twice) and switches that belong to none of these,
  :class:`ArgumentError`, which is a :class:`TypeError` too.

Three more are also of Python's own classes, so that code that probes for an attribute or a name keeps working. An
attribute that a traced vector does not have is a ``CompileError`` and an ``AttributeError``. One that another object
does not have is a ``RingmillError`` and an ``AttributeError``. A name that a result does not hold is a ``DataError``
and a ``KeyError``.
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
    """Nothing can check that a ciphertext and a key belong together, since one of them carries no identity."""


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
    from ringmill.messages import Run


class ArgumentError(RingmillError, TypeError):
    """A call that does not fit: an argument is unknown, missing, given twice, or of the wrong kind."""


class DefaultBoundWarning(UserWarning):
    """A program was compiled without ranges of its inputs, so the inputs must be at most 1 in absolute value."""


class MissingAttribute(CompileError, AttributeError):
    """An attribute that a traced vector does not have."""


class UnknownAttribute(RingmillError, AttributeError):
    """An attribute that an object of the package does not have."""


class UnknownName(DataError, KeyError):
    """A name that is not among the names of the inputs or outputs."""

    __str__ = Exception.__str__  # KeyError's own would quote the message


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in a run. `runs` holds the complete runs, in the order of the devices."""

    def __init__(self, message: str, runs: list[Run]) -> None:
        super().__init__(message)
        self.runs = runs
