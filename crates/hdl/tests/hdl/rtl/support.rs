// SPDX-License-Identifier: Apache-2.0
//! Helpers of the checks of leaf modules: tools, random numbers with a printed seed, and a pipeline's driver.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::OnceLock;

pub use ringmill_hdl::polymul::Dice as Rng;
use ringmill_hdl::{Hdl, HdlError, In, Model, Out};

use crate::common::failure::{Check, ensure};

/// Returns the project's RTL with its tools.
pub fn hdl() -> &'static Hdl {
    static HDL: OnceLock<Hdl> = OnceLock::new();
    HDL.get_or_init(|| Hdl::find(Path::new(".")).unwrap_or_else(|e| panic!("{e}")))
}

/// Returns the leaf modules alone, because each machine's tests look after its own modules.
pub fn leaves_hdl() -> &'static Hdl {
    static HDL: OnceLock<Hdl> = OnceLock::new();
    HDL.get_or_init(|| {
        let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
        let rooms = ["lib", "arith", "ntt", "rand"].map(|room| rtl.join(room));
        let rooms: Vec<&Path> = rooms.iter().map(|r| r.as_path()).collect();
        hdl().with_sources(&rooms).unwrap_or_else(|e| panic!("{e}"))
    })
}

/// Returns the decimal `$RINGMILL_SEED`, or, where that is no number, a seed from the clock that is the same for the
/// whole process. Prints it, so that a failing run can be repeated.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    let seed = *SEED.get_or_init(|| {
        std::env::var("RINGMILL_SEED")
            .ok()
            .and_then(|s| s.parse().ok())
            .unwrap_or_else(|| {
                std::time::UNIX_EPOCH
                    .elapsed()
                    .map_or(1, |d| d.as_nanos() as u64)
            })
    });
    println!("RINGMILL_SEED={seed}");
    seed
}

/// Returns seven residues modulo q at which carries and corrections change, then `random` random ones.
pub fn residues(q: u64, random: usize, rng: &mut Rng) -> Vec<u64> {
    let edges = [0, 1, 2, q / 2, q / 2 + 1, q - 2, q - 1];
    let mut values: Vec<u64> = edges.into_iter().map(|x| x % q).collect();
    values.extend((0..random).map(|_| rng.below(q)));
    values
}

/// An operation of a pipeline: its inputs and its expected outputs, each in the order of the ports.
pub struct Case {
    pub inputs: Vec<u64>,
    pub outputs: Vec<u64>,
}

/// A model of a pipeline with `valid_i` and `valid_o`, and its data ports.
pub struct Pipeline {
    pub model: Model,
    valid_i: In,
    valid_o: Out,
    inputs: Vec<(In, u32)>,
    outputs: Vec<Out>,
}

impl Pipeline {
    /// Connects a pipeline. Inputs are given by name and width, outputs by name.
    pub fn new(model: Model, inputs: &[(&str, u32)], outputs: &[&str]) -> Result<Self, HdlError> {
        Ok(Self {
            valid_i: model.input("valid_i")?,
            valid_o: model.output("valid_o")?,
            inputs: inputs
                .iter()
                .map(|&(name, width)| Ok((model.input(name)?, width)))
                .collect::<Result<_, HdlError>>()?,
            outputs: outputs
                .iter()
                .map(|name| model.output(name))
                .collect::<Result<_, _>>()?,
            model,
        })
    }

    pub fn set(&mut self, name: &str, value: u64) -> Result<(), HdlError> {
        let port = self.model.input(name)?;
        self.model.set(port, value)
    }

    /// Runs `cases`, the first half back to back, the rest with random bubbles that carry random inputs. In every cycle
    /// `valid_o` must be the `valid_i` of `latency` cycles before, and a valid output must be right.
    pub fn run(&mut self, cases: &[Case], latency: u64, rng: &mut Rng) -> Check {
        self.model.reset()?;
        let mut pipe: VecDeque<Option<&Case>> = (0..latency).map(|_| None).collect();
        let mut waiting = cases.iter().enumerate().peekable();
        let mut cycle = 0u64;
        while waiting.peek().is_some() || pipe.iter().any(Option::is_some) {
            let bubble = waiting
                .peek()
                .is_none_or(|(number, _)| *number > cases.len() / 2 && rng.chance(3));
            let now = if bubble {
                None
            } else {
                waiting.next().map(|(_, case)| case)
            };
            self.model.set(self.valid_i, u64::from(now.is_some()))?;
            for (at, &(port, width)) in self.inputs.iter().enumerate() {
                let value = now.map_or_else(|| rng.bits() >> (64 - width), |case| case.inputs[at]);
                self.model.set(port, value)?;
            }
            pipe.push_back(now);
            if latency == 0 {
                self.model.eval()?;
            } else {
                self.model.step(1)?;
            }
            cycle += 1;
            // `pipe` now holds latency + 1 entries; the oldest but one entered latency - 1 edges before the last.
            let out = if latency == 0 {
                pipe.pop_front().flatten()
            } else {
                pipe.pop_front();
                pipe.front().copied().flatten()
            };
            let valid = self.model.get(self.valid_o)? != 0;
            ensure!(
                valid == out.is_some(),
                "cycle {cycle}: valid_o is {valid}, latency {latency} says {}",
                out.is_some()
            );
            if let Some(case) = out {
                for (port, &want) in self.outputs.iter().zip(&case.outputs) {
                    let got = self.model.get(*port)?;
                    ensure!(
                        got == want,
                        "cycle {cycle}: inputs {:?} give {got}, not {want} ({port:?})",
                        case.inputs
                    );
                }
            }
        }
        Ok(())
    }
}
