# SPDX-License-Identifier: Apache-2.0
"""Random programs of arrays are right or refused: results, shapes and kinds are numpy's."""

from __future__ import annotations

import os

import pytest
import random_arrays

FULL = "RINGMILL_FUZZ_SECONDS" in os.environ  # `make full`
SEEDS = {
    "in the clear": (range(0, 1000 if FULL else 60), {"whole": False, "encrypted": False}),
    "whole numbers in the clear": (range(0, 600 if FULL else 30), {"whole": True, "encrypted": False}),
    "ckks": (range(0, 250 if FULL else 14), {"whole": False}),
    "bfv": (range(0, 100 if FULL else 5), {"whole": True, "scheme": "bfv"}),
    "bgv": (range(0, 50 if FULL else 3), {"whole": True, "scheme": "bgv"}),
}


@pytest.mark.parametrize("name", SEEDS)
def test_random_programs_are_numpys_or_refused(name):
    seeds, how = SEEDS[name]
    refused = []
    for seed in seeds:
        drawn = random_arrays.draw(seed, how["whole"])
        outcome = random_arrays.tried(drawn, **how)
        assert outcome.fault is None, f"seed {seed}: {[step for step, _ in drawn.steps]}: {outcome.fault}"
        refused += [outcome.refused] if outcome.refused else []
    # Results that do not depend on what is encrypted are refused with a reason of their own.
    other = [said for said in refused if "whatever is encrypted" not in said and "transparent" not in said]
    assert len(other) <= max(1, 0.03 * len(seeds)), other


@pytest.mark.parametrize("whole", [False, True])
def test_random_programs_of_a_batch_are_numpys_for_each_input(whole):
    for seed in range(300 if FULL else 12):
        drawn = random_arrays.draw(seed, whole)
        outcome = random_arrays.tried_in_a_batch(drawn, whole, seed)
        assert outcome == random_arrays.Outcome(), f"seed {seed}: {[step for step, _ in drawn.steps]}: {outcome}"
