// SPDX-License-Identifier: Apache-2.0
//! What the text claims of the multiply-accumulate unit and the buffer, and the rivals of section 8.4.

use ringmill_machines::vector::Description;

use super::paper::Vector;
use crate::figure::How;
use crate::row::{Ours, Row};

const EXTENSION: &str = "Section 6.3: base extension of 12 residues to 40";
const TRAFFIC: &str = "Section 5: the buffer's cycles that distant memory takes";
const SPEED: &str =
    "Sections 8.3 and 8.4: speed-ups over software, each paper's own on its own computer";

fn counted(value: f64) -> Ours {
    Ours::Is(value, How::Counted)
}

/// Of a chunk: residues read once and scaled in place, each target one pass through the accumulator; and by a design that
/// reads and writes the buffer for each product and each sum. Then how much of the buffer's port distant memory can take.
pub fn rows(paper: &Vector, d: &Description) -> Vec<Row> {
    let b = &paper.base_extension;
    let (from, to) = (b.table_polynomials, b.weighted_sums);
    let accesses = from + to;
    let sums = from + from * to;
    let naive = 2 * from + 2 * from * to + 3 * (from - 1) * to;
    let percent = |port: u64, unit: u64| 100.0 * port as f64 / unit as f64;
    let extension = |case: &str, metric: &str, unit, printed, ours| {
        Row::new(EXTENSION, case, metric, unit, printed, counted(ours))
    };
    let chunk = f64::from(1u32 << d.log_lanes) * 4.0;
    let traffic = |channels: usize| {
        let bytes = channels as f64 * d.distant.gbyte_per_second * 1e9;
        100.0 * bytes / (chunk * d.clock_mhz * 1e6)
    };
    let channel = |case: &str, printed, channels| {
        let ours = counted(traffic(channels));
        Row::new(TRAFFIC, case, "of the port", "%", printed, ours)
    };
    let printed = paper.ctb.distant_traffic_percent;
    vec![
        extension(
            "accesses to the buffer",
            "times fewer",
            "",
            Some(b.mac_speedup),
            naive as f64 / accesses as f64,
        ),
        extension(
            "port busy, clocks equal",
            "of the time",
            "%",
            Some(b.ctb_use_percent),
            percent(accesses, sums),
        ),
        extension(
            "port busy, at the dividers",
            "of the time",
            "%",
            None,
            percent(accesses * d.micro.buffer, sums * d.micro.mac),
        ),
        channel("one channel", Some(printed), 1),
        channel("all channels", Some(printed), d.distant.channels)
            .but(printed * d.distant.channels as f64)
            .remarked("\"our total distant memory bandwidth\" is both channels'"),
    ]
}

/// Speed-ups: HElib's seconds, which are the paper's, over what the model says of ours; the rivals' are printed alone.
pub fn speedups(paper: &Vector, bootstrap_ms: [f64; 2], iteration_s: [f64; 2]) -> Vec<Row> {
    let row = |case: &str, metric: &str, printed, ours| {
        Row::new(SPEED, case, metric, "times", Some(printed), ours)
    };
    let model = |value: f64| Ours::Is(value, How::Model);
    let more = &paper.logistic_regression_more;
    let bootstraps = more.helib_bootstraps_s;
    let [paper_ms, whole_ms] = bootstrap_ms;
    let [paper_s, whole_s] = iteration_s;
    let mut found = vec![
        row(
            "paper's counting",
            "bootstrap over HElib's 160 s",
            paper.bootstrap_speedup,
            model(1e3 * paper.helib_bootstrap_s / paper_ms),
        ),
        row(
            "with distant memory",
            "bootstrap over HElib's 160 s",
            paper.bootstrap_speedup,
            model(1e3 * paper.helib_bootstrap_s / whole_ms),
        ),
        row(
            "paper's counting",
            "iteration over 513 HElib bootstraps",
            more.speedup_at_least,
            model(bootstraps / paper_s),
        ),
        row(
            "with distant memory",
            "iteration over 513 HElib bootstraps",
            more.speedup_at_least,
            model(bootstraps / whole_s),
        ),
    ];
    let others = &paper.others;
    for (case, metric, printed) in [
        ("HEAWS", "network of depth 4", others.heaws),
        ("HEAX", "CKKS key switch over SEAL", others.heax),
        ("Medha", "CKKS product over SEAL", others.medha),
    ] {
        found.push(row(case, metric, printed, Ours::NotMeasured));
    }
    let f1 = Row::new(
        SPEED,
        "F1",
        "bootstrap of one bit, N = 16384",
        "ms",
        Some(others.f1_bootstrap_ms),
        Ours::NotMeasured,
    );
    found.push(f1.remarked("another bootstrap: of one slot, t = 2, and another ring"));
    found
}
