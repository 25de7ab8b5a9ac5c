# SPDX-License-Identifier: Apache-2.0
"""Insecure parameter sets with which tests compute quickly."""

from __future__ import annotations

from typing import Any

import ringmill as rm


def bootstrapping(**options: Any) -> rm.Bootstrapping:
    """Returns a set that bootstraps: whole numbers modulo 17^3 at N = 2^9."""
    return rm.bootstrapping(
        log_n=9,
        prime=17,
        exponents=(3, 4),
        primes=(39, 13),
        weight=8,
        allow_insecure_parameters_for_tests_only=True,
        **options,
    )
