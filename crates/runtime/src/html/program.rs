// SPDX-License-Identifier: Apache-2.0
//! Describes a compiled program and its parameters as sections of a page.

use ringmill_compiler::Compiled;
use ringmill_isa::macros::{MacroProgram, MacroType, Note};
use ringmill_isa::source::SourceLoc;
use ringmill_schemes::rlwe::RingParams;

use super::figures::{Bars, Curve, Kind, Series};
use super::page::{Cell, Figure, Piece, Section, Table};
use crate::report::{ParameterReport, Sources, macro_counts, mid_counts};
use crate::{Figures, Predicted, Served};

/// The most points of the curve that shows the modulus and the scale along a program.
const MOST_POINTS: usize = 1500;

/// The size of the modulus and of the scale, in bits, after each operation of a CKKS, BFV or BGV program, as points of
/// a curve.
#[derive(Clone, Debug, Default)]
pub struct Along {
    points: Vec<Point>,
    /// The number of points before the curve was thinned.
    count: usize,
}

#[derive(Clone, Debug)]
struct Point {
    number: usize,
    operation: &'static str,
    line: Option<SourceLoc>,
    level: u32,
    /// log2 of the ciphertext's modulus, after the operation.
    modulus_bits: f64,
    /// log2 of the ciphertext's scale after the operation, or `None` for exact values.
    scale_bits: Option<f64>,
}

impl Along {
    /// Computes modulus and scale after each operation that makes a ciphertext in a compiled program. Operations inside
    /// repeats and calls are left out.
    pub fn of(program: &MacroProgram, params: &impl RingParams) -> Self {
        let moduli = params.ring_params().cipher_moduli();
        let bits: Vec<f64> = moduli.iter().map(|&q| (q as f64).log2()).collect();
        let made = program.instrs.iter().enumerate();
        let made = made.filter_map(|(number, instr)| {
            let ty = program.types.get(instr.dst.first()?.0 as usize)?;
            let at = match ty {
                MacroType::Cipher { at, .. } | MacroType::Morphed { at, .. } => (*at)?,
                MacroType::Plain { .. }
                | MacroType::Distant { .. }
                | MacroType::Key { .. }
                | MacroType::Lifted { .. } => return None,
            };
            Some(Point {
                number,
                operation: instr.op.mnemonic(),
                line: instr.loc.clone(),
                level: at.level.0,
                modulus_bits: bits.iter().take(at.level.primes()).sum(),
                scale_bits: match at.note {
                    Note::Scale(scale) => Some(scale.log2()),
                    Note::Bare | Note::Factor(_) => None,
                },
            })
        });
        let points: Vec<Point> = made.collect();
        Self {
            count: points.len(),
            points: thinned(points),
        }
    }

    pub(super) fn section(&self, sources: &Sources) -> Option<Section> {
        if self.points.is_empty() {
            return None;
        }
        let x: Vec<f64> = self.points.iter().map(|p| p.number as f64).collect();
        let says = |point: &Point| {
            let file = point.line.as_ref().map(|at| &*at.file);
            let line = point.line.as_ref().map(|at| at.line);
            let at = point.line.as_ref();
            let at = at.map_or_else(String::new, |at| {
                format!(", {}:{}", at.file_name(), at.line)
            });
            let text = sources
                .get(file, line)
                .map_or_else(String::new, |text| format!(": {text}"));
            format!(
                "{} to level {} ({:.1} bits){at}{text}",
                point.operation, point.level, point.modulus_bits
            )
        };
        let mut series = vec![Series {
            name: "ciphertext modulus".to_owned(),
            x: x.clone(),
            y: self.points.iter().map(|p| p.modulus_bits).collect(),
            says: self.points.iter().map(says).collect(),
            kind: Kind::Steps,
        }];
        let scales: Option<Vec<f64>> = self.points.iter().map(|p| p.scale_bits).collect();
        series.extend(scales.map(|y| Series {
            name: "scale".to_owned(),
            says: y.iter().map(|bits| format!("scale 2^{bits:.1}")).collect(),
            x,
            y,
            kind: Kind::Dashed,
        }));
        let section = Section::new("Precision along the program").with(Piece::Figure(Figure::Curve(Curve {
            title: "Bits of the ciphertext modulus that are left after each operation: noise and values must fit below it."
                .to_owned(),
            x: "operation, in program order".to_owned(),
            y: "bits".to_owned(),
            log: false,
            series,
        })));
        Some(match self.count - self.points.len() {
            0 => section,
            _ => section.saying(format!(
                "The curve is thinned: of {} operations it shows {}, evenly spaced.",
                self.count,
                self.points.len()
            )),
        })
    }
}

/// Returns at most [`MOST_POINTS`] of the points, evenly spaced, and the last point if it is not among them.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    let step = points.len().div_ceil(MOST_POINTS - 1).max(1);
    let last = points.len().saturating_sub(1);
    let kept = points.into_iter().enumerate();
    let kept = kept.filter(|(at, _)| at % step == 0 || *at == last);
    kept.map(|(_, point)| point).collect()
}

/// Describes a parameter set of a scheme and its security as a section of an HTML page.
pub fn of_parameters<S: Served>(params: &S::Params) -> Section
where
    S::Params: RingParams,
{
    let mut report = ParameterReport::new(params);
    let Figures {
        default_scale,
        plain_modulus,
    } = S::figures(params);
    report.log2_scale = default_scale.map(f64::log2);
    report.plain_modulus = plain_modulus;
    parameters(&report)
}

pub(super) fn parameters(p: &ParameterReport) -> Section {
    let bits = |bits: &[u32]| {
        let bits: Vec<String> = bits.iter().map(u32::to_string).collect();
        bits.join(" + ")
    };
    let mut facts = vec![
        ("ring degree".to_owned(), format!("2^{}", p.log_n)),
        ("slots".to_owned(), p.slots.to_string()),
        (
            "ciphertext primes (bits)".to_owned(),
            bits(&p.cipher_prime_bits),
        ),
        (
            "special primes (bits)".to_owned(),
            format!("{}, {} digits", bits(&p.special_prime_bits), p.dnum),
        ),
    ];
    facts.extend(
        p.log2_scale
            .map(|scale| ("scale".to_owned(), format!("2^{scale:.2}"))),
    );
    facts.extend(
        p.plain_modulus
            .map(|t| ("plaintext modulus".to_owned(), t.to_string())),
    );
    let allowed = match p.log_qp_bound {
        Some(bound) => format!("{:.1}, at most {bound} by {}", p.log_qp, p.security_table),
        None => format!("{:.1}, no bound by {}", p.log_qp, p.security_table),
    };
    facts.push(("log2 of all primes".to_owned(), allowed));
    let section = Section::new("Parameters and security");
    let section = match &p.insecure {
        Some(reason) => section.with(Piece::Warning(format!(
            "NOT SECURE, by explicit opt-out: {reason}"
        ))),
        None => {
            let level = format!("{} bits, classical", p.security_bits);
            facts.push(("security".to_owned(), level));
            section
        }
    };
    let section = section.with(Piece::Facts(facts));
    match p.log_qp_bound {
        None => section,
        Some(bound) => section.with(Piece::Figure(Figure::Bars(Bars {
            title: format!(
                "The modulus against the bound of {}: what is left of the bound is margin.",
                p.security_table
            ),
            axis: "log2 of all primes (bits)".to_owned(),
            names: vec!["used".to_owned(), "allowed".to_owned()],
            values: vec![p.log_qp, bound.into()],
            most: None,
        }))),
    }
}

/// Draws the numbers of a program's instructions by mnemonic as bars, the most frequent first.
fn counts(title: &str, counts: &crate::report::Counts) -> Piece {
    let mut counts: Vec<(&String, &u64)> = counts.iter().collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.to_owned()));
    Piece::Figure(Figure::Bars(Bars {
        title: title.to_owned(),
        axis: "instructions".to_owned(),
        names: counts.iter().map(|(name, _)| (*name).clone()).collect(),
        values: counts.iter().map(|(_, count)| **count as f64).collect(),
        most: None,
    }))
}

/// Describes a compiled program: the predictions for its outputs, its instructions and its parameters.
pub fn of_program<S: Served>(compiled: &Compiled<S>, sources: &Sources) -> Vec<Section>
where
    S::Params: RingParams,
{
    let key_bytes = ringmill_device::report::bytes(compiled.key_bytes());
    let facts = vec![
        ("program".to_owned(), compiled.source.name.clone()),
        ("scheme".to_owned(), compiled.source.scheme.to_string()),
        (
            "vectors".to_owned(),
            format!("{} slots", compiled.source.slots),
        ),
        (
            "evaluation keys".to_owned(),
            format!("{}, {key_bytes}", compiled.keys.len()),
        ),
    ];
    let outputs = compiled.outputs.iter().zip(&compiled.predicted);
    let outputs = outputs.map(|(output, predicted)| {
        let (bits, what) = match S::predicted(predicted) {
            Predicted::Precision {
                bits, conditional, ..
            } => match conditional {
                true => (
                    bits,
                    "bits of precision, after the binary point; conditional, by rm.bounded",
                ),
                false => (bits, "bits of precision, after the binary point"),
            },
            Predicted::Budget { bits, .. } => (bits, "bits of noise budget"),
        };
        vec![
            Cell::Text(output.name.clone()),
            Cell::Number(format!("{bits:.1}")),
            Cell::Text(what.to_owned()),
        ]
    });
    let head = ["output", "at least", ""].map(str::to_owned).to_vec();
    let outputs = Table {
        head,
        rows: outputs.collect(),
    };
    let mut sections = vec![
        Section::new("Program")
            .with(Piece::Facts(facts))
            .with(Piece::Table(outputs)),
    ];
    sections.extend(Along::of(&compiled.managed, &*compiled.params).section(sources));
    sections.push(
        Section::new("Instructions")
            .with(counts(
                "Macro instructions: operations on ciphertexts, as the compiler wrote them.",
                &macro_counts(&compiled.managed),
            ))
            .with(counts(
                "Mid-level instructions that all calls execute: operations on limbs.",
                &mid_counts(&compiled.program),
            )),
    );
    sections.push(of_parameters::<S>(&compiled.params));
    sections
}
