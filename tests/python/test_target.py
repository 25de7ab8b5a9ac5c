"""Programs made for a machine: parameters that fit it, and refusals that name the field of its description."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ringmill as rm

ROOT = Path(__file__).resolve().parents[2]


@rm.program
def square(x: rm.Encrypted):
    return x * x


def test_a_program_made_for_a_machine_runs_on_it() -> None:
    values = np.linspace(-1, 1, 64)
    compiled = square.compile(slots=64, sample={"x": values}, precision=8, target="polymul")
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=values), device="sim:polymul")
    assert np.allclose(client.decrypt(run), values**2, atol=2**-8)


def test_the_refusal_names_the_field(tmp_path: Path) -> None:
    with pytest.raises(rm.CompileError, match=r"machine ring takes no such program.*field log_n"):
        square.compile(slots=2**15, input_bound=1, target="ring")
    with pytest.raises(rm.DeviceError, match="abacus"):
        square.compile(slots=64, input_bound=1, target="abacus")
    with pytest.raises(rm.DeviceError, match="target"):
        square.compile(slots=64, input_bound=1, target=3)
    narrow = tmp_path / "narrow.toml"
    text = (ROOT / "crates/machines/src/ring/medha.toml").read_text().replace("word_bits = 60", "word_bits = 26")
    narrow.write_text(text)
    with pytest.raises(rm.CompileError, match="field word_bits allows at most 26"):
        square.compile(slots=64, input_bound=1, target=str(narrow))
