# SPDX-License-Identifier: Apache-2.0
"""Compares one compiled program on several machines and the CPU: rows as plain data, and their table."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from conftest import COMMAND, ROOT

import ringmill as rm

SLOTS = 16


@rm.program
def squares(x: rm.Encrypted, p: rm.Plain):
    return rm.sum(x * x * p, SLOTS)


@pytest.fixture(scope="module")
def compiled(small):
    return squares.compile(small, slots=SLOTS, input_bound=1)


def test_rows_are_those_of_the_command(compiled, tmp_path):
    table = rm.compare(compiled, ["ring", "ring-stored"], set={"clock_mhz": [100, 200.0], "ring:rpaus": 10})
    assert [row["case"] for row in table] == [
        "ring clock_mhz=100 rpaus=10",
        "ring clock_mhz=200.0 rpaus=10",
        "ring-stored clock_mhz=100",
        "ring-stored clock_mhz=200.0",
    ]
    mine = squares.compile(slots=SLOTS, input_bound=1, target="ring")
    (row,) = rm.compare(mine, ["ring"], set={"rpaus": [4]}, send_keys=True)
    path = tmp_path / "squares.rmac"
    mine.save(path)
    asked = ["compare", path, "--machine", "ring", "--set", "rpaus=4", "--send-keys", "--no-cpu", "--json"]
    done = subprocess.run([COMMAND, *asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert row == json.loads(done.stdout)
    assert row["set"] == {"rpaus": "4"}
    assert row["seconds"] > 0
    assert row["speedup"] is None


def test_with_inputs_the_cpu_is_measured(compiled):
    client = compiled.keygen()
    inputs = client.encrypt(x=np.linspace(0, 1, SLOTS))
    plain = {"p": np.ones(SLOTS)}
    table = rm.compare(compiled, ["ring"], inputs=inputs, plain=plain, threads=1)
    cpu, ring = table
    assert (cpu["case"], cpu["how"], cpu["threads"], cpu["speedup"]) == ("cpu:1", "measured", 1, 1.0)
    assert ring["speedup"] == cpu["seconds"] / ring["seconds"]
    assert ring["parameters"] == cpu["parameters"]
    assert str(table).startswith("Comparison of `squares`")
    assert "cpu:1" in str(table)
    html = table._repr_html_()
    assert html.startswith("<table>")
    assert "<td>ring</td>" in html


def test_a_machine_beside_a_host_has_its_total_with_inputs_only():
    @rm.program
    def square(x: rm.Encrypted):
        return x * x

    compiled = square.compile(slots=SLOTS, input_bound=1, precision=6, target="polymul")
    (row,) = rm.compare(compiled, ["polymul"])
    assert row["seconds"] is None
    assert row["compute_seconds"] > 0
    inputs = compiled.keygen().encrypt(x=np.ones(SLOTS))
    _, row = rm.compare(compiled, ["polymul"], inputs=inputs)
    parts = [row[f"{part}_seconds"] for part in ("host", "link", "compute")]
    assert min(parts) > 0
    assert row["seconds"] == pytest.approx(sum(parts))


def test_refusals(compiled):
    table = rm.compare(compiled, ["ring", "torus"])
    assert [row["refused"] is None for row in table] == [True, False]
    for machines, options, says in [
        (["torus"], {}, "this engine is made for 2^10"),
        (["abacus"], {}, "no machine is called `abacus`"),
        ([], {}, "no machine is named"),
        (["ring"], {"set": {"units": 3}}, "has no such field; its fields are"),
        (["ring"], {"set": {"rpaus": 1.5}}, "a whole number"),
        (["ring"], {"set": {"rpaus": []}}, "rpaus"),
        (["ring"], {"set": {"vector:log_lanes": 3}}, "not among those compared"),
    ]:
        with pytest.raises(rm.DeviceError) as error:
            rm.compare(compiled, machines, **options)
        assert says in str(error.value), error.value
    with pytest.raises(rm.DataError, match="threads= is about a run on the CPU"):
        rm.compare(compiled, ["ring"], threads=1)
    inputs = compiled.keygen().encrypt(x=np.ones(SLOTS))
    with pytest.raises(rm.KeysError, match="no evaluation keys"):
        rm.compare(compiled, ["ring"], inputs=rm.Inputs(inputs.ciphertexts), plain={"p": np.ones(SLOTS)})
    with pytest.raises(rm.DataError, match="p"):
        rm.compare(compiled, ["ring"], inputs=inputs)
