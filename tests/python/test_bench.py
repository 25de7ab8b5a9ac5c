"""The benchmark's table, record, floors and protocol, on made-up times: nothing is timed here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).resolve().parents[2] / "benches"
sys.path.insert(0, str(BENCHES))

from harness import floors, groups, measure, peers, rows, table  # noqa: E402
from harness.side import Side, SideFailed  # noqa: E402

RATES = {
    "backend": "Avx512Ifma",
    "clock_hz": 2e9,
    "vpmuludq_per_second": 4e9,
    "vpmadd52_per_second": None,
    "copies": [
        {"footprint_bytes": 1 << 18, "bytes_per_second": 64e9},
        {"footprint_bytes": 1 << 24, "bytes_per_second": 8e9},
    ],
}


def times(*turns: tuple[float, ...]) -> measure.Times:
    """Processor seconds; the wall's are twice as many."""
    return measure.Times(tuple(tuple((2 * t, t) for t in turn) for turn in turns))


OURS = times((1e-4, 3e-4, 2e-4), (5e-4, 2e-4))
PEER = times((3e-4, 6e-4), (6e-4,))


def a_line(bits: int = 60, peer: str | None = "SEAL", recorded: tuple[str, float] | None = None) -> dict:
    shape = groups.Shape("ntt forward", 14, bits, floors.ntt("forward", 14, bits), recorded)
    row = rows.Row("ntt", f"{bits}.14", "forward")
    return groups.line(row, shape, OURS, peer, PEER if peer else None, RATES)


def a_record(lines: list[dict]) -> dict:
    memory = groups.memory("set1", 1, {"log_n": 14, "moduli": [0] * 8}, 3 * 2 * 7 * 8 << 14)
    return {
        "machine": {"processor": "some processor", "load_average": {"begin": [0.5, 0.25, 0.0]}, "rates": RATES},
        "ours": {"version": "abc"},
        "peers": {"SEAL": "1.2"},
        "rows": lines,
        "memory": [memory],
        "skipped": [{"name": "Lattigo", "reason": "no `go` on this computer"}],
    }


def test_times_and_ratios():
    line = a_line()
    assert line["clock"] == "processor"
    assert line["ours"]["processor"]["min_us"] == 100
    assert line["ours"]["wall"]["min_us"] == 200
    assert line["ours"]["processor"]["median_us"] == 200
    assert line["ours"]["processor"]["turns_min_us"] == [100, 200]
    assert line["ours"]["samples"] == 5
    assert line["ratio"] == 3
    assert line["ratio_of_medians"] == 3
    assert json.loads(json.dumps(line)) == line


def test_floor_of_a_transform():
    # 2^13 butterflies of 14 stages, nine multiplications each, eight lanes, four a nanosecond; 256 KiB at 64 B/ns.
    floor = a_line()["floor"]
    assert floor["multiply_us"] == pytest.approx(8192 * 14 * 9 / 8 / 4e3, abs=1e-3)
    assert floor["bytes_us"] == pytest.approx(2 * 8 * 16384 / 64e3, abs=1e-3)
    assert floor["us"] == floor["multiply_us"]
    assert floor["bound"] == "multiply"
    assert a_line()["ours_over_floor"] == pytest.approx(100 / floor["us"], abs=1e-3)
    assert a_line(bits=50)["floor"] is None  # this processor has no vpmadd52


def test_floor_of_all_instructions():
    rates = {**RATES, "vpmadd52_per_second": 4e9}
    # 2^14 / 16 times 14 butterflies of seven instructions, and sixteen.
    floor = floors.floor(floors.ntt("forward", 14, 50), rates, 1)
    assert floor["ports_us"] == pytest.approx(1024 * (7 * 14 + 16) / 4e3, abs=1e-3)
    assert floor["multiply_us"] == pytest.approx(1024 * 3 * 14 / 4e3, abs=1e-3)
    assert (floor["us"], floor["bound"]) == (floor["ports_us"], "ports")
    # The last two of sixteen stages of 32-bit words run on sixteen lanes.
    assert floors.ntt("inverse", 16, 30).instructions == 4096 * (6 * 14 + 7 * 2 + 14)
    for name in ("forward", "inverse"):
        for bits in (30, 50, 60):
            count = floors.ntt(name, 12, bits)
            assert count.instructions * 8 > count.multiplications


def test_floors_of_ckks():
    sizes = [60] + [54] * 7
    counts = {row: floors.ckks(row, 14, sizes) for row in rows.CKKS_ROWS}
    limb = 8 << 14
    assert counts["add"] == floors.Count("vpmuludq", 0, 6 * 7 * limb)
    key = 2 * 7 * 8 * limb
    assert counts["rotate"].bytes == 4 * 7 * limb + key
    both = counts["multiply_relinearise"].multiplications + counts["rescale"].multiplications
    assert counts["multiply_relinearise_rescale"].multiplications == both
    assert floors.floor(counts["add"], RATES, 1)["bound"] == "bytes"
    one, two = (floors.floor(counts["rotate"], RATES, threads) for threads in (1, 2))
    assert two["multiply_us"] == pytest.approx(one["multiply_us"] / 2, abs=1e-3)
    assert two["bytes_us"] == one["bytes_us"]


def test_copy_of_the_right_size():
    assert floors.copy_for(1 << 10, RATES["copies"])["footprint_bytes"] == 1 << 18
    assert floors.copy_for(1 << 23, RATES["copies"])["footprint_bytes"] == 1 << 18
    assert floors.copy_for(1 << 24, RATES["copies"])["footprint_bytes"] == 1 << 24


def test_table_says_everything():
    lines = [a_line(), a_line(peer=None, recorded=("OpenFHE", 4300.0)), a_line(bits=50, peer=None)]
    text = table.summary(a_record(lines))
    assert "skipped: Lattigo: no `go` on this computer" in text
    assert "peer: SEAL 1.2" in text
    assert "load average 0.50 0.25 0.00" in text
    assert "3.00 ciphertexts (limit 4)" in text
    body = table.table(lines).splitlines()
    assert body[0].split() == " ".join(table.HEADINGS).split()
    assert "OpenFHE*" in body[2]
    assert "43.00x" in body[2]
    assert body[3].split()[-1] == "-"
    assert len({line.index("2^14") for line in body[1:]}) == 1


def test_starved_threads_are_told():
    line = {**a_line(), "threads": 2}
    assert line["ours"]["cores"] == 0.5
    assert "these rows say nothing: ntt.60.14.forward" in table.summary(a_record([line]))
    line["ours"]["cores"] = 1.9
    assert "say nothing" not in table.summary(a_record([line]))


def test_rows_are_chosen_by_parts_of_their_names():
    names = [row.id for row in rows.all_rows()]
    assert len(names) == len(set(names))
    assert {row.group for row in rows.choose("ntt")} == {"ntt"}
    assert [row.id for row in rows.choose("ckks.set1.rotate, ntt.60.14.forward")] == [
        "ntt.60.14.forward",
        "ckks.set1.rotate",
    ]
    assert len(rows.choose("multiply_relinearise")) == 4  # two sets, one and two threads
    assert rows.choose(None) == rows.all_rows()
    with pytest.raises(SystemExit, match="no row matches 'sett'"):
        rows.choose("sett")
    listed = subprocess.run(
        [sys.executable, BENCHES / "bench.py", "--list"], capture_output=True, text=True, check=True
    )
    assert listed.stdout.split() == names


def test_samples_fit_the_turn():
    assert measure.plan(1.0) == (2, 1)
    assert measure.plan(1e-3) == (25, 1)
    assert measure.plan(3e-6) == (40, 17)


SIDE = f"""
import sys
sys.path.insert(0, {str(BENCHES / "sides")!r})
from serve import Group, serve
def make(request):
    group = Group()
    group.runs = {{"nothing": lambda: None}}
    group.equal = {{"nothing": request["log_n"] == 14}}
    return group
serve(make)
"""


def test_a_side_answers_and_its_failure_is_told():
    side = Side("test", "0", [sys.executable, "-c", SIDE])
    assert side.ask(do="open", log_n=14) == {"rows": ["nothing"], "equal": {"nothing": True}, "facts": {}}
    assert [len(sample) for sample in side.time("nothing", 3, 2)] == [2, 2, 2]  # wall and processor
    with pytest.raises(SideFailed, match="test failed at time: KeyError"):
        side.time("something", 1, 1)
    side.close()


def test_what_can_not_be_had_is_told_in_one_line():
    with pytest.raises(peers.Unavailable, match="no `no-such-tool` on this computer"):
        peers.tool("no-such-tool")
    with pytest.raises(peers.Unavailable, match=r"failed: .*boom") as caught:
        peers.run([sys.executable, "-c", "raise SystemExit('first\\nboom')"])
    assert "\n" not in str(caught.value)


def test_versions_are_pinned_where_they_are_installed():
    assert f'tfhe-ntt = "={peers.TFHE_NTT}"' in (BENCHES / "ntt" / "Cargo.toml").read_text()
    assert f"lattigo/v6 {peers.LATTIGO}" in (BENCHES / "lattigo" / "go.mod").read_text()
    requirements = (BENCHES.parent / "requirements" / "test.txt").read_text()
    assert "tenseal==" in requirements
