//! Tables IV to VI: every design that the paper prints.

use super::super::figure::How;
use super::super::row::{Ours, Row};
use super::paper::{Cell, Torus};

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

fn designs(
    table: &'static str,
    columns: &[Column],
    designs: &[Vec<Cell>],
    case: impl Fn(&[Cell]) -> String,
) -> Vec<Row> {
    let mut found = Vec::new();
    for design in designs {
        let case = case(design);
        let at = |place: usize| design.get(place).and_then(Cell::figure);
        for Column(place, metric, unit, area) in columns {
            let Some(printed) = at(*place) else { continue };
            let row = Row::new(
                table,
                case.as_str(),
                *metric,
                unit,
                Some(printed),
                Ours::None,
            );
            let factors = area.and_then(|area| at(area).zip(at(LATENCY)));
            let right = factors.map(|(area, latency)| area * latency / 1e3);
            found.push(match right {
                Some(right) if !rounded(printed, right) => row.but(right),
                Some(_) | None => row,
            });
        }
    }
    found
}

fn cell(design: &[Cell], place: usize) -> String {
    design.get(place).map(Cell::to_string).unwrap_or_default()
}

/// All of them, with the milliseconds of our gate on this computer.
pub fn rows(paper: &Torus, gate_ms: f64) -> Vec<Row> {
    let mut found = designs(NTT, &NTT_COLUMNS, &paper.ntt_designs, |design| {
        let name = match cell(design, 0).as_str() {
            "fpga" => "proposed, VCU128".to_owned(),
            "asic" => "proposed, 28 nm".to_owned(),
            reference => format!("[{reference}]"),
        };
        format!("{name}, {} bits", cell(design, 1))
    });
    for (design, platform, rate, link, factor) in &paper.bandwidth {
        let case = format!("{design}, {platform}, {link}");
        for (metric, unit, printed) in [("peak", "GB/s", *rate), ("factor", "", *factor)] {
            let row = Row::new(
                BANDWIDTH,
                case.as_str(),
                metric,
                unit,
                Some(printed),
                Ours::None,
            );
            found.push(row);
        }
    }
    let mut bootstraps = designs(
        BOOTSTRAP,
        &BOOTSTRAP_COLUMNS,
        &paper.bootstrap_designs,
        |design| {
            let of = |place| cell(design, place);
            let name = match of(0).as_str() {
                "FPT" => "FPT (no key switch)".to_owned(),
                "MATCHA" => "MATCHA (at least)".to_owned(),
                name => name.to_owned(),
            };
            format!("{name}, {} bits, m = {}", of(1), of(5))
        },
    );
    for row in &mut bootstraps {
        if row.case.starts_with("TFHE library") && row.metric == "latency" {
            row.ours = Ours::Is(gate_ms, How::Measured);
            row.remark = Some("our gate with the same parameters, one thread".to_owned());
        }
    }
    found.extend(bootstraps);
    found
}
