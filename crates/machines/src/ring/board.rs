//! What is busy until when: threads, units, ports, the ring, the host link and the generators. The scheduler and the model share it,
//! so they agree on when a word can start.

use super::description::{Description, MAX_GROUPS, MAX_RPAUS};
use super::micro::{OpWord, Opcode, Operand, STREAMS, Unit};
use super::timing::{self, Duration};

/// Port groups of one RPAU: polynomial memory, then key memory.
const GROUPS: usize = MAX_GROUPS + 1;
const KEY_GROUP: usize = MAX_GROUPS;

/// Busy-until times in cycles.
#[derive(Clone, Debug)]
pub struct Board {
    slot_group: Vec<u8>,
    log_n: u8,
    pub thread: [u64; STREAMS],
    unit: [[u64; 2]; MAX_RPAUS],
    ring: u64,
    link: u64,
    generator: [u64; MAX_RPAUS],
    read: [[u64; GROUPS]; MAX_RPAUS],
    write: [[u64; GROUPS]; MAX_RPAUS],
}

/// Port groups a word reads and writes on each RPAU it runs on.
struct Footprint {
    /// The group of operand a, apart because it may be freed early.
    source: Option<usize>,
    reads: [Option<usize>; 3],
    writes: [Option<usize>; 2],
}

impl Board {
    /// Everything free at cycle 0, for limbs of 2^log_n coefficients.
    pub fn new(d: &Description, log_n: u8) -> Self {
        Self {
            slot_group: d.slot_groups(),
            log_n,
            thread: [0; STREAMS],
            unit: [[0; 2]; MAX_RPAUS],
            ring: 0,
            link: 0,
            generator: [0; MAX_RPAUS],
            read: [[0; GROUPS]; MAX_RPAUS],
            write: [[0; GROUPS]; MAX_RPAUS],
        }
    }

    /// The port group of a slot.
    pub fn group(&self, slot: u8) -> usize {
        usize::from(self.slot_group.get(usize::from(slot)).copied().unwrap_or(0))
    }

    /// When the unit of RPAU `r` is free.
    pub fn unit_free(&self, r: usize, unit: Unit) -> u64 {
        self.unit[r][unit as usize]
    }

    /// Cycles of `w`.
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
            Operand::Slot(s) => group(s),
            Operand::Key(_) => Some(KEY_GROUP),
            Operand::None | Operand::Generator => None,
        };
        let transform = matches!(w.op, Opcode::Ntt | Opcode::Intt);
        let third = match w.op {
            Opcode::Mac => group(w.c),
            // From the second stage on a transform reads what it wrote.
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

    /// Whether `w` can start at cycle `t` as far as units, ports, ring, link and generators go (threads and data apart).
    pub fn can_start(&self, w: &OpWord, t: u64) -> bool {
        let f = self.footprint(w);
        if w.op.on_link() {
            return self.link <= t
                && w.rpaus().all(|r| {
                    f.source.is_none_or(|g| self.read[r][g] <= t)
                        && f.writes.iter().flatten().all(|&g| self.write[r][g] <= t)
                });
        }
        if w.op == Opcode::Bcast {
            let source = usize::from(w.c) % MAX_RPAUS;
            let sends = self.ring <= t && f.source.is_none_or(|g| self.read[source][g] <= t);
            return sends
                && w.rpaus()
                    .all(|r| f.writes.iter().flatten().all(|&g| self.write[r][g] <= t));
        }
        w.rpaus().all(|r| {
            self.unit[r][w.unit as usize] <= t
                && (!uses_generator(w) || self.generator[r] <= t)
                && f.source
                    .iter()
                    .chain(f.reads.iter().flatten())
                    .all(|&g| self.read[r][g] <= t)
                && f.writes.iter().flatten().all(|&g| self.write[r][g] <= t)
        })
    }

    /// Occupies everything `w` uses from cycle `t`.
    pub fn start(&mut self, d: &Description, w: &OpWord, t: u64) -> Duration {
        let f = self.footprint(w);
        let duration = self.duration(d, w);
        let (end, source_end) = (t + duration.total, t + duration.source);
        if w.op.on_link() {
            self.thread[w.stream()] = t + d.pipeline.issue;
            self.link = end;
            for r in w.rpaus() {
                if let Some(g) = f.source {
                    self.read[r][g] = source_end;
                }
                f.writes
                    .iter()
                    .flatten()
                    .for_each(|&g| self.write[r][g] = end);
            }
            return duration;
        }
        if w.op == Opcode::Bcast {
            let source = usize::from(w.c) % MAX_RPAUS;
            self.thread[w.stream()] = t + d.pipeline.issue;
            self.ring = end;
            if let Some(g) = f.source {
                self.read[source][g] = end;
            }
            for r in w.rpaus() {
                f.writes
                    .iter()
                    .flatten()
                    .for_each(|&g| self.write[r][g] = end);
            }
            return duration;
        }
        self.thread[w.stream()] = end;
        for r in w.rpaus() {
            self.unit[r][w.unit as usize] = end;
            if uses_generator(w) {
                self.generator[r] = end;
            }
            if let Some(g) = f.source {
                self.read[r][g] = source_end;
            }
            f.reads
                .iter()
                .flatten()
                .for_each(|&g| self.read[r][g] = self.read[r][g].max(end));
            f.writes
                .iter()
                .flatten()
                .for_each(|&g| self.write[r][g] = end);
        }
        duration
    }
}

/// Whether `w` takes residues from the generator.
fn uses_generator(w: &OpWord) -> bool {
    w.b == Operand::Generator || w.op == Opcode::Prng
}
