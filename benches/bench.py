# SPDX-License-Identifier: Apache-2.0
"""Ringmill beside its peers, in one run and in turns, on one pinned core, or on two for the rows of two threads.

A row is timed after its result has been checked: against SEAL's bits, a peer's digest, or the computation in the clear.

    make bench                               all rows: prints the table, writes benches/results/<date>-<processor>.json
    make bench ONLY=ntt.50,ckks.set1.rotate  chosen rows: prints the table, writes nothing unless --output says where
    python benches/bench.py --list           the names of the rows
    python benches/bench.py --page           the records side by side into docs/benchmarks.md; nothing is measured

docs/benchmarks.md says what each side is, how it is timed and what a floor is.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path

from harness import machine, peers, records
from harness.groups import GROUPS, Run, closing
from harness.programs import programs
from harness.rows import Row, all_rows, choose
from harness.side import Side
from harness.table import summary

MEASURED = {**GROUPS, "programs": programs}
RESULTS = Path(__file__).resolve().parent / "results"
PAGE = RESULTS.parents[1] / "docs" / "benchmarks.md"


def progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="rows, by parts of their names, separated by commas")
    parser.add_argument("--json", action="store_true", help="print the record instead of the table")
    parser.add_argument("--output", type=Path, help="where the record goes (default for all rows: by date)")
    parser.add_argument("--list", action="store_true", help="print the names of the rows and stop")
    parser.add_argument("--page", action="store_true", help="write the records into docs/benchmarks.md and stop")
    parser.add_argument("--ours", help="our side, already built (default: cargo builds it)")
    parser.add_argument("--package", action="store_true", help="our Python package as it is installed (default: built)")
    parser.add_argument("--without", default="", help="peers to leave out, separated by commas")
    return parser.parse_args()


def how(words: list[str]) -> list[str]:
    """Returns the words of a command without the option `--output`, which changes nothing in what is measured."""
    words = [word for word in words if not word.startswith("--output=")]
    if "--output" not in words:
        return words
    at = words.index("--output")
    return words[:at] + words[at + 2 :]


def collect(rows: list[Row], options: argparse.Namespace) -> dict:
    """Starts the sides, runs the groups of rows, and returns the record."""
    one, two = machine.cores(1), machine.cores(2)
    load = {"begin": machine.load_average()}
    progress("building our side")
    try:
        path, version = peers.ours(options.ours)
    except peers.Unavailable as error:
        raise SystemExit(f"our own side can't be built: {error}") from error
    ours = Side("ours", version, [path], one)
    ours_two = Side("ours", version, [path], two) if len(two) == 2 else None
    groups = [group for group in MEASURED if any(row.group == group for row in rows)]
    run = Run(ours, ours_two, {}, {}, progress)
    for group in groups:
        run.peers[group] = []
        for get in peers.BY_GROUP[group]:
            if get.__name__ in options.without.split(","):
                run.skip(get.__name__, "left out on request")
                continue
            progress(f"installing {get.__name__}")
            try:
                run.peers[group].append(get(one))
            except peers.Unavailable as error:
                run.skip(get.__name__, str(error))
    if "programs" in groups:
        progress("building our Python package")
        try:
            run.package = peers.package(one, options.package)
        except peers.Unavailable as error:
            raise SystemExit(f"our Python package can't be built: {error}") from error
    own = [side for side in (ours, ours_two, run.package) if side]
    sides = [*own, *(side for group in run.peers.values() for side in group)]
    with closing(sides):
        progress("measuring the instructions and the memory")
        run.rates = ours.ask(do="machine")
        for group in groups:
            MEASURED[group](run, [row for row in rows if row.group == group])
        progress("measuring the instructions and the memory again")
        run.measure_again()
    load["end"] = machine.load_average()
    return {
        "schema": records.SCHEMA,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": shlex.join([Path(sys.executable).name, *how(sys.argv)]),
        "machine": {**machine.describe(), "load_average": load, "pinned_cores": list(one), "rates": run.rates},
        "ours": {"version": version},
        "peers": {side.name: side.version for group in run.peers.values() for side in group},
        "results_equal": not run.unequal,
        "unequal": run.unequal,
        "rows": run.rows,
        "memory": run.memory,
        "skipped": run.skipped,
    }


def main() -> int:
    options = arguments()
    if options.list:
        print("\n".join(row.id for row in all_rows()))
        return 0
    if options.page:
        records.write_page(PAGE, records.load(RESULTS))
        return 0
    record = collect(choose(options.only), options)
    text = records.text(record)
    output = options.output or (None if options.only else RESULTS / records.name(record))
    if output:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
        progress(f"written: {output}")
        if output.resolve().parent == RESULTS:
            records.write_page(PAGE, records.load(RESULTS))
            progress(f"written: {PAGE}")
    print(text if options.json else summary(record))
    wrong = [row["id"] for row in record["rows"] if "floor_above_measurement" in row]
    if wrong:
        print(f"floors above a measurement, not printed; they are counted wrong: {', '.join(wrong)}", file=sys.stderr)
    if record["unequal"]:
        print(f"results that differ from the peer's, not timed: {', '.join(record['unequal'])}", file=sys.stderr)
    return 1 if record["unequal"] or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
