# SPDX-License-Identifier: Apache-2.0
"""Runs each group of rows: opens it on every side, checks that results are equal, measures the sides in turns, and
records the times.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import floors, peers
from harness.measure import Times, interleave
from harness.rows import BGV_COMPARED, BGV_OF_THE_PAPER, CKKS_COMPARED, Row
from harness.side import Side, SideFailed

# OpenFHE's Shenoy-Kumaresan step, which its wheel does not expose: milliseconds by (log2 N, limbs), recorded once from
# a build of its source on a machine of the same kind (docs/benchmarks.md).
OPENFHE_BASEXT_MS = {(16, 17): 66.7, (14, 7): 4.3}


@dataclass
class Run:
    """A run of the benchmark: its sides, and its results so far."""

    ours: Side
    ours_two: Side | None  # on two cores; `None` where there is only one
    peers: dict[str, list[Side]]  # by group
    rates: dict[str, Any]
    progress: Callable[[str], None]
    package: Side | None = None  # ours in Python; `None` where no chosen row is a program
    rows: list[dict[str, Any]] = field(default_factory=list)
    counts: list[floors.Count | None] = field(default_factory=list)  # of each row
    memory: list[dict[str, Any]] = field(default_factory=list)
    unequal: list[str] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)

    def skip(self, name: str, reason: str) -> None:
        self.skipped.append({"name": name, "reason": reason})
        self.progress(f"skipped: {name}: {reason}")

    def open(self, sides: Sequence[Side], **request: Any) -> dict[Side, dict[str, Any]]:
        """Asks sides to open a group of rows. Returns the answers by the sides' names. A side that fails is noted as
        skipped.
        """
        answers = {}
        for side in sides:
            try:
                answers[side.name] = side.ask(do="open", **request)
            except SideFailed as error:
                self.skip(side.name, str(error))
                side.close()  # the next group finds a new process
        return answers

    def equal(self, where: str, equal: bool) -> bool:
        """Returns `equal`. If it is false, notes that the result of the row `where` differs, and the caller does not
        time it.
        """
        if not equal:
            self.unequal.append(where)
            self.progress(f"DIFFERS, not timed: {where}")
        return equal

    def measure(
        self, row: Row, peers: Sequence[Side], shape: Shape, name: str | None = None, beside: str | None = None
    ) -> None:
        """Measures a row on our side and on the peers in turns. Records one line for each peer, all with the same
        samples of ours, or one line without a peer. `beside` names another row of ours that stands as a peer.
        """
        own = self.package if row.group == "programs" else self.ours if row.threads == 1 else self.ours_two
        assert own is not None
        name = name or row.name
        others = [(side.name if side is not self.ours else "ours, 1 thread", side, name) for side in peers]
        if beside is not None:
            others.append((f"ours, {beside}", own, beside))
        self.progress(f"{row.id}: ours, {', '.join(label for label, _, _ in others) or 'no peer'}")
        ours, *theirs = interleave([(own, name), *((side, other) for _, side, other in others)])
        found = [(label, times) for (label, _, _), times in zip(others, theirs, strict=True)]
        for peer, times in found or [(None, None)]:
            self.rows.append(line(row, shape, ours, peer, times, self.rates))
            self.counts.append(shape.count)

    def measure_again(self) -> None:
        """Measures the processor's rates again, and keeps the better of the two measurements, since another program may
        have slowed either. Computes all floors anew.
        """
        self.rates = floors.best(self.rates, self.ours.ask(do="machine"))
        for record, count in zip(self.rows, self.counts, strict=True):
            set_floor(record, count, self.rates)


@dataclass(frozen=True)
class Shape:
    """The description of a row in the table, beside its times."""

    what: str
    log_n: int
    bits: int
    count: floors.Count | None  # `None` where nothing is counted
    recorded: tuple[str, float] | None = None
    kernel: str | None = None  # what ran, where one was chosen


def line(
    row: Row, shape: Shape, ours: Times, peer: str | None, theirs: Times | None, rates: dict[str, Any]
) -> dict[str, Any]:
    """Returns the record of one row beside one peer. One thread is compared by processor time, which other programs on
    the same core do not lengthen. Several threads are compared by wall time.
    """
    clock = "processor" if row.threads == 1 else "wall"
    record: dict[str, Any] = {
        "id": row.id,
        "what": shape.what,
        "log_n": shape.log_n,
        "bits": shape.bits,
        "threads": row.threads,
        "clock": clock,
        "ours": ours.record(),
        "peer": None,
        "ratio": None,
        "ratio_of_medians": None,
    }
    if shape.kernel is not None:
        record["kernel"] = shape.kernel
    if theirs is not None:
        record["peer"] = {"name": peer, **theirs.record()}
        record["ratio"] = round(theirs.fastest(clock) / ours.fastest(clock), 3)
        record["ratio_of_medians"] = round(theirs.median(clock) / ours.median(clock), 3)
    elif shape.recorded is not None:
        name, microseconds = shape.recorded
        record["peer"] = {"name": name, clock: {"min_us": microseconds}, "recorded": True}
        record["ratio"] = round(microseconds / 1e6 / ours.fastest(clock), 3)
    set_floor(record, shape.count, rates)
    return record


def set_floor(record: dict[str, Any], count: floors.Count | None, rates: dict[str, Any]) -> None:
    """Adds the floor of a row to its record, and our time over the floor. A floor above the measurement is kept under
    another name and not printed.
    """
    record.pop("floor_above_measurement", None)
    floor = floors.floor(count, rates, record["threads"])
    fastest = record["ours"][record["clock"]]["min_us"]
    if floor and fastest < floor["us"]:
        record["floor_above_measurement"], floor = floor, None
    record["floor"] = floor
    record["ours_over_floor"] = round(fastest / floor["us"], 3) if floor else None


def ntt(run: Run, rows: Sequence[Row]) -> None:
    cases = [tuple(map(int, row.case.split("."))) for row in rows]
    bits, sizes = sorted({b for b, _ in cases}), sorted({n for _, n in cases})
    own = run.ours.ask(do="open", group="ntt", log_n=sizes, bits=bits)["facts"]
    answers = run.open(run.peers["ntt"], moduli=own["moduli"])
    for row, (prime, log_n) in zip(rows, cases, strict=True):
        peers = []
        for side in run.peers["ntt"]:
            if side.name in answers:
                theirs = answers[side.name]["facts"]["digests"]
                if run.equal(f"{row.id}, {side.name}", theirs[row.case] == own["digests"][row.case]):
                    peers.append(side)
        kernel = own["kernels"][f"{row.name}.{row.case}"]
        count = floors.ntt(row.name, log_n, prime, kernel)
        shape = Shape(f"ntt {row.name}", log_n, prime, count, kernel=kernel)
        run.measure(row, peers, shape, f"{row.name}.{row.case}")


def basext(run: Run, rows: Sequence[Row]) -> None:
    for case, threads, chosen in by_case(run, rows):
        log_n, limbs, bits = map(int, case.split("."))
        request = {"group": "basext", "log_n": log_n, "limbs": limbs, "bits": bits}
        equal = [run.ours.ask(do="open", threads=1, **request)["equal"]]
        if threads == 2:
            assert run.ours_two is not None
            equal.append(run.ours_two.ask(do="open", threads=2, **request)["equal"])
        recorded = OPENFHE_BASEXT_MS.get((log_n, limbs))
        count = floors.basext(log_n, limbs, bits, run.rates["backend"])
        for row in chosen:
            if not run.equal(row.id, all(side[row.name] for side in equal)):
                continue
            exact = row.name == "extend"
            kind = "exact" if exact else "fast"
            survey = ("OpenFHE", recorded * 1e3) if recorded and exact and threads == 1 else None
            shape = Shape(f"{kind} base extension {limbs} to {limbs}", log_n, bits, count, survey)
            run.measure(row, [run.ours] if threads == 2 else [], shape, beside=None if exact else "extend")


def ckks(run: Run, rows: Sequence[Row]) -> None:
    folders: dict[str, str | None] = {}
    with tempfile.TemporaryDirectory() as scratch:
        answers: dict[str, dict[str, Any]] = {}
        for case, threads, chosen in by_case(run, rows):
            params = run.ours.ask(do="params", set=case)
            if case not in folders:
                run.progress(f"ckks.{case}: keys, operands and results of every side")
                folder = Path(scratch) / case
                folder.mkdir()
                answers = run.open(run.peers["ckks"], folder=str(folder), **params)
                folders[case] = str(folder) if "SEAL" in answers else None
            request = {"group": "ckks", "set": case, "folder": folders[case]}
            own = run.ours.ask(do="open", threads=1, **request)
            if threads == 2:
                assert run.ours_two is not None
                own = run.ours_two.ask(do="open", threads=2, **request)
            sizes = [q.bit_length() for q in params["moduli"]]
            run.memory.append(memory(case, threads, params, own["facts"]["pool_peak_bytes"]))
            for row in chosen:
                if not run.equal(f"{row.id}, ours", own["equal"][row.name]):
                    continue
                peers = [run.ours] if threads == 2 else list(having(run, row, answers))
                what = row.name.replace("_", " + ", row.name.count("_")).replace("encrypt + symmetric", "encrypt sym.")
                count = floors.ckks(row.name, params["log_n"], sizes, run.rates["backend"])
                run.measure(row, peers, Shape(f"ckks {what}", params["log_n"], sum(sizes), count))


def ckks_bootstrap(run: Run, rows: Sequence[Row]) -> None:
    """Measures bootstraps of each set. On one thread the set `CKKS_COMPARED` stands beside peers, which have parameters
    of their own libraries for as many slots.

    Levels, precision and bytes of keys differ from side to side, so the record has them beside the times.
    """
    for case, threads, chosen in by_case(run, rows):
        run.progress(f"ckks.bootstrap.{case}: our keys and ciphertexts, {threads} threads")
        # The keys of one side take gigabytes, so no other side is open beside it.
        for side in (run.ours, run.ours_two):
            if side is not None:
                side.close()
        own = run.ours if threads == 1 else run.ours_two
        assert own is not None
        opened = own.ask(do="open", group="ckks_bootstrap", set=case, threads=threads)
        facts, sizes = opened["facts"], opened["facts"]["set"]
        run.progress(f"ckks.bootstrap.{case}: ours: {facts}")
        shape = Shape(f"ckks {case} bootstrap", sizes["log_n"], round(sizes["bits"]), None)
        for row in chosen:
            if not run.equal(f"{row.id}, ours", opened["equal"][row.name]):
                continue
            sides = run.peers["ckks.bootstrap"] if (case, threads) == (CKKS_COMPARED, 1) else []
            answered = False
            for side in sides:
                answers = run.open([side], slots=sizes["slots"])
                for peer in having(run, row, answers):
                    answered = True
                    said = answers[peer.name]["facts"]
                    run.progress(f"ckks.bootstrap.{case}: {peer.name}: {said}")
                    run.measure(row, [peer], shape)
                    run.rows[-1]["facts"] = {"ours": facts, peer.name: said}
                side.close()
            if not answered:
                run.measure(row, [], shape)
                run.rows[-1]["facts"] = {"ours": facts}


# N = 2^14; SEAL makes primes of these sizes, the last of them special.
# 786433 is the batching prime of 20 bits that SEAL finds.
INTEGERS = {"log_n": 14, "bits": [54] * 7 + [60], "plain": 786433}


def integers(run: Run, rows: Sequence[Row]) -> None:
    for scheme, _threads, chosen in by_case(run, rows):
        with tempfile.TemporaryDirectory() as folder:
            run.progress(f"integers.{scheme}: keys, operands and results of SEAL")
            answers = run.open(run.peers["integers"], scheme=scheme, folder=folder, **INTEGERS)
            for name, answer in answers.items():
                if variant := answer["facts"].get("variant"):
                    run.progress(f"integers.{scheme}: {name} in its fastest variant, {variant}")
            if "SEAL" not in answers:
                run.skip(f"integers.{scheme}", "its parameters, keys and operands are SEAL's")
                continue
            own = run.ours.ask(do="open", group="integers", scheme=scheme, folder=folder)
            for row in chosen:
                if run.equal(f"{row.id}, ours", own["equal"][row.name]):
                    peers = list(having(run, row, answers))
                    what = row.name.replace("_relinearise", " + relinearise").replace("_mod_switch", " + mod-switch")
                    shape = Shape(f"{scheme} {what}", INTEGERS["log_n"], sum(INTEGERS["bits"]), None)
                    run.measure(row, peers, shape)


def bgv(run: Run, rows: Sequence[Row]) -> None:
    """Measures operations at a set's top level beside OpenFHE's with at least as many bits. Measures bootstraps of
    comparison sets beside fheanor's with the same sizes, and the bootstrap of the BASALISC paper's set beside HElib's
    with as many slots. Rows of two threads stand beside ours on one thread instead.
    """
    for case, threads, chosen in by_case(run, rows):
        for bootstraps in (False, True):
            group = [row for row in chosen if (row.name == "bootstrap") == bootstraps]
            if group:
                bgv_case(run, case, threads, group)


def bgv_case(run: Run, case: str, threads: int, chosen: Sequence[Row]) -> None:
    names = [row.name for row in chosen]
    run.progress(f"bgv.{case}: keys and ciphertexts of every side")
    request = {"group": "bgv", "set": case, "rows": names}
    own = run.ours.ask(do="open", threads=1, **request)
    if threads == 2:
        assert run.ours_two is not None
        own = run.ours_two.ask(do="open", threads=2, **request)
    facts = own["facts"]
    sizes = facts["set"]
    run.progress(facts["summary"])
    answers: dict[str, dict[str, Any]] = {}
    if threads == 1:
        cache = peers.HOME / "fheanor" / "cache"
        cache.mkdir(parents=True, exist_ok=True)
        fheanor = "bootstrap" in names and case in BGV_COMPARED
        helib = "bootstrap" in names and case == BGV_OF_THE_PAPER
        wanted = {"OpenFHE": "bootstrap" not in names, "fheanor": fheanor, "HElib": helib}
        sides = [side for side in run.peers["bgv"] if wanted[side.name]]
        answers = run.open(sides, scheme="bgv", set=sizes, rows=names, cache=str(cache))
    for name, left in [("ours", facts), *((name, answer["facts"]) for name, answer in answers.items())]:
        if "bits_left" in left:
            ring = f" ({left['ring']})" if "ring" in left else ""
            run.progress(f"bgv.{case}: {name} leaves {left['bits_left']} bits after a bootstrap{ring}")
    for row in chosen:
        if run.equal(f"{row.id}, ours", own["equal"][row.name]):
            what = row.name.replace("multiply_relinearise", "multiply + relinearise").replace("_", " ")
            what = f"bgv {case} {what}" if row.name == "bootstrap" else f"bgv {what}"
            beside = [run.ours] if threads == 2 else list(having(run, row, answers))
            run.measure(row, beside, Shape(what, sizes["log_n"], round(sizes["bits"]), None))


def tfhe(run: Run, rows: Sequence[Row]) -> None:
    """Measures gates and table look-ups of a set. Each of our variants stands beside tfhe-rs with the same sizes. A
    gate of at least 128 bits also stands beside OpenFHE's gate, which has its own set.
    """
    for case, _threads, chosen in by_case(run, rows):
        names = [row.name for row in chosen]
        run.progress(f"tfhe.{case}: keys and ciphertexts of every side")
        own = run.ours.ask(do="open", group="tfhe", set=case, rows=names)
        sizes = own["facts"]["set"]
        answers = run.open(run.peers["tfhe"], set=sizes, rows=names)
        for row in chosen:
            if run.equal(f"{row.id}, ours", own["equal"][row.name]):
                run.progress(own["facts"][row.name].replace("\n", "; "))
                bits = 64 if sizes["message_bits"] else 32
                shape = Shape(f"tfhe {row.name.replace('_', ' ')}", sizes["ring"].bit_length() - 1, bits, None)
                run.measure(row, list(having(run, row, answers)), shape)


def circuits(run: Run, rows: Sequence[Row]) -> None:
    """Measures operations on encrypted integers. Those of one thread stand beside tfhe-rs on integers of the same
    digits, sizes and noise, those of two threads beside ours on one thread.
    """
    for case, threads, chosen in by_case(run, rows):
        names = [row.name for row in chosen]
        run.progress(f"circuits.{case}: keys and ciphertexts of every side")
        request = {"group": "circuits", "set": "circuits", "rows": names}
        own = run.ours.ask(do="open", threads=1, **request)
        if threads == 2:
            assert run.ours_two is not None
            own = run.ours_two.ask(do="open", threads=2, **request)
        sizes = own["facts"]["set"]
        answers = {} if threads == 2 else run.open(run.peers["circuits"], set=sizes, rows=names, integer_bits=16)
        for row in chosen:
            if run.equal(f"{row.id}, ours", own["equal"][row.name]):
                run.progress(f"{row.id}: {own['facts'][row.name]}")
                shape = Shape(f"uint16 {row.name}", sizes["ring"].bit_length() - 1, 52, None)
                run.measure(row, [run.ours] if threads == 2 else list(having(run, row, answers)), shape)


def having(run: Run, row: Row, answers: dict[str, dict[str, Any]]) -> Iterator[Side]:
    """Yields the peers that have this row and whose result is right."""
    for side in run.peers[row.group]:
        answer = answers.get(side.name)
        if answer is None or row.name not in answer["rows"]:
            continue
        # For rows that SEAL's side does not check, our side has compared its result with SEAL's saved one.
        if run.equal(f"{row.id}, {side.name}", answer["equal"].get(row.name, side.name == "SEAL")):
            yield side


def memory(case: str, threads: int, params: dict[str, Any], peak: int) -> dict[str, Any]:
    """Returns the peak of the limb buffers in multiply + relinearise, beside the bytes of operands and key."""
    limb = 8 << params["log_n"]
    count = len(params["moduli"]) - 1
    cipher = 2 * count * limb
    return {
        "set": case,
        "threads": threads,
        "pool_peak_bytes": peak,
        "operand_bytes": 2 * cipher,
        "key_bytes": 2 * count * (count + 1) * limb,
        "ciphertext_bytes": cipher,
        "ciphertexts": round(peak / cipher, 3),
    }


def by_case(run: Run, rows: Sequence[Row]) -> Iterator[tuple[str, int, list[Row]]]:
    """Yields the rows of one case and one number of threads at a time. Rows of two threads are skipped if there is one
    core only.
    """
    for case in dict.fromkeys(row.case for row in rows):
        for threads in (1, 2):
            chosen = [row for row in rows if row.case == case and row.threads == threads]
            if chosen and threads == 2 and run.ours_two is None:
                run.skip(f"{chosen[0].id}", "this process may use one core only")
            elif chosen:
                yield case, threads, chosen


GROUPS: dict[str, Callable[[Run, Sequence[Row]], None]] = {
    "ntt": ntt,
    "ckks": ckks,
    "ckks.bootstrap": ckks_bootstrap,
    "integers": integers,
    "bgv": bgv,
    "basext": basext,
    "tfhe": tfhe,
    "circuits": circuits,
}


@contextmanager
def closing(sides: Sequence[Side]) -> Iterator[None]:
    try:
        yield
    finally:
        for side in sides:
            side.close()
