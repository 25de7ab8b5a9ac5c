// SPDX-License-Identifier: Apache-2.0
//! Counts the instruction words of a procedure and the busy cycles of units. A procedure's tally is computed once and
//! added for every call.

use std::collections::BTreeMap;

use super::description::MAX_RPAUS;
use super::micro::{OpWord, Opcode, Operand, Unit};
use super::model::{Observer, Started};
use crate::MachineError;
use ringmill_device::trace::{Context, TraceSink};

/// The number of instruction words and the units' busy cycles of one procedure, or the sums over many. `WAIT` and `END`
/// do not count. A word that several RPAUs execute counts once, but its cycles count in `units` for each of these
/// RPAUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub words: u64,
    /// For each operation by its name, the number of words and the sum of their cycles.
    pub by_kind: BTreeMap<&'static str, (u64, u64)>,
    /// For each RPAU, the busy cycles of the main and of the dyadic unit.
    pub units: [[u64; 2]; MAX_RPAUS],
    /// The cycles of broadcasts on the ring network. `link` has those of loads and stores on the host link.
    pub ring: u64,
    pub link: u64,
    /// The numbers of limbs, as large as a memory slot, that were stored, loaded into slots, and loaded into key
    /// memory. `moving` has the link's cycles for each.
    pub moved: [u64; 3],
    pub moving: [u64; 3],
    /// The cycles in which the link is busy and, at the same time, at least one unit or the ring network.
    pub overlap: u64,
    units_busy: Union,
    all_busy: Union,
}

/// The total length in cycles of a union of intervals, in which overlaps count once. The intervals are added in the
/// order of their beginnings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Union {
    cycles: u64,
    until: u64,
}

impl Union {
    fn add(&mut self, start: u64, cycles: u64) {
        let end = start + cycles;
        self.cycles += end.saturating_sub(start.max(self.until));
        self.until = self.until.max(end);
    }
}

impl Tally {
    /// Adds the counts of another procedure to these counts, `times` times over.
    pub fn add(&mut self, other: &Tally, times: u64) {
        self.words += times * other.words;
        self.ring += times * other.ring;
        self.link += times * other.link;
        self.overlap += times * other.overlap;
        let moved = self.moved.iter_mut().zip(other.moved);
        let moving = self.moving.iter_mut().zip(other.moving);
        let units = self.units.iter_mut().flatten();
        let units = units.zip(other.units.into_iter().flatten());
        for (mine, theirs) in moved.chain(moving).chain(units) {
            *mine += times * theirs;
        }
        for (kind, (count, cycles)) in &other.by_kind {
            let entry = self.by_kind.entry(kind).or_default();
            entry.0 += times * count;
            entry.1 += times * cycles;
        }
    }
}

impl Observer for Tally {
    fn start(&mut self, w: &OpWord, at: Started) -> Result<(), MachineError> {
        let Started { start, cycles, .. } = at;
        self.words += 1;
        self.all_busy.add(start, cycles);
        if !w.op.on_link() {
            self.units_busy.add(start, cycles);
        }
        let entry = self.by_kind.entry(w.op.text()).or_default();
        entry.0 += 1;
        entry.1 += cycles;
        if w.op == Opcode::Bcast {
            self.ring += cycles;
        } else if w.op.on_link() {
            self.link += cycles;
            let kind = match (w.op, w.b) {
                (Opcode::Store, _) => 0,
                (_, Operand::Key(_)) => 2,
                _ => 1,
            };
            self.moved[kind] += 1;
            self.moving[kind] += cycles;
        } else {
            w.rpaus()
                .for_each(|r| self.units[r][w.unit as usize] += cycles);
        }
        // The link moves one limb at a time, so its cycles add up.
        self.overlap = self.link + self.units_busy.cycles - self.all_busy.cycles;
        Ok(())
    }

    fn retire(&mut self, _: usize) -> Result<(), MachineError> {
        Ok(())
    }
}

/// An observer that passes each instruction word of a procedure to a trace. The trace has a lane for each unit, for the
/// ring network and for each kind of transfer over the link.
pub struct Tracer<'a> {
    pub sink: &'a mut dyn TraceSink,
    /// The cycle of the program's run in which the procedure starts.
    pub offset: u64,
    pub lanes: &'a Lanes,
    /// The call that the trace names with each instruction word. `primes` has for each RPAU the index of the prime
    /// modulo which its words of layer 0 compute.
    pub of: Context<'a>,
    pub primes: &'a [u8],
}

/// The names of the host link's lanes in a trace, for transfers between and inside calls.
pub const LINK_PROGRAMS: &str = "link.programs";
pub const LINK_INPUTS: &str = "link.inputs";
pub const LINK_KEYS: &str = "link.keys";
pub const LINK_SPILLS: &str = "link.spills";
pub const LINK_OUTPUTS: &str = "link.outputs";

/// The names of the units' lanes in a trace, which are formatted once.
pub struct Lanes {
    units: Vec<[String; 2]>,
}

impl Lanes {
    pub fn new(rpaus: usize) -> Self {
        Self {
            units: (0..rpaus)
                .map(|r| [format!("rpau{r}.main"), format!("rpau{r}.dyadic")])
                .collect(),
        }
    }
}

impl Observer for Tracer<'_> {
    fn start(&mut self, w: &OpWord, at: Started) -> Result<(), MachineError> {
        let Started { start, cycles, .. } = at;
        let start = self.offset + start;
        if !w.on_cores() {
            let lane = match (w.op, w.b) {
                (Opcode::Bcast, _) => "ring",
                (_, Operand::Key(_)) => LINK_KEYS,
                _ => LINK_SPILLS,
            };
            self.sink.event(lane, w.op.text(), start, cycles, &self.of);
            return Ok(());
        }
        for r in w.rpaus() {
            if let Some(lanes) = self.lanes.units.get(r) {
                let lane = if w.unit == Unit::Main {
                    &lanes[0]
                } else {
                    &lanes[1]
                };
                let first = self.primes.get(r).map(|&prime| u16::from(prime));
                let limb = first.map(|p| p + u16::from(w.layer) * self.lanes.units.len() as u16);
                let of = self.of.limb(limb);
                self.sink.event(lane, w.op.text(), start, cycles, &of);
            }
        }
        Ok(())
    }

    fn retire(&mut self, _: usize) -> Result<(), MachineError> {
        Ok(())
    }
}
