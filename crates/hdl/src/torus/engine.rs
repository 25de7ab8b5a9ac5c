//! An engine at its pins: a command with its streams, cycle by cycle.

use std::sync::Mutex;

use ringmill_machines::torus::{KeyRate, KeyStream, Shape, TorusError, run};

use super::code::{Code, Command, Operation};
use super::top;
use crate::polymul::Dice;
use crate::{BuildOptions, Hdl, HdlError, In, Model, Out};

/// Why an engine did not do as it was told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The hardware's answer.
    #[error("the bootstrapping engine refuses {operation:?}: {code}")]
    Answered { operation: Operation, code: Code },
    #[error("the bootstrapping engine is not done after {cycles} cycles: a fault in the RTL?")]
    NeverDone { cycles: u64 },
    /// Nothing reached the hardware.
    #[error(transparent)]
    Refused(#[from] TorusError),
    #[error(transparent)]
    Hdl(#[from] HdlError),
}

/// A beat of the key: its words, and whether it is the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyBeat {
    pub words: Vec<u64>,
    pub last: bool,
}

/// What a command gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub code: Code,
    /// From the command to its done bit.
    pub cycles: u64,
    /// Words of the output stream, with a last word.
    pub words: Vec<u32>,
    /// Words of the input stream that were not taken.
    pub left: usize,
    /// Beats of the key that were.
    pub key_taken: u64,
}

/// One simulated engine.
pub struct Engine {
    shape: Shape,
    model: Model,
    ports: Ports,
    stalls: Option<Dice>,
    source: Option<KeyRate>,
}

struct Ports {
    cmd_valid: In,
    cmd_op: In,
    cmd_place: In,
    done: Out,
    code: Out,
    in_valid: In,
    in_ready: Out,
    in_data: In,
    in_last: In,
    key_valid: In,
    key_ready: Out,
    key_data: In,
    key_last: In,
    out_valid: Out,
    out_ready: In,
    out_data: Out,
    out_last: Out,
}

/// Bits of a word of the key.
const WORD_BITS: usize = 52;

impl Engine {
    /// Builds the model (unless the cache has it), and resets it.
    ///
    /// # Errors
    /// What the tools refuse.
    pub fn new(hdl: &Hdl, shape: Shape, options: BuildOptions) -> Result<Self, HdlError> {
        // Threads that want the same model build it once.
        static BUILDING: Mutex<()> = Mutex::new(());
        let mut model = {
            let _guard = BUILDING.lock().unwrap_or_else(|e| e.into_inner());
            hdl.model(&top(shape), options)?
        };
        let ports = Ports {
            cmd_valid: model.input("cmd_valid_i")?,
            cmd_op: model.input("cmd_op_i")?,
            cmd_place: model.input("cmd_place_i")?,
            done: model.output("done_o")?,
            code: model.output("code_o")?,
            in_valid: model.input("in_valid_i")?,
            in_ready: model.output("in_ready_o")?,
            in_data: model.input("in_data_i")?,
            in_last: model.input("in_last_i")?,
            key_valid: model.input("key_valid_i")?,
            key_ready: model.output("key_ready_o")?,
            key_data: model.input("key_data_i")?,
            key_last: model.input("key_last_i")?,
            out_valid: model.output("out_valid_o")?,
            out_ready: model.input("out_ready_i")?,
            out_data: model.output("out_data_o")?,
            out_last: model.output("out_last_o")?,
        };
        model.reset()?;
        Ok(Self {
            shape,
            model,
            ports,
            stalls: None,
            source: None,
        })
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// From now on streams stall as these dice fall, each cycle in which they might move, three times in eight; or no more.
    pub fn stall(&mut self, dice: Option<Dice>) {
        self.stalls = dice;
    }

    /// From now on the key comes at this rate, whatever the dice say; or not.
    pub fn source(&mut self, source: Option<KeyRate>) {
        self.source = source;
    }

    /// Loads a ciphertext into a place: the table, 2N less the body's exponent, the mask's exponents. The cycles it took.
    ///
    /// # Errors
    /// [`EngineError::Answered`]; those of [`Self::command`].
    pub fn load(
        &mut self,
        place: u8,
        table: &[u64],
        minus_body: usize,
        mask: &[usize],
    ) -> Result<u64, EngineError> {
        let exponents = mask.iter().map(|&a| a as u32);
        let words: Vec<u32> = (std::iter::once(minus_body as u32))
            .chain(table.iter().map(|&x| x as u32))
            .chain(exponents)
            .collect();
        let operation = Operation::Load;
        let outcome = self.command(Command { operation, place }, &words, words.len(), None)?;
        answered(operation, &outcome)?;
        Ok(outcome.cycles)
    }

    /// Runs the ciphertexts of the first places, up to `last`. The cycles it took.
    ///
    /// # Errors
    /// [`EngineError::Answered`]; those of [`Self::command`].
    pub fn run(&mut self, last: u8, key: &KeyStream<'_>) -> Result<u64, EngineError> {
        let total = self.shape.key_total();
        let mut words = vec![0; self.shape.beat_words()];
        let mut beats = |at: u64| {
            (at < total).then(|| {
                key.beat(at, &mut words);
                KeyBeat {
                    words: words.clone(),
                    last: at + 1 == total,
                }
            })
        };
        let operation = Operation::Run;
        let command = Command {
            operation,
            place: last,
        };
        let outcome = self.command(command, &[], 0, Some(&mut beats))?;
        answered(operation, &outcome)?;
        Ok(outcome.cycles)
    }

    /// The extracted ciphertext of a place, and the cycles.
    ///
    /// # Errors
    /// [`EngineError::Answered`]; those of [`Self::command`].
    pub fn unload(&mut self, place: u8) -> Result<(Vec<u64>, u64), EngineError> {
        let operation = Operation::Unload;
        let outcome = self.command(Command { operation, place }, &[], 0, None)?;
        answered(operation, &outcome)?;
        let words = outcome.words.into_iter().map(u64::from).collect();
        Ok((words, outcome.cycles))
    }

    /// Sends a command and its streams, and takes what comes out until the engine is done. `input` has its last word at number
    /// `input_len` (none within it where that is beyond); `key` gives the beats by their numbers.
    ///
    /// # Errors
    /// [`EngineError::NeverDone`] after far more cycles than the streams need; those of the model.
    pub fn command(
        &mut self,
        command: Command,
        input: &[u32],
        input_len: usize,
        mut key: Option<&mut dyn FnMut(u64) -> Option<KeyBeat>>,
    ) -> Result<Outcome, EngineError> {
        let most = self.most();
        let p = &self.ports;
        for (port, value) in [
            (p.cmd_valid, 1),
            (p.cmd_op, command.operation.number()),
            (p.cmd_place, u64::from(command.place)),
            (p.in_valid, 0),
        ] {
            self.model.set(port, value)?;
        }
        let mut outcome = Outcome {
            code: Code::Ok,
            cycles: 0,
            words: Vec::new(),
            left: 0,
            key_taken: 0,
        };
        let (mut sent, mut offered) = (0, false);
        let mut key_at = 0;
        let mut beat = key.as_mut().and_then(|key| key(0));
        let mut key_offered = false;
        let mut comes = self.source.map(KeyRate::offers);
        for cycle in 0..most {
            // The key.
            if beat.is_some() && !key_offered {
                key_offered = match &mut comes {
                    Some(comes) => comes(),
                    None => !self.stalled(),
                };
                if key_offered {
                    self.offer_key(beat.as_ref())?;
                }
            }
            let p = &self.ports;
            self.model.set(p.key_valid, u64::from(key_offered))?;
            let key_taken = key_offered && self.model.get(self.ports.key_ready)? == 1;
            // The input.
            let is_load = command.operation == Operation::Load;
            if is_load && sent < input.len() && !offered && !self.stalled() {
                offered = true;
                let p = &self.ports;
                self.model.set(p.in_data, u64::from(input[sent]))?;
                self.model
                    .set(p.in_last, u64::from(sent + 1 == input_len))?;
            }
            self.model.set(self.ports.in_valid, u64::from(offered))?;
            let taken = offered && self.model.get(self.ports.in_ready)? == 1;
            // The output.
            let is_unload = command.operation == Operation::Unload;
            let take = !is_unload || !self.stalled();
            self.model.set(self.ports.out_ready, u64::from(take))?;
            if take && self.model.get(self.ports.out_valid)? == 1 {
                let word = self.model.get(self.ports.out_data)?;
                outcome.words.push(word as u32);
                let last = self.model.get(self.ports.out_last)? == 1;
                if last != (outcome.words.len() == self.shape.degree() + 1) {
                    let message = format!("the last word is not number {}", self.shape.degree());
                    return Err(HdlError::Simulation(message).into());
                }
            }
            self.model.step(1)?;
            self.model.set(self.ports.cmd_valid, 0)?;
            if taken {
                sent += 1;
                offered = false;
            }
            if key_taken {
                key_at += 1;
                key_offered = false;
                beat = key.as_mut().and_then(|key| key(key_at));
            }
            if self.model.get(self.ports.done)? == 1 {
                outcome.cycles = cycle + 1;
                outcome.left = input.len() - sent;
                outcome.key_taken = key_at;
                let code = self.model.get(self.ports.code)?;
                outcome.code = Code::from_bits(code)
                    .ok_or_else(|| HdlError::Simulation(format!("there is no code {code}")))?;
                let p = &self.ports;
                self.model.set(p.key_valid, 0)?;
                self.model.set(p.in_valid, 0)?;
                return Ok(outcome);
            }
        }
        Err(EngineError::NeverDone { cycles: most })
    }

    /// Far more cycles than any command needs.
    fn most(&self) -> u64 {
        let freely = run(self.shape, self.shape.sizes().places, || true).cycles;
        let beat = self.source.map_or(0.0, KeyRate::cycles_a_beat).ceil() as u64;
        10_000 + 8 * freely + self.shape.key_total() * (16 + 2 * beat)
    }

    /// True three times in eight, where streams stall.
    fn stalled(&mut self) -> bool {
        let dice = self.stalls.as_mut();
        dice.is_some_and(|dice| dice.below(8) < 3)
    }

    fn offer_key(&mut self, beat: Option<&KeyBeat>) -> Result<(), HdlError> {
        let Some(beat) = beat else { return Ok(()) };
        let mut pins = vec![0u32; (beat.words.len() * WORD_BITS).div_ceil(32)];
        for (i, &word) in beat.words.iter().enumerate() {
            let (at, shift) = (i * WORD_BITS / 32, i * WORD_BITS % 32);
            let spread = u128::from(word) << shift;
            for (j, pin) in pins[at..].iter_mut().take(3).enumerate() {
                *pin |= (spread >> (32 * j)) as u32;
            }
        }
        self.model.set_words(self.ports.key_data, &pins)?;
        self.model.set(self.ports.key_last, u64::from(beat.last))
    }
}

fn answered(operation: Operation, outcome: &Outcome) -> Result<(), EngineError> {
    match outcome.code {
        Code::Ok => Ok(()),
        code => Err(EngineError::Answered { operation, code }),
    }
}
