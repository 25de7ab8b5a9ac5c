// SPDX-License-Identifier: Apache-2.0
//! Drives the polynomial multiplier at its pins, cycle by cycle: commands with the hardware's result codes, and streams
//! with stalls.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;

use ringmill_machines::polymul::{ArrayOp, SETS, SLOTS, Shape};

use super::code::{Code, Op, Place, Request, Unit};
use super::ports::Ports;
use super::{Dice, DriveError, top};
use crate::{BuildOptions, Hdl, HdlError, Model};

/// A polynomial multiplier in simulation, driven at its pins. It does not check commands for the caller:
/// [`super::Multiplier`] does that.
pub struct Driver {
    shape: Shape,
    model: Model,
    ports: Ports,
    /// The words that are queued for the multiplier's input, of one or more streams. `streams` has
    /// for each of these streams the number of its beats, and whether its last beat is marked as
    /// the last.
    words: VecDeque<u32>,
    streams: VecDeque<(usize, bool)>,
    /// Whether a beat is on offer at the multiplier's input. The beat must then stay on the pins
    /// until the multiplier takes it.
    offered: bool,
    /// The words that the multiplier has sent of an output stream that is not complete. `output`
    /// has the complete output streams, oldest first.
    partial: Vec<u32>,
    output: VecDeque<Vec<u32>>,
    /// The ends of commands that no caller has waited for: each unit whose done bit was seen, and
    /// the cycle.
    done: VecDeque<(Unit, u64)>,
    /// For each unit of the multiplier the last command that it accepted.
    held: [Option<Request>; 3],
    load_code: Code,
    /// For each table slot (the memory for the tables of one modulus) whether it has tables, and the number of accepted
    /// commands to load some.
    tables: [(bool, u64); SLOTS],
    /// For each place `[set][buf]` of a limb, the table slot with whose modulus the limb was loaded; `None` if the
    /// place has no limb.
    limbs: [[Option<usize>; 2]; SETS],
    issues: Vec<bool>,
    stalls: Option<Dice>,
}

impl Driver {
    /// Builds the simulation model of a shape (unless the cache has it) and resets it.
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
        let ports = Ports::of(&model)?;
        model.set(ports.out_ready, 1)?;
        model.reset()?;
        Ok(Self {
            shape,
            model,
            ports,
            words: VecDeque::new(),
            streams: VecDeque::new(),
            offered: false,
            partial: Vec::new(),
            output: VecDeque::new(),
            done: VecDeque::new(),
            held: [None; 3],
            load_code: Code::Ok,
            tables: [(false, 0); SLOTS],
            limbs: [[None; 2]; SETS],
            issues: Vec::new(),
            stalls: None,
        })
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the number of simulated cycles since the reset.
    pub fn cycle(&self) -> u64 {
        self.model.cycle()
    }

    /// Makes the multiplier's input and output stream stall at random from now on, as `dice`
    /// decides, each in about half of the cycles. `None` ends the stalls.
    pub fn stall(&mut self, dice: Option<Dice>) {
        self.stalls = dice;
    }

    pub fn stalls(&self) -> bool {
        self.stalls.is_some()
    }

    /// Returns one flag for each cycle since the last call of [`Self::start`]: whether the butterflies began an
    /// operation in that cycle. A call whose command the multiplier refuses counts too. The first flag stands for the
    /// time before the command's first clock edge and is false. Commands to the array by other calls do not clear the
    /// flags.
    pub fn issues(&self) -> &[bool] {
        &self.issues
    }

    /// Returns the result code with which the multiplier ended the last stream of a limb or of
    /// tables into it.
    pub fn load_code(&self) -> Code {
        self.load_code
    }

    /// Returns whether a table slot of the multiplier has tables.
    pub fn has_tables(&self, slot: usize) -> bool {
        self.tables.get(slot).is_some_and(|t| t.0)
    }

    /// Returns the number of commands to load tables into a table slot that [`Self::command`] sent and the multiplier
    /// accepted, with loads that failed later. If the number has changed, the slot's tables may be others.
    pub fn table_loads(&self, slot: usize) -> u64 {
        self.tables.get(slot).map_or(0, |t| t.1)
    }

    /// Returns the table slot with whose modulus the limb at a place was loaded, or `None` if the place has no limb. A
    /// place has no limb while one is loaded, after new tables in its slot, and as polynomial 1 after a full product.
    pub fn limb_slot(&self, set: usize, buf: usize) -> Option<usize> {
        *self.limbs.get(set)?.get(buf)?
    }

    /// Returns the last command that a unit of the multiplier accepted. A busy unit is still
    /// executing it.
    pub(super) fn held(&self, unit: Unit) -> Option<Request> {
        self.held[unit.bits() as usize]
    }

    /// Returns the ends of commands that no caller has waited for, in order: each unit whose done
    /// bit was seen, and the cycle.
    pub fn done(&self) -> impl Iterator<Item = (Unit, u64)> {
        self.done.iter().copied()
    }

    /// Removes the oldest complete stream that the multiplier has sent, and returns its words.
    /// Returns `None` if there is none.
    pub fn take_output(&mut self) -> Option<Vec<u32>> {
        self.output.pop_front()
    }

    /// Returns the busy bits of the multiplier's units: bit 0 for the array of butterflies, bit 1
    /// for the load unit, bit 2 for the unload unit.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn busy(&self) -> Result<u64, HdlError> {
        self.model.get(self.ports.busy)
    }

    pub(super) fn is_busy(&self, unit: Unit) -> Result<bool, HdlError> {
        Ok(self.busy()? >> unit.bits() & 1 == 1)
    }

    /// Writes every signal from now on to a VCD file. The model must have been built with [`BuildOptions::waves`].
    ///
    /// # Errors
    /// The errors of [`Model::waves`].
    pub fn waves(&mut self, path: &Path) -> Result<(), HdlError> {
        self.model.waves(path)
    }

    /// Completes the VCD file that [`Self::waves`] has begun.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn waves_close(&mut self) -> Result<(), HdlError> {
        self.model.waves_close()
    }

    fn stalled(&mut self) -> bool {
        self.stalls
            .as_mut()
            .is_some_and(|dice| dice.bits() & 1 == 1)
    }

    /// Runs one cycle of the multiplier: drives the streams, makes a clock edge, and records the words that passed and
    /// the units that are done.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn tick(&mut self) -> Result<(), HdlError> {
        let ready_in = self.model.get(self.ports.in_ready)? == 1;
        let valid_out = self.model.get(self.ports.out_valid)? == 1;
        self.offered = self.offered || (!self.streams.is_empty() && !self.stalled());
        let take = !self.stalled();
        self.offer()?;
        let p = &self.ports;
        self.model.set(p.out_ready, u64::from(take))?;
        if valid_out && take {
            self.partial.extend(self.model.get_words(p.out_data)?);
            if self.model.get(p.out_last)? == 1 {
                self.output.push_back(std::mem::take(&mut self.partial));
            }
        }
        self.model.step(1)?;
        if self.offered && ready_in {
            self.taken();
        }
        let done = self.model.get(self.ports.done)?;
        let cycle = self.model.cycle();
        let ended = Unit::ALL.into_iter().filter(|u| done >> u.bits() & 1 == 1);
        self.done.extend(ended.map(|unit| (unit, cycle)));
        if done >> Unit::Load.bits() & 1 == 1 {
            self.load_code = known(self.model.get(self.ports.load_code)?)?;
            match self.held[Unit::Load.bits() as usize] {
                Some(Request {
                    op: Op::Load,
                    at,
                    slot,
                    ..
                }) => self.limbs[at.set][at.buf] = (self.load_code == Code::Ok).then_some(slot),
                Some(Request { slot, .. }) => self.tables[slot].0 = self.load_code == Code::Ok,
                None => {}
            }
        }
        self.issues.push(self.model.get(self.ports.issue)? == 1);
        Ok(())
    }

    /// Puts the beat that is on offer on the pins of the multiplier's input, or clears the valid
    /// bit if none is.
    fn offer(&mut self) -> Result<(), HdlError> {
        let p = &self.ports;
        self.model.set(p.in_valid, u64::from(self.offered))?;
        if !self.offered {
            return Ok(());
        }
        if let Some(&(beats, last)) = self.streams.front() {
            // At most Units = 64 words.
            let mut beat = [0; 64];
            let beat = &mut beat[..self.shape.beat()];
            for (to, &from) in beat.iter_mut().zip(&self.words) {
                *to = from;
            }
            self.model.set_words(p.in_data, beat)?;
            self.model.set(p.in_last, u64::from(last && beats == 1))?;
        }
        Ok(())
    }

    /// Removes the beat on offer from the queued words, because the multiplier took it.
    fn taken(&mut self) {
        self.offered = false;
        self.words.drain(..self.shape.beat().min(self.words.len()));
        if let Some(stream) = self.streams.front_mut() {
            stream.0 -= 1;
            if stream.0 == 0 {
                self.streams.pop_front();
            }
        }
    }

    /// Queues a stream of words for the multiplier's input. Zeros fill the last beat. `last` tells whether this beat is
    /// marked as the last.
    pub fn send(&mut self, words: &[u32], last: bool) {
        let beats = words.len().div_ceil(self.shape.beat());
        if beats == 0 {
            return;
        }
        let padding = beats * self.shape.beat() - words.len();
        self.words.extend(words);
        self.words.extend(std::iter::repeat_n(0, padding));
        self.streams.push_back((beats, last));
    }

    /// Drops the words that are queued for the input.
    pub fn drop_input(&mut self) {
        self.words.clear();
        self.streams.clear();
        self.offered = false;
    }

    /// Sends a command and runs one cycle. The result code is on the pins after one further cycle ([`Self::answer`]).
    /// The driver does not record the command's effects; [`Self::command`] does.
    ///
    /// # Errors
    /// The errors of the simulation; an error for a request out of range.
    pub fn post(&mut self, request: Request) -> Result<(), HdlError> {
        let Request {
            op,
            at,
            slot,
            log_n,
        } = request;
        if at.set >= SETS || at.buf >= 2 || slot >= SLOTS || log_n > 31 {
            return Err(HdlError::Simulation(format!(
                "no pins carry the command {request:?}"
            )));
        }
        self.post_number(op.opcode().bits(), request)
    }

    /// Sends a command with `op` as its operation's number. A test sends a number that no operation has, because the
    /// hardware must refuse it.
    ///
    /// # Errors
    /// The errors of the simulation; [`HdlError::PortWidth`] for a number that the pins cannot carry.
    pub fn post_number(&mut self, op: u64, request: Request) -> Result<(), HdlError> {
        let p = &self.ports;
        for (port, value) in [
            (p.cmd_valid, 1),
            (p.cmd_op, op),
            (p.cmd_set, request.at.set as u64),
            (p.cmd_buf, request.at.buf as u64),
            (p.cmd_slot, request.slot as u64),
            (p.cmd_eval, u64::from(request.at.eval)),
            (p.cmd_log_n, u64::from(request.log_n)),
        ] {
            self.model.set(port, value)?;
        }
        self.tick()?;
        self.model.set(self.ports.cmd_valid, 0)
    }

    /// Returns the result code that is on the multiplier's pins in this cycle, or `None` if there is none.
    ///
    /// # Errors
    /// [`HdlError::Simulation`] for a number that is no result code; errors of the simulation.
    pub fn answer(&self) -> Result<Option<Code>, HdlError> {
        if self.model.get(self.ports.rsp_valid)? != 1 {
            return Ok(None);
        }
        known(self.model.get(self.ports.rsp_code)?).map(Some)
    }

    /// Sends a command, runs the two cycles until its result code, and returns the code.
    ///
    /// # Errors
    /// [`HdlError::Simulation`] if no result code comes after two cycles; the errors of [`Self::post`].
    pub fn command(&mut self, request: Request) -> Result<Code, HdlError> {
        self.post(request)?;
        self.tick()?;
        let code = self.answer()?.ok_or_else(|| {
            HdlError::Simulation(format!("{request:?} has no answer two cycles after it"))
        })?;
        if code == Code::Ok {
            self.accepted(request);
        }
        Ok(code)
    }

    /// Records the effects of an accepted command: the unit that executes it, and the tables and
    /// limbs that it makes invalid.
    fn accepted(&mut self, request: Request) {
        let Request { op, at, slot, .. } = request;
        if let Some(unit) = op.unit() {
            self.held[unit.bits() as usize] = Some(request);
        }
        match op {
            Op::Load => self.limbs[at.set][at.buf] = None,
            Op::Tables => {
                self.tables[slot].0 = false;
                self.tables[slot].1 += 1;
                for limb in self.limbs.iter_mut().flatten() {
                    *limb = limb.filter(|&under| under != slot);
                }
            }
            Op::Array(ArrayOp::Fpm) => self.limbs[at.set][1] = None,
            Op::Array(_) | Op::Unload | Op::Abort => {}
        }
    }

    /// Starts an operation of the array of butterflies on the two polynomials of set `set`. A transform works on
    /// polynomial `buf` of the set alone; other operations ignore `buf`. Returns the command's result code.
    ///
    /// # Errors
    /// The errors of [`Self::command`].
    pub fn start(&mut self, op: ArrayOp, set: usize, buf: usize) -> Result<Code, HdlError> {
        self.issues.clear();
        self.issues.push(false);
        let eval = false;
        let at = Place { set, buf, eval };
        self.command(request(Op::Array(op), at))
    }

    /// Starts to load a limb into a place, modulo the prime whose tables are in table slot `slot`. Returns the
    /// command's result code. The caller gives the words to [`Self::send`].
    ///
    /// # Errors
    /// The errors of [`Self::command`].
    pub fn start_load(&mut self, at: Place, slot: usize) -> Result<Code, HdlError> {
        self.command(Request {
            slot,
            ..request(Op::Load, at)
        })
    }

    /// Starts to unload the limb at a place. Returns the command's result code.
    ///
    /// # Errors
    /// The errors of [`Self::command`].
    pub fn start_unload(&mut self, at: Place) -> Result<Code, HdlError> {
        self.command(request(Op::Unload, at))
    }

    /// Starts to load tables for degree 2^`log_n` into table slot `slot`. Returns the command's result code.
    /// The caller gives the words to [`Self::send`].
    ///
    /// # Errors
    /// The errors of [`Self::command`].
    pub fn start_tables(&mut self, slot: usize, log_n: u32) -> Result<Code, HdlError> {
        self.command(Request {
            slot,
            log_n,
            ..request(Op::Tables, NOWHERE)
        })
    }

    /// Sends the command that ends a load whose stream was cut short. Returns the command's result code.
    ///
    /// # Errors
    /// The errors of [`Self::command`].
    pub fn abort(&mut self) -> Result<Code, HdlError> {
        self.command(request(Op::Abort, NOWHERE))
    }

    /// Returns the cycle of the oldest done bit of `unit` that no caller has waited for. Runs cycles until there is
    /// one.
    ///
    /// # Errors
    /// [`DriveError::NeverDone`] after 128 cycles for each coefficient of the largest degree, more than any command
    /// takes; errors of the simulation.
    pub fn wait(&mut self, unit: Unit) -> Result<u64, DriveError> {
        let most = 128u64 << self.shape.max_log_n();
        for _ in 0..most {
            if let Some(at) = self.done.iter().position(|d| d.0 == unit)
                && let Some((_, cycle)) = self.done.remove(at)
            {
                return Ok(cycle);
            }
            self.tick()?;
        }
        Err(DriveError::NeverDone { unit, cycles: most })
    }
}

const NOWHERE: Place = Place {
    set: 0,
    buf: 0,
    eval: false,
};

fn request(op: Op, at: Place) -> Request {
    Request {
        op,
        at,
        slot: 0,
        log_n: 0,
    }
}

/// Returns the result code with the number `bits`, or an error if no code has that number.
fn known(bits: u64) -> Result<Code, HdlError> {
    Code::from_bits(bits).ok_or_else(|| HdlError::Simulation(format!("there is no code {bits}")))
}
