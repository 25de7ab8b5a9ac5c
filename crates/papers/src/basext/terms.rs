// SPDX-License-Identifier: Apache-2.0
//! Tables 3.1, 3.2 and 4.1 to 4.5: what is stored and what computes, beside what our units take.

use ringmill_hdl::Hdl;
use ringmill_machines::basext::{Arithmetic, Extension, Shape, Unit};

use super::architectures::{arithmetic, unit};
use super::paper::Basext;
use crate::error::PaperError;
use crate::expression;
use crate::figure::How;
use crate::row::{Ours, Row};

const WORDS: &str = "Tables 3.1, 4.1, 4.3: words stored";
const UNITS: &str = "Tables 3.2, 4.2, 4.4: arithmetic units";
pub const COMPARISON: &str = "Table 4.5: comparison, k = l";

/// What the letters stand for.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    l: f64,
    k: f64,
    lanes: f64,
    n: f64,
}

/// What the tables are evaluated at: Table 4.6's first column.
fn sizes() -> Sizes {
    Sizes {
        l: 17.0,
        k: 17.0,
        lanes: 32.0,
        n: 65536.0,
    }
}

fn value(formula: &str, sizes: Sizes) -> Result<Option<f64>, PaperError> {
    let Sizes { l, k, lanes, n } = sizes;
    expression::value(formula, &[("l", l), ("k", k), ("TP", lanes), ("N", n)])
}

pub fn rows(paper: &Basext, shape: Shape, hdl: Option<&Hdl>) -> Result<Vec<Row>, PaperError> {
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
            ("cox_rower", "|Qi^-1|_qi") => Ours::Is(l, How::Model),
            ("cox_rower", "|Qi|_pj") => Ours::Is(l * k, How::Model),
            ("cox_rower", "|-Q|_pj") => Ours::Is(k, How::Model),
            ("mixed_radix", "|qi^-1|_qh") => Ours::Is(l * (l - 1.0) / 2.0, How::Model),
            // Weights of the digits, which make a residue without a last product by |Q|_p.
            ("mixed_radix", "|qi^-1|_pj") => Ours::Is(l * k, How::Model),
            ("mixed_radix", "|Q|_pj") => Ours::Is(0.0, How::Model),
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
        let counted = match unit(architecture, shape) {
            Some(unit) => Some((unit, arithmetic(unit, hdl)?)),
            None => None,
        };
        let ours = |of: fn(&Arithmetic) -> u64| match &counted {
            Some((_, (found, how))) => Ours::Is(of(found) as f64, *how),
            None => Ours::NotMeasured,
        };
        let made_at_once = match &counted {
            Some((Unit::Rowers(..), _)) => Ours::Is(k, How::Stated),
            Some(_) => Ours::Is(1.0, How::Stated),
            None => Ours::NotMeasured,
        };
        let rows = [
            ("residues made at once", made, made_at_once),
            ("modular multipliers", multipliers, ours(|a| a.multipliers)),
            ("modular adders", modular, ours(|a| a.modular_adders)),
            ("adders", adders, ours(|a| a.adders)),
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
        found.extend(compared(row, sizes, &case(&row.0), shape, hdl)?);
    }
    Ok(found)
}

fn compared(
    (architecture, words, multipliers, modular, adders, iterations, _): &super::paper::Comparison,
    sizes: Sizes,
    case: &str,
    shape: Shape,
    hdl: Option<&Hdl>,
) -> Result<Vec<Row>, PaperError> {
    let l = sizes.l;
    let (k, log_n) = (l as usize, sizes.n.log2() as u32);
    let counted = match unit(architecture, shape) {
        Some(unit) => Some((unit, arithmetic(unit, hdl)?)),
        None => None,
    };
    let ours = |of: fn(&Arithmetic) -> u64| match &counted {
        Some((_, (found, how))) => Ours::Is(of(found) as f64, *how),
        None => Ours::NotMeasured,
    };
    let unit = counted.as_ref().map(|(unit, _)| *unit);
    let model = |value: Option<u64>| {
        value.map_or(Ours::NotMeasured, |value| {
            Ours::Is(value as f64, How::Model)
        })
    };
    let stored = unit.map(|unit| unit.stored(k, k) as u64);
    let cycles = unit.map(|unit| unit.cycles(Extension::Exact, k, k, log_n, 1));
    let mut found = Vec::new();
    for (metric, unit, formula, ours) in [
        ("words stored", "words", words, model(stored)),
        (
            "modular multipliers",
            "",
            multipliers,
            ours(|a| a.multipliers),
        ),
        ("modular adders", "", modular, ours(|a| a.modular_adders)),
        ("adders", "", adders, ours(|a| a.adders)),
        ("iterations", "cycles", iterations, model(cycles)),
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
            ("mixed_radix_pipelined", "iterations") => row.but(pipelined_mixed_radix(l, sizes.n)),
            _ => row,
        });
    }
    Ok(found)
}

/// Iterations of iterative mixed radix with l multipliers, for as many targets as sources.
pub fn mixed_radix(l: f64, n: f64) -> f64 {
    n * (l * (l - 1.0) / 2.0 + l * l + l) / l
}

/// Iterations of pipelined mixed radix, a target residue each, for as many targets as sources.
pub fn pipelined_mixed_radix(l: f64, n: f64) -> f64 {
    l * n
}
