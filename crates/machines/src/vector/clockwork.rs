// SPDX-License-Identifier: Apache-2.0
//! The vector machine's performance simulator. It times micro instructions by the machine's step semantics
//! (BASALISC paper, section 7), from event to event instead of step by step.
//!
//! Time is counted in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer). The controller
//! sends instructions in order, at most one in a micro-cycle, as soon as nothing blocks them. An instruction waits for
//! the buffer's port if it reads a chunk, for the first stage of its unit, and for a chunk or register that is not
//! written yet. It also waits until it has crossed the link, if that time is counted, and until there is room for one
//! more load or store under way. A pass of a transform waits until all permutations have left the pipeline that the two
//! share, and a permutation until all passes have left it.
//!
//! An item is the data of one instruction in a unit's pipeline. It goes on to the next stage when that stage is
//! free and its unit's period has passed. At the end, an item that is written to the buffer waits for the port.
//! **Reads come before writes**: a write gets the port if the next instruction does not take it at that time. So
//! pipelines fill up until nothing can be sent, and then empty.

use std::collections::VecDeque;

use ringmill_isa::vector::{Instr, MASKS, Shape};

pub use super::decode::{Decoded, reads};
use super::decode::{Kind, Spot, Target, log_chunks};
use super::description::Description;
use super::layout::Orientation;
use super::pending::Pending;
use super::pipe::{Item, Pipe};
use super::tally::Tally;

/// The times that the simulator counts in addition to those of the buffer's port and of the units.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counting {
    /// Whether the simulator counts the time of distant memory. The BASALISC paper does not.
    pub distant: bool,
    /// Whether the simulator counts the time in which instructions cross the link. The BASALISC paper does not.
    pub instructions: bool,
}

impl Counting {
    /// The way in which the BASALISC paper counts time: without distant memory and without instructions on the link.
    pub const PAPER: Self = Self {
        distant: false,
        instructions: false,
    };
    /// The way of counting that includes the time of distant memory and of instructions on the link.
    pub const WHOLE: Self = Self {
        distant: true,
        instructions: true,
    };
}

/// The time at which a register holds the last value that was sent to it, in micro-cycles (`micro.buffer` of them
/// make one cycle of the ciphertext buffer).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Register {
    At(u64),
    /// The time is unknown, since the value is in the pipeline behind the result of another instruction, which
    /// waits for the buffer's port.
    Waits,
}

/// The constants of a machine for programs of one shape, which is a ring degree and the sizes of the machine. Times are
/// in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer). The fields `buffer` and `mac` are
/// times for one chunk, `transform` for half a chunk, and `chunk` for one chunk on a channel of distant memory. The
/// fields that end in `_stages` count pipeline stages, those that end in `_room` or `_chunks` count chunks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Rates {
    buffer: u64,
    mac: u64,
    transform: u64,
    mac_stages: u64,
    transform_stages: u64,
    morph_stages: u64,
    /// The number of chunks for which the multiply-accumulate unit's pipeline has room. `transform_room` has that
    /// of the transform's pipeline, `morph_room` that of the permutations alone.
    mac_room: usize,
    transform_room: usize,
    morph_room: usize,
    queue: usize,
    /// The time in which one instruction crosses the link, in micro-cycles times 2^16. A cycle of the ciphertext
    /// buffer is `micro.buffer` micro-cycles.
    fetch: u64,
    load_chunks: usize,
    store_chunks: usize,
    chunk: u64,
    latency: u64,
    log_chunks: u32,
}

/// The state of the simulated vector machine at a point in time. Times are in micro-cycles (`micro.buffer` of them
/// make one cycle of the ciphertext buffer).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Clockwork {
    pub(super) rates: Rates,
    pub(super) counting: Counting,
    /// The current time in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer). Writes to the
    /// buffer and sendings that are still to be simulated are at this time or later.
    pub(super) now: u64,
    pub(super) sent: u64,
    pub(super) last_sent: Option<u64>,
    /// The micro-cycle of the last write to the ciphertext buffer, a cycle of which is `micro.buffer` micro-cycles.
    /// Instructions see the write's effect from the next micro-cycle on.
    pub(super) wrote: Option<u64>,
    /// The times of the next loads and stores in micro-cycles, if the caller has observed them on another machine,
    /// such as the RTL. They replace the simulator's own.
    pub(super) passed: VecDeque<u64>,
    pub(super) buffer_free: u64,
    pub(super) mac: Pipe,
    pub(super) transform: Pipe,
    /// Whether the chunks in the transform's pipeline belong to permutations, which bypass the transform.
    pub(super) morphing: bool,
    pub(super) loads: VecDeque<Item>,
    /// For each chunk on its way to distant memory, the micro-cycle of its arrival there, the earliest first.
    pub(super) stores: VecDeque<u64>,
    pub(super) channels: Vec<u64>,
    pub(super) pending: Vec<Pending>,
    pub(super) registers: Vec<Register>,
    /// The micro-cycles in which the last instructions were sent, at most as many as the instruction queue holds. It
    /// stays empty if the time of instructions on the link is not counted.
    pub(super) queue: VecDeque<u64>,
    pub(super) fetched: u64,
    pub(super) end: u64,
    pub tally: Tally,
}

/// The unit or path from which the next write to the ciphertext buffer comes.
#[derive(Clone, Copy)]
enum Writer {
    Mac,
    Transform,
    Load,
}

/// The error of a machine that cannot continue after this number of instructions. The verifier refuses such a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("instruction {0} waits for what nothing writes")]
pub struct Stuck(pub u64);

impl Clockwork {
    /// Makes an idle machine for programs of one shape: a ring degree, and the sizes of the machine.
    pub fn new(d: &Description, shape: Shape, counting: Counting) -> Self {
        let bits = d.instruction_bytes as f64 * 8.0;
        let fetch = bits / (d.link.gbit_per_second * 1e9) * d.micro.clock_mhz as f64 * 1e6;
        let s = d.stages;
        let transform_stages = s.read_permutation + s.transform + s.write_permutation;
        let morph_stages = s.read_permutation + s.write_permutation;
        // A stage has half a chunk.
        let room = |stages: u64| (stages as usize / 2).max(1);
        Self {
            rates: Rates {
                buffer: d.micro.buffer,
                mac: d.micro.mac,
                transform: d.micro.transform,
                mac_stages: s.mac,
                transform_stages,
                morph_stages,
                mac_room: s.mac as usize,
                transform_room: room(transform_stages),
                morph_room: room(morph_stages),
                queue: d.queue,
                fetch: (fetch * 65536.0).round() as u64,
                load_chunks: d.load_chunks,
                store_chunks: d.store_chunks,
                chunk: d.chunk_micro(shape),
                latency: d.latency_micro(),
                log_chunks: log_chunks(shape),
            },
            counting,
            now: 0,
            sent: 0,
            last_sent: None,
            wrote: None,
            passed: VecDeque::new(),
            buffer_free: 0,
            mac: Pipe::new(d.micro.mac),
            // A chunk enters the transform in two halves.
            transform: Pipe::new(2 * d.micro.transform),
            morphing: false,
            loads: VecDeque::new(),
            stores: VecDeque::new(),
            channels: vec![0; d.distant.channels],
            pending: vec![Pending::default(); shape.slots() as usize],
            registers: vec![Register::At(0); shape.registers.into()],
            queue: VecDeque::new(),
            fetched: 0,
            end: 0,
            tally: Tally::default(),
        }
    }

    /// Sets the times at which the next loads arrive and the next stores have left, in the order in which they are
    /// sent. These observed times replace those that the simulator computes.
    pub fn observe(&mut self, times: impl IntoIterator<Item = u64>) {
        self.passed.extend(times);
    }

    /// Returns the simulated machine's current time in micro-cycles (`micro.buffer` of them make one cycle of the
    /// ciphertext buffer).
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns the time in micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer) at which
    /// the last result is written or stored, among the writes whose time is known. It is later than the last
    /// instruction's sending.
    pub fn end(&self) -> u64 {
        self.end.max(self.now)
    }

    /// Decodes an instruction for [`Self::earliest`] and [`Self::send`], which then need not
    /// compute the places of its operands again.
    #[inline]
    pub fn decode(&self, instr: &Instr) -> Decoded {
        Decoded::new(instr, self.rates.log_chunks)
    }

    #[inline]
    fn blocked(&self, instr: &Decoded) -> bool {
        let waits = |spot: Spot, how: Orientation| {
            let pending = self.pending.get(spot.slot as usize);
            pending.is_some_and(|pending| pending.blocks(spot.chunk, how))
        };
        let [a, b] = instr.chunks;
        a.is_some_and(|spot| waits(spot, instr.from))
            || b.is_some_and(|spot| waits(spot, instr.from))
            || matches!(instr.target, Target::Chunk(spot, to) if waits(spot, to))
    }

    /// Returns the first micro-cycle in which an instruction can be sent if no write to the buffer comes before.
    /// Returns `None` if a write must come first. A cycle of the ciphertext buffer is `micro.buffer` micro-cycles.
    #[inline]
    pub fn earliest(&self, instr: &Decoded) -> Option<u64> {
        if self.blocked(instr) {
            return None;
        }
        let r = &self.rates;
        let after = |event: Option<u64>| event.map_or(0, |at| at + 1);
        let mut t = self.now.max(after(self.last_sent)).max(after(self.wrote));
        if self.counting.instructions {
            t = t.max(self.available());
        }
        for register in instr.registers.into_iter().flatten() {
            match self.registers.get(usize::from(register)) {
                Some(Register::At(at)) => t = t.max(*at),
                Some(Register::Waits) => return None,
                None => {}
            }
        }
        if instr.port {
            t = t.max(self.buffer_free);
        }
        match instr.kind {
            Kind::Mac => self.mac.entry(t, r.mac_room),
            Kind::Pass | Kind::Morph => {
                let morphs = instr.kind == Kind::Morph;
                if morphs != self.morphing {
                    t = self.transform.empty(t)?;
                }
                let room = match morphs {
                    true => r.morph_room,
                    false => r.transform_room,
                };
                self.transform.entry(t, room)
            }
            Kind::Load => (self.loads.len() < r.load_chunks).then_some(t),
            Kind::Store => {
                let gone = self.stores.partition_point(|&at| at <= t);
                let over = (self.stores.len() - gone).checked_sub(r.store_chunks);
                let at = over.and_then(|over| self.stores.get(gone + over)).copied();
                Some(t.max(at.unwrap_or(0)))
            }
            Kind::Halt => {
                let t = self.mac.empty(t)?;
                let t = self.transform.empty(t)?;
                self.loads.is_empty().then_some(t)
            }
        }
    }

    /// Returns the micro-cycle in which the next instruction arrives in the instruction queue. A cycle of the
    /// ciphertext buffer is `micro.buffer` micro-cycles.
    fn available(&self) -> u64 {
        // The instruction takes the place in the queue of one that was sent.
        let place = match self.queue.len() < self.rates.queue {
            true => 0,
            false => self.queue.front().copied().unwrap_or(0) << 16,
        };
        (self.fetched.max(place) + self.rates.fetch).div_ceil(1 << 16)
    }

    /// Returns whether a sum at the end of the multiply-accumulate unit's pipeline will be written
    /// as soon as the buffer's port is free.
    pub fn sum_waits(&self) -> bool {
        let first = self.mac.front();
        first.is_some_and(|ready| ready <= self.buffer_free.max(self.now))
    }

    /// Returns the source of the next possible write to the buffer, and its time in micro-cycles (`micro.buffer` of
    /// them make one cycle of the ciphertext buffer). Of writes that are possible at the same time, a sum comes before
    /// a transform's result, and a transform's result before a loaded chunk.
    #[inline]
    fn writer(&self) -> Option<(u64, Writer)> {
        let from = self.buffer_free.max(self.now);
        let load = self.loads.front().map(|item| item.ready);
        let others = [
            (self.transform.front(), Writer::Transform),
            (load, Writer::Load),
        ];
        let mut first = self.mac.front().map(|at| (at.max(from), Writer::Mac));
        // The earliest write; of several at the same time, the first of the list.
        for (ready, writer) in others {
            if let Some(at) = ready.map(|ready| ready.max(from))
                && first.is_none_or(|(first, _)| at < first)
            {
                first = Some((at, writer));
            }
        }
        first
    }

    /// Does the next write to the buffer if it comes before an instruction that could be sent in micro-cycle
    /// `earliest`, and returns whether it did. With `None` it does the next write, if there is one, at any time. An
    /// instruction that is sent in the micro-cycle of a write does not need the write's effect, so the instruction
    /// comes first.
    #[inline]
    pub fn write_before(&mut self, earliest: Option<u64>) -> bool {
        let Some((at, writer)) = self.writer() else {
            return false;
        };
        let before = match earliest {
            None => true,
            Some(t) => at < t,
        };
        if before {
            self.write(at, writer);
        }
        before
    }

    fn write(&mut self, at: u64, writer: Writer) {
        let item = match writer {
            Writer::Mac => self.mac.items.pop_front(),
            Writer::Transform => self.transform.items.pop_front(),
            Writer::Load => self.loads.pop_front(),
        };
        let Some(item) = item else { return };
        self.now = at;
        self.wrote = Some(at);
        self.buffer_free = at + self.rates.buffer;
        self.end = self.end.max(self.buffer_free);
        self.tally.writes += 1;
        if let Target::Chunk(spot, how) = item.target
            && let Some(pending) = self.pending.get_mut(spot.slot as usize)
        {
            pending.remove(spot.chunk, how);
        }
        match writer {
            Writer::Mac => {
                self.tally.in_mac += at - item.entered;
                self.mac.last_exit = Some(at);
                self.retire();
            }
            Writer::Transform => {
                self.tally.in_transform += at - item.entered;
                self.transform.last_exit = Some(at);
            }
            Writer::Load => {}
        }
    }

    /// Removes from the front of the multiply-accumulate pipeline the results for registers and the accumulator,
    /// which are not written to the buffer. The time at which such a result leaves the pipeline is known.
    #[inline]
    fn retire(&mut self) {
        let period = self.mac.period;
        while let Some(&item) = self.mac.items.front() {
            if matches!(item.target, Target::Chunk(..)) {
                return;
            }
            self.mac.items.pop_front();
            let after = self.mac.last_exit.map_or(0, |at| at + period);
            let at = item.ready.max(after);
            self.mac.last_exit = Some(at);
            self.mac.leaving.push_back(at);
            self.tally.in_mac += at - item.entered;
            self.end = self.end.max(at);
            if let Target::Register(register) = item.target
                && let Some(place) = self.registers.get_mut(usize::from(register))
            {
                // Another item may be on its way to the same register, which then still waits.
                let later = self
                    .mac
                    .items
                    .iter()
                    .any(|item| item.target == Target::Register(register));
                if !later {
                    *place = Register::At(at);
                }
            }
        }
    }

    /// Sends an instruction to its unit in the micro-cycle `at`, which must be the one that [`Self::earliest`] returned
    /// or a later one. The caller first does all writes to the buffer before `at` with [`Self::write_before`].
    #[inline]
    pub fn send(&mut self, instr: &Decoded, at: u64) {
        if self.counting.instructions {
            let available = self.available();
            let idle = self.last_sent.map_or(0, |at| at + 1);
            if available == at {
                self.tally.dry += at.saturating_sub(idle.max(self.now));
            }
            self.fetched = available << 16;
            if self.queue.len() == self.rates.queue {
                self.queue.pop_front();
            }
            self.queue.push_back(at);
        }
        self.now = at;
        self.mac.forget(at);
        self.transform.forget(at);
        while self.stores.front().is_some_and(|&gone| gone <= at) {
            self.stores.pop_front();
        }
        self.last_sent = Some(at);
        self.sent += 1;
        self.tally.instructions += 1;
        if instr.port {
            self.tally.stalled += at.saturating_sub(self.buffer_free);
            self.buffer_free = at + self.rates.buffer;
            self.tally.reads += 1;
        }
        let target = instr.target;
        if let Target::Chunk(spot, how) = target
            && let Some(pending) = self.pending.get_mut(spot.slot as usize)
        {
            pending.add(spot.chunk, how);
        }
        let r = &self.rates;
        let item = |ready| Item {
            ready,
            entered: at,
            target,
        };
        match instr.kind {
            Kind::Mac => {
                self.tally.mac += 1;
                self.mac.items.push_back(item(at + r.mac_stages * r.mac));
                self.mac.last_entry = Some(at);
                if let Target::Register(register) = target
                    && let Some(place) = self.registers.get_mut(usize::from(register))
                {
                    *place = Register::Waits;
                }
                self.retire();
            }
            Kind::Pass | Kind::Morph => {
                self.tally.transform += 1;
                self.morphing = instr.kind == Kind::Morph;
                let stages = match self.morphing {
                    true => r.morph_stages,
                    false => r.transform_stages,
                };
                let item = item(at + (stages + 1) * r.transform);
                self.transform.items.push_back(item);
                self.transform.last_entry = Some(at);
            }
            Kind::Load => {
                self.tally.loads += 1;
                let came = self.transfer(instr.n, at);
                let item = item(came);
                self.loads.push_back(item);
            }
            Kind::Store => {
                self.tally.stores += 1;
                let gone = self.transfer(instr.n, at + self.rates.buffer);
                // A channel may end a later store before another channel ends an earlier one.
                let place = self.stores.partition_point(|&other| other <= gone);
                self.stores.insert(place, gone);
                self.end = self.end.max(gone);
            }
            Kind::Halt => {}
        }
        self.end = self.end.max(at + 1);
    }

    /// Returns the micro-cycle in which a chunk has passed its channel of distant memory and the latency is over, if it
    /// can start in micro-cycle `from`. It is `from` itself for a mask, and if the time of distant memory is not
    /// counted. A time that was observed replaces all of these.
    fn transfer(&mut self, address: u32, from: u64) -> u64 {
        if let Some(at) = self.passed.pop_front() {
            return at;
        }
        if !self.counting.distant {
            return from;
        }
        // Masks are made on the chip, and use no channel.
        if address >= MASKS {
            return from;
        }
        // A limb lies in one channel, the next limb in the next.
        let limb = (address >> self.rates.log_chunks) as usize;
        let channel = limb % self.channels.len().max(1);
        self.tally.distant += self.rates.chunk;
        match self.channels.get_mut(channel) {
            Some(free) => {
                *free = (*free).max(from) + self.rates.chunk;
                *free + self.rates.latency
            }
            None => from,
        }
    }

    /// Sends the next instruction of a program, and returns its time in micro-cycles (`micro.buffer` of them make
    /// one cycle of the ciphertext buffer).
    ///
    /// # Errors
    /// [`Stuck`] for an instruction that can never be sent.
    pub fn step(&mut self, instr: &Instr) -> Result<u64, Stuck> {
        self.step_decoded(&self.decode(instr), 0)
    }

    /// Sends the next instruction, in the micro-cycle `there` at the earliest. Returns the micro-cycle in which it is
    /// sent. A cycle of the ciphertext buffer is `micro.buffer` micro-cycles.
    ///
    /// # Errors
    /// The errors of [`Self::step`].
    #[inline]
    pub fn step_decoded(&mut self, instr: &Decoded, there: u64) -> Result<u64, Stuck> {
        loop {
            let earliest = self.earliest(instr).map(|at| at.max(there));
            if self.write_before(earliest) {
                continue;
            }
            let Some(at) = earliest else {
                return Err(Stuck(self.sent));
            };
            self.send(instr, at);
            return Ok(at);
        }
    }

    /// Runs until all instructions have ended. Returns the time at which the last result is written or stored, in
    /// micro-cycles (`micro.buffer` of them make one cycle of the ciphertext buffer).
    pub fn drain(&mut self) -> u64 {
        while self.write_before(None) {}
        self.end()
    }
}
