// SPDX-License-Identifier: Apache-2.0
//! A scoreboard of the ring machine. It tracks until which cycle each thread, unit, port and generator is busy, and
//! also the host link and the ring network that connects the RPAUs.
//!
//! The scheduler and the cycle model use the same scoreboard, so they apply the same rules to the start of an
//! instruction word.

use super::description::{Description, MAX_GROUPS, MAX_RPAUS};
use super::micro::{OpWord, Opcode, Operand, STREAMS, Unit};
use super::timing::{self, Duration};

/// The number of port groups of one RPAU (residue polynomial arithmetic unit). A port group is memory slots that
/// share their ports. Those of polynomial memory come first, then the one of key memory.
const GROUPS: usize = MAX_GROUPS + 1;
const KEY_GROUP: usize = MAX_GROUPS;

/// The scoreboard of the ring machine: the cycle until which each thread, unit, port, generator,
/// the host link and the ring network are busy.
#[derive(Clone, Debug)]
pub struct Board {
    slot_group: Vec<u8>,
    log_n: u8,
    pub thread: [u64; STREAMS],
    unit: [[u64; 2]; MAX_RPAUS],
    ring: u64,
    link: u64,
    generator: [u64; MAX_RPAUS],
    read: [[Port; GROUPS]; MAX_RPAUS],
    write: [[Port; GROUPS]; MAX_RPAUS],
    /// The period of the dyadic cores: the cycles in which these cores, for coefficient-wise work, take one row.
    /// Their instruction words do not share the ports of a narrow group, whose ports are narrower than a row.
    period: u64,
    narrow: [bool; GROUPS],
}

/// One read or write port of a group of memory slots. The dyadic cores, for coefficient-wise work, take one row in
/// each period. So their instruction words need the port only in some cycles of the period, called turns. A word on
/// another unit may need the port in every cycle. A dyadic word starts beside such a word only if enough cycles of
/// each period stay free.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    /// The cycle until which an instruction word of the main cores, the ring network or the host
    /// link has the port. `left` is the number of cycles that this word leaves to dyadic words in
    /// each period, the time in which the dyadic cores take one row.
    until: u64,
    left: u64,
    /// The cycle until which instruction words of the dyadic cores use the port, for `turns` cycles of each period (the
    /// time in which these cores take one row).
    slow_until: u64,
    turns: u64,
}

impl Port {
    /// Returns whether an instruction word of the dyadic cores may start at cycle `t` if it needs the port for `turns`
    /// cycles of each period. A period is the time in which these cores take one row.
    fn takes_slow(&self, t: u64, turns: u64) -> bool {
        self.slow_until <= t && (self.until <= t || turns <= self.left)
    }

    /// Returns how many cycles of each period instruction words of the dyadic cores have the port at cycle `t`. A
    /// period is the time in which these cores take one row.
    fn taken(&self, t: u64) -> u64 {
        if self.slow_until > t { self.turns } else { 0 }
    }

    /// Gives the port to an instruction word of the dyadic cores until cycle `until`, for `turns` cycles of each period
    /// (the time in which these cores take one row). A word that needs the port for several operands takes it once for
    /// each, and the turns add up.
    fn give_slow(&mut self, until: u64, turns: u64) {
        self.turns = if self.slow_until == until {
            self.turns + turns
        } else {
            turns
        };
        self.slow_until = until;
    }

    /// Gives the port to an instruction word of the main cores, the ring network or the host link
    /// until cycle `until`. The word leaves `left` cycles free in each period, the time in which
    /// the dyadic cores take one row.
    fn give(&mut self, until: u64, left: u64) {
        self.until = until;
        self.left = left;
    }
}

/// The port groups (memory slots that share their ports) that an instruction word reads and writes. They are the
/// same on each RPAU that executes the word.
#[derive(Clone, Copy)]
struct Footprint {
    /// The port group (memory slots that share their ports) of operand a. It is separate because an instruction
    /// word may finish reading this operand early.
    source: Option<usize>,
    reads: [Option<usize>; 3],
    writes: [Option<usize>; 2],
}

impl Board {
    /// Makes a scoreboard with all resources free at cycle 0, for limbs of 2^`log_n` coefficients.
    pub fn new(d: &Description, log_n: u8) -> Self {
        Self {
            slot_group: d.slot_groups(),
            log_n,
            thread: [0; STREAMS],
            unit: [[0; 2]; MAX_RPAUS],
            ring: 0,
            link: 0,
            generator: [0; MAX_RPAUS],
            read: [[Port::default(); GROUPS]; MAX_RPAUS],
            write: [[Port::default(); GROUPS]; MAX_RPAUS],
            period: timing::period(d),
            narrow: std::array::from_fn(|g| d.is_narrow(g)),
        }
    }

    /// Returns the port group of a slot of polynomial memory: the number of the group of slots with which it shares
    /// its ports.
    pub fn group(&self, slot: u8) -> usize {
        usize::from(self.slot_group.get(usize::from(slot)).copied().unwrap_or(0))
    }

    /// Returns the first cycle in which the unit `unit` of RPAU `r` is free.
    pub fn unit_free(&self, r: usize, unit: Unit) -> u64 {
        self.unit[r][unit as usize]
    }

    /// Returns the cycles of the instruction word `w` if no other word shares its ports.
    pub fn duration(&self, d: &Description, w: &OpWord) -> Duration {
        timing::duration(d, &self.slot_group, self.log_n, w)
    }

    fn footprint(&self, w: &OpWord) -> Footprint {
        let group = |slot: u8| Some(self.group(slot));
        if w.op.on_link() {
            let (source, write) = match (w.op, w.b) {
                (Opcode::Store, _) => (group(w.a), None),
                (_, Operand::Key(_)) => (None, Some(KEY_GROUP)),
                _ => (None, group(w.dst)),
            };
            return Footprint {
                source,
                reads: [None; 3],
                writes: [write, None],
            };
        }
        let b = match w.b {
            // An operand that is named twice is read once.
            Operand::Slot(s) if s == w.a && w.op != Opcode::Prng => None,
            Operand::Slot(s) => group(s),
            Operand::Key(_) => Some(KEY_GROUP),
            Operand::None | Operand::Generator => None,
        };
        let transform = matches!(w.op, Opcode::Ntt | Opcode::Intt);
        let third = match w.op {
            Opcode::Mac if w.c != w.a && w.b != Operand::Slot(w.c) => group(w.c),
            Opcode::Mac => None,
            // From the second stage on, a transform reads its own results.
            _ if transform => group(w.dst),
            _ => None,
        };
        let second = if w.op.is_pair() { group(w.c) } else { None };
        let source = if w.op == Opcode::Prng {
            None
        } else {
            group(w.a)
        };
        Footprint {
            source,
            reads: [b, third, None],
            writes: [group(w.dst), second],
        }
    }

    /// Returns how many cycles of each period an instruction word of the dyadic cores needs the read port of the
    /// port group `group`. A period is the time in which these cores take one row.
    fn turns(&self, f: &Footprint, group: usize) -> u64 {
        let reads = f.source.iter().chain(f.reads.iter().flatten());
        reads.filter(|g| **g == group).count() as u64
    }

    /// Returns the read ports that the instruction word `w` uses. Each is a pair of an RPAU and a port group, the
    /// memory slots that share the port.
    fn read_ports(w: &OpWord, f: &Footprint) -> impl Iterator<Item = (usize, usize)> + use<> {
        let groups = [f.source, f.reads[0], f.reads[1], f.reads[2]];
        // A broadcast reads at its source alone.
        let from = match w.op {
            Opcode::Bcast => 1 << (usize::from(w.c) % MAX_RPAUS),
            _ => w.mask,
        };
        let rpaus = (0..MAX_RPAUS).filter(move |r| from >> r & 1 == 1);
        rpaus.flat_map(move |r| groups.into_iter().flatten().map(move |g| (r, g)))
    }

    fn write_ports(w: &OpWord, f: &Footprint) -> impl Iterator<Item = (usize, usize)> + use<> {
        let groups = f.writes;
        w.rpaus()
            .flat_map(move |r| groups.into_iter().flatten().map(move |g| (r, g)))
    }

    /// Returns the most cycles of each period that instruction words of the dyadic cores have, at cycle `t`, on any
    /// port that the word `w` needs. A period is the time in which these cores take one row.
    fn beside(&self, w: &OpWord, f: &Footprint, t: u64) -> u64 {
        let reads = Self::read_ports(w, f).map(|(r, g)| self.read[r][g].taken(t));
        let writes = Self::write_ports(w, f).map(|(r, g)| self.write[r][g].taken(t));
        reads.chain(writes).max().unwrap_or(0)
    }

    /// Returns whether the instruction word `w` can start at cycle `t`. The answer covers units,
    /// ports, the ring network, the host link and generators. Threads and data are not checked.
    pub fn can_start(&self, w: &OpWord, t: u64) -> bool {
        let f = self.footprint(w);
        if is_slow(w) {
            let shared = |g: usize, port: &Port, turns: u64| {
                let alone = port.until <= t && port.slow_until <= t;
                alone || (!self.narrow[g] && turns < self.period && port.takes_slow(t, turns))
            };
            return w.rpaus().all(|r| {
                self.unit[r][w.unit as usize] <= t && (!uses_generator(w) || self.generator[r] <= t)
            }) && Self::read_ports(w, &f)
                .all(|(r, g)| shared(g, &self.read[r][g], self.turns(&f, g)))
                && Self::write_ports(w, &f).all(|(r, g)| shared(g, &self.write[r][g], 1));
        }
        // An instruction word whose data come over the link, or that uses a narrow slot, shares its port with no other
        // word.
        let alone = |g: usize| self.narrow[g] || w.op == Opcode::Load;
        let free = |g: usize, port: &Port| {
            let slow = port.taken(t);
            port.until <= t && (slow == 0 || (!alone(g) && slow < self.period))
        };
        let ports = || {
            Self::read_ports(w, &f).all(|(r, g)| free(g, &self.read[r][g]))
                && Self::write_ports(w, &f).all(|(r, g)| free(g, &self.write[r][g]))
        };
        if w.op.on_link() {
            return self.link <= t && (w.op != Opcode::Store || self.ring <= t) && ports();
        }
        if w.op == Opcode::Bcast {
            return self.ring <= t && ports();
        }
        let made = |r: usize| !uses_generator(w) || self.generator[r] <= t;
        w.rpaus()
            .all(|r| self.unit[r][w.unit as usize] <= t && made(r))
            && ports()
    }

    /// Returns how many cycles of each period the instruction word `w` must leave to words of the dyadic cores on its
    /// ports, if it starts at cycle `t`. A period is the time in which these cores take one row. The number is 0 if `w`
    /// is such a word itself.
    pub fn turns_left(&self, w: &OpWord, t: u64) -> u64 {
        if is_slow(w) {
            0
        } else {
            self.beside(w, &self.footprint(w), t)
        }
    }

    /// Starts the instruction word `w` at cycle `t`: occupies all resources that it uses, and returns its cycles.
    pub fn start(&mut self, d: &Description, w: &OpWord, t: u64) -> Duration {
        self.start_stalled(d, w, t, 0)
    }

    /// Starts an instruction word as [`Self::start`] does. A transfer takes `stalls` cycles more than the link needs,
    /// because the host is slow.
    pub fn start_stalled(&mut self, d: &Description, w: &OpWord, t: u64, stalls: u64) -> Duration {
        let f = self.footprint(w);
        let slow = is_slow(w);
        let turns = self.turns_left(w, t);
        let mut duration = timing::beside(d, &self.slot_group, self.log_n, w, turns);
        if w.op.on_link() {
            duration.total += stalls;
        }
        let (end, source_end) = (t + duration.total, t + duration.source);
        for (r, g) in Self::write_ports(w, &f) {
            let port = &mut self.write[r][g];
            if slow {
                port.give_slow(end, 1)
            } else {
                port.give(end, turns)
            }
        }
        if slow {
            for (r, g) in Self::read_ports(w, &f) {
                self.read[r][g].give_slow(end, 1);
            }
        } else {
            // The source's port may be free early, unless it serves another operand, too.
            let mut source = Footprint {
                reads: [None; 3],
                ..f
            };
            for (r, g) in Self::read_ports(w, &source) {
                self.read[r][g].give(source_end, turns);
            }
            source = Footprint { source: None, ..f };
            for (r, g) in Self::read_ports(w, &source) {
                self.read[r][g].give(end, turns);
            }
        }
        let again = t + d.pipeline.board;
        self.thread[w.stream()] = again;
        if w.op.on_link() {
            self.link = end;
            if w.op == Opcode::Store {
                self.ring = source_end;
            }
        } else if w.op == Opcode::Bcast {
            self.ring = end;
        } else {
            self.thread[w.stream()] = end.max(again);
            for r in w.rpaus() {
                self.unit[r][w.unit as usize] = end;
                if uses_generator(w) {
                    self.generator[r] = end;
                }
            }
        }
        duration
    }
}

/// Returns whether the dyadic cores execute the instruction word `w`. Such a word reads a row in each period, instead
/// of one in every cycle.
fn is_slow(w: &OpWord) -> bool {
    w.on_cores() && w.unit == Unit::Dyadic
}

/// Returns whether the instruction word `w` takes residues from the generator of uniform polynomials.
fn uses_generator(w: &OpWord) -> bool {
    w.b == Operand::Generator || w.op == Opcode::Prng
}
