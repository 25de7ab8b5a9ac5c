//! Tables 3.1, 3.2 and 4.1 to 4.5: what is stored and what computes, beside what our unit takes.

use ringmill_machines::basext::{Constants, Shape};

use super::super::figure::How;
use super::expression::{Sizes, value};
use super::paper::Basext;
use super::row::{Ours, Row};
use crate::error::CliError;

const WORDS: &str = "Tables 3.1, 4.1, 4.3: words stored";
const UNITS: &str = "Tables 3.2, 4.2, 4.4: arithmetic units";
pub const COMPARISON: &str = "Table 4.5: comparison, k = l";

/// The folded unit's multipliers and adders, a lane.
pub const MULTIPLIERS: f64 = 3.0;
const ADDERS: f64 = 4.0;
pub const FOLDED: &str = "shenoy_kumaresan_folded";

/// What the tables are evaluated at: Table 4.6's first column.
fn sizes() -> Sizes {
    Sizes {
        l: 17.0,
        k: 17.0,
        lanes: 32.0,
        n: 65536.0,
    }
}

pub fn rows(paper: &Basext, shape: Shape) -> Result<Vec<Row>, CliError> {
    let sizes = sizes();
    let (l, k) = (sizes.l, sizes.k);
    let case = |name: &str| format!("{name}, l = k = {l}, TP = {}, N = 2^16", sizes.lanes);
    let at = |formula: &str| value(formula, sizes);
    let mut found = Vec::new();
    for (algorithm, term, count) in &paper.precomputed_words {
        // What a load of our unit brings, term by term.
        let ours = match (algorithm.as_str(), term.as_str()) {
            ("shenoy_kumaresan", "|Qi^-1|_qi" | "|Qi|_ql") => Ours::Is(l, How::Model),
            ("shenoy_kumaresan", "|Qi|_pj") => Ours::Is(l * k, How::Model),
            ("shenoy_kumaresan", "|Q^-1|_ql") => Ours::Is(1.0, How::Model),
            ("shenoy_kumaresan", "|Q|_pj") => Ours::Is(k, How::Model),
            _ => Ours::NotMeasured,
        };
        found.push(Row::new(
            WORDS,
            case(algorithm),
            term,
            "words",
            at(count)?,
            ours,
        ));
    }
    for (architecture, made, multipliers, modular, adders) in &paper.arithmetic_units {
        let folded = architecture == FOLDED;
        let lanes = shape.lanes() as f64;
        let ours = |each: f64| match folded {
            true => Ours::Is(each, How::Stated),
            false => Ours::NotMeasured,
        };
        let rows = [
            ("residues made at once", made, ours(1.0)),
            (
                "modular multipliers",
                multipliers,
                ours(MULTIPLIERS * lanes),
            ),
            ("modular adders", modular, ours(ADDERS * lanes)),
            ("adders", adders, ours(0.0)),
        ];
        for (metric, formula, ours) in rows {
            let printed = at(formula)?;
            if printed.is_some() {
                found.push(Row::new(
                    UNITS,
                    case(architecture),
                    metric,
                    "",
                    printed,
                    ours,
                ));
            }
        }
    }
    for row in &paper.comparison {
        found.extend(compared(row, sizes, &case(&row.0), shape)?);
    }
    Ok(found)
}

fn compared(
    (architecture, words, multipliers, modular, adders, iterations, _): &super::paper::Comparison,
    sizes: Sizes,
    case: &str,
    shape: Shape,
) -> Result<Vec<Row>, CliError> {
    let folded = architecture == FOLDED;
    let (l, lanes) = (sizes.l, sizes.lanes);
    let ours = |value: f64, how| match folded {
        true => Ours::Is(value, how),
        false => Ours::NotMeasured,
    };
    // A load brings the moduli too.
    let stored = Constants::count(l as usize, l as usize) as f64 - (2.0 * l + 1.0);
    let (k, log_n) = (l as usize, sizes.n.log2() as u32);
    let cycles = ringmill_machines::basext::cycles(
        shape,
        ringmill_machines::basext::Extension::Exact,
        k,
        k,
        log_n,
    );
    let mut found = Vec::new();
    for (metric, unit, formula, ours) in [
        ("words stored", "words", words, ours(stored, How::Model)),
        (
            "modular multipliers",
            "",
            multipliers,
            ours(MULTIPLIERS * lanes, How::Stated),
        ),
        (
            "modular adders",
            "",
            modular,
            ours(ADDERS * lanes, How::Stated),
        ),
        ("adders", "", adders, ours(0.0, How::Stated)),
        (
            "iterations",
            "cycles",
            iterations,
            ours(cycles as f64, How::Model),
        ),
    ] {
        let Some(printed) = value(formula, sizes)? else {
            continue;
        };
        let row = Row::new(COMPARISON, case, metric, unit, Some(printed), ours);
        found.push(match (architecture.as_str(), metric) {
            // As Table 4.2 has it.
            ("cox_rower", "modular adders") => row.but(2.0 * l),
            // For k = l: l (l - 1) / 2 + l k + k products a coefficient by l multipliers.
            ("mixed_radix_iterative", "iterations") => row.but(mixed_radix(l, sizes.n)),
            _ => row,
        });
    }
    Ok(found)
}

/// Iterations of iterative mixed radix with l multipliers, for as many targets as sources.
pub fn mixed_radix(l: f64, n: f64) -> f64 {
    n * (l * (l - 1.0) / 2.0 + l * l + l) / l
}
