# SPDX-License-Identifier: Apache-2.0
"""Tests the `ringmill` command: exit status, text and JSON, and files that are written whole or not at all."""

from __future__ import annotations

import json

import numpy as np
import pytest

MEAN = "examples/mean.rmac"


def test_help_teaches(ringmill):
    for command in ("run", "compile", "sim", "params", "devices", "plans", "machine show", "reproduce"):
        text = ringmill(*command.split(), "--help")
        assert "Examples:" in text
        assert "--json" in text


def test_run_checks_itself(ringmill, tmp_path):
    trace, outputs = tmp_path / "trace.json", tmp_path / "out.json"
    text = ringmill(
        "run",
        MEAN,
        "--random-inputs",
        "--device",
        "cpu",
        "--device",
        "sim:ring",
        "--trace",
        trace,
        "--output",
        outputs,
    )
    assert "sim:ring" in text
    assert json.loads(trace.read_text())["traceEvents"]
    report = json.loads(ringmill("run", MEAN, "--random-inputs", "--json"))
    assert report["agrees"] is True
    assert set(json.loads(outputs.read_text())) == {"mean"}


@pytest.mark.parametrize("form", ["npy", "csv", "json"])
def test_inputs_from_files(ringmill, tmp_path, form):
    x = np.linspace(0, 1, 1024)
    path = tmp_path / f"x.{form}"
    match form:
        case "npy":
            np.save(path, x)
        case "csv":
            np.savetxt(path, x.reshape(-1, 4), delimiter=",", fmt="%.17g")
        case "json":
            path.write_text(json.dumps(x.tolist()))
    out = tmp_path / "out.json"
    ringmill("run", MEAN, "--input", f"x={path}", "--output", out)
    assert json.loads(out.read_text())["mean"][0] == pytest.approx(x.mean(), abs=1e-5)


def test_every_level_is_printed(ringmill):
    assert "RESCALE" in ringmill("compile", MEAN)
    assert "proc " in ringmill("compile", MEAN, "--emit", "mid")
    assert ringmill("compile", MEAN, "--emit", "micro", "--machine", "ring-stored")
    described = json.loads(ringmill("compile", MEAN, "--json"))
    assert described["params"]["security"]["bits"] == 128


def test_sim_and_an_edited_machine(ringmill, tmp_path):
    paper = json.loads(ringmill("sim", MEAN, "--json"))
    assert paper["cycles"] > 0
    machine = tmp_path / "mine.toml"
    machine.write_text(ringmill("machine", "show", "ring"))
    assert json.loads(ringmill("sim", MEAN, "--machine", machine, "--json"))["cycles"] == paper["cycles"]


def test_python_programs(ringmill, tmp_path):
    source = tmp_path / "twice.py"
    source.write_text(
        "import ringmill as rm\n\n@rm.program\ndef twice(x: rm.Encrypted):\n    return x + x\n\n"
        "@rm.program\ndef deep(x: rm.Encrypted):\n    return x**1000000\n"
    )
    report = json.loads(ringmill("run", f"{source}:twice", "--slots", "64", "--random-inputs", "--json"))
    assert report["agrees"] is True
    assert "write" in ringmill("run", source, "--random-inputs", status=2)
    assert "twice.py:9" in ringmill("compile", f"{source}:deep", "--params", "set2", status=2)


def test_what_is_refused(ringmill, tmp_path):
    for arguments in (
        ["run", "missing.rmac", "--random-inputs"],
        ["run", MEAN],
        ["run", MEAN, "--random-inputs", "--device", "abacus"],
        ["run", MEAN, "--input", "y=x.csv"],
        ["run", MEAN, "--input", "x"],
        ["run", MEAN, "--random-inputs", "--params", "set7"],
        ["run", MEAN, "--random-inputs", "--params", "set1"],
        ["sim", MEAN, "--machine", "abacus"],
        ["machine", "show", "abacus"],
        ["reproduce", "abacus"],
        ["params", "--log-n", "11", "--bits", "60,60"],
        ["unknown"],
    ):
        said = ringmill(*arguments, status=2)
        assert said.strip()
        assert "panicked" not in said
    target = tmp_path / "folder" / "out.micro"
    ringmill("compile", MEAN, "-o", target, status=2)
    assert not target.parent.exists()


def test_lists(ringmill):
    assert "sim:ring-stored" in ringmill("devices")
    names = [device["name"] for device in json.loads(ringmill("devices", "--json"))]
    assert "cpu" in names
    assert "576460752340123649" in ringmill("params", "set2")
    assert json.loads(ringmill("params", "set1", "--table", "standard_2018", "--json"))["log_n"] == 14
