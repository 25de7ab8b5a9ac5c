# SPDX-License-Identifier: Apache-2.0
"""What the compiler decided: ``compiled.explain()`` and ``ringmill compile --explain``."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
import toys

import ringmill as rm


@rm.program
def score(x: rm.Encrypted, w: rm.Plain):
    y = rm.sum(x * w, 4)
    z = y * y * x
    return (z + (x << 3)) * 0.25


@rm.program
def whole(x: rm.Encrypted[rm.integer[16]]):
    return rm.repeat(3, lambda y: y * x + 1, x)


@rm.program
def power(x: rm.Encrypted[rm.integer[4]]):
    return rm.repeat(9, lambda y: y * y * y, x)


FIRST = inspect.getsourcelines(score._function if hasattr(score, "_function") else score.__wrapped__)[1]


@pytest.fixture(scope="module")
def compiled():
    return score.compile(slots=64, input_bound=1, precision=20)


def test_levels_have_the_lines_that_take_them(compiled):
    explained = compiled.explain()
    assert explained.levels.available == explained.levels.needed == 4
    assert explained.levels.products == 4
    steps = [(s.line - FIRST, s.taken, s.level_before, s.level_after) for s in explained.chain.steps]
    assert steps == [
        (2, "plain-product", 4, 3),
        (3, "product", 3, 2),
        (3, "product", 2, 1),
        (4, "constant", 1, 0),
    ]
    assert all(step.file == __file__ for step in explained.chain.steps)


def test_keys_add_up_and_name_their_rotations(compiled):
    explained = compiled.explain()
    assert sum(key.bytes for key in explained.keys) == explained.key_bytes == compiled.key_bytes
    assert sorted(key.steps for key in explained.keys if key.kind == "rotation") == [1, 2, 3]
    assert explained.digits.ciphertext_primes == len(compiled.params.ciphertext_primes)
    assert explained.digits.special_primes == len(compiled.params.special_primes)


def test_costs_are_counted(compiled):
    costs = compiled.explain().costs
    assert (costs.relinearisations.count, costs.rotations.count, costs.key_switches) == (2, 3, 5)
    assert costs.bootstraps.count == 0
    assert sum(work.limb_instructions for work in costs.work) == sum(compiled.counts()[1].values())


def test_advice_is_true(compiled):
    """Whoever follows it gets what it says."""
    (advice,) = [one for one in compiled.explain().advice if one.line is not None]

    @rm.program
    def without(x: rm.Encrypted, w: rm.Plain):
        y = rm.sum(x * w, 4)
        z = y * y * x
        return z + (x << 3)

    other = without.compile(slots=64, input_bound=1, precision=20)
    assert advice.key_bytes == (compiled.key_bytes, other.key_bytes)
    assert advice.levels == (4, other.explain().levels.needed)


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_whole_numbers_in_a_loop(scheme):
    explained = whole.compile(scheme=scheme, slots=16, input_bound=2).explain()
    assert explained.scheme == scheme
    assert explained.levels.products == 3
    assert (explained.levels.needed is None) == (scheme == "bfv")
    assert explained.costs.relinearisations.count == 3


def test_a_program_that_bootstraps():
    explained = power.compile(bootstrapping=toys.bootstrapping()).explain()
    assert explained.levels.products == 18
    assert explained.costs.bootstraps.count > 0
    assert "bootstrap" in [step.taken for step in explained.chain.steps]
    assert "bootstraps" in explained.advice_left_out


def test_the_command_prints_the_same(compiled, ringmill, tmp_path):
    path = tmp_path / "score.rmac"
    compiled.save(path)
    loaded = rm.load(path).explain()
    assert ringmill("compile", path, "--explain") == str(loaded)
    assert json.loads(ringmill("compile", path, "--explain", "--json")) == loaded.data
    page = tmp_path / "score.html"
    ringmill("compile", path, "--explain", "--html", page, "-o", tmp_path / "score.txt")
    assert (tmp_path / "score.txt").read_text() == str(loaded)
    assert "What would make it cheaper" in page.read_text()


@pytest.mark.parametrize("other", [["--emit", "mid"], ["--machine", "ring"]])
def test_the_command_explains_or_prints_a_level(compiled, ringmill, tmp_path, other):
    path = tmp_path / "score.rmac"
    compiled.save(path)
    assert "--explain" in ringmill("compile", path, "--explain", *other, status=2)


def test_a_notebook_shows_tables(compiled):
    explained = compiled.explain()
    assert "<table" in explained._repr_html_()
    assert repr(explained) == str(explained)


@rm.program
def deep(x: rm.Encrypted):
    y = x
    for _ in range(200):
        y = y * x
    return y


@rm.program
def deep_whole(x: rm.Encrypted[rm.integer[16]]):
    return rm.repeat(60, lambda y: y * x, x)


def test_too_many_products_name_the_line_the_limit_and_the_count():
    with pytest.raises(rm.ParameterError) as caught:
        deep.compile(slots=64, input_bound=1, bootstrapping=False)
    said = str(caught.value)
    assert said.startswith(f"{__file__}:")
    assert "the program needs 200 levels" in said
    assert "multiply at most" in said
    # No precision makes room for so many primes.
    assert "ask for a precision" not in said


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_too_many_products_of_whole_numbers_name_a_set_that_bootstraps(scheme):
    with pytest.raises(rm.ParameterError) as caught:
        deep_whole.compile(scheme=scheme, slots=16, input_bound=1)
    said = str(caught.value)
    assert said.startswith(f"{__file__}:")
    assert "multiplies 60 times in sequence" in said
    assert 'rm.bootstrapping("basalisc")' in said


def test_the_command_names_the_line_too(ringmill, tmp_path):
    (tmp_path / "deep.py").write_text(
        "import ringmill as rm\n\n@rm.program\ndef deep(x: rm.Encrypted):\n    y = x\n"
        "    for _ in range(130):\n        y = y * x\n    return y\n"
    )
    said = ringmill("compile", tmp_path / "deep.py", "--slots", "64", "--input-bound", "1", "--digits", "13", status=2)
    assert "deep.py:7: levels run out here" in said


@rm.program
def distant_constant(x: rm.Encrypted):
    return x * x * x * x * 0.001


def test_given_parameters_name_the_compilers_if_they_do():
    small = rm.params(log_n=11, bits=[50, 40, 40, 50], allow_insecure_parameters_for_tests_only=True)
    with pytest.raises(rm.CompileError, match="let the compiler choose the parameters"):
        distant_constant.compile(small, slots=64, input_bound=1)
    compiled = distant_constant.compile(slots=64, input_bound=1)
    assert np.isfinite(bits := compiled.predicted_bits["out"]), bits
