# SPDX-License-Identifier: Apache-2.0
"""Computes on Microsoft SEAL's files, from bytes to bytes. An evaluator's results equal SEAL's own bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringmill._ringmill import seal as _seal
from ringmill.check import Check, arguments, content, flag, guarded, integer, items, number, optional, shown, text
from ringmill.errors import ArgumentError, DataError, ParameterError
from ringmill.values import numeric

_STEP = integer(-(2**63), 2**63 - 1)


def _slots(name: str, value: Any) -> Any:
    array = numeric(name, value)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, and has shape {array.shape}; ravel it first")
    return array


def _integers(name: str, value: Any) -> list[int]:
    """Checks whole numbers of Python or numpy, which stay exact. A bool and a float are refused."""
    if isinstance(value, np.ndarray):
        if value.ndim != 1:
            raise DataError(f"{name} must be one-dimensional, and has shape {value.shape}; ravel it first")
        if value.dtype.kind not in "iu" and value.dtype != object:
            raise DataError(f"{name} must hold whole numbers, and holds {value.dtype}; round and convert them first")
        value = value.tolist()
    try:
        listed = list(value)
    except TypeError:
        raise DataError(f"{name} must be a list or an array of whole numbers, and is {shown(value)}") from None
    number = integer(-(2**127), 2**127 - 1, DataError)
    return [number(f"{name}[{i}]", x) for i, x in enumerate(listed)]


_OPTIONS = {
    "security_table": text(ParameterError),
    "allow_insecure_parameters_for_tests_only": flag(ParameterError),
    "compression": text(ParameterError),
}
_CHECKS = {
    **dict.fromkeys(["parms", "secret_key", "data", "a", "b", "plain", "cipher"], content),
    **_OPTIONS,
    "steps": items(_STEP, "a list of whole numbers", ArgumentError),
    "values": _slots,
    "scale": number(DataError),
    "level": optional(integer(0, 2**32 - 1, DataError)),
    "conjugation": flag(),
}
_EXACT = {"integers": _integers, "unsigned": flag(), "columns": flag()}


def _client(base: type, **checks: Check) -> type:
    """Makes a client's class whose methods check their arguments."""
    return guarded(f"{base.__name__}.generate and {base.__name__}.load make clients", **_CHECKS, **checks)(base)


def _evaluator(base: type) -> type:
    """Makes an evaluator's class whose constructor and methods check their arguments."""
    guarded("", **{**_CHECKS, "steps": _STEP})(base)

    @arguments(base.__name__, parms=content, device=optional(text(ArgumentError)), **_OPTIONS)
    def new(
        cls: type,
        parms: bytes,
        *,
        security_table: str = "guidelines_2024",
        allow_insecure_parameters_for_tests_only: bool = False,
        compression: str = "zstd",
        device: str | None = None,
    ) -> Any:
        return base.__new__(
            cls,
            parms,
            security_table=security_table,
            allow_insecure_parameters_for_tests_only=allow_insecure_parameters_for_tests_only,
            compression=compression,
            device=device,
        )

    return type(base.__name__, (base,), {"__new__": new, "__doc__": base.__doc__})


SealClient = _client(_seal.SealClient)
SealBfvClient = _client(_seal.SealBfvClient, **_EXACT)
SealBgvClient = _client(_seal.SealBgvClient, **_EXACT)
SealEvaluator = _evaluator(_seal.SealEvaluator)
SealBfvEvaluator = _evaluator(_seal.SealBfvEvaluator)
SealBgvEvaluator = _evaluator(_seal.SealBgvEvaluator)

__all__ = [
    "SealBfvClient",
    "SealBfvEvaluator",
    "SealBgvClient",
    "SealBgvEvaluator",
    "SealClient",
    "SealEvaluator",
]


def __dir__() -> list[str]:
    return __all__
