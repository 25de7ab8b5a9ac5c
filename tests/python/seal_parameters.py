# SPDX-License-Identifier: Apache-2.0
"""Parameters made by Microsoft SEAL, for tests that need no more of it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def parameters(sealapi: Any) -> bytes:
    """Ring degree 4096 and three primes, as SEAL saves them."""
    parms = sealapi.EncryptionParameters(sealapi.SCHEME_TYPE.CKKS)
    parms.set_poly_modulus_degree(4096)
    parms.set_coeff_modulus(sealapi.CoeffModulus.Create(4096, [36, 36, 37]))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "parms"
        parms.save(str(path))
        return path.read_bytes()
