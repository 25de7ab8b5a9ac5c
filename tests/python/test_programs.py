# SPDX-License-Identifier: Apache-2.0
"""Runs programs that people write first on every machine that has their instructions and ring degree. The bits are the
CPU's.
"""

from __future__ import annotations

import numpy as np
import programs
import pytest

import ringmill as rm

INSECURE = {"allow_insecure_parameters_for_tests_only": True}
RINGS = ["sim:ring", "sim:ring-stored"]


def small(levels: int, scale: int = 40, ends: int = 50) -> rm.Params:
    """Parameters of ring degree 2^10 with so many rescaling primes: quick, and insecure."""
    return rm.params(log_n=10, bits=[ends] + levels * [scale] + [ends], **INSECURE)


CASES = {
    "salaries": lambda: (programs.salaries(), rm.params(log_n=11, bits=[60, 40, 60], **INSECURE)),
    "statistics": lambda: (programs.statistics(256), small(3)),
    "diagonal product": lambda: (programs.diagonal_product(64), small(1)),
    "digits network": lambda: (programs.digits(), small(4)),
    "degree 8": lambda: (programs.polynomial(8), small(4)),
    "degree 15": lambda: (programs.polynomial(15), small(4)),
    "degree 31": lambda: (programs.polynomial(31), small(5)),
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """A case, its compiled program, its client and its encrypted inputs."""
    case, params = CASES[request.param]()
    # A polynomial of high degree grows too fast for a sample, whose ranges are twice as large.
    known = {"ranges": {"x": 1}} if request.param.startswith("degree") else {"sample": case.sample}
    compiled = case.program.compile(params, slots=case.slots, **known)
    client = compiled.keygen()
    return case, compiled, client, client.encrypt(**case.inputs)


def test_it_runs_on_the_cpu_and_the_ring_machines(case):
    case, compiled, client, inputs = case
    runs = compiled.run(inputs, device=["cpu", *RINGS])
    assert case.error(client.decrypt(runs[0])) < 1e-4 * max(1, abs(case.expected).max())
    for run in runs[1:]:
        assert run.ciphertexts == runs[0].ciphertexts
        # Both rings fit their part, so no warning is at the top.
        summary = str(run.report).splitlines()
        # The report of a run that spills has a line for each of the six parts of the time.
        assert len(summary) <= 13
        machine = run.report.data["machine"]
        time = machine["end_to_end"]
        parts = ("inputs", "keys", "programs", "compute", "spills", "outputs")
        total = sum(time[f"{part}_seconds"] for part in parts) - time["overlap_seconds"]
        assert total == pytest.approx(time["seconds"])
        shown = f"{1e3 * total:.2f} ms" if total >= 1e-3 else f"{1e6 * total:.2f} us"
        assert f"{shown} from end to end" in summary[0]
        # No procedure moves limbs while it runs, whatever is cut or spilled.
        assert machine["ring"]["spills"]["inside"]["bytes"] == 0
        spilled = machine["ring"]["spills"]["bytes"]
        assert ("spills over the link" in str(run.report)) == (spilled > 0) == (machine["ring"]["spills"]["cycles"] > 0)
        assert machine["ring"]["spills"]["share"] == pytest.approx(time["spills_seconds"] / time["seconds"])


def test_hoisted_rotations_need_no_spills_of_their_own():
    """Eight rotations at once need 16 slots for their results alone. In smaller sets there is room for the sum beside
    them.
    """
    case = programs.diagonal_product(16)
    compiled = case.program.compile(small(1), slots=case.slots)
    client = compiled.keygen()
    for device in RINGS:
        machine = compiled.run(client.encrypt(**case.inputs), device=device, spill=False).report.data["machine"]
        assert machine["ring"]["cuts"]["parts"] > machine["ring"]["cuts"]["calls"] > 0


def test_spilling_is_forbidden_by_name(ringmill, tmp_path):
    case = programs.polynomial(8)
    compiled = case.program.compile(small(4), slots=case.slots)
    inputs = compiled.keygen().encrypt(**case.inputs)
    with pytest.raises(rm.DeviceError, match=r"memory\.slots"):
        compiled.run(inputs, device="sim:ring", spill=False)
    # The command simulates a saved program with the parameters that the program keeps.
    case.program.compile(slots=case.slots, input_bound=1).save(tmp_path / "poly.rmac")
    command = ["sim", tmp_path / "poly.rmac"]
    assert "spills over the link" in ringmill(*command)
    assert "memory.slots" in ringmill(*command, "--no-spill", status=2)


def test_the_multiplier_takes_what_its_words_hold():
    case = programs.diagonal_product(16)
    compiled = case.program.compile(small(1, scale=28, ends=32), slots=case.slots, input_bound=0.5)
    client = compiled.keygen()
    inputs = client.encrypt(x=0.5 * case.inputs["x"])
    cpu, machine = compiled.run(inputs, device=["cpu", "sim:polymul"])
    assert cpu.ciphertexts == machine.ciphertexts
    time = machine.report.data["machine"]["end_to_end"]
    assert time["host_seconds"] > 0
    assert len(str(machine.report).splitlines()) <= 12


def test_a_machines_refusal_names_its_cure_in_python():
    @rm.program
    def square(x: rm.Encrypted):
        return x * x

    asked = {"slots": 16, "input_bound": 1, "precision": 6}
    x = np.linspace(0, 1, 16)
    compiled = square.compile(**asked)
    with pytest.raises(rm.DeviceError, match=r'; the program was not compiled .*: compile\(target="vector"\) does'):
        compiled.run(compiled.keygen().encrypt(x=x), device="sim:vector")
    # The cure works.
    cured = square.compile(**asked, target="vector")
    client = cured.keygen()
    run = cured.run(client.encrypt(x=x), device="sim:vector")
    assert np.allclose(client.decrypt(run), x * x, atol=2.0**-6)
    # Given parameters are not changed, so the refusal names no target.
    given = square.compile(rm.params("set2"), slots=16, input_bound=1)
    with pytest.raises(rm.DeviceError) as refused:
        given.run(given.keygen().encrypt(x=x), device="sim:vector")
    assert "compile(target=" not in str(refused.value)


def test_a_ring_degree_beyond_the_machine_names_the_field(ringmill, tmp_path):
    case = programs.polynomial(2)
    compiled = case.program.compile(rm.params(log_n=13, bits=[50, 40, 40, 50], **INSECURE), slots=case.slots)
    inputs = compiled.keygen().encrypt(**case.inputs)
    with pytest.raises(rm.DeviceError, match="max_log_n"):
        compiled.run(inputs, device="sim:polymul")
    machine = tmp_path / "small.toml"
    machine.write_text(ringmill("machine", "show", "ring").replace("log_n = 14", "log_n = 11", 1))
    with pytest.raises(rm.DeviceError, match="`log_n`"):
        compiled.run(inputs, device=f"sim:{machine}")


def test_a_ring_of_four_times_the_native_degree_is_split_twice():
    @rm.program
    def turned(x: rm.Encrypted, y: rm.Encrypted):
        return (x * y << 3) + x

    compiled = turned.compile(rm.params(log_n=16, bits=[60, 50, 60]), slots=1 << 15, input_bound=1.0)
    inputs = compiled.keygen().encrypt(x=[0.5] * (1 << 15), y=[0.25] * (1 << 15))
    cpu, machine = compiled.run(inputs, device=["cpu", "sim:ring-large"])
    assert cpu.ciphertexts == machine.ciphertexts
    assert {"SPLIT", "JOIN", "AUTO"} <= set(machine.report.data["machine"]["instructions_by_kind"])
    # The refusal of a machine that splits once names the field.
    with pytest.raises(rm.DeviceError, match="`splits`"):
        compiled.run(inputs, device="sim:ring")


def test_a_machine_that_exceeds_its_part_says_why_or_is_refused(ringmill, tmp_path):
    case = programs.polynomial(2)
    compiled = case.program.compile(small(2), slots=case.slots)
    inputs = compiled.keygen().encrypt(**case.inputs)
    silent = ringmill("machine", "show", "ring").replace("slots = 18", "slots = 40", 1)
    statement = 'allow_more_than_the_part_has = "keys of many rotations"\n'
    machine = tmp_path / "mine.toml"
    machine.write_text(silent)
    with pytest.raises(rm.DeviceError, match=r"2,280 ultra RAM \(1,890 for key memory\), the U250 has 1,280"):
        compiled.run(inputs, device=f"sim:{machine}")
    machine.write_text(statement + silent)
    top = str(compiled.run(inputs, device=f"sim:{machine}").report).splitlines()[0]
    assert "DOES NOT FIT ITS PART, by explicit statement" in top
    assert "the U250 has" in top
    machine.write_text(silent.replace("rpaus = 10", "rpaus = 4"))
    report = compiled.run(inputs, device=f"sim:{machine}").report
    assert "DOES NOT FIT" not in str(report)
    assert report.data["machine"]["fit"]["fits"] is True
    machine.write_text(statement + silent.replace("rpaus = 10", "rpaus = 4"))
    with pytest.raises(rm.DeviceError, match="take that statement away"):
        compiled.run(inputs, device=f"sim:{machine}")


def test_the_detail_has_every_figure():
    case = programs.polynomial(2)
    compiled = case.program.compile(small(2), slots=case.slots)
    inputs = compiled.keygen().encrypt(**case.inputs)
    report = compiled.run(inputs, device="sim:ring").report
    assert report.detail.startswith(str(report))
    for figure in ("ciphertext primes", "cycles in flight, NTT", "utilisation, main", "idle", "host link, keys"):
        assert figure in report.detail
