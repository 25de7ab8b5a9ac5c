//! The performance simulator: micro instructions through the machine's step semantics (vector paper, section 7), from event to
//! event instead of step by step, with the same times.
//!
//! Time is counted in cycles of the micro-clock. The controller sends instructions in their order, one in a cycle at most, as
//! soon as nothing keeps it: the buffer's port where the instruction reads a chunk, the first stage of its unit, a chunk or
//! register that is still to be written. A pipeline's item goes on to the next stage as soon as that is free and the unit may
//! be reached again; at the end it waits for the port where it is to be written to the buffer. **Reads come before writes**: a
//! write gets the port when the next instruction does not take it at that time. So pipelines fill up until nothing can be
//! sent, and are emptied then.

use std::collections::VecDeque;

use ringmill_isa::vector::{Instr, MicroOp, Place, Shape, Unit};

use super::description::{Description, GENERATED};
use super::layout::{Orientation, orientation};
use super::pipe::{Item, Pipe, Target};
use super::tally::Tally;

/// What is counted beside the port and the units.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Counting {
    /// The time that distant memory takes; the paper leaves it out.
    pub distant: bool,
    /// The time that instructions take over the link; the paper leaves it out.
    pub instructions: bool,
}

impl Counting {
    /// The paper's own.
    pub const PAPER: Self = Self {
        distant: false,
        instructions: false,
    };
    /// Everything.
    pub const WHOLE: Self = Self {
        distant: true,
        instructions: true,
    };
}

/// Chunks of a limb's place that are still to be written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Pending {
    rows: u64,
    columns: u64,
    /// Rows all over the limb.
    scattered: u32,
}

impl Pending {
    fn blocks(self, chunk: u32, orientation: Orientation) -> bool {
        let bit = 1 << chunk;
        let scattered = self.scattered > 0;
        match orientation {
            Orientation::Rows => scattered || self.rows & bit != 0 || self.columns != 0,
            Orientation::Columns => scattered || self.columns & bit != 0 || self.rows != 0,
            // Rows that an automorphism writes one after another differ, and all go through one pipeline.
            Orientation::Scattered => self.rows | self.columns != 0,
        }
    }
}

/// When a register holds what was last sent to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Register {
    At(u64),
    /// The item is behind one that waits for the port.
    Waits,
}

/// Constants of a machine for programs of one shape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Rates {
    buffer: u64,
    mac: u64,
    transform: u64,
    mac_stages: u64,
    transform_stages: u64,
    morph_stages: u64,
    queue: usize,
    /// Micro-cycles an instruction takes over the link, times 2^16.
    fetch: u64,
    load_chunks: usize,
    store_chunks: usize,
    chunk: u64,
    latency: u64,
    limb_chunks: u32,
}

/// The machine at a point in time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Clockwork {
    rates: Rates,
    counting: Counting,
    /// Nothing that is to come comes before.
    now: u64,
    sent: u64,
    last_sent: Option<u64>,
    buffer_free: u64,
    mac: Pipe,
    transform: Pipe,
    /// What is in the transform's pipeline goes past the transform.
    morphing: bool,
    loads: VecDeque<Item>,
    stores: VecDeque<u64>,
    channels: Vec<u64>,
    pending: Vec<Pending>,
    registers: Vec<Register>,
    /// When the last instructions were sent, as many as the queue holds.
    queue: VecDeque<u64>,
    fetched: u64,
    end: u64,
    pub tally: Tally,
}

/// A write that can be next.
#[derive(Clone, Copy)]
enum Writer {
    Mac,
    Transform,
    Load,
}

/// The machine can go on in no way: a program that the verifier does not take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("instruction {0} waits for what nothing writes")]
pub struct Stuck(pub u64);

impl Clockwork {
    /// The machine at rest.
    pub fn new(d: &Description, shape: Shape, counting: Counting) -> Self {
        let bits = d.instruction_bytes as f64 * 8.0;
        let fetch = bits / (d.link.gbit_per_second * 1e9) * d.micro.clock_mhz as f64 * 1e6;
        let s = d.stages;
        Self {
            rates: Rates {
                buffer: d.micro.buffer,
                mac: d.micro.mac,
                transform: d.micro.transform,
                mac_stages: s.mac,
                transform_stages: s.read_permutation + s.transform + s.write_permutation,
                morph_stages: s.read_permutation + s.write_permutation,
                queue: d.queue,
                fetch: (fetch * 65536.0).round() as u64,
                load_chunks: d.load_chunks,
                store_chunks: d.store_chunks,
                chunk: d.chunk_micro(shape),
                latency: (d.distant.latency_ns * d.micro.clock_mhz as f64 / 1e3).ceil() as u64,
                limb_chunks: shape.limb_chunks(),
            },
            counting,
            now: 0,
            sent: 0,
            last_sent: None,
            buffer_free: 0,
            mac: Pipe::new(d.micro.mac),
            // A chunk goes in two halves.
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

    /// Micro-cycles so far.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// When the last result that is known of is where it goes.
    pub fn end(&self) -> u64 {
        self.end.max(self.now)
    }

    fn at(&self, place: Place) -> Option<(u32, u32)> {
        let chunk = u32::from(place.chunk()?.0);
        let limb = self.rates.limb_chunks;
        Some((chunk / limb, chunk % limb))
    }

    fn blocked(&self, place: Place, how: Orientation) -> bool {
        let Some((slot, chunk)) = self.at(place) else {
            return false;
        };
        let pending = self.pending.get(slot as usize);
        pending.is_some_and(|pending| pending.blocks(chunk, how))
    }

    /// When an instruction can be sent, if no write comes before; `None` where one must.
    pub fn earliest(&self, instr: &Instr) -> Option<u64> {
        let (r, info) = (self.rates, instr.op.info());
        let (from, to) = orientation(instr.op);
        if self.blocked(instr.a, from) || self.blocked(instr.b, from) || self.blocked(instr.d, to) {
            return None;
        }
        let mut t = self.now.max(self.last_sent.map_or(0, |at| at + 1));
        if self.counting.instructions {
            t = t.max(self.available());
        }
        for register in [instr.a, instr.b].into_iter().filter_map(Place::register) {
            match self.registers.get(usize::from(register.0)) {
                Some(Register::At(at)) => t = t.max(*at),
                Some(Register::Waits) => return None,
                None => {}
            }
        }
        if reads(instr) {
            t = t.max(self.buffer_free);
        }
        match (info.unit, instr.op) {
            (Unit::Mac, _) => self.mac.entry(t, r.mac_stages as usize),
            (Unit::Transform, op) => {
                let morphs = op == MicroOp::Morph;
                if morphs != self.morphing {
                    t = self.transform.empty(t)?;
                }
                let stages = if morphs {
                    r.morph_stages
                } else {
                    r.transform_stages
                };
                self.transform.entry(t, (stages as usize / 2).max(1))
            }
            (Unit::Memory, MicroOp::Load) => (self.loads.len() < r.load_chunks).then_some(t),
            (Unit::Memory, _) => {
                let gone = self.stores.partition_point(|&at| at <= t);
                let over = (self.stores.len() - gone).checked_sub(r.store_chunks);
                let at = over.and_then(|over| self.stores.get(gone + over)).copied();
                Some(t.max(at.unwrap_or(0)))
            }
            (Unit::Control, _) => {
                let t = self.mac.empty(t)?;
                let t = self.transform.empty(t)?;
                self.loads.is_empty().then_some(t)
            }
        }
    }

    /// When the next instruction is in the queue.
    fn available(&self) -> u64 {
        // It takes the place of one that was sent.
        let place = match self.queue.len() < self.rates.queue {
            true => 0,
            false => self.queue.front().copied().unwrap_or(0) << 16,
        };
        (self.fetched.max(place) + self.rates.fetch).div_ceil(1 << 16)
    }

    /// Whether a sum at the end of its pipeline is to be written when the port is free.
    pub fn sum_waits(&self) -> bool {
        let first = self.mac.front();
        first.is_some_and(|(ready, _)| ready <= self.buffer_free.max(self.now))
    }

    /// The write that can be next: a sum's before a transform's before what was loaded.
    fn writer(&self) -> Option<(u64, Writer)> {
        let load = self.loads.front().map(|item| (item.ready, item.number));
        let all = [
            (self.mac.front(), Writer::Mac),
            (self.transform.front(), Writer::Transform),
            (load, Writer::Load),
        ];
        let all = all.into_iter().filter_map(|(front, writer)| {
            let (ready, _) = front?;
            Some((ready.max(self.buffer_free).max(self.now), writer))
        });
        // Of those that can be at one time the first of the list.
        all.min_by_key(|&(at, _)| at)
    }

    /// Lets writes come that come before an instruction could be sent; whether one did. What an instruction could be sent
    /// at is `earliest`, and `port` whether it then takes the port.
    pub fn write_before(&mut self, earliest: Option<u64>, port: bool) -> bool {
        let Some((at, writer)) = self.writer() else {
            return false;
        };
        let before = match earliest {
            None => true,
            Some(t) => at < t || at == t && !port,
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
        self.buffer_free = at + self.rates.buffer;
        self.end = self.end.max(self.buffer_free);
        self.tally.writes += 1;
        if let Target::Chunk {
            slot,
            chunk,
            orientation,
        } = item.target
            && let Some(pending) = self.pending.get_mut(slot as usize)
        {
            match orientation {
                Orientation::Rows => pending.rows &= !(1 << chunk),
                Orientation::Columns => pending.columns &= !(1 << chunk),
                Orientation::Scattered => pending.scattered -= 1,
            }
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

    /// Takes from the front of the multiply-accumulate unit's items what is not written to the buffer: when it leaves is known.
    fn retire(&mut self) {
        let period = self.mac.period;
        while let Some(&item) = self.mac.items.front() {
            if matches!(item.target, Target::Chunk { .. }) {
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
                // Another may be on its way to the same register, which then waits on.
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

    /// Sends an instruction at a time that [`Self::earliest`] gave.
    pub fn send(&mut self, instr: &Instr, at: u64) {
        let r = self.rates;
        if self.counting.instructions {
            let available = self.available();
            let idle = self.last_sent.map_or(0, |at| at + 1);
            if available == at {
                self.tally.dry += at.saturating_sub(idle.max(self.now));
            }
            self.fetched = available << 16;
            if self.queue.len() == r.queue {
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
        let number = self.sent;
        self.sent += 1;
        self.tally.instructions += 1;
        if reads(instr) {
            self.tally.stalled += at.saturating_sub(self.buffer_free);
            self.buffer_free = at + r.buffer;
            self.tally.reads += 1;
        }
        let (_, to) = orientation(instr.op);
        let target = match (instr.d, self.at(instr.d)) {
            (Place::Register(register), _) => Target::Register(register.0),
            (_, Some((slot, chunk))) => {
                if let Some(pending) = self.pending.get_mut(slot as usize) {
                    match to {
                        Orientation::Rows => pending.rows |= 1 << chunk,
                        Orientation::Columns => pending.columns |= 1 << chunk,
                        Orientation::Scattered => pending.scattered += 1,
                    }
                }
                Target::Chunk {
                    slot,
                    chunk,
                    orientation: to,
                }
            }
            (Place::Accumulator | Place::None | Place::Chunk(_), None) => Target::Accumulator,
        };
        let item = |ready| Item {
            ready,
            entered: at,
            target,
            number,
        };
        match (instr.op.info().unit, instr.op) {
            (Unit::Mac, _) => {
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
            (Unit::Transform, op) => {
                self.tally.transform += 1;
                self.morphing = op == MicroOp::Morph;
                let stages = match self.morphing {
                    true => r.morph_stages,
                    false => r.transform_stages,
                };
                let item = item(at + (stages + 1) * r.transform);
                self.transform.items.push_back(item);
                self.transform.last_entry = Some(at);
            }
            (Unit::Memory, MicroOp::Load) => {
                self.tally.loads += 1;
                let came = self.transfer(instr.n, at);
                let item = item(came);
                self.loads.push_back(item);
            }
            (Unit::Memory, _) => {
                self.tally.stores += 1;
                let gone = self.transfer(instr.n, at + r.buffer);
                self.stores.push_back(gone);
                self.end = self.end.max(gone);
            }
            (Unit::Control, _) => {}
        }
        self.end = self.end.max(at + 1);
    }

    /// When a chunk has passed its channel.
    fn transfer(&mut self, address: u32, from: u64) -> u64 {
        if !self.counting.distant {
            return from;
        }
        // A limb lies in one channel, the next limb in the next.
        let limb = (address / self.rates.limb_chunks) as usize;
        if limb >= GENERATED as usize {
            return from;
        }
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

    /// Sends the next instruction of a program; when it was.
    ///
    /// # Errors
    /// [`Stuck`] for one that can never be sent.
    pub fn step(&mut self, instr: &Instr) -> Result<u64, Stuck> {
        self.step_from(instr, 0)
    }

    /// The same for an instruction that is in the queue from a time on.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn step_from(&mut self, instr: &Instr, there: u64) -> Result<u64, Stuck> {
        loop {
            let earliest = self.earliest(instr).map(|at| at.max(there));
            if self.write_before(earliest, reads(instr)) {
                continue;
            }
            let Some(at) = earliest else {
                return Err(Stuck(self.sent));
            };
            self.send(instr, at);
            return Ok(at);
        }
    }

    /// Lets everything come to its end; the micro-cycle in which the last result is where it goes.
    pub fn drain(&mut self) -> u64 {
        while self.write_before(None, false) {}
        self.end()
    }

    /// Renames the buffer's places: `new` is the new number of each.
    pub fn rename(&mut self, new: &[u32]) {
        let of = |slot: u32| new.get(slot as usize).copied().unwrap_or(slot);
        let mut pending = self.pending.clone();
        for (slot, old) in (0..).zip(&self.pending) {
            if let Some(place) = pending.get_mut(of(slot) as usize) {
                *place = *old;
            }
        }
        self.pending = pending;
        let items = self.mac.items.iter_mut();
        for item in items
            .chain(&mut self.transform.items)
            .chain(&mut self.loads)
        {
            if let Target::Chunk { slot, .. } = &mut item.target {
                *slot = of(*slot);
            }
        }
    }

    /// The same state at a fixed time, without what was counted: two states that are equal so go on alike.
    pub fn at_rest_from_now(&self) -> Self {
        let now = self.now;
        let since = |at: u64| at.saturating_sub(now);
        // What is past holds nothing up, but for spacing by a period.
        let past = |at: Option<u64>, period: u64| {
            let free = at? + period;
            (free > now).then_some(at?)
        };
        let mut same = self.clone();
        same.tally = Tally::default();
        // Times may be before now; all are shifted so that they stay above zero.
        let base = 1 << 32;
        let shift = |at: u64| (base + at).saturating_sub(now);
        same.now = base;
        same.last_sent = past(self.last_sent, 1).map(shift);
        same.buffer_free = base + since(self.buffer_free);
        let numbers = self.sent;
        same.sent = 1 << 32;
        let number = |n: u64| (1u64 << 32).saturating_sub(numbers.saturating_sub(n));
        for pipe in [&mut same.mac, &mut same.transform] {
            let period = pipe.period;
            pipe.last_entry = past(pipe.last_entry, period).map(shift);
            pipe.last_exit = match pipe.items.is_empty() {
                true => past(pipe.last_exit, period).map(shift),
                false => pipe.last_exit.map(shift),
            };
            pipe.leaving.retain(|&at| at > now);
            pipe.leaving.iter_mut().for_each(|at| *at = shift(*at));
            for item in &mut pipe.items {
                item.ready = shift(item.ready);
                item.entered = shift(item.entered);
                item.number = number(item.number);
            }
        }
        if same.transform.items.is_empty() && same.transform.leaving.is_empty() {
            same.morphing = false;
        }
        for item in &mut same.loads {
            item.ready = base + since(item.ready);
            item.entered = shift(item.entered);
            item.number = number(item.number);
        }
        same.stores.retain(|&at| at > now);
        same.stores.iter_mut().for_each(|at| *at = shift(*at));
        same.channels
            .iter_mut()
            .for_each(|at| *at = base + since(*at));
        for register in &mut same.registers {
            if let Register::At(at) = register {
                *at = base + since(*at);
            }
        }
        same.queue.iter_mut().for_each(|at| *at = shift(*at));
        // Of what is not counted nothing is left.
        same.fetched = match self.counting.instructions {
            true => (self.fetched + (base << 16)).saturating_sub(now << 16),
            false => 0,
        };
        same.end = base + since(self.end);
        same
    }
}

/// Whether an instruction reads a chunk of the buffer.
pub fn reads(instr: &Instr) -> bool {
    instr.a.chunk().is_some() || instr.b.chunk().is_some()
}
