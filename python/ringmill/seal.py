"""Microsoft SEAL's files, computed on: SEAL's bytes in, SEAL's bytes out, SEAL's result bit for bit."""

from __future__ import annotations

from ringmill._ringmill import seal as _seal

SealClient = _seal.SealClient
SealEvaluator = _seal.SealEvaluator

__all__ = ["SealClient", "SealEvaluator"]
