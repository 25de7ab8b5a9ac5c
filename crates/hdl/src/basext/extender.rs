// SPDX-License-Identifier: Apache-2.0
//! Drives a base-extension unit at its pins, cycle by cycle: one command with its streams.

use std::sync::Mutex;

use ringmill_machines::basext::{
    BasextError, Constants, Extension, Port, Rate, Shape, TOP_LOG_N, Unit, Word,
};

use super::code::{Code, Command, Operation};
use super::top_of;
use crate::polymul::Dice;
use crate::{BuildOptions, Hdl, HdlError, In, Model, Out};

/// The reason for which a base-extension unit did not execute a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtendError {
    /// The hardware refused the command with a result code.
    #[error("the base-extension unit refuses {operation:?}: {code}")]
    Answered { operation: Operation, code: Code },
    #[error("the base-extension unit is not done after {cycles} cycles: a fault in the RTL?")]
    NeverDone { cycles: u64 },
    /// The caller has no residues for a limb that a command needs.
    #[error(
        "a command takes limb %{value}, which nothing gives: the program and its schedule do not belong together"
    )]
    Missing { value: u32 },
    /// The driver refused the command before it reached the hardware.
    #[error(transparent)]
    Refused(#[from] BasextError),
    #[error(transparent)]
    Hdl(#[from] HdlError),
}

/// One beat of a base-extension unit's input or output stream: its words, and whether it is the last of its limb or of
/// the constants. A beat of a limb has one word for each lane, a beat of constants one word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Beat {
    pub words: Vec<u64>,
    pub last: bool,
}

/// The results of one command on a base-extension unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub code: Code,
    /// The clock cycles from the command to the unit's done bit.
    pub cycles: u64,
    /// The clock cycles from the command to the unit's done bit or to the last beat of the results,
    /// whichever is later.
    pub end: u64,
    /// The complete limbs of the output stream, each up to a beat that is marked as the last.
    /// `rest` has the words after the last such beat.
    pub limbs: Vec<Vec<u64>>,
    pub rest: Vec<u64>,
    /// The number of beats of the input stream that the unit did not take.
    pub left: usize,
}

/// A base-extension unit in simulation, driven at its pins.
pub struct Extender {
    unit: Unit,
    model: Model,
    ports: Ports,
    stalls: Option<Dice>,
    /// The rate at which the memory's one port moves words, if the unit's input and output stream
    /// pass through it. `None` if the streams have no such port.
    rate: Option<Rate>,
    constants: Option<Constants>,
}

struct Ports {
    cmd_valid: In,
    cmd_op: In,
    cmd_l: In,
    cmd_k: In,
    cmd_log_n: In,
    done: Out,
    code: Out,
    in_valid: In,
    in_ready: Out,
    in_data: In,
    in_last: In,
    out_valid: Out,
    out_ready: In,
    out_data: Out,
    out_last: Out,
}

impl Extender {
    /// Builds the simulation model of the base-extension unit `unit`, or takes the model from the cache, and resets it.
    /// A shape stands for the folded unit of that shape.
    ///
    /// # Errors
    /// The errors of the tools that build the model.
    pub fn new(hdl: &Hdl, unit: impl Into<Unit>, options: BuildOptions) -> Result<Self, HdlError> {
        let unit = unit.into();
        // Threads that want the same model build it once.
        static BUILDING: Mutex<()> = Mutex::new(());
        let mut model = {
            let _guard = BUILDING.lock().unwrap_or_else(|e| e.into_inner());
            hdl.model(&top_of(unit), options)?
        };
        let ports = Ports {
            cmd_valid: model.input("cmd_valid_i")?,
            cmd_op: model.input("cmd_op_i")?,
            cmd_l: model.input("cmd_l_i")?,
            cmd_k: model.input("cmd_k_i")?,
            cmd_log_n: model.input("cmd_log_n_i")?,
            done: model.output("done_o")?,
            code: model.output("code_o")?,
            in_valid: model.input("in_valid_i")?,
            in_ready: model.output("in_ready_o")?,
            in_data: model.input("in_data_i")?,
            in_last: model.input("in_last_i")?,
            out_valid: model.output("out_valid_o")?,
            out_ready: model.input("out_ready_i")?,
            out_data: model.output("out_data_o")?,
            out_last: model.output("out_last_o")?,
        };
        model.reset()?;
        Ok(Self {
            unit,
            model,
            ports,
            stalls: None,
            rate: None,
            constants: None,
        })
    }

    pub fn unit(&self) -> Unit {
        self.unit
    }

    pub fn shape(&self) -> Shape {
        self.unit.shape()
    }

    /// Makes the unit's input and output stream stall at random from now on, as `dice` decides,
    /// each in an eighth to seven eighths of the cycles of a command. `None` ends the stalls.
    pub fn stall(&mut self, dice: Option<Dice>) {
        self.stalls = dice;
    }

    /// Makes the unit's input and output stream pass through one memory port of rate `rate` from
    /// now on. [`Self::stall`] then has no effect. `None` removes the port.
    pub fn behind(&mut self, rate: Option<Rate>) {
        self.rate = rate;
    }

    /// Returns the loaded constants, or `None` before the first load and after a load that the unit refused.
    pub fn constants(&self) -> Option<&Constants> {
        self.constants.as_ref()
    }

    /// Loads moduli and constants into the unit, and returns the clock cycles that the load takes.
    ///
    /// # Errors
    /// [`ExtendError::Answered`] if the unit refuses the constants; those of [`Self::command`].
    pub fn load(&mut self, constants: &Constants) -> Result<u64, ExtendError> {
        let beats = self.words(constants.words());
        let operation = Operation::Load;
        let outcome = self.command(
            Command {
                operation,
                l: constants.l() as u8,
                k: constants.k() as u8,
                log_n: 0,
            },
            beats,
        )?;
        match outcome.code {
            Code::Ok => {
                self.constants = Some(constants.clone());
                Ok(outcome.end)
            }
            code => {
                self.constants = None;
                Err(ExtendError::Answered { operation, code })
            }
        }
    }

    /// Extends one polynomial with the loaded constants. `limbs` has its residues modulo each
    /// source modulus. If the unit takes redundant residues, a further limb at the end has those
    /// for an exact extension. Returns the residues modulo each target modulus, and the clock
    /// cycles. The folded and the pipelined unit are sent the limbs once for each target.
    ///
    /// # Errors
    /// [`ExtendError::Answered`] if the unit refuses the command; [`BasextError::Limbs`] for a wrong number of limbs;
    /// those of [`Self::command`].
    pub fn extend(
        &mut self,
        extension: Extension,
        limbs: &[&[u64]],
    ) -> Result<(Vec<Vec<u64>>, u64), ExtendError> {
        let stream = self.stream(extension, limbs)?;
        self.extend_stream(extension, limbs, 1, stream)
    }

    /// Extends several polynomials one after another. All must have limbs of the same length. Returns the target limbs
    /// of all polynomials, in order, and the clock cycles. A unit that takes up to 256 polynomials in one command gets
    /// one command for each 256 of them. Another unit gets a command for each polynomial.
    ///
    /// # Errors
    /// The errors of [`Self::extend`].
    pub fn extend_all(
        &mut self,
        extension: Extension,
        polynomials: &[Vec<&[u64]>],
    ) -> Result<(Vec<Vec<u64>>, u64), ExtendError> {
        let at_once = self.unit.polynomials();
        let (mut out, mut cycles) = (Vec::new(), 0);
        for polynomials in polynomials.chunks(at_once) {
            let mut stream = Vec::new();
            for limbs in polynomials {
                stream.extend(self.stream(extension, limbs)?);
            }
            let first = &polynomials[0];
            let (limbs, taken) = self.extend_stream(extension, first, polynomials.len(), stream)?;
            out.extend(limbs);
            cycles += taken;
        }
        Ok((out, cycles))
    }

    fn extend_stream(
        &mut self,
        extension: Extension,
        limbs: &[&[u64]],
        polynomials: usize,
        stream: Vec<Beat>,
    ) -> Result<(Vec<Vec<u64>>, u64), ExtendError> {
        let n = limbs.first().map_or(0, |limb| limb.len());
        let operation = Operation::Extend(extension);
        let command = Command {
            operation,
            l: 0,
            k: (polynomials - 1) as u8,
            log_n: n.checked_ilog2().unwrap_or(0) as u8,
        };
        let outcome = self.command(command, stream)?;
        match outcome.code {
            Code::Ok => Ok((outcome.limbs, outcome.end)),
            code => Err(ExtendError::Answered { operation, code }),
        }
    }

    /// Returns the beats of the input stream by which a polynomial's limbs enter the unit for an
    /// extension, in order.
    ///
    /// # Errors
    /// [`BasextError::Limbs`] for a wrong number of limbs.
    pub fn stream(&self, extension: Extension, limbs: &[&[u64]]) -> Result<Vec<Beat>, BasextError> {
        let (l, k) = self.constants.as_ref().map_or((0, 0), |c| (c.l(), c.k()));
        let expected = l + usize::from(self.unit.takes_redundant(extension));
        if limbs.len() != expected {
            let got = limbs.len();
            return Err(BasextError::Limbs { expected, got });
        }
        let (sources, redundant) = limbs.split_at(l);
        let mut stream = Vec::new();
        match self.unit {
            Unit::Folded(_) | Unit::Pipelined(_) => {
                for _ in 0..k {
                    for limb in redundant.iter().chain(sources) {
                        stream.extend(self.limb(limb));
                    }
                }
            }
            Unit::Shared(_) | Unit::Rowers(..) | Unit::Radix(_) => {
                for limb in limbs {
                    stream.extend(self.limb(limb));
                }
            }
        }
        Ok(stream)
    }

    /// Returns the beats of the input stream in which one limb enters the unit, a word for each
    /// lane in a beat.
    pub fn limb(&self, residues: &[u64]) -> Vec<Beat> {
        let mut beats: Vec<Beat> = residues
            .chunks(self.shape().lanes())
            .map(|words| Beat {
                words: words.to_vec(),
                last: false,
            })
            .collect();
        if let Some(beat) = beats.last_mut() {
            beat.last = true;
        }
        beats
    }

    /// Returns the beats in which constants enter the unit, one word in each beat.
    pub fn words(&self, words: &[u64]) -> Vec<Beat> {
        words
            .iter()
            .enumerate()
            .map(|(at, &word)| Beat {
                words: vec![word],
                last: at + 1 == words.len(),
            })
            .collect()
    }

    /// Sends a command and its stream to the unit. Takes the output until the unit is done and has no more output.
    ///
    /// # Errors
    /// [`ExtendError::NeverDone`] after 1000 cycles and 1024 more for each beat of the stream and of a limb; errors
    /// of the simulation.
    pub fn command(&mut self, command: Command, stream: Vec<Beat>) -> Result<Outcome, ExtendError> {
        // There are at most 64 rounds or targets, and stalls in seven eighths of the cycles at either end.
        let beats = self.shape().beats(u32::from(command.log_n).min(TOP_LOG_N));
        let most = 1000 + 64 * 16 * (stream.len() as u64 + beats);
        let mut stream = stream.into_iter().peekable();
        let mut outcome = Outcome {
            code: Code::Ok,
            cycles: 0,
            end: 0,
            limbs: Vec::new(),
            rest: Vec::new(),
            left: 0,
        };
        let p = &self.ports;
        for (port, value) in [
            (p.cmd_valid, 1),
            (p.cmd_op, command.operation.number()),
            (p.cmd_l, u64::from(command.l)),
            (p.cmd_k, u64::from(command.k)),
            (p.cmd_log_n, u64::from(command.log_n)),
        ] {
            self.model.set(port, value)?;
        }
        let mut eighths = || self.stalls.as_mut().map_or(0, |dice| 1 + dice.below(7));
        let (busy_in, busy_out) = (eighths(), eighths());
        let mut port = self.rate.map(Port::new);
        let (mut offered, mut done) = (false, false);
        for cycle in 0..most {
            let giving = self.model.get(self.ports.out_valid)? == 1;
            if done && !giving {
                outcome.left = stream.count();
                self.model.set(self.ports.in_valid, 0)?;
                return Ok(outcome);
            }
            let (waiting, ready) = (
                stream.peek().is_some(),
                self.model.get(self.ports.in_ready)?,
            );
            let take;
            (offered, take) = match &mut port {
                Some(port) => {
                    let granted = port.cycle(waiting && ready == 1, giving);
                    (granted.read, granted.write)
                }
                None => (
                    waiting && (offered || !self.stalled(busy_in)),
                    !self.stalled(busy_out),
                ),
            };
            let taken = offered && ready == 1;
            self.offer(stream.peek().filter(|_| offered))?;
            self.model.set(self.ports.out_ready, u64::from(take))?;
            if giving && take {
                outcome.end = cycle;
                outcome.rest.extend(self.given()?);
                if self.model.get(self.ports.out_last)? == 1 {
                    outcome.limbs.push(std::mem::take(&mut outcome.rest));
                }
            }
            self.model.step(1)?;
            self.model.set(self.ports.cmd_valid, 0)?;
            if taken {
                stream.next();
                offered = false;
            }
            if self.model.get(self.ports.done)? == 1 {
                done = true;
                outcome.cycles = cycle + 1;
                outcome.end = outcome.end.max(outcome.cycles);
                let code = self.model.get(self.ports.code)?;
                outcome.code = Code::from_bits(code)
                    .ok_or_else(|| HdlError::Simulation(format!("there is no code {code}")))?;
            }
        }
        Err(ExtendError::NeverDone { cycles: most })
    }

    /// Draws at random whether a stream stalls in this cycle: true in `eighths` of eight cycles if
    /// [`Self::stall`] has set dice, and false without dice.
    fn stalled(&mut self, eighths: u64) -> bool {
        let dice = self.stalls.as_mut();
        dice.is_some_and(|dice| dice.below(8) < eighths)
    }

    fn offer(&mut self, beat: Option<&Beat>) -> Result<(), HdlError> {
        let p = &self.ports;
        self.model.set(p.in_valid, u64::from(beat.is_some()))?;
        let Some(beat) = beat else { return Ok(()) };
        let mut pins = vec![0u32; self.shape().lanes() * self.words_each()];
        for (to, &word) in pins.chunks_mut(self.words_each()).zip(&beat.words) {
            for (at, to) in to.iter_mut().enumerate() {
                *to = (word >> (32 * at)) as u32;
            }
        }
        self.model.set_words(p.in_data, &pins)?;
        self.model.set(p.in_last, u64::from(beat.last))
    }

    /// Returns the words of the beat on the pins of the unit's output stream.
    fn given(&self) -> Result<Vec<u64>, HdlError> {
        let pins = self.model.get_words(self.ports.out_data)?;
        let word = |pins: &[u32]| {
            let words = pins.iter().rev();
            words.fold(0u64, |word, &part| word << 32 | u64::from(part))
        };
        Ok(pins.chunks(self.words_each()).map(word).collect())
    }

    /// Returns the number of 32-bit words that one residue takes on the pins of the unit's streams:
    /// one or two.
    fn words_each(&self) -> usize {
        match self.shape().word() {
            Word::Bits32 => 1,
            Word::Bits64 => 2,
        }
    }
}
