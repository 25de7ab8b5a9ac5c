"""The package's errors: each says what was expected, what came and what to do."""

from __future__ import annotations

from ringmill._ringmill import (
    CompileError,
    DataError,
    DeviceError,
    FileError,
    KeysError,
    ParameterError,
    RingmillError,
)

__all__ = [
    "CompileError",
    "DataError",
    "DeviceError",
    "FileError",
    "KeysError",
    "ParameterError",
    "RingmillError",
]
