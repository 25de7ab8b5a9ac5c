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
    partial: bool = False
    """Whether other parties may encrypt the inputs that are not given."""

    def inputs(self, values: Mapping[str, Any], encrypt: Encrypt, keys: EvaluationKeys | None) -> Inputs:
        """Encrypts the values of encrypted inputs, by the function `encrypt`. `keys` are sent along."""
        if self.partial:
            return replace(self, given=self._given_part(values), partial=False).inputs(values, encrypt, keys)
        parts: list[tuple[int | None, Mapping[str, Any]]] = [(None, values)]
        if self.arrays is None:
            known = self.signature.types
            for name in values:
                if known and name not in known:
                    raise UnknownName(f"the program has no input `{name}`; {closest(name, known)}")
        else:
            whole = set(self.given.encrypted) == set(self.arrays.given.encrypted)
            completed = self.arrays.completed(values, True) if whole else dict(values)
            parts = list(self.arrays.parts(completed))
            said = self.given.refused_by_encrypt(completed)
            if said is not None:
                raise DataError(said)
        first, *others = [self._part(packed, batch, encrypt, keys) for batch, packed in parts]
        return replace(first, more=tuple(others)) if others else first

    def _given_part(self, values: Mapping[str, Any]) -> Given:
        """Returns the description of the inputs that this party gives. It gives all if the others have defaults."""
        if not values:
            raise DataError(f"no value was given; give one or more of the encrypted inputs, {self.given.encrypt}")
        defaults = set() if self.arrays is None else set(self.arrays.defaults)
        if set(self.given.encrypted) <= set(values) | defaults:
            return self.given
        return replace(self.given, encrypted=tuple(name for name in self.given.encrypted if name in values))

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
