// SPDX-License-Identifier: Apache-2.0
//! Drives the TFHE key-switching unit at its pins, in lockstep with its cycle model.
//!
//! [`Switcher`] sends a command with the key's bodies, answers the unit's reads of ciphertexts, and takes the result,
//! with stalls on request. In every cycle the unit's handshakes, addresses and result code must be those of the model;
//! the caller compares the words of the result ([`ringmill_machines::torus::keyswitch::Clock`]).

use ringmill_machines::torus::keyswitch::{Clock, Code, Command, Inputs, Shape, Shown, Word};

use crate::polymul::Dice;
use crate::{BuildOptions, Hdl, HdlError, In, Model, Out, Top};

/// Returns the RTL module of a key-switching unit, with the parameters of a shape. The unit's
/// generators of masks are equal, so synthesis maps one and uses the result for all.
pub fn top(shape: Shape) -> Top {
    let (generators, digits) = (shape.generators(), shape.digits());
    Top::new("rm_torus_ks")
        .once("rm_chacha20")
        .int("Batch", shape.batch() as u64)
        .int("Cores", generators.cores as u64)
        .int("Rounds", u64::from(generators.rounds))
        .int("Steps", u64::from(generators.steps))
        .int("LogBase", u64::from(digits.log_base))
        .int("Levels", digits.levels as u64)
        .int("MaxLarge", shape.max_large() as u64)
        .int("MaxSmall", shape.max_small() as u64)
}

/// The reason for which a key-switching unit did not execute a command, or differs from its model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwitcherError {
    /// The outputs of the unit's RTL and of its model differ in cycle `cycle`.
    #[error("cycle {cycle}: the key-switching unit shows {found}, its model {expected}")]
    Differs {
        cycle: u64,
        found: String,
        expected: String,
    },
    #[error("the key-switching unit is not done after {cycles} cycles: a fault in the RTL?")]
    NeverDone { cycles: u64 },
    #[error(
        "a ciphertext has {got} words: the command needs at least one, and N + 1 = {expected} in each"
    )]
    Ciphertext { expected: usize, got: usize },
    #[error(transparent)]
    Hdl(#[from] HdlError),
}

/// The body of one row of the switching key in the unit's input stream, and whether it is marked as
/// the last one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Body {
    pub body: u32,
    pub last: bool,
}

/// The results of one command on a key-switching unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub code: Code,
    /// The clock cycles from the command to the unit's done bit.
    pub cycles: u64,
    /// The words of the switched ciphertexts in the order in which the unit sends them, each with
    /// its ciphertext and its position there.
    pub words: Vec<(Word, u32)>,
    /// The number of bodies of the switching key's rows that the unit did not take.
    pub left: usize,
}

impl Outcome {
    /// Returns the switched ciphertexts, each as its mask and then its body, or `None` if a word is missing, came twice
    /// or has a place outside the command's ciphertexts.
    pub fn ciphertexts(&self, command: Command) -> Option<Vec<Vec<u32>>> {
        let width = usize::from(command.small) + 1;
        let mut all = vec![vec![None; width]; command.count.into()];
        for (word, value) in &self.words {
            let place = all.get_mut(usize::from(word.ciphertext))?;
            let place = place.get_mut(usize::from(word.column))?;
            if place.replace(*value).is_some() {
                return None;
            }
        }
        all.into_iter().map(|c| c.into_iter().collect()).collect()
    }
}

struct Ports {
    cmd_valid: In,
    cmd_ready: Out,
    cmd_large: In,
    cmd_small: In,
    cmd_count: In,
    cmd_seed: In,
    done: Out,
    code: Out,
    mem_read: Out,
    mem_addr: Out,
    mem_word: In,
    in_valid: In,
    in_ready: Out,
    in_body: In,
    in_last: In,
    out_valid: Out,
    out_ready: In,
    out_word: Out,
    out_column: Out,
    out_ciphertext: Out,
    out_last: Out,
}

/// A key-switching unit in simulation, with the cycle model to which its outputs, except the words of the result, are
/// compared in every cycle.
pub struct Switcher {
    shape: Shape,
    model: Model,
    clock: Clock,
    ports: Ports,
    dice: Dice,
    stalls: bool,
}

impl Switcher {
    /// Builds the unit's simulation model (unless the cache has it), and resets it. `dice` decides stalls, and the
    /// values of pins that the unit must ignore.
    ///
    /// # Errors
    /// The errors of the tools that build the model.
    pub fn new(
        hdl: &Hdl,
        shape: Shape,
        options: BuildOptions,
        mut dice: Dice,
    ) -> Result<Self, HdlError> {
        let mut model = hdl.model(&top(shape), options)?;
        let ports = Ports {
            cmd_valid: model.input("cmd_valid_i")?,
            cmd_ready: model.output("cmd_ready_o")?,
            cmd_large: model.input("cmd_large_i")?,
            cmd_small: model.input("cmd_small_i")?,
            cmd_count: model.input("cmd_count_i")?,
            cmd_seed: model.input("cmd_seed_i")?,
            done: model.output("done_o")?,
            code: model.output("code_o")?,
            mem_read: model.output("mem_read_o")?,
            mem_addr: model.output("mem_addr_o")?,
            mem_word: model.input("mem_word_i")?,
            in_valid: model.input("in_valid_i")?,
            in_ready: model.output("in_ready_o")?,
            in_body: model.input("in_body_i")?,
            in_last: model.input("in_last_i")?,
            out_valid: model.output("out_valid_o")?,
            out_ready: model.input("out_ready_i")?,
            out_word: model.output("out_word_o")?,
            out_column: model.output("out_column_o")?,
            out_ciphertext: model.output("out_ciphertext_o")?,
            out_last: model.output("out_last_o")?,
        };
        model.restart(dice.bits() as u32)?;
        model.reset()?;
        Ok(Self {
            shape,
            model,
            clock: Clock::new(shape),
            ports,
            dice,
            stalls: false,
        })
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Makes the unit's input and output stream stall at random from now on if `stalls` is true,
    /// each in an eighth to seven eighths of the cycles of a command. With `false` no stream
    /// stalls.
    pub fn stall(&mut self, stalls: bool) {
        self.stalls = stalls;
    }

    /// Sends a command with the key's seed and bodies to the unit. The unit reads `ciphertexts`, each with at
    /// least the mask words of the old dimension and the body. Takes the output until the unit is done and has no
    /// more output.
    ///
    /// # Errors
    /// [`SwitcherError::Ciphertext`] without ciphertexts, or for one with too few words. [`SwitcherError::Differs`] in
    /// the first cycle in which the unit's outputs are not its model's; [`SwitcherError::NeverDone`] after 2000 cycles
    /// and more than 64 times those of the command without stalls; errors of the simulation.
    pub fn command(
        &mut self,
        command: Command,
        seed: &[u8; 32],
        bodies: &[Body],
        ciphertexts: &[Vec<u32>],
    ) -> Result<Outcome, SwitcherError> {
        let expected = usize::from(command.large) + 1;
        let got = ciphertexts.iter().map(Vec::len).min().unwrap_or(0);
        if got < expected {
            return Err(SwitcherError::Ciphertext { expected, got });
        }
        let (rows, small) = (
            u64::from(command.large) * self.shape.digits().levels as u64,
            usize::from(command.small),
        );
        // Stalls in seven eighths of the cycles, at both ends.
        let steps = self.shape.passes(small) * (rows + 1) * 10 + bodies.len() as u64;
        let words = (u64::from(command.count) + 1) * (small as u64 + 2);
        let most = 2000 + 64 * (steps + words);
        let mut outcome = Outcome {
            code: Code::Ok,
            cycles: 0,
            words: Vec::new(),
            left: 0,
        };
        let mut given = bodies.iter();
        let mut eighths = || {
            if self.stalls {
                1 + self.dice.below(7)
            } else {
                0
            }
        };
        let (busy_in, busy_out) = (eighths(), eighths());
        let (mut offered, mut done) = (false, false);
        for cycle in 0..most {
            // The command's first cycle has its pins; after it they hold random values.
            let now = (cycle == 0).then_some(command);
            self.set_command(now, seed)?;
            let shown = self.compare(cycle)?;
            if done && shown.word.is_none() {
                outcome.left = given.len();
                self.model.set(self.ports.in_valid, 0)?;
                return Ok(outcome);
            }
            offered = !given.as_slice().is_empty() && (offered || !self.stalled(busy_in));
            let body = given.as_slice().first().filter(|_| offered).copied();
            self.set_body(body)?;
            let take = !self.stalled(busy_out);
            self.model.set(self.ports.out_ready, u64::from(take))?;
            if let Some(word) = shown.word.filter(|_| take) {
                let value = self.model.get(self.ports.out_word)? as u32;
                outcome.words.push((word, value));
            }
            self.model.step(1)?;
            self.clock.step(Inputs {
                command: now,
                body: body.map(|b| b.last),
                take,
            });
            self.answer(shown.read, ciphertexts)?;
            if body.is_some() && shown.body_ready {
                given.next();
                offered = false;
            }
            if let Some(code) = self.clock.shown().done {
                done = true;
                outcome.cycles = cycle + 1;
                outcome.code = code;
            }
        }
        Err(SwitcherError::NeverDone { cycles: most })
    }

    fn stalled(&mut self, eighths: u64) -> bool {
        self.stalls && self.dice.below(8) < eighths
    }

    fn set_command(&mut self, command: Option<Command>, seed: &[u8; 32]) -> Result<(), HdlError> {
        let p = &self.ports;
        self.model.set(p.cmd_valid, u64::from(command.is_some()))?;
        let dice = &mut self.dice;
        let (sizes, words) = match command {
            Some(c) => (
                [c.large.into(), c.small.into(), c.count.into()],
                std::array::from_fn(|i| {
                    u32::from_le_bytes(std::array::from_fn(|byte| seed[4 * i + byte]))
                }),
            ),
            None => (
                [dice.below(1 << 16), dice.below(1 << 16), dice.below(1 << 8)],
                [(); 8].map(|()| dice.bits() as u32),
            ),
        };
        for (port, value) in [p.cmd_large, p.cmd_small, p.cmd_count]
            .into_iter()
            .zip(sizes)
        {
            self.model.set(port, value)?;
        }
        self.model.set_words(p.cmd_seed, &words)
    }

    fn set_body(&mut self, body: Option<Body>) -> Result<(), HdlError> {
        let p = &self.ports;
        let (word, last) = match body {
            Some(body) => (body.body, body.last),
            None => (self.dice.bits() as u32, self.dice.chance(2)),
        };
        self.model.set(p.in_valid, u64::from(body.is_some()))?;
        self.model.set(p.in_body, word.into())?;
        self.model.set(p.in_last, last.into())
    }

    /// Answers the unit's read of a word of the ciphertexts, one cycle after the unit asked for it.
    /// Without a read the pins get random values.
    fn answer(&mut self, read: Option<u16>, ciphertexts: &[Vec<u32>]) -> Result<(), HdlError> {
        let word = |c: usize| {
            let at = usize::from(read?);
            ciphertexts.get(c).and_then(|words| words.get(at)).copied()
        };
        let words: Vec<u32> = (0..self.shape.batch())
            .map(|c| word(c).unwrap_or_else(|| self.dice.bits() as u32))
            .collect();
        self.model.set_words(self.ports.mem_word, &words)
    }

    /// Compares the unit's outputs in cycle `cycle` with the model's. Returns them, or an error if
    /// they differ.
    fn compare(&mut self, cycle: u64) -> Result<Shown, SwitcherError> {
        self.model.eval()?;
        let (p, model) = (&self.ports, &self.model);
        let bit = |port| model.get(port).map(|bit| bit == 1);
        let code = model.get(p.code)?;
        let found = Shown {
            ready: bit(p.cmd_ready)?,
            body_ready: bit(p.in_ready)?,
            read: match bit(p.mem_read)? {
                true => Some(model.get(p.mem_addr)? as u16),
                false => None,
            },
            word: match bit(p.out_valid)? {
                true => Some(Word {
                    ciphertext: model.get(p.out_ciphertext)? as u8,
                    column: model.get(p.out_column)? as u16,
                    last: bit(p.out_last)?,
                }),
                false => None,
            },
            done: match bit(p.done)? {
                true => Some(
                    Code::from_bits(code)
                        .ok_or_else(|| HdlError::Simulation(format!("there is no code {code}")))?,
                ),
                false => None,
            },
        };
        let expected = self.clock.shown();
        if found != expected {
            return Err(SwitcherError::Differs {
                cycle,
                found: format!("{found:?}"),
                expected: format!("{expected:?}"),
            });
        }
        Ok(found)
    }
}
