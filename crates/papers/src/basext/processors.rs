// SPDX-License-Identifier: Apache-2.0
//! Tables 4.10 and 4.11: OpenFHE on processors, the accelerator, and the exact extension of this project's CPU kernels.

use std::time::Instant;

use ringmill_machines::basext::{Extension, Word, cycles};
use ringmill_math::basext::{BaseExtension, best_exact};
use ringmill_math::primes::ntt_primes;
use ringmill_math::{Modulus, Prng, RnsBasis, sample};
use ringmill_runtime::shown::Parts;

use super::cycles::shape;
use super::paper::{Accelerator, Basext, Processor};
use crate::error::PaperError;
use crate::figure::How;
use crate::row::{Ours, Row};

pub const TABLES: [&str; 2] = [
    "Table 4.10: N = 2^16, k = l, moduli of 60 bits, TP = 32",
    "Table 4.11: N = 2^14, k = l, moduli of 60 bits, TP = 32",
];
/// The accelerator's.
const LANES: usize = 32;
/// Microseconds of OpenFHE's Shenoy-Kumaresan step for log N and l, on an idle core of a server: its packages do not offer the
/// step by itself, so that it is not measured here (docs/benchmarks.md).
const RECORDED: [((u32, usize), f64); 2] = [((16, 17), 66_700.0), ((14, 7), 4_300.0)];
/// Runs of our kernel, of which the shortest counts.
const RUNS: usize = 5;

/// How many times our kernel is measured.
pub fn measured(paper: &Basext) -> u64 {
    (paper.openfhe_n16.l.len() + paper.openfhe_n14.l.len()) as u64
}

pub fn rows(paper: &Basext, parts: &mut Parts<'_>) -> Result<Vec<Row>, PaperError> {
    let [first, second] = TABLES;
    let mut found = of_table(
        (first, 16),
        &paper.openfhe_n16,
        &paper.openfhe_n16_by_cpu,
        paper,
        parts,
    )?;
    found.extend(of_table(
        (second, 14),
        &paper.openfhe_n14,
        &paper.openfhe_n14_by_cpu,
        paper,
        parts,
    )?);
    Ok(found)
}

fn of_table(
    (table, log_n): (&'static str, u32),
    accelerator: &Accelerator,
    processors: &[Processor],
    paper: &Basext,
    parts: &mut Parts<'_>,
) -> Result<Vec<Row>, PaperError> {
    let mut found = Vec::new();
    for (at, (&l, &printed)) in accelerator
        .l
        .iter()
        .zip(&accelerator.accelerator)
        .enumerate()
    {
        let case = format!("l = {l}");
        let row = |metric: String, printed, ours| {
            Row::new(table, case.as_str(), metric, "us", printed, ours)
        };
        for (name, parallel, single) in processors {
            for (how, list) in [("OpenMP", parallel), ("one thread", single)] {
                let printed = list.get(at).copied();
                found.push(row(
                    format!("OpenFHE, {name}, {how}"),
                    printed,
                    Ours::NotMeasured,
                ));
            }
        }
        let recorded = RECORDED.iter().find(|(of, _)| *of == (log_n, l));
        found.push(row(
            "OpenFHE, one thread with AVX-512-IFMA".to_owned(),
            None,
            recorded.map_or(Ours::NotMeasured, |&(_, us)| Ours::Is(us, How::Recorded)),
        ));
        let kernel = Ours::Is(kernel(log_n, l)?, How::Measured);
        parts.done();
        found.push(row(
            "our CPU kernel, here, one thread".to_owned(),
            None,
            kernel,
        ));
        let unit = shape(Word::Bits64, LANES, log_n, l, l)?;
        let period = paper.accelerator_period_ns / 1e3;
        let ours = cycles(unit, Extension::Exact, l, l, log_n) as f64 * period;
        let right = (l * (l + 2)) as f64 * unit.beats(log_n) as f64 * period;
        let made = row(
            "accelerator at 200 MHz".to_owned(),
            Some(printed),
            Ours::Is(ours, How::Model),
        );
        let differs = (right - printed).abs() > 1e-6 * printed;
        found.push(if differs { made.but(right) } else { made });
        // Against the best processor.
        let best = processors
            .iter()
            .flat_map(|(_, parallel, single)| [parallel.get(at).copied(), single.get(at).copied()]);
        let best = best.flatten().fold(f64::INFINITY, f64::min);
        let over = Row {
            unit: "",
            ..row(
                "accelerator over the best processor".to_owned(),
                Some(best / printed),
                Ours::Is(best / ours, How::Model),
            )
        };
        found.push(if differs {
            over.but(best / right)
        } else {
            over
        });
    }
    Ok(found)
}

/// Microseconds of an exact extension from l moduli of 60 bits to as many others, on one thread.
fn kernel(log_n: u32, l: usize) -> Result<f64, PaperError> {
    let moduli = ntt_primes(60, log_n, 2 * l)?.into_iter().map(Modulus::new);
    let moduli = moduli.collect::<Result<Vec<_>, _>>()?;
    let (from, to) = moduli.split_at(l);
    let basis = RnsBasis::new(from.to_vec())?;
    let extension = best_exact(&basis, to)?;
    let mut prng = Prng::from_os()?;
    let mut input = vec![vec![0; 1 << log_n]; l];
    for (limb, &q) in input.iter_mut().zip(from) {
        sample::uniform(&mut prng, q, limb);
    }
    let input: Vec<&[u64]> = input.iter().map(Vec::as_slice).collect();
    let mut output = vec![vec![0; 1 << log_n]; l];
    let mut rows: Vec<&mut [u64]> = output.iter_mut().map(Vec::as_mut_slice).collect();
    let mut scratch = vec![0; extension.scratch_len()];
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let begin = Instant::now();
        extension.convert(&input, &mut rows, &mut scratch)?;
        least = least.min(begin.elapsed().as_secs_f64());
    }
    Ok(1e6 * least)
}
