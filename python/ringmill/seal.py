"""Microsoft SEAL's files, computed on: SEAL's bytes in, SEAL's bytes out, SEAL's result bit for bit."""

from __future__ import annotations

from typing import Any

from ringmill._ringmill import seal as _seal
from ringmill.check import arguments, content, flag, guarded, integer, items, number, optional, text
from ringmill.errors import ArgumentError, DataError, ParameterError
from ringmill.values import numeric

_STEP = integer(-(2**63), 2**63 - 1)


def _slots(name: str, value: Any) -> Any:
    array = numeric(name, value)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, and has shape {array.shape}; ravel it first")
    return array


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

SealClient = _seal.SealClient


class SealEvaluator(_seal.SealEvaluator):
    __doc__ = _seal.SealEvaluator.__doc__

    @arguments("SealEvaluator", parms=content, **_OPTIONS)
    def __new__(
        cls,
        parms: bytes,
        *,
        security_table: str = "guidelines_2024",
        allow_insecure_parameters_for_tests_only: bool = False,
        compression: str = "zstd",
    ) -> SealEvaluator:
        return super().__new__(
            cls,
            parms,
            security_table=security_table,
            allow_insecure_parameters_for_tests_only=allow_insecure_parameters_for_tests_only,
            compression=compression,
        )


__all__ = ["SealClient", "SealEvaluator"]
