"""What the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

import ringmill as rm

ROOT = Path(__file__).resolve().parents[2]

# Small and quick, and insecure: the tests ask about results and errors, not about security.
SMALL = {"log_n": 11, "bits": [50, 40, 40, 40, 50], "allow_insecure_parameters_for_tests_only": True}


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def small() -> rm.Params:
    """Ring degree 2^11, three levels."""
    return rm.params(**SMALL)
