// SPDX-License-Identifier: Apache-2.0
//! What the ring paper sets its machine beside: Tables 4 and 5, and the text of section 5.3 on HEAX, F1 and GPUs.

use super::paper::{Operations, Ring};
use crate::figure::How;
use crate::row::{Ours, Row};
use crate::tables::Cell;

const TABLE_4: &str = "Table 4: latency of other works, and how much faster Medha is";
const TABLE_5: &str = "Table 5: other accelerators";
const HEAX: &str = "Section 5.3: HEAX, Set-1";
const F1: &str = "Section 5.3: F1, Set-1";
const GPU: &str = "Section 5.3: GPUs, Set-1";
const MULTIPLY: &str = "multiply + relinearise";

/// Latencies of one of our descriptions, in microseconds.
pub struct Latencies {
    pub machine: String,
    pub set1: Operations,
    pub set2: Operations,
    /// Of a multiplication with relinearisation in Set-1 whose operands and result cross the host link, and the polynomials
    /// that cross it.
    pub over_the_link: f64,
    pub polynomials: f64,
}

/// The latency of one of the operations.
type Latency = fn(&Operations) -> f64;

/// Every printed figure; ours in it where there is one.
pub fn rows(paper: &Ring, ours: &[Latencies]) -> Vec<Row> {
    [
        table_4(paper, ours),
        table_5(paper, ours),
        heax(paper, ours),
        f1(paper, ours),
        gpu(paper, ours),
    ]
    .concat()
}

fn work(key: &str) -> &str {
    match key {
        "medha" => "Medha",
        "seal_i5_6200u" => "SEAL on an i5-6200U",
        "seal_xeon_silver_4108" => "SEAL on a Xeon Silver 4108",
        "heax" => "HEAX",
        other => other,
    }
}

fn model(value: f64) -> Ours {
    Ours::Is(value, How::Model)
}

/// A quotient as it is printed, with two decimals; what it should be where the printed one is another.
fn quotient(row: Row, right: f64) -> Row {
    let rounded = (right * 100.0).round() / 100.0;
    match row.printed {
        // Both the figures that it is of and itself are rounded.
        Some(printed) if (printed - rounded).abs() > 0.02 => row.but(rounded),
        Some(_) | None => row,
    }
}

fn table_4(paper: &Ring, ours: &[Latencies]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (set, key, latencies, speed_ups) in &paper.latency_comparison {
        let first = set == "set1";
        let case = format!("{}, {}", if first { "Set-1" } else { "Set-2" }, work(key));
        let medha = latencies_of(paper, set, "medha");
        let operations: [(&str, Latency); 3] = [
            ("add", |o| o.add),
            (MULTIPLY, |o| o.mult_relin),
            ("rescale", |o| o.rescale),
        ];
        let columns = latencies.iter().zip(speed_ups).zip(medha);
        for ((metric, of), ((latency, speed_up), medha)) in operations.into_iter().zip(columns) {
            let Some(theirs) = latency.figure() else {
                continue;
            };
            let row = Row::new(
                TABLE_4,
                case.as_str(),
                metric,
                "us",
                Some(theirs),
                Ours::None,
            );
            rows.push(row.remarked("ours are above"));
            let Some(printed) = speed_up.figure() else {
                continue;
            };
            for l in ours {
                let mine = of(if first { &l.set1 } else { &l.set2 });
                let row = Row::new(
                    TABLE_4,
                    case.as_str(),
                    format!("{metric}: speed-up, {}", l.machine),
                    "",
                    Some(printed),
                    model(theirs / mine),
                );
                rows.push(match medha {
                    Some(medha) => quotient(row, theirs / medha),
                    None => row,
                });
            }
        }
    }
    rows
}

/// Table 4's latencies of a work: addition, multiplication with relinearisation, rescaling.
fn latencies_of(paper: &Ring, set: &str, key: &str) -> [Option<f64>; 3] {
    let mut rows = paper.latency_comparison.iter();
    let row = rows.find(|(of, work, ..)| of == set && work == key);
    row.map_or([None; 3], |(_, _, latencies, _)| {
        latencies.each_ref().map(Cell::figure)
    })
}

fn table_5(paper: &Ring, ours: &[Latencies]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut push = |case: &str, metric: &str, unit, printed: Option<f64>, said: &str| {
        let row = Row::new(TABLE_5, case, metric, unit, printed, Ours::None);
        rows.push(if said.is_empty() {
            row
        } else {
            row.remarked(said)
        });
    };
    let kind = |real: bool| match real {
        true => "",
        false => "simulated, no hardware",
    };
    for (work, node, real, speed_up, ghz, mm2, price) in &paper.asics {
        let case = format!("{work}, ASIC {node}");
        push(
            &case,
            "best speed-up over software",
            "",
            Some(*speed_up),
            kind(*real),
        );
        push(&case, "clock", "GHz", ghz.figure(), &ghz.to_string());
        push(&case, "area", "mm^2", Some(*mm2), "");
        push(&case, "price", "US$", Some(*price), "at least");
    }
    for (work, platform, real, speed_up, ghz, logic, ram, price) in &paper.fpgas {
        let case = format!("{work}, {platform}");
        if work == "Medha" {
            continue;
        }
        let of = match work.as_str() {
            "HEAX" => "asymptotic throughput",
            _ => kind(*real),
        };
        push(
            &case,
            "best speed-up over software",
            "",
            speed_up.figure(),
            of,
        );
        push(&case, "clock", "GHz", Some(*ghz), "");
        push(&case, "logic", "%", Some(*logic), "");
        push(&case, "on-chip RAM", "%", Some(*ram), "");
        let said = match price {
            Cell::Figure(_) => String::new(),
            Cell::Text(text) => text.clone(),
        };
        push(&case, "price", "US$", price.figure(), &said);
    }
    let medha = paper.fpgas.iter().find(|(work, ..)| work == "Medha");
    let Some((work, platform, _, speed_up, ghz, ..)) = medha else {
        return rows;
    };
    let case = format!("{work}, {platform}");
    // On the processor that HEAX was set beside.
    if let [_, Some(seal), _] = latencies_of(paper, "set1", "seal_xeon_silver_4108") {
        for l in ours {
            let metric = format!("best speed-up over software, {}", l.machine);
            let mine = model(seal / l.set1.mult_relin);
            let row = Row::new(TABLE_5, case.as_str(), metric, "", speed_up.figure(), mine);
            rows.push(
                row.remarked("over SEAL's 66,666 us of Table 4, by which the paper's is 134.07"),
            );
        }
    }
    let clock = Ours::None;
    let row = Row::new(TABLE_5, case.as_str(), "clock", "GHz", Some(*ghz), clock);
    rows.push(row.remarked("ours are cycles at the paper's"));
    rows
}

fn heax(paper: &Ring, ours: &[Latencies]) -> Vec<Row> {
    let h = &paper.heax;
    let mut rows = Vec::new();
    let [_, latency, _] = latencies_of(paper, "set1", "heax");
    for l in ours {
        let cycles = model(l.set1.mult_relin * paper.clock_mhz);
        let metric = format!("{MULTIPLY}, {}", l.machine);
        let row = Row::new(
            HEAX,
            "cycles",
            metric,
            "cycles",
            Some(h.keyswitch_cycles),
            cycles,
        );
        let row = match latency {
            Some(us) => row.but((us * h.clock_mhz).round()),
            None => row,
        };
        rows.push(
            row.remarked(
                "HEAX's at 300 MHz and of the key switch alone: from Table 4, not the text",
            ),
        );
    }
    for l in ours {
        let linked = l.over_the_link;
        for (case, us, said) in [
            ("throughput, data on chip", l.set1.mult_relin, String::new()),
            (
                "throughput, operands and result over the link",
                linked,
                format!(
                    "{} polynomials of 125 us; so many would leave HEAX {:.0} a second",
                    l.polynomials,
                    1e6 / (l.polynomials * 125.0)
                ),
            ),
        ] {
            let metric = format!("{MULTIPLY}, {}", l.machine);
            let a_second = model(1e6 / us);
            let row = Row::new(
                HEAX,
                case,
                metric,
                "a second",
                Some(h.mult_relin_per_s),
                a_second,
            );
            rows.push(if said.is_empty() {
                row
            } else {
                row.remarked(said)
            });
        }
    }
    rows
}

fn f1(paper: &Ring, ours: &[Latencies]) -> Vec<Row> {
    let whole = paper.f1.mult_relin_per_s;
    let mut rows = Vec::new();
    for l in ours {
        let a_second = model(1e6 / l.set1.mult_relin);
        let metric = format!("{MULTIPLY}, {}", l.machine);
        let case = "1 GHz, 16 clusters, simulated";
        let row = Row::new(F1, case, metric.as_str(), "a second", Some(whole), a_second);
        rows.push(row);
        // The text: one cluster at 200 MHz is as fast as Medha.
        let medha = paper.set1_a_second.mult_relin;
        let case = "200 MHz, one cluster";
        let row = Row::new(F1, case, metric, "a second", Some(medha), a_second);
        let row = row.but(whole / paper.f1_on_u250.slowdown);
        rows.push(row.remarked("printed: almost Medha's speed"));
    }
    rows
}

fn gpu(paper: &Ring, ours: &[Latencies]) -> Vec<Row> {
    let (g, over) = (&paper.gpu_dgx1, &paper.medha_over_gpu_dgx1);
    let case = "eight V100 (log Q = 360)";
    let mut rows = Vec::new();
    for (metric, theirs, printed, of) in [
        ("add", g.add_ms, over.add, (|o| o.add) as Latency),
        (MULTIPLY, g.mult_relin_ms, over.mult_relin, |o| o.mult_relin),
    ] {
        for l in ours {
            let mine = of(&l.set1) / 1e3;
            let named = format!("{metric}, {}", l.machine);
            rows.push(Row::new(GPU, case, named, "ms", Some(theirs), model(mine)));
            let named = format!("{metric}: speed-up, {}", l.machine);
            rows.push(Row::new(
                GPU,
                case,
                named,
                "",
                Some(printed),
                model(theirs / mine),
            ));
        }
    }
    for (metric, unit, printed) in [
        ("power at most", "W", g.power_w),
        ("price", "US$", g.price_usd),
        ("power, against the U250's", "", over.power),
        ("price, against the U250's", "", over.price),
    ] {
        rows.push(Row::new(GPU, case, metric, unit, Some(printed), Ours::None));
    }
    rows
}
