// SPDX-License-Identifier: Apache-2.0
//! Where the key bounds: cycles of the shipped engines at the speeds of links and of memory, m = 1 to 3.

use ringmill_machines::torus::{Description, SHIPPED, Schedule, run};

use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str = "Section IV-F: where the key bounds, n = 630, N = 1024, l = 3, keys of residues or of coefficients; cycles of a blind rotation and extraction";

/// GB/s of PCIe 3.0 and 4.0 of 16 lanes, and of the board's high-bandwidth memory.
pub const RATES: [f64; 3] = [15.74, 31.5, 460.0];

/// A shipped description with keys of m bits a step.
fn unrolled(text: &str, unroll: usize) -> Result<Description, PaperError> {
    let mut d = Description::read(text)?;
    d.unroll = unroll;
    match d.schedule {
        Schedule::Pairs => Ok(d),
        Schedule::Sums | Schedule::Coefficients => Ok(d.cheapest()?),
    }
}

pub fn rows() -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for (name, text) in SHIPPED {
        for unroll in 1..=3 {
            let mut d = unrolled(text, unroll)?;
            let bundled = match d.schedule {
                Schedule::Coefficients => ", bundled in coefficient form",
                Schedule::Sums | Schedule::Pairs => "",
            };
            let case = format!("{name}, m = {unroll}{bundled}");
            let shape = d.shape()?;
            let places = shape.sizes().places;
            let bytes = shape.key_bytes() as f64;
            let mut push = |metric: String, unit, value: f64, how, remark: Option<String>| {
                let row = Row::new(
                    TABLE,
                    case.as_str(),
                    metric,
                    unit,
                    None,
                    Ours::Is(value, how),
                );
                found.push(Row { remark, ..row });
            };
            push("key".to_owned(), "MB", bytes / 1e6, How::Counted, None);
            let counts: &[usize] = if places == 1 { &[1] } else { &[1, places] };
            for &together in counts {
                let each = |cycles: u64| cycles.div_ceil(together as u64) as f64;
                let fed = run(shape, together, || true);
                let among = if together == 1 {
                    "alone".to_owned()
                } else {
                    format!("each of {together}")
                };
                push(
                    format!("{among}, the key never late"),
                    "cycles",
                    each(fed.cycles),
                    How::Model,
                    None,
                );
                for rate in RATES {
                    d.key.gbyte_per_second = rate;
                    let found = run(shape, together, d.key_rate()?.offers());
                    let waits = found.cycles - fed.cycles.min(found.cycles);
                    let share = 100.0 * waits as f64 / found.cycles as f64;
                    let bound = (share >= 1.0).then(|| {
                        format!("bound by the key, which it waits for in {share:.0} % of them")
                    });
                    let metric = format!("{among}, {rate} GB/s");
                    push(metric, "cycles", each(found.cycles), How::Model, bound);
                }
            }
        }
    }
    Ok(found)
}
