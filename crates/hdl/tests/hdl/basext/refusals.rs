// SPDX-License-Identifier: Apache-2.0
//! Tests of what a base-extension unit refuses: it answers with an error code, does not lock up, and runs the next job.

use ringmill_hdl::basext::{Beat, Code, Command, Extender, Operation};
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{Hdl, Optimise};
use ringmill_machines::basext::rowers::Algorithm;
use ringmill_machines::basext::{Constants, Extension, Shape, Unit, Word};
use ringmill_math::Modulus;

use crate::basext::bench::{Bases, integers, limbs, unit};
use crate::basext::{rivals, shared, small};
use crate::common::failure::{Check, Failure};
use crate::common::setup::{hdl, seed};

const L: usize = 3;
const K: usize = 2;
const LOG_N: u32 = 8;

/// A unit, constants, the limbs of a job, and the targets' residues by the golden model: of the exact and of the fast
/// extension.
struct Job {
    unit: Extender,
    constants: Constants,
    limbs: Vec<Vec<u64>>,
    want: [Vec<Vec<u64>>; 2],
}

fn job(hdl: &Hdl, made: Unit, seed: u64) -> Result<Job, Failure> {
    let mut rng = Dice::new(seed);
    let bases = Bases::of(made, L, K, &mut rng);
    let values = integers(&bases, 1 << LOG_N, &mut rng);
    let redundant = Some(bases.redundant);
    let constants = made
        .constants(&bases.sources, redundant, &bases.targets)
        .unwrap();
    let all: Vec<Modulus> = bases
        .sources
        .moduli()
        .iter()
        .copied()
        .chain(redundant)
        .collect();
    let limbs = limbs(&values, &all);
    let want = [Extension::Exact, Extension::Fast].map(|extension| {
        let given = L + usize::from(made.takes_redundant(extension));
        let given: Vec<&[u64]> = limbs[..given].iter().map(Vec::as_slice).collect();
        made.golden(&bases.sources, redundant, &bases.targets, extension, &given)
            .unwrap()
    });
    Ok(Job {
        unit: unit(hdl, made, Optimise::default())?,
        constants,
        limbs,
        want,
    })
}

fn extend(extension: Extension) -> Command {
    Command {
        operation: Operation::Extend(extension),
        l: 0,
        k: 0,
        log_n: LOG_N as u8,
    }
}

fn load(l: usize, k: usize) -> Command {
    Command {
        operation: Operation::Load,
        l: l as u8,
        k: k as u8,
        log_n: 0,
    }
}

impl Job {
    fn answers(&mut self, command: Command, stream: Vec<Beat>, want: Code) -> Check {
        let beats = stream.len();
        let found = self.unit.command(command, stream)?;
        if found.code == want && found.left == 0 {
            return Ok(());
        }
        Err(Failure::Mismatch(format!(
            "{command:?} with {beats} beats: {:?} and not {want:?}, {} beats left",
            found.code, found.left
        )))
    }

    /// Returns the stream of the first target (or of the first polynomial, if the unit takes each residue once), after
    /// `change` was made to its beats.
    fn stream(&self, extension: Extension, change: impl Fn(&mut Vec<Beat>)) -> Vec<Beat> {
        let given = L + usize::from(self.unit.unit().takes_redundant(extension));
        let given: Vec<&[u64]> = self.limbs[..given].iter().map(Vec::as_slice).collect();
        let mut beats = self.unit.stream(extension, &given).unwrap();
        beats.truncate(given.len() * self.unit.shape().beats(LOG_N) as usize);
        change(&mut beats);
        beats
    }

    /// Loads the constants and runs both extensions, whose results must be right.
    fn runs(&mut self) -> Check {
        self.unit.load(&self.constants)?;
        self.extends()
    }

    fn extends(&mut self) -> Check {
        for (extension, want) in [Extension::Exact, Extension::Fast]
            .into_iter()
            .zip(&self.want)
        {
            if !self.unit.unit().extends(extension) {
                continue;
            }
            let given = L + usize::from(self.unit.unit().takes_redundant(extension));
            let given: Vec<&[u64]> = self.limbs[..given].iter().map(Vec::as_slice).collect();
            let (got, _) = self.unit.extend(extension, &given)?;
            if got != *want {
                return Err(Failure::Mismatch(format!(
                    "the next {extension:?} job is wrong"
                )));
            }
        }
        Ok(())
    }
}

/// Checks everything that a unit refuses, with and without stalls.
pub fn check_refusals(hdl: &Hdl, made: impl Into<Unit>, seed: u64) -> Check {
    let mut job = job(hdl, made.into(), seed)?;
    let shape = job.unit.shape();
    // Extensions before constants were loaded.
    for extension in [Extension::Exact, Extension::Fast] {
        let code = match job.unit.unit().extends(extension) {
            true => Code::NoConstants,
            false => Code::BadCommand,
        };
        job.answers(extend(extension), Vec::new(), code)?;
    }
    for stalls in [None, Some(Dice::new(seed))] {
        job.unit.stall(stalls);
        commands(&mut job, shape)?;
        constants(&mut job)?;
        streams(&mut job, shape)?;
    }
    Ok(())
}

fn commands(job: &mut Job, shape: Shape) -> Check {
    let none = Command {
        operation: Operation::None,
        ..load(L, K)
    };
    job.answers(none, Vec::new(), Code::BadCommand)?;
    let (l, k) = (shape.max_l() + 1, shape.max_k() + 1);
    for command in [load(l, K), load(L, k), load(0, K), load(L, 0)] {
        job.answers(command, Vec::new(), Code::TooLarge)?;
    }
    job.runs()?;
    for log_n in [0, 7, shape.max_log_n() as u8 + 1, 31] {
        let command = Command {
            log_n,
            ..extend(Extension::Exact)
        };
        job.answers(command, Vec::new(), Code::TooLarge)?;
    }
    // Refused commands leave the constants as they are.
    job.extends()
}

fn constants(job: &mut Job) -> Check {
    let words = job.constants.words().to_vec();
    let made = job.unit.unit();
    let exact = made.takes_redundant(Extension::Exact);
    // Numbers of a load's words: before q_0, from q_0 to q_1, before p_0, and from p_0 to p_1.
    let (head, second, before, target) = match made {
        Unit::Folded(_) | Unit::Pipelined(_) => (2, 3, 2 + 3 * L, 2 + L),
        Unit::Shared(_) => (3, 3, 3 + 3 * L, 2 + L),
        Unit::Rowers(Algorithm::CoxRower, _) => (1, 2, 1 + 2 * L, 2 + L),
        Unit::Rowers(Algorithm::MixedRadix, _) | Unit::Radix(_) => {
            (0, 1, L + L * (L - 1) / 2, 1 + L)
        }
    };
    let (q1, p1) = (head + second, before + target);
    // The places of some constants and of their moduli: q_1's constant, the first and the last of p_1, and if the unit
    // takes m, constants modulo m. A constant equal to its modulus is wrong.
    let mut of = vec![(q1 + 1, q1), (p1 + 1, p1), (p1 + target - 1, p1)];
    let mut moduli = vec![q1, p1];
    if exact {
        of.extend([(head - 1, 0), (1, 0), (q1 + 2, 0)]);
        moduli.push(0);
    }
    let mut wrong: Vec<(usize, u64)> = of
        .iter()
        .map(|&(at, modulus)| (at, words[modulus]))
        .collect();
    // Moduli: even, 1, 0, not 1 modulo 2 N (small ones, and ones above every constant), beyond their bits.
    for &at in &moduli {
        let above = [words[at] + 2, words[at] | 1 << 8];
        let small = [2, 1, 3, 1 << 10, 1 << 10 | 3, 1 << 10 | 1 << 8 | 1];
        wrong.extend(small.into_iter().chain(above).map(|value| (at, value)));
    }
    wrong.extend([(q1, 0), (p1, 0)]);
    if job.unit.shape().word() == Word::Bits64 {
        wrong.extend([0, q1, p1, 1].map(|at| (at, 1 << 61 | words[at])));
    }
    for (at, value) in wrong {
        let mut bad = words.clone();
        bad[at] = value;
        let beats = job.unit.words(&bad);
        job.answers(load(L, K), beats, Code::BadConstant)?;
        // The constants from before are gone.
        job.answers(extend(Extension::Exact), Vec::new(), Code::NoConstants)?;
    }
    for short in [1, 4, words.len() - 1] {
        let beats = job.unit.words(&words[..short]);
        job.answers(load(L, K), beats, Code::CutShort)?;
    }
    let mut long = words.clone();
    long.extend([1, 2, 3]);
    let beats = job.unit.words(&long);
    job.answers(load(L, K), beats, Code::TooLong)?;
    if exact {
        of_redundant(job, words, q1)?;
    }
    job.runs()
}

fn of_redundant(job: &mut Job, words: Vec<u64>, q1: usize) -> Check {
    // A constant of m may be above the source's modulus beside it.
    let mut high = words.clone();
    high[q1 + 2] = words[0] - 1;
    let beats = job.unit.words(&high);
    job.answers(load(L, K), beats, Code::Ok)?;
    // Without a redundant modulus, only the fast extension is possible.
    let mut without = words;
    without[0] = 0;
    let beats = job.unit.words(&without);
    job.answers(load(L, K), beats, Code::Ok)?;
    job.answers(extend(Extension::Exact), Vec::new(), Code::NoRedundant)
}

fn streams(job: &mut Job, shape: Shape) -> Check {
    let beats = shape.beats(LOG_N) as usize;
    let made = job.unit.unit();
    if made.polynomials() > 1 {
        let rows = L + usize::from(made.takes_redundant(Extension::Exact));
        // The second polynomial of a command goes wrong while the first one's targets end.
        for at in [0, beats - 2, rows * beats - 2] {
            let mut stream = job.stream(Extension::Exact, |_| {});
            stream.extend(job.stream(Extension::Exact, |second| {
                second.truncate(at + 1);
                second[at].last = true;
            }));
            let two = Command {
                k: 1,
                ..extend(Extension::Exact)
            };
            job.answers(two, stream, Code::CutShort)?;
            job.extends()?;
        }
    }
    for extension in [Extension::Exact, Extension::Fast] {
        if !made.extends(extension) {
            continue;
        }
        let rows = L + usize::from(made.takes_redundant(extension));
        for row in 0..rows {
            // The last beat of the stream comes with the first beat of a row, one beat before the row's end, or too
            // late.
            for at in [row * beats, (row + 1) * beats - 2] {
                let cut = job.stream(extension, |stream| {
                    stream.truncate(at + 1);
                    stream[at].last = true;
                });
                job.answers(extend(extension), cut, Code::CutShort)?;
                job.extends()?;
            }
            let long = job.stream(extension, |stream| {
                let end = (row + 1) * beats - 1;
                stream[end].last = false;
                let mut extra = stream[..3].to_vec();
                extra[2].last = true;
                stream.truncate(end + 1);
                stream.extend(extra);
            });
            job.answers(extend(extension), long, Code::TooLong)?;
            job.extends()?;
        }
    }
    Ok(())
}

#[test]
fn bad_jobs_are_answered_and_the_next_one_runs() {
    check_refusals(hdl(), small(Word::Bits32, 4), seed()).unwrap();
}

#[test]
#[ignore = "the wide word; `make full` runs it"]
fn bad_jobs_are_answered_with_the_wide_word() {
    check_refusals(hdl(), small(Word::Bits64, 4), seed()).unwrap();
}

#[test]
#[ignore = "the other architectures; `make full` runs it"]
fn every_architecture_answers_bad_jobs() {
    for word in [Word::Bits32, Word::Bits64] {
        let shape = small(word, 4);
        for unit in rivals::units(shape) {
            check_refusals(hdl(), unit, seed()).unwrap();
        }
    }
}

#[test]
#[ignore = "another model; `make full` runs it"]
fn the_shared_unit_answers_bad_jobs_too() {
    check_refusals(hdl(), shared::small(Word::Bits32, 4, 2), seed()).unwrap();
}

#[test]
#[ignore = "the wide word; `make full` runs it"]
fn the_shared_unit_answers_bad_jobs_with_the_wide_word() {
    check_refusals(hdl(), shared::small(Word::Bits64, 4, 3), seed()).unwrap();
}
