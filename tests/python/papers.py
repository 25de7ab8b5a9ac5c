# SPDX-License-Identifier: Apache-2.0
"""Writes the blocks of pages that compare our figures with those of papers and of other libraries. The pages are
docs/papers.md and README.md.

`python tests/python/papers.py` writes the blocks again. The figures are from the records of `tests/python/figures` and
`benches/results`, and from `errata.toml`. Figures that only synthesis counts are from the tables of docs/machines.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from typing import Any

import figures

ROOT = figures.ROOT
BLOCK = re.compile(r"(<!-- (\w+): written by .*? -->\n\n).*?(\n<!-- end of \2 -->)", re.S)
Row = dict[str, Any]

# For each figure that a paper and we both have: whether less or more is better. The unit decides, else the first words
# of the metric.
LESS_UNITS = {"cycles", "us", "ms", "s", "ns", "words", "units x cycles"}
MORE_UNITS = {"a second", "1/s", "times", "Tb/s"}
LESS = (
    *("DSP", "block RAM", "ultra RAM", "RAM", "modular multipliers", "modular adders", "adders", "of the transforms"),
    *("instructions", "rotations", "multiplications", "rescales", "additions", "plaintext products", "of the port"),
    *("bootstraps", "macro instructions", "mid-level instructions", "micro instructions", "of 26 GB/s", "logic added"),
    *("ADD", "SUB", "MUL", "MORPH", "NTT", "INTT", "CONVERT", "FBE", "of the time", "all_units", "butterfly", "pre"),
    *("post", "limbs of ciphertexts", "limbs of keys"),
)
MORE = (
    *("paper's host, product", "paper's host, decryption", "accelerator over", "evaluations", "forecasts", "saved"),
    *("time saved", "times fewer", "best speed-up", "add: speed-up", "multiply + relinearise: speed-up"),
    *("rescale: speed-up",),
)
# Tables whose rows are sizes that both state, or figures of other works. No row there can be beaten.
SIZES = (
    *("Tables 4 and 5: other works", "Table I: ", "Table II: ", "Table III: ", "Table 1: ", "Table 4: FPGA resources"),
    # Widths times clocks, which are the paper's.
    "Table 6: units of the description",
)
SIZED = {"residues made at once", "butterflies (multipliers)", "records a batch", "hidden layers", "clock"}
SIZED_UNITS = {"MHz", "GB", "MB", "kB", "GB/s"}
# Figures of unlike things. One evaluation of ours forecasts for 8,192 meters, and one of the paper's is one forecast.
# Our iteration has a tenth of the bootstraps that HElib's time is counted for.
UNLIKE = {"forecasts in half an hour", "iteration over 513 HElib bootstraps"}


def printed(value: float) -> str:
    """Formats a figure as a page prints it: whole numbers with thousands apart, others to at least four digits."""
    if float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"


def direction(row: Row) -> int:
    """Returns -1 if less is better, 1 if more is, 0 if both state a size. A row that no rule covers is an error."""
    unit, metric = row["unit"], row["metric"]
    if row["table"].startswith(SIZES) or metric in SIZED or metric in UNLIKE:
        return 0
    if unit in LESS_UNITS or (unit not in MORE_UNITS and metric.startswith(LESS) and "speed-up" not in metric):
        return -1
    if unit in MORE_UNITS or metric.startswith(MORE):
        return 1
    if unit in SIZED_UNITS:
        return 0
    raise ValueError(f"{row['machine']}: is less or more better of `{metric}` in `{unit}` ({row['table']})?")


def verdict(row: Row) -> str:
    """Returns `beaten`, `equal` (to the digits that are printed) or `not reached`. The result is `other` if figures are
    not compared.
    """
    theirs, ours = row.get("paper_should_be", row["paper"]), row["ours"]
    places = 0 if float(theirs).is_integer() else min(len(repr(theirs).partition(".")[2]), 2)
    if abs(ours - theirs) <= 0.5 * 10.0**-places * (1 + 1e-9):
        return "equal"
    better = direction(row)
    if better == 0:
        return "other"
    return "beaten" if (ours > theirs) == (better > 0) else "not reached"


def judged(machine: str) -> list[Row]:
    """Returns the rows of a record that have a paper's figure and ours, each with its verdict."""
    both = [row for row in figures.rows(machine) if "paper" in row and "ours" in row]
    return [row | {"verdict": verdict(row)} for row in both]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


VERDICTS = ("beaten", "equal", "not reached", "other")

# Papers print some figures several times: in another unit, for another description, in another table or beside another
# work. These substitutions apply in turn to `table | case | metric`. Rows whose texts are then equal are one operation
# or part.
ALIKE = tuple(
    (re.compile(found), put)
    for found, put in (
        # The same figure of two descriptions.
        (r", ring(-stored)?$", ""),
        (r"^(Section 4\.3\.1 \| )ring(-stored)?(, )?", r"\1"),
        # A time in total, for each record, as a rate, and as a speed-up.
        (r" a record$|: speed-up$|, area-time$", ""),
        (r" \| (evaluations|forecasts) in half an hour$", " | total"),
        # polymul: Table 5 has Table 2's cycles as time. The study of decryption has the same products.
        (r"^Table 5 \| (n = .*) \| Pol\.Mul\.$", r"Table 2 | \1 | FPM"),
        (r"^Table 5 \| (n = .*)$", r"Table 2 | \1"),
        (r"^(Section 5 \| n = .*) \| paper's host, product without I/O$", r"\1 | HPM"),
        (r"^(Section 5 \| n = .*) \| paper's host, product with I/O$", r"\1 | with load and unload"),
        (r"^(Section 5 \| n = .*), paper's host, decryption with I/O$", r"\1, paper's host"),
        (r"^(Section 5 \| n = .*) \| paper's host, decryption with I/O$", r"\1 | paper's host"),
        (r"^Section 5 \| n = 1024, K = 14 \| HPM$", "Table 2 | n = 1024, K = 16 | HPM"),
        (r"^Section 5 \| n = 1024, K = 27 \| HPM$", "Table 2 | n = 1024, K = 32 | HPM"),
        (r"^Section 5 \| n = 2048, K = 29 \| HPM$", "Table 2 | n = 2048, K = 32 | HPM"),
        (r"^(Figure 4 \| .*) \| area-time$", r"\1 | NTT"),
        # basext: cycles at 200 MHz are the time. Table 4.6 repeats iterations of Table 4.5.
        (r"^(Table 4\.[789] \| .*) \| time at 200 MHz$", r"\1 | cycles"),
        (
            r"^Table 4\.5 \| (\w+), l = k = 17, TP = 32, N = 2\^16 \| iterations$",
            r"Table 4.6 | N = 2^16, TP = 32, l = k = 17 | \1",
        ),
        (r"^(Table 4\.1[01] \| .*) \| accelerator over the best processor$", r"\1 | accelerator at 200 MHz"),
        # ring: Table 2's operations beside other works, and Table 3's units a second time.
        (r"^Table 4 \| (Set-\d)(, [^|]*)? \| ", r"Table 2 | \1 | "),
        (r"^Table 5 \| Medha, U250 \| best speed-up over software$", "Table 2 | Set-1 | multiply + relinearise"),
        (
            r"^Section 5\.3 \| (cycles|throughput, data on chip|.*clusters, simulated|.*one cluster|eight V100.*) \| ",
            "Table 2 | Set-1 | ",
        ),
        (r"^Table 3 \| RPAU of (\d+) bits \| ", r"Table 3 | rpau \1 | "),
        # torus: a bootstrap alone and as one of several interleaved. Section III-D has the bootstraps of Table VI and
        # the transforms of Table IV.
        (r" \| cycles each of 4 interleaved$", " | cycles"),
        (r"^Section III-D \| m = (\d) \| bootstrap.*$", r"Table VI | Proposed\1, 128 bits, m = \1 | cycles"),
        (r"^Section III-D \| m = \d \| transforms of a step, .*$", "Table IV | proposed, VCU128, 52 bits | cycles"),
        # vector: two ways of counting, ways to remove digits, and the same times divided into those of software.
        (r" \| (paper's counting|limb after limb|with distant memory) \| ", " | "),
        (r"^Section 8\.3 \| .*$", "Section 8.3 | bootstrap"),
        (r"^Sections 8\.3 and 8\.4 \| bootstrap over .*$", "Section 8.3 | bootstrap"),
        (r"^Sections 8\.3 and 8\.4 \| iteration over .*$", "Section 8.3.2 | iteration"),
    )
)


def heading(table: str) -> str:
    """Returns the number of a table or section: the name up to its colon."""
    return table.partition(":")[0]


def operation(row: Row) -> str:
    """Returns the operation or part that a figure is of, which all tables and descriptions with it share."""
    name = f"{heading(row['table'])} | {row['case']} | {row['metric']}"
    for found, put in ALIKE:
        name = found.sub(put, name)
    return name


def outcome(machine: str) -> str:
    """Returns the counts of figures of each table that are beaten, equal and not reached. All figures follow in a
    folded part.
    """
    rows = judged(machine)
    counts = {name: [0] * len(VERDICTS) for name in dict.fromkeys(row["table"] for row in rows)}
    for row in rows:
        counts[row["table"]][VERDICTS.index(row["verdict"])] += 1
    sums = [sum(column) for column in zip(*counts.values(), strict=True)]
    of = [len({operation(row) for row in rows if row["verdict"] == which}) for which in VERDICTS]
    lines = [(name, *map(str, found)) for name, found in counts.items()]
    lines += [("**all figures**", *map(str, sums)), ("**different operations and parts**", *map(str, of))]
    text = table(("printed in", *VERDICTS[:3], "not compared"), lines)
    near = sum(close(row) for row in rows if row["verdict"] == "not reached")
    for which, found, things in zip(VERDICTS[:3], sums, of, strict=False):
        if found:
            more = f", {near} of the figures by 1 % or less" if which == "not reached" and near else ""
            listed = itemised([row for row in rows if row["verdict"] == which], machine)
            summary = f"{found} figures of {things} operations and parts {which}{more}"
            text += f"\n<details><summary>{summary}</summary>\n\n{listed}\n</details>\n"
    return text


def close(row: Row) -> bool:
    """Whether ours is within a hundredth of the paper's."""
    return abs(row["ours"] / row.get("paper_should_be", row["paper"]) - 1) <= 0.01


def place(name: str, machine: str) -> str:
    """Returns the name of a table, as short as it is unique: up to its colon, else whole."""
    alike = {row["table"] for row in figures.rows(machine) if heading(row["table"]) == heading(name)}
    return heading(name) if len(alike) == 1 else name


def within(row: Row, machine: str) -> str:
    """Returns our communication that a total contains, in brackets, if the paper gives no figure of it."""
    if row["metric"] != "total":
        return ""
    same = ("machine", "table", "case")
    parts = [
        f"{part['metric']}: {printed(part['ours'])} {part['unit']}"
        for part in figures.rows(machine)
        if part["metric"].startswith("communication") and "paper" not in part and part["ours"]
        if all(part[key] == row[key] for key in same)
    ]
    return f" ({'; '.join(parts)})" if parts else ""


# The units of figures whose rows have none. A key is the first words of a metric, or else of a case.
UNITS = {
    **{"DSP": "DSP", "block RAM": "blocks", "ultra RAM": "blocks", "modular multipliers": "multipliers"},
    **{"modular adders": "adders", "adders": "adders", "residues made": "residues", "butterflies": "multipliers"},
    **dict.fromkeys(("butterfly", "pre", "post", "all_units"), "multipliers"),
    **{"records a batch": "records", "hidden layers": "layers", "evaluations": "evaluations", "forecasts": "forecasts"},
    **{"limbs of": "limbs", "times fewer": "times", "bits, at most": "bits", "primes among them": "primes"},
    **dict.fromkeys(("paper's host", "accelerator over", "best speed-up", "add: speed-up"), "times"),
    **dict.fromkeys(("multiply + relinearise: speed-up", "rescale: speed-up"), "times"),
    **{name: name for name in ("rotations", "multiplications", "rescales", "additions", "plaintext products")},
    **{"bootstraps": "bootstraps", "of the transforms": "of the transforms' area", "instructions": "instructions"},
    **dict.fromkeys(("macro", "mid-level", "micro"), "instructions"),
    **dict.fromkeys(("ADD", "SUB", "MUL", "MORPH", "NTT", "INTT", "CONVERT", "FBE"), "instructions"),
    **dict.fromkeys(("initialization", "plaintext_rotate", "blind_rotate", "extract", "keyswitch"), "operations"),
    **{"security_bits": "bits", "log_q": "bits", "ring": "coefficients", "slots": "slots", "depth": "levels"},
    "plaintext_modulus": "values",
}


def unit(row: Row) -> str:
    """Returns the unit of a figure. A figure without one is an error."""
    if row["unit"]:
        return row["unit"]
    for text in (row["metric"], row["case"]):
        for begin, found in UNITS.items():
            if text.startswith(begin):
                return found
    raise ValueError(f"{row['machine']}: `{row['metric']}` of {row['case']} has no unit ({row['table']})")


def better(row: Row) -> str:
    """Returns how many times as good our figure is; above 1 ours is better. It is `-` for sizes."""
    theirs, ours, way = row.get("paper_should_be", row["paper"]), row["ours"], direction(row)
    if not way or not theirs or not ours:
        return "-"
    times = ours / theirs if way > 0 else theirs / ours
    if abs(times - 1) < 0.01:
        return f"{times:.4f}"
    return f"{times:,.3g}" if times < 1000 else f"{times:,.0f}"


# A description in a row's case or metric. The record has one name for all descriptions of a machine.
NAMED = re.compile(r"(?:^|, )((?:ring|torus|vector)(?:-\w+)?)(?=$|, )")


def description(row: Row) -> tuple[str, str, str]:
    """Returns the description that a row is of, and its case and metric without that name."""
    name, found = row["machine"], []
    for text in (row["case"], row["metric"]):
        named = NAMED.search(text)
        if named and named[1].split("-")[0] == row["machine"].split("-")[0]:
            name, text = named[1], NAMED.sub("", text, count=1).removeprefix(", ")
        found.append(text)
    return name, found[0], found[1]


def itemised(rows: Iterable[Row], machine: str) -> str:
    """Returns a table with a line for each figure. Descriptions of a machine with the same figure share a line."""
    merged: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        name, case, metric = description(row)
        both_are = (row.get("paper_should_be", row["paper"]), row["ours"])
        theirs, ours = (f"{printed(value)} {unit(row)}" for value in both_are)
        figure = ", ".join(text for text in (case, metric + within(row, machine)) if text)
        what = (place(row["table"], machine), figure, theirs, ours, better(row))
        merged.setdefault(what, []).append(f"`{name}`")
    cells = [(*what, " ".join(dict.fromkeys(names))) for what, names in merged.items()]
    return table(("where", "figure", "the paper", "ours", "times as good", "description"), cells)


@cache
def errata() -> dict[str, list[Row]]:
    return tomllib.loads((figures.RECORDS / "errata.toml").read_text())


def errors(machine: str) -> str:
    """Returns the errors found in a paper, and a table of printed figures that the paper's own formulas or text
    correct.
    """
    text = "".join(f"- **{found['place']}.** {found['text']}\n" for found in errata()[machine])
    wrong = {
        (place(row["table"], machine), row["case"], row["metric"]): row
        for row in figures.rows(machine)
        if "paper_should_be" in row
    }
    if not wrong:
        return text
    cells = [
        (where, f"{case}, {metric}", printed(row["paper"]), f"{printed(row['paper_should_be'])} {row['unit']}".strip())
        for (where, case, metric), row in wrong.items()
    ]
    return f"{text}\n{table(('where', 'figure', 'printed', 'should be'), cells)}"


def processor(machine: Row) -> str:
    """Returns a processor's name, and its family, model and stepping."""
    return f"{machine['processor']} {'-'.join(machine['family_model_stepping'])}"


@cache
def bench(row: str, peer: str) -> Row:
    """Returns the row that compares with a peer in the newest record that has it. Records with some instructions turned
    off are left out.
    """
    records = [(path.name, json.loads(path.read_text())) for path in (ROOT / "benches/results").glob("*.json")]
    whole = sorted((found for name, found in records if "avx2" not in name), key=lambda found: found["date"])
    for record in reversed(whole):
        for found in record["rows"]:
            if found["id"] == row and found.get("peer", {}).get("name") == peer:
                return found | {"processor": processor(record["machine"]), "on": record["date"][:10]}
    raise ValueError(f"no record has {row} beside {peer}")


def beside(row: str, peers: Iterable[str]) -> tuple[str, str]:
    """Returns our time of a row in ms, and each peer's time as a multiple of ours."""
    found = [bench(row, peer) for peer in peers]
    if len({one["on"] for one in found}) != 1:
        raise ValueError(f"{row}: the peers are of different records")
    ours = found[0]["ours"][found[0]["clock"]]["min_us"] / 1000
    return f"{ours:.2f} ms", ", ".join(f"{one['peer']['name']} {one['ratio']:.2f}x" for one in found)


def of(record: str, value: str = "ours", **names: str) -> float:
    """Returns the value of the only row of a record that has these names."""
    found = [row for row in figures.rows(record) if names.items() <= row.items() and value in row]
    if len(found) != 1:
        raise ValueError(f"{record}: {len(found)} rows with {value} are {names}")
    return found[0][value]


def both(record: str, **names: str) -> str:
    """Returns our figure, and the paper's in brackets."""
    return f"{printed(of(record, **names))} ({printed(of(record, 'paper', **names))})"


@cache
def paper(machine: str) -> Row:
    return tomllib.loads((ROOT / "crates/papers/data/paper_tables.toml").read_text())[machine]


def facts() -> str:
    """Returns six measured facts: one core of a CPU beside other libraries, and each machine beside its paper."""
    row, gate_row = "ckks.set1.multiply_relinearise_rescale", "tfhe.gates.nand"
    ckks, peers = beside(row, ("SEAL", "Lattigo", "OpenFHE"))
    gate, gates = beside(gate_row, ("tfhe-rs", "OpenFHE"))
    where, there = bench(row, "SEAL"), bench(gate_row, "tfhe-rs")
    cpu = (
        f"one core, {where['processor']}: CKKS multiply, relinearise and rescale at N = 2^14 ({where['on']}); a TFHE "
        f"NAND ({there['processor']}, {there['on']})",
        f"{ckks}; {gate}",
        f"the peer's time over ours: {peers}; of the gate {gates}",
        "one thread; equal parameters, but for OpenFHE's gate, which has its own 128-bit set; results checked first",
        "`make bench ONLY=ckks.set1,tfhe.gates`",
    )

    fpm = {"case": "n = 4096, K = 32", "metric": "FPM"}
    whole = {"case": "all", "table": "Table 4: FPGA resources, the whole machine"}
    polymul = (
        "`polymul`: a product of polynomials, n = 4096, 32 bits",
        f"{printed(of('polymul', **fpm))} cycles",
        f"{printed(of('polymul', 'paper', **fpm))} cycles",
        f"DSP {both('polymul-areas', metric='DSP', **whole)}, block RAM "
        f"{both('polymul-areas', metric='block RAM, 36 Kbit', **whole)}, LUT "
        f"{both('polymul-areas', metric='LUT, as logic and as memory', **whole)}, FF "
        f"{both('polymul-areas', metric='FF', **whole)}",
        "`ringmill reproduce polymul`",
    )

    unit = {"table": "Table 4.7: N = 2^16, l = 17, one target", "case": "64 bits, TP = 32"}
    product = {"metric": "area-time product at 200 MHz", **unit}
    basext = (
        "`basext`: exact base extension, 17 residues, N = 2^16",
        f"{printed(of('basext', metric='cycles', **unit))} cycles",
        f"{printed(of('basext', 'paper', metric='cycles', **unit))} cycles",
        f"DSP {both('basext', metric='DSP', **unit)}, block RAM {both('basext', metric='block RAM, 36 Kbit', **unit)}, "
        f"LUT {both('basext-areas', metric='LUT', **unit)}, FF {both('basext-areas', metric='FF', **unit)}; "
        f"area x time {of('basext-areas', **product) / of('basext-areas', 'paper', **product):.3f} of the paper's",
        "`ringmill reproduce basext`",
    )

    stored = {"machine": "ring-stored", "case": "Set-1", "metric": "multiply + relinearise", "unit": "cycles"}
    case = "all RPAUs, 1 of 60 bits and 9 of 54"
    units = {"machine": "ring-stored", "table": "Table 3: memory and multipliers", "case": case}
    rpau = {"table": "Table 3: modules of ring-stored", "case": "RPAU 0, built for 60 bits"}
    printed_rpau = next(line for line in paper("ring")["resources"] if line[0] == "rpau_60")
    ring = (
        "`ring-stored`: CKKS multiply and relinearise, Set-1",
        f"{printed(of('ring', table='Table 2: instructions and operations', **stored))} cycles",
        f"{printed(of('ring', 'paper', table='Table 2: instructions and operations', **stored))} cycles",
        f"DSP {both('ring', metric='DSP', **units)}, block RAM {both('ring', metric='block RAM', **units)}, ultra RAM "
        f"{both('ring', metric='ultra RAM', **units)}, of one unit of 60 bits and nine of 54; of that of 60 bits LUT "
        f"{printed(of('ring-areas', metric='LUT', **rpau))} ({printed(printed_rpau[1])}), FF "
        f"{printed(of('ring-areas', metric='registers', **rpau))} ({printed(printed_rpau[2])})",
        "`ringmill reproduce ring`",
    )

    fit, theirs = {"case": "ours, `torus-fit`, m = 2"}, {"case": "Proposed2, 128 bits, m = 2"}
    engine = next(line for line in paper("torus")["bootstraps"] if line[:2] == ["set_128", 2])
    described = tomllib.loads((ROOT / "crates/machines/src/torus/torus-fit.toml").read_text())
    torus = (
        "`torus-fit`: a TFHE bootstrap, 128-bit set, two key bits a step",
        f"{printed(of('torus', metric='cycles', **fit))} cycles; of eight at once "
        f"{printed(of('torus', metric='cycles each of 8 interleaved', **fit))} each",
        f"{printed(of('torus', 'paper', metric='cycles', **theirs))} cycles",
        f"DSP {printed(of('torus-areas', metric='DSP', **fit))} ({printed(engine[6])}), RAM "
        f"{printed(of('torus-areas', metric='RAM', **fit))} ({printed(engine[7])}) Mbit, LUT "
        f"{printed(1000 * of('torus-areas', metric='LUT', **fit))} ({printed(engine[4])}), FF "
        f"{printed(1000 * of('torus-areas', metric='FF', **fit))} ({printed(engine[5])}); the key comes at "
        f"{printed(described['key']['gbyte_per_second'])} ({paper('torus')['pcie_gbs']['m2']}) GB/s",
        "`ringmill reproduce torus`",
    )

    counting = "paper's counting"
    boot = {"table": "Section 8.3: one bootstrap of the set, our digit removal", "metric": "bootstrap"}
    areas = {"table": "Table 6: areas of the units, sums of synthesised leaves", "metric": "of the transforms"}
    products = {"table": "Section 6.1: multipliers of the transform units", "metric": "all_units"}
    vector = (
        "`vector`: a BGV bootstrap, N = 2^16",
        f"{of('vector', case=counting, **boot):.2f} ms by the paper's counting, "
        f"{of('vector', case='with distant memory', **boot):.0f} ms with distant memory",
        f"{printed(of('vector', 'paper', case=counting, **boot))} ms",
        f"multipliers of transforms {both('vector', **products)}, buffer "
        f"{both('vector', case='ctb', metric='capacity', unit='MB')} MB; areas over the transforms': sums "
        f"{of('vector', case='mac', **areas):.2f} ({of('vector', 'paper', case='mac', **areas):.2f}), permutations "
        f"{of('vector', case='permutation', **areas):.2f} ({of('vector', 'paper', case='permutation', **areas):.2f})",
        "`ringmill reproduce vector`",
    )
    head = ("what", "ours", "theirs", "with what, ours (theirs)", "command")
    return table(head, [cpu, polymul, basext, ring, torus, vector])


def generated(page: str) -> dict[str, str]:
    """Returns the generated blocks of a page by their names."""
    if page == "README.md":
        return {"facts": facts()}
    found = {f"{machine}_outcome": outcome(machine) for machine in figures.ARGUMENTS}
    return found | {f"{machine}_errors": errors(machine) for machine in figures.ARGUMENTS}


PAGES = ("README.md", "docs/papers.md")


def with_blocks(page: str, text: str) -> str:
    """Returns a page with its blocks made again. Each block must be there once."""
    made = generated(page)
    places = [name for _, name, _ in BLOCK.findall(text) if name in made]
    if sorted(places) != sorted(made):
        raise ValueError(f"{page} has places for {', '.join(places)}, and the blocks are {', '.join(made)}")
    return BLOCK.sub(lambda f: f"{f[1]}{made[f[2]]}{f[3]}" if f[2] in made else f[0], text)


if __name__ == "__main__":
    for page in PAGES:
        path = ROOT / page
        path.write_text(with_blocks(page, path.read_text()))
