// SPDX-License-Identifier: Apache-2.0
//! Tables IV to VI: every design that the paper prints, ours beside its own.

use ringmill_machines::torus::{Description, Schedule, TorusMachine};

use super::engine::{self, Figures, Printed};
use super::gate::Milliseconds;
use super::paper::Torus;
use super::peer;
use crate::error::PaperError;
use crate::figure::How;
use crate::mapping::Mapping;
use crate::row::{Ours, Row};
use crate::tables::Cell;

const NTT: &str = "Table IV: designs of the NTT, N = 1024";
const BANDWIDTH: &str = "Table V: bandwidth of the memory outside";
const BOOTSTRAP: &str = "Table VI: latency and resources of a bootstrap";

/// How far a printed product may be from that of the printed factors: all are rounded, to two decimals and to two digits or more.
fn rounded(printed: f64, product: f64) -> bool {
    (printed - product).abs() <= 0.005 + 0.01 * product
}

/// A column of a table: its place in a row, name and unit; for an area-time product the place of the area.
struct Column(usize, &'static str, &'static str, Option<usize>);

const NTT_COLUMNS: [Column; 10] = [
    Column(3, "latency", "us", None),
    Column(4, "clock", "MHz", None),
    Column(5, "LUT", "", None),
    Column(6, "LUT area-time product", "ms", Some(5)),
    Column(7, "FF", "", None),
    Column(8, "FF area-time product", "ms", Some(7)),
    Column(9, "DSP", "", None),
    Column(10, "DSP area-time product", "ms", Some(9)),
    Column(11, "block RAM", "", None),
    Column(12, "block RAM area-time product", "ms", Some(11)),
];

const BOOTSTRAP_COLUMNS: [Column; 10] = [
    Column(2, "clock", "MHz", None),
    Column(3, "latency", "ms", None),
    Column(6, "LUT", "K", None),
    Column(7, "LUT area-time product", "K s", Some(6)),
    Column(8, "FF", "K", None),
    Column(9, "FF area-time product", "K s", Some(8)),
    Column(10, "DSP", "", None),
    Column(11, "DSP area-time product", "s", Some(10)),
    Column(12, "RAM", "Mbit", None),
    Column(13, "RAM area-time product", "Mbit s", Some(12)),
];

/// The place of a latency in both; its unit is a thousandth of the products'.
const LATENCY: usize = 3;

/// The printed figures of a design.
fn figures(table: &'static str, columns: &[Column], design: &[Cell], case: &str) -> Vec<Row> {
    let at = |place: usize| design.get(place).and_then(Cell::figure);
    let mut found = Vec::new();
    for Column(place, metric, unit, area) in columns {
        let Some(printed) = at(*place) else { continue };
        let row = Row::new(table, case, *metric, unit, Some(printed), Ours::None);
        let factors = area.and_then(|area| at(area).zip(at(LATENCY)));
        let right = factors.map(|(area, latency)| area * latency / 1e3);
        found.push(match right {
            Some(right) if !rounded(printed, right) => row.but(right),
            Some(_) | None => row,
        });
    }
    found
}

fn cell(design: &[Cell], place: usize) -> String {
    design.get(place).map(Cell::to_string).unwrap_or_default()
}

/// Whether a row of Tables IV and VI is of the paper's own FPGA design.
fn proposed(design: &[Cell]) -> bool {
    let name = cell(design, 0);
    name == "fpga" || name.starts_with("Proposed")
}

fn ntt_case(design: &[Cell]) -> String {
    let name = match cell(design, 0).as_str() {
        "fpga" => "proposed, VCU128".to_owned(),
        "asic" => "proposed, 28 nm".to_owned(),
        reference => format!("[{reference}]"),
    };
    format!("{name}, {} bits", cell(design, 1))
}

fn bootstrap_case(design: &[Cell]) -> String {
    let of = |place| cell(design, place);
    let name = match of(0).as_str() {
        "FPT" => "FPT (no key switch)".to_owned(),
        "MATCHA" => "MATCHA (at least)".to_owned(),
        name => name.to_owned(),
    };
    format!("{name}, {} bits, m = {}", of(1), of(5))
}

/// The parameters of a printed engine.
fn printed(design: &[Cell]) -> Option<Printed> {
    let at = |place: usize| design.get(place).and_then(Cell::figure);
    let (dim, levels) = if at(1)? > 110.0 { (630, 3) } else { (500, 2) };
    Some(Printed {
        dim,
        levels,
        unroll: at(5)? as usize,
        clock_mhz: at(2)?,
    })
}

/// The rows of a design of the paper's with our figures in them, and its cycles: the printed latency times its clock.
fn beside(
    found: &mut Vec<Row>,
    table: &'static str,
    columns: &[Column],
    clock: (usize, f64),
    design: &[Cell],
    (case, ours): (String, &Figures),
) {
    let (clock, latency_unit) = clock;
    let at = |place: usize| design.get(place).and_then(Cell::figure);
    let mhz = at(clock);
    let cycles = mhz.zip(at(LATENCY)).map(|(mhz, t)| mhz * t * latency_unit);
    let is = Ours::Is(ours.cycles as f64, How::Model);
    let row = Row::new(table, case.as_str(), "cycles", "cycles", cycles, is);
    found.push(row.remarked("printed: latency x clock"));
    if let Some((places, each)) = ours.interleaved {
        let metric = format!("cycles each of {places} interleaved");
        let is = Ours::Is(each as f64, How::Model);
        found.push(Row::new(table, case.as_str(), metric, "cycles", cycles, is));
    }
    let rows = figures(table, columns, design, &case);
    found.extend(rows.into_iter().map(|row| Row {
        ours: ours.of(&row.metric, row.unit, mhz),
        ..row
    }));
}

/// An engine of ours that no row of the paper's stands beside, at a clock of the paper's.
fn alone(found: &mut Vec<Row>, case: &str, mhz: f64, ours: &Figures) {
    let mut push = |metric: &str, unit, ours| {
        found.push(Row::new(BOOTSTRAP, case, metric, unit, None, ours));
    };
    push("cycles", "cycles", Ours::Is(ours.cycles as f64, How::Model));
    if let Some((places, each)) = ours.interleaved {
        let metric = format!("cycles each of {places} interleaved");
        push(&metric, "cycles", Ours::Is(each as f64, How::Model));
    }
    for Column(_, metric, unit, _) in &BOOTSTRAP_COLUMNS {
        match ours.of(metric, unit, Some(mhz)) {
            Ours::NotMeasured | Ours::None => {}
            figure => push(metric, unit, figure),
        }
    }
}

/// Digits that the paper names: its text's, and those of its operand widths.
const BASES: [u32; 2] = [7, 10];

fn proofs(found: &mut Vec<Row>, case: &str, printed: Printed) -> Result<(), PaperError> {
    for log_base in BASES {
        let digits = engine::digits(printed, log_base)?;
        let metric = format!("exact in one prime, Bg = 2^{log_base}");
        let is = Ours::Is(f64::from(u8::from(digits.exact)), How::Counted);
        let row = Row::new(BOOTSTRAP, case, metric, "1 = yes", None, is);
        found.push(row.remarked(digits.why));
        if printed.unroll > 1 {
            // A bundle in coefficient form is one gadget ciphertext: its sums are those of m = 1.
            let single = Printed {
                unroll: 1,
                ..printed
            };
            let bundled = engine::digits(single, log_base)?;
            let metric =
                format!("exact in one prime, Bg = 2^{log_base}, bundled in coefficient form");
            let is = Ours::Is(f64::from(u8::from(bundled.exact)), How::Counted);
            let row = Row::new(BOOTSTRAP, case, metric, "1 = yes", None, is);
            found.push(row.remarked(bundled.why));
        }
        if let Some(fails) = digits.fails {
            let metric = format!("a gate fails, Bg = 2^{log_base}");
            let is = Ours::Is(fails, How::Counted);
            let row = Row::new(BOOTSTRAP, case, metric, "log2", None, is);
            found.push(row.remarked("with the TFHE library's noise"));
        }
    }
    Ok(())
}

fn machine(printed: Printed, schedule: Schedule) -> Result<TorusMachine, PaperError> {
    let description = engine::description(printed, schedule)?;
    Ok(TorusMachine::new(description)?)
}

fn ntts(paper: &Torus, mapping: &Mapping<'_>) -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for design in &paper.ntt_designs {
        if proposed(design) {
            let ours = (ntt_case(design), &engine::ntt(mapping)?);
            beside(&mut found, NTT, &NTT_COLUMNS, (4, 1.0), design, ours);
        } else {
            let case = ntt_case(design);
            found.extend(figures(NTT, &NTT_COLUMNS, design, &case));
        }
    }
    Ok(found)
}

/// Table V: what the paper's engine, and ours, draw from the memory outside.
fn bandwidths(paper: &Torus) -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    let ours = Description::read(Description::OURS)?.key.gbyte_per_second;
    let benchmark = Description::read(Description::PAPER)?.key.gbyte_per_second;
    for (design, platform, rate, link, factor) in &paper.bandwidth {
        let case = format!("{design}, {platform}, {link}");
        let row = |metric: &str, unit, printed| {
            Row::new(
                BANDWIDTH,
                case.as_str(),
                metric,
                unit,
                Some(printed),
                Ours::None,
            )
        };
        found.push(row("peak", "GB/s", *rate));
        found.push(row("factor", "", *factor));
    }
    for (name, rate) in [("torus", ours), ("torus-paper", benchmark)] {
        let is = Ours::Is(rate, How::Stated);
        let case = format!("ours, `{name}`");
        found.push(Row::new(BANDWIDTH, case, "peak", "GB/s", None, is));
    }
    Ok(found)
}

fn bootstraps(
    paper: &Torus,
    gate: &Milliseconds,
    mapping: &Mapping<'_>,
) -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for design in &paper.bootstrap_designs {
        let case = bootstrap_case(design);
        match printed(design).filter(|_| proposed(design)) {
            Some(printed) => {
                let ours = engine::engine(&machine(printed, Schedule::Sums)?, mapping)?;
                let ours = (case.clone(), &ours);
                beside(
                    &mut found,
                    BOOTSTRAP,
                    &BOOTSTRAP_COLUMNS,
                    (2, 1e3),
                    design,
                    ours,
                );
                proofs(&mut found, &case, printed)?;
                let pairs = engine::engine(&machine(printed, Schedule::Pairs)?, mapping)?;
                let case = format!("{case}: its own order (`torus-paper`)");
                alone(&mut found, &case, printed.clock_mhz, &pairs);
            }
            None => {
                found.extend(figures(BOOTSTRAP, &BOOTSTRAP_COLUMNS, design, &case));
            }
        }
    }
    for (name, text, mhz) in [
        ("torus", Description::OURS, 180.0),
        ("torus-fit", Description::FIT, 180.0),
        ("torus-wide", Description::WIDE, 180.0),
        ("torus-large", Description::LARGE, 200.0),
    ] {
        let machine = TorusMachine::parse(text)?;
        let unroll = machine.shape().sizes().unroll;
        let case = format!("ours, `{name}`, m = {unroll}");
        alone(&mut found, &case, mhz, &engine::engine(&machine, mapping)?);
    }
    for row in &mut found {
        if row.case.starts_with("TFHE library") && row.metric == "latency" {
            row.ours = Ours::Is(gate.ours, How::Measured);
            row.remark = Some("our gate with the same parameters, one thread".to_owned());
        }
    }
    let peer = match gate.peer {
        Some(ms) => (
            Ours::Is(ms, How::Measured),
            "in turns with ours, one thread",
        ),
        None => (Ours::NotMeasured, peer::HOW),
    };
    let case = "tfhe-rs 1.8.0 on this computer";
    let row = Row::new(BOOTSTRAP, case, "latency", "ms", None, peer.0);
    found.push(row.remarked(peer.1));
    Ok(found)
}

/// All of them.
pub fn rows(
    paper: &Torus,
    gate: &Milliseconds,
    mapping: &Mapping<'_>,
) -> Result<Vec<Row>, PaperError> {
    let mut found = ntts(paper, mapping)?;
    found.extend(bandwidths(paper)?);
    found.extend(bootstraps(paper, gate, mapping)?);
    Ok(found)
}
