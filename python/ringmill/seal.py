# SPDX-License-Identifier: Apache-2.0
"""Microsoft SEAL's files, computed on: SEAL's bytes in, SEAL's bytes out, SEAL's result bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringmill._ringmill import seal as _seal
from ringmill.check import arguments, content, flag, guarded, integer, items, number, optional, shown, text
from ringmill.errors import ArgumentError, DataError, ParameterError
from ringmill.values import numeric

_STEP = integer(-(2**63), 2**63 - 1)


def _slots(name: str, value: Any) -> Any:
    array = numeric(name, value)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, and has shape {array.shape}; ravel it first")
    return array


def _integers(name: str, value: Any) -> list[int]:
    """Whole numbers of Python or numpy, exactly: no bool, no float."""
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
guarded("", **{**_CHECKS, "steps": _STEP})(_seal.SealEvaluator)
guarded("SealClient.generate and SealClient.load make clients", **_CHECKS)(_seal.SealClient)

_EXACT = {"integers": _integers, "unsigned": flag(), "columns": flag()}
guarded("", **{**_CHECKS, "steps": _STEP})(_seal.SealBfvEvaluator)
guarded("SealBfvClient.generate and SealBfvClient.load make clients", **_CHECKS, **_EXACT)(_seal.SealBfvClient)
guarded("", **{**_CHECKS, "steps": _STEP})(_seal.SealBgvEvaluator)
guarded("SealBgvClient.generate and SealBgvClient.load make clients", **_CHECKS, **_EXACT)(_seal.SealBgvClient)

SealClient = _seal.SealClient
SealBfvClient = _seal.SealBfvClient
SealBgvClient = _seal.SealBgvClient


class SealEvaluator(_seal.SealEvaluator):
    __doc__ = _seal.SealEvaluator.__doc__

    @arguments("SealEvaluator", parms=content, device=optional(text(ArgumentError)), **_OPTIONS)
    def __new__(
        cls,
        parms: bytes,
        *,
        security_table: str = "guidelines_2024",
        allow_insecure_parameters_for_tests_only: bool = False,
        compression: str = "zstd",
        device: str | None = None,
    ) -> SealEvaluator:
        return super().__new__(
            cls,
            parms,
            security_table=security_table,
            allow_insecure_parameters_for_tests_only=allow_insecure_parameters_for_tests_only,
            compression=compression,
            device=device,
        )


class SealBfvEvaluator(_seal.SealBfvEvaluator):
    __doc__ = _seal.SealBfvEvaluator.__doc__

    @arguments("SealBfvEvaluator", parms=content, device=optional(text(ArgumentError)), **_OPTIONS)
    def __new__(
        cls,
        parms: bytes,
        *,
        security_table: str = "guidelines_2024",
        allow_insecure_parameters_for_tests_only: bool = False,
        compression: str = "zstd",
        device: str | None = None,
    ) -> SealBfvEvaluator:
        return super().__new__(
            cls,
            parms,
            security_table=security_table,
            allow_insecure_parameters_for_tests_only=allow_insecure_parameters_for_tests_only,
            compression=compression,
            device=device,
        )


class SealBgvEvaluator(_seal.SealBgvEvaluator):
    __doc__ = _seal.SealBgvEvaluator.__doc__

    @arguments("SealBgvEvaluator", parms=content, device=optional(text(ArgumentError)), **_OPTIONS)
    def __new__(
        cls,
        parms: bytes,
        *,
        security_table: str = "guidelines_2024",
        allow_insecure_parameters_for_tests_only: bool = False,
        compression: str = "zstd",
        device: str | None = None,
    ) -> SealBgvEvaluator:
        return super().__new__(
            cls,
            parms,
            security_table=security_table,
            allow_insecure_parameters_for_tests_only=allow_insecure_parameters_for_tests_only,
            compression=compression,
            device=device,
        )


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
