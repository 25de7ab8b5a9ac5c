# SPDX-License-Identifier: Apache-2.0
"""Encrypts a program's inputs, whoever holds the key: checks them, packs them into vectors of slots, encrypts these."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ringmill._ringmill import Ciphertext, EvaluationKeys
from ringmill.arrays.interface import Interface
from ringmill.check import closest
from ringmill.errors import DataError, UnknownName
from ringmill.inputs import Given
from ringmill.log import timed
from ringmill.messages import Inputs
from ringmill.schemes import Signature
from ringmill.values import as_vectors

# Encrypts vectors of slots by name.
Encrypt = Callable[[Mapping[str, "np.ndarray[Any, Any]"]], dict[str, Ciphertext]]


@dataclass(frozen=True)
class Encryption:
    """How the values of a program's encrypted inputs become vectors of `slots` slots."""

    given: Given
    signature: Signature
    arrays: Interface | None
    slots: int

    def inputs(self, values: Mapping[str, Any], encrypt: Encrypt, keys: EvaluationKeys | None) -> Inputs:
        """Encrypts the values of all encrypted inputs, by the function `encrypt`. `keys` are sent along."""
        parts: list[tuple[int | None, Mapping[str, Any]]] = [(None, values)]
        if self.arrays is None:
            known = self.signature.types
            for name in values:
                if known and name not in known:
                    raise UnknownName(f"the program has no input `{name}`; {closest(name, known)}")
        else:
            completed = self.arrays.completed(values, True)
            parts = list(self.arrays.parts(completed))
            said = self.given.refused_by_encrypt(completed)
            if said is not None:
                raise DataError(said)
        first, *others = [self._part(packed, batch, encrypt, keys) for batch, packed in parts]
        return replace(first, more=tuple(others)) if others else first

    def _part(
        self, values: Mapping[str, Any], batch: int | None, encrypt: Encrypt, keys: EvaluationKeys | None
    ) -> Inputs:
        """Encrypts vectors of slots."""
        vectors = as_vectors(values, self.slots, self.signature.of)
        try:
            with timed(logging.DEBUG, "encrypted %s", ", ".join(vectors)):
                ciphertexts = encrypt(vectors)
        except DataError as error:
            said = self.given.refused_by_encrypt(values)
            raise error if said is None else DataError(said) from None
        return Inputs(ciphertexts, keys, batch)
