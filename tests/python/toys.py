# SPDX-License-Identifier: Apache-2.0
"""Parameter sets that tests compute with quickly, of no security."""

from __future__ import annotations

from typing import Any

import ringmill as rm


def bootstrapping(**options: Any) -> rm.Bootstrapping:
    """A set that bootstraps: whole numbers modulo 17^3 at N = 2^9."""
    return rm.bootstrapping(
        log_n=9,
        prime=17,
        exponents=(3, 4),
        primes=(39, 13),
        weight=8,
        allow_insecure_parameters_for_tests_only=True,
        **options,
    )
