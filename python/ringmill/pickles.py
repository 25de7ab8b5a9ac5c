# SPDX-License-Identifier: Apache-2.0
"""Pickles and copies what clients and servers exchange, and what they compile. A pickle holds the bytes of files.

A pickle brings its own parameters, insecure ones too. Whoever reads a pickle trusts its writer, as Python says itself.
Nothing here pickles a secret key.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ringmill._ringmill import (
    Ciphertext,
    CircuitEvaluationKeys,
    CircuitParams,
    EncryptedIntegers,
    EvaluationKeys,
    Params,
    PublicKey,
    security_tables,
)
from ringmill.circuit_run import CompiledCircuit
from ringmill.compiled import Compiled

_ALLOWED = {"allow_insecure_parameters_for_tests_only": True}


@functools.lru_cache(maxsize=8)
def params_of(data: bytes) -> Params:
    """Returns the parameters of a pickle. Several objects of the same parameters share them."""
    return Params.from_bytes(data, tables=security_tables(), **_ALLOWED)


@functools.lru_cache(maxsize=8)
def circuit_params_of(data: bytes) -> CircuitParams:
    """Returns the parameters of circuits of a pickle. Several objects of the same parameters share them."""
    return CircuitParams.from_bytes(data, **_ALLOWED)


def ciphertext_of(data: bytes, params: bytes) -> Ciphertext:
    return Ciphertext.from_bytes(data, params_of(params))


def keys_of(data: bytes, params: bytes) -> EvaluationKeys:
    return EvaluationKeys.from_bytes(data, params_of(params))


def public_key_of(data: bytes, params: bytes) -> PublicKey:
    return PublicKey.from_bytes(data, params_of(params))


def program_of(data: bytes) -> Compiled:
    return Compiled.from_bytes(data, tables=security_tables(), **_ALLOWED)


def integers_of(data: bytes, params: bytes) -> EncryptedIntegers:
    return EncryptedIntegers.from_bytes(data, circuit_params_of(params))


def circuit_keys_of(data: bytes, params: bytes) -> CircuitEvaluationKeys:
    return CircuitEvaluationKeys.from_bytes(data, circuit_params_of(params))


def circuit_of(data: bytes) -> CompiledCircuit:
    return CompiledCircuit.from_bytes(data, **_ALLOWED)


def _alone(of: Any) -> tuple[bytes, ...]:
    return (of.to_bytes(),)


def _with_params(of: Any) -> tuple[bytes, ...]:
    return of.to_bytes(), of.params.to_bytes()


# For each class, the function that makes an object of the bytes that the pickle holds, and these bytes.
_PICKLES: dict[type, tuple[Callable[..., Any], Callable[[Any], tuple[bytes, ...]]]] = {
    Params: (params_of, _alone),
    Ciphertext: (ciphertext_of, _with_params),
    EvaluationKeys: (keys_of, _with_params),
    PublicKey: (public_key_of, _with_params),
    Compiled: (program_of, _alone),
    CircuitParams: (circuit_params_of, _alone),
    EncryptedIntegers: (integers_of, _with_params),
    CircuitEvaluationKeys: (circuit_keys_of, _with_params),
    CompiledCircuit: (circuit_of, _alone),
}


def install() -> None:
    """Makes the objects picklable. A copy is the object itself, since it does not change."""
    for cls, (make, parts) in _PICKLES.items():
        cls.__reduce_ex__ = _reduced(make, parts)  # type: ignore[method-assign, assignment]
        cls.__copy__ = cls.__deepcopy__ = _itself  # type: ignore[attr-defined]


def _reduced(make: Callable[..., Any], parts: Callable[[Any], tuple[bytes, ...]]) -> Callable[..., Any]:
    def reduced(self: Any, _protocol: Any) -> tuple[Callable[..., Any], tuple[bytes, ...]]:
        return make, parts(self)

    return reduced


def _itself(self: Any, *_memo: Any) -> Any:
    return self
