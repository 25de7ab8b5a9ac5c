// SPDX-License-Identifier: Apache-2.0
//! Figure 4 of the paper of Mert, Öztürk and Savaş: latency and area-time product of a transform, over ring degrees and
//! numbers of processing units.

use ringmill_machines::polymul::{ArrayOp, MIN_LOG_N, Shape, TOP_LOG_N, cycles};

use super::cycles;
use crate::error::PaperError;
use crate::plot::{Curve, Panel};
use crate::scope::{Record, Scope, record};
use crate::value::model;

const UNITS: [usize; 6] = [4, 8, 16, 32, 64, 128];
const LOG_N: std::ops::RangeInclusive<u32> = 8..=12;

/// One point of Figure 4 of Mert, Öztürk and Savaş: a number of units, a ring degree, and the cycles of a transform.
pub struct Point {
    pub units: usize,
    pub log_n: u32,
    pub paper: f64,
    /// The cycles of our machine, or `None` if a polynomial of this degree fills only one row, which no machine
    /// supports.
    pub ours: Option<u64>,
}

pub fn points() -> Result<Vec<Point>, PaperError> {
    let mut found = Vec::new();
    for units in UNITS {
        for log_n in LOG_N {
            let n = f64::from(1u32 << log_n);
            found.push(Point {
                units,
                log_n,
                paper: f64::from(log_n) * (n / (2.0 * units as f64) + 6.0),
                ours: ours(units, log_n)?,
            });
        }
    }
    Ok(found)
}

/// Returns the model's cycles of a transform on machines that can be built. 128 units are extrapolated. Twice the units
/// at twice the degree have the same rows and one stage more, and all stages are equally long, so cycles grow by the
/// same amount with each doubling. Returns `None` as [`Point::ours`] does.
///
/// # Errors
/// Fails if a machine does not take the degree.
pub fn ours(units: usize, log_n: u32) -> Result<Option<u64>, PaperError> {
    if let Some(shape) = Shape::new(units, TOP_LOG_N, 2) {
        if units.ilog2() + 2 > log_n {
            return Ok(None);
        }
        let degree = cycles::degree(shape, 1 << log_n)?;
        return Ok(Some(cycles(shape, degree, ArrayOp::Ntt)));
    }
    if log_n < MIN_LOG_N + 2 {
        return Ok(None);
    }
    let (half, quarter) = (ours(units / 2, log_n - 1)?, ours(units / 4, log_n - 2)?);
    Ok(half.zip(quarter).map(|(half, quarter)| 2 * half - quarter))
}

/// Returns the cycles of the point of Figure 4 that the current row of `data/polymul.toml` names. Returns no record if
/// the point has none.
pub(super) fn figures(at: &Scope<'_>) -> Result<Vec<Record>, PaperError> {
    let cycles = ours(at.count("units")?, at.count("log_n")? as u32)?;
    Ok(cycles
        .into_iter()
        .map(|cycles| record([("cycles", model(cycles))]))
        .collect())
}

/// Returns the curves of Figure 4: our machine's solid, Mert, Öztürk and Savaş's dashed.
///
/// # Errors
/// Fails as [`ours`] does.
pub fn panels() -> Result<Vec<Panel>, PaperError> {
    let points = points()?;
    let panel = |title: &str, of: fn(&Point, f64) -> f64| Panel {
        title: title.to_owned(),
        curves: UNITS
            .iter()
            .flat_map(|&units| {
                let own = || points.iter().filter(move |p| p.units == units);
                let at = |p: &Point| f64::from(p.log_n);
                let paper = own().map(|p| (at(p), of(p, p.paper))).collect();
                let ours = own().filter_map(|p| Some((at(p), of(p, p.ours? as f64))));
                [
                    Curve {
                        name: format!("{units} units, paper"),
                        dashed: true,
                        points: paper,
                    },
                    Curve {
                        name: format!("{units} units"),
                        dashed: false,
                        points: ours.collect(),
                    },
                ]
            })
            .collect(),
    };
    Ok(vec![
        panel("cycles of a transform over log2 n", |_, cycles| cycles),
        panel("units x cycles over log2 n", |p, cycles| {
            p.units as f64 * cycles
        }),
    ])
}
