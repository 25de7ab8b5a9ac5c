// SPDX-License-Identifier: Apache-2.0
//! Drives the TFHE bootstrapping engine at its pins, cycle by cycle: one command with its streams.

use std::sync::Mutex;

use ringmill_machines::torus::{
    KeyRate, KeyStream, Shape, TorusError, run, switch_cycles, switch_words,
};

use super::code::{Code, Command, Operation};
use super::streams::{KeyBeat, Sending, Streams, WordPorts, Words, switching_key};
use super::top;
use crate::polymul::Dice;
use crate::{BuildOptions, Hdl, HdlError, In, Model, Out};

/// The reason for which the engine did not execute a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The hardware refused the command with a result code.
    #[error("the bootstrapping engine refuses {operation:?}: {code}")]
    Answered { operation: Operation, code: Code },
    #[error("the bootstrapping engine is not done after {cycles} cycles: a fault in the RTL?")]
    NeverDone { cycles: u64 },
    /// The driver refused the command before it reached the hardware.
    #[error(transparent)]
    Refused(#[from] TorusError),
    #[error(transparent)]
    Hdl(#[from] HdlError),
}

/// The results of one command on the bootstrapping engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub code: Code,
    /// The clock cycles of the engine from the command to its done bit.
    pub cycles: u64,
    /// The words of the engine's output stream, up to the word that is marked as the last.
    pub words: Vec<u32>,
    /// The number of words that the engine did not take of its input stream and of the switching
    /// key's stream.
    pub left: usize,
    /// The number of beats of the bootstrapping key's stream that the engine took.
    pub key_taken: u64,
}

/// A bootstrapping engine in simulation, driven at its pins.
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
    input: WordPorts,
    key_valid: In,
    key_ready: Out,
    key_data: In,
    key_last: In,
    switching: WordPorts,
    out_valid: Out,
    out_ready: In,
    out_data: Out,
    out_last: Out,
}

impl Engine {
    /// Builds the engine's simulation model (unless the cache has it), and resets it.
    ///
    /// # Errors
    /// The errors of the tools that build the model.
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
            input: WordPorts::new(&model, "in")?,
            key_valid: model.input("key_valid_i")?,
            key_ready: model.output("key_ready_o")?,
            key_data: model.input("key_data_i")?,
            key_last: model.input("key_last_i")?,
            switching: WordPorts::new(&model, "switch")?,
            out_valid: model.output("out_valid_o")?,
            out_ready: model.input("out_ready_i")?,
            out_data: model.output("out_data_o")?,
            out_last: model.output("out_last_o")?,
        };
        // Beats are whole here; behind a bus, the module that joins them marks a partial one.
        let cut = model.input("key_cut_i")?;
        model.set(cut, 0)?;
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

    /// Makes the engine's streams stall at random from now on, as `dice` decides, in three of eight
    /// cycles in which a stream might move. `None` ends the stalls.
    pub fn stall(&mut self, dice: Option<Dice>) {
        self.stalls = dice;
    }

    /// Makes the bootstrapping key and the switching key arrive at the rate `source` from now on, whatever
    /// [`Self::stall`] decides. With `None` they come as fast as the engine takes them, except for stalls.
    pub fn source(&mut self, source: Option<KeyRate>) {
        self.source = source;
    }

    /// Loads a ciphertext into a place, the engine's memory for one ciphertext. The input is the number 2N
    /// minus the body's exponent (for the ring degree N), then the look-up table, then the mask's exponents.
    /// Returns the cycles from the command to its done bit.
    ///
    /// # Errors
    /// [`EngineError::Answered`] if the engine refuses the command; those of [`Self::command`].
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
        let streams = Streams {
            input: Words::all(&words),
            ..Streams::default()
        };
        let outcome = self.command(Command { operation, place }, streams)?;
        answered(operation, &outcome)?;
        Ok(outcome.cycles)
    }

    /// Runs the blind rotation of the ciphertexts in places 0 to `last`, and extracts an LWE ciphertext from each. A
    /// place is the engine's memory for one ciphertext. Returns the cycles from the command to its done bit.
    ///
    /// # Errors
    /// [`EngineError::Answered`] if the engine refuses the command; those of [`Self::command`].
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
        let streams = Streams {
            key: Some(&mut beats),
            ..Streams::default()
        };
        let outcome = self.command(command, streams)?;
        answered(operation, &outcome)?;
        Ok(outcome.cycles)
    }

    /// Switches the extracted LWE ciphertexts of places 0 to `last` to the small key. A place is
    /// the engine's memory for one ciphertext. The switching key is the seed of its masks and one
    /// body for each row. Returns the cycles from the command to its done bit.
    ///
    /// # Errors
    /// [`EngineError::Answered`] if the engine refuses the command; those of [`Self::command`].
    pub fn switch(
        &mut self,
        last: u8,
        seed: &[u8; 32],
        bodies: &[u32],
    ) -> Result<u64, EngineError> {
        let words = switching_key(seed, bodies);
        let operation = Operation::Switch;
        let command = Command {
            operation,
            place: last,
        };
        let streams = Streams {
            switching_key: Words::all(&words),
            ..Streams::default()
        };
        let outcome = self.command(command, streams)?;
        answered(operation, &outcome)?;
        Ok(outcome.cycles)
    }

    /// Returns the extracted LWE ciphertext of a place before the key switch, mask words first and then the body, and
    /// the cycles of the command. A place is the engine's memory for one ciphertext.
    ///
    /// # Errors
    /// [`EngineError::Answered`] if the engine refuses the command; those of [`Self::command`].
    pub fn unload(&mut self, place: u8) -> Result<(Vec<u64>, u64), EngineError> {
        self.result(Operation::Unload, place)
    }

    /// Returns the LWE ciphertext of a place after the key switch, mask words first and then the body, and the cycles
    /// of the command. A place is the engine's memory for one ciphertext.
    ///
    /// # Errors
    /// [`EngineError::Answered`] if the engine refuses the command; those of [`Self::command`].
    pub fn give(&mut self, place: u8) -> Result<(Vec<u64>, u64), EngineError> {
        self.result(Operation::Give, place)
    }

    fn result(&mut self, operation: Operation, place: u8) -> Result<(Vec<u64>, u64), EngineError> {
        let outcome = self.command(Command { operation, place }, Streams::default())?;
        answered(operation, &outcome)?;
        let words = outcome.words.into_iter().map(u64::from).collect();
        Ok((words, outcome.cycles))
    }

    /// Sends a command and its streams to the engine, and takes the output until the engine is done.
    ///
    /// # Errors
    /// [`EngineError::NeverDone`] after at least eight times the cycles that the streams need; errors of the
    /// simulation.
    pub fn command(
        &mut self,
        command: Command,
        streams: Streams<'_>,
    ) -> Result<Outcome, EngineError> {
        let most = self.most();
        let p = &self.ports;
        for (port, value) in [
            (p.cmd_valid, 1),
            (p.cmd_op, command.operation.number()),
            (p.cmd_place, u64::from(command.place)),
        ] {
            self.model.set(port, value)?;
        }
        let gives = match command.operation {
            Operation::Unload => Some(self.shape.degree() + 1),
            Operation::Give => Some(self.shape.sizes().dim + 1),
            Operation::Load | Operation::Run | Operation::Switch | Operation::None => None,
        };
        let mut words = Vec::new();
        let mut input = Sending::new(streams.input);
        let mut switching = Sending::new(streams.switching_key);
        let mut key = streams.key;
        let mut key_at = 0;
        let mut beat = key.as_mut().and_then(|key| key(0));
        let mut key_offered = false;
        let mut comes = self.source.map(KeyRate::offers);
        let mut word_comes = self.source.map(|source| source.of_words().offers());
        for cycle in 0..most {
            // The key.
            if beat.is_some() && !key_offered {
                key_offered = match &mut comes {
                    Some(comes) => comes(),
                    None => !stalled(&mut self.stalls),
                };
                if key_offered {
                    self.offer_key(beat.as_ref())?;
                }
            }
            self.model
                .set(self.ports.key_valid, u64::from(key_offered))?;
            let key_taken = key_offered && self.model.get(self.ports.key_ready)? == 1;
            // The switching key, the input.
            let (model, ports, stalls) = (&mut self.model, &self.ports, &mut self.stalls);
            let switching_taken =
                switching.offer(model, &ports.switching, || match &mut word_comes {
                    Some(comes) => comes(),
                    None => !stalled(stalls),
                })?;
            let input_taken = input.offer(model, &ports.input, || !stalled(stalls))?;
            // The output.
            let take = gives.is_none() || !stalled(&mut self.stalls);
            self.model.set(self.ports.out_ready, u64::from(take))?;
            if take && self.model.get(self.ports.out_valid)? == 1 {
                let word = self.model.get(self.ports.out_data)?;
                words.push(word as u32);
                let last = self.model.get(self.ports.out_last)? == 1;
                if last != (Some(words.len()) == gives) {
                    let message = format!("word {} of {gives:?} is marked {last}", words.len());
                    return Err(HdlError::Simulation(message).into());
                }
            }
            self.model.step(1)?;
            self.model.set(self.ports.cmd_valid, 0)?;
            input.moved(input_taken);
            switching.moved(switching_taken);
            if key_taken {
                key_at += 1;
                key_offered = false;
                beat = key.as_mut().and_then(|key| key(key_at));
            }
            if self.model.get(self.ports.done)? == 1 {
                let code = self.model.get(self.ports.code)?;
                let p = &self.ports;
                for valid in [p.key_valid, p.input.valid, p.switching.valid] {
                    self.model.set(valid, 0)?;
                }
                return Ok(Outcome {
                    code: Code::from_bits(code)
                        .ok_or_else(|| HdlError::Simulation(format!("there is no code {code}")))?,
                    cycles: cycle + 1,
                    words,
                    left: input.left() + switching.left(),
                    key_taken: key_at,
                });
            }
        }
        Err(EngineError::NeverDone { cycles: most })
    }

    /// Returns the number of cycles after which a command of the engine counts as hung. It is at
    /// least eight times the cycles of a blind rotation and a key switch without stalls, and at
    /// least 16 cycles for each beat of the bootstrapping key.
    fn most(&self) -> u64 {
        let freely = run(self.shape, self.shape.sizes().places, || true).cycles;
        let beat = self.source.map_or(0.0, KeyRate::cycles_a_beat).ceil() as u64;
        let switch = switch_cycles(self.shape, self.shape.sizes().places);
        let words = switch_words(self.shape);
        10_000 + 8 * (freely + switch + words) + self.shape.key_total() * (16 + 2 * beat)
    }

    fn offer_key(&mut self, beat: Option<&KeyBeat>) -> Result<(), HdlError> {
        let Some(beat) = beat else { return Ok(()) };
        let width = self.shape.key_bits() as usize;
        let mut pins = vec![0u32; (beat.words.len() * width).div_ceil(32)];
        for (i, &word) in beat.words.iter().enumerate() {
            let (at, shift) = (i * width / 32, i * width % 32);
            let spread = u128::from(word) << shift;
            for (j, pin) in pins[at..].iter_mut().take(3).enumerate() {
                *pin |= (spread >> (32 * j)) as u32;
            }
        }
        self.model.set_words(self.ports.key_data, &pins)?;
        self.model.set(self.ports.key_last, u64::from(beat.last))
    }
}

/// Draws at random whether a stream of the engine stalls in this cycle: true three times in eight
/// if `stalls` has dice, and false without dice.
fn stalled(stalls: &mut Option<Dice>) -> bool {
    let dice = stalls.as_mut();
    dice.is_some_and(|dice| dice.below(8) < 3)
}

fn answered(operation: Operation, outcome: &Outcome) -> Result<(), EngineError> {
    match outcome.code {
        Code::Ok => Ok(()),
        code => Err(EngineError::Answered { operation, code }),
    }
}
