// SPDX-License-Identifier: Apache-2.0
//! Where the cycles of the buffer's port go, and how busy each unit is.

use ringmill_device::report::MachineReport;
use ringmill_machines::vector::VectorUse;
use ringmill_machines::vector::{Description, Tally};

use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str = "Where the cycles go: of all cycles of the buffer, in per cent";

/// Port cycles and chunks through each unit.
struct Split {
    cycles: u64,
    reads: u64,
    writes: u64,
    stalls: u64,
    mac: f64,
    transform: f64,
}

fn rows(case: &str, split: &Split) -> Vec<Row> {
    let share = |part: f64| Ours::Is(100.0 * part / split.cycles.max(1) as f64, How::Model);
    let used = split.reads + split.writes + split.stalls;
    let parts = [
        ("port reads", split.reads as f64, ""),
        ("port writes", split.writes as f64, ""),
        (
            "port stalls",
            split.stalls as f64,
            "free, and the next instruction, which reads, waits for something else",
        ),
        (
            "port idle",
            split.cycles.saturating_sub(used) as f64,
            "free, and the next instruction reads nothing of it",
        ),
        ("multiply-accumulate", split.mac, "busy"),
        ("transforms and permutations", split.transform, "busy"),
    ];
    let rows = parts.into_iter().map(|(metric, part, remark)| {
        let row = Row::new(TABLE, case, metric, "%", None, share(part));
        match remark {
            "" => row,
            remark => row.remarked(remark),
        }
    });
    rows.collect()
}

/// Of a procedure by itself, which took so many micro-cycles.
pub fn of_procedure(case: &str, d: &Description, micro: u64, tally: &Tally) -> Vec<Row> {
    let m = d.micro;
    let in_cycles = |micro: u64| micro as f64 / m.buffer as f64;
    rows(
        case,
        &Split {
            cycles: micro.div_ceil(m.buffer),
            reads: tally.reads,
            writes: tally.writes,
            stalls: tally.stalled / m.buffer,
            mac: in_cycles(tally.mac * m.mac),
            transform: in_cycles(tally.transform * 2 * m.transform),
        },
    )
}

/// Of a program, by both countings.
pub fn of_program(case: &str, report: &MachineReport, own: &VectorUse) -> Vec<Row> {
    let busy = |unit: &str| {
        let found = report.utilisation.iter().find(|of| of.unit == unit);
        found.map_or(0.0, |of| of.busy_cycles as f64)
    };
    let split = |cycles, stalls| Split {
        cycles,
        reads: own.port_reads,
        writes: own.port_writes,
        stalls,
        mac: busy("multiply-accumulate"),
        transform: busy("transform"),
    };
    let paper = split(
        own.cycles_by_papers_counting,
        own.port_stalls_by_papers_counting,
    );
    let mut found = rows(&format!("{case}, paper's counting"), &paper);
    let whole = split(report.cycles, own.port_stalls);
    found.extend(rows(&format!("{case}, with distant memory"), &whole));
    found
}
