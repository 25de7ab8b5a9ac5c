// SPDX-License-Identifier: Apache-2.0
//! Writes instruction words to the four streams of the ring machine: puts immediates into tables,
//! and inserts waits for instruction words of other streams.

use std::collections::HashMap;

use super::description::{Description, MAX_SLOTS, Tables};
use super::encode::encode;
use super::graph::{Graph, Immediate, KeyPlan, Node, Source};
use super::micro::{MicroCode, OpWord, Opcode, Operand, QUEUES, RING_QUEUE, STREAMS, Word};
use super::place::{Mark, Slots};

/// The four instruction streams of a procedure while they are written.
#[derive(Clone, Debug)]
pub struct Emitter {
    code: MicroCode,
    rpaus: usize,
    tables: Tables,
    /// For each retire counter (one for each stream, one for the ring network, one for the host
    /// link), the number of emitted instruction words that advance it.
    given: [u32; QUEUES],
    /// For each instruction stream, the value of each retire counter for which the stream has
    /// already waited. A retire counter counts the instruction words of a stream, of the ring
    /// network or of the host link that have ended.
    known: [[u32; QUEUES]; STREAMS],
    /// For each unit of each RPAU, the last emitted instruction word that uses the unit.
    last: Vec<[Mark; 2]>,
    /// The index of the instruction stream that has the last emitted broadcast, and the index of
    /// the stream that has the last transfer over the host link.
    sender: [usize; 2],
    /// The plan's number of a key slot ([`KeyPlan::slots`]), by RPAU and key index (the number by which
    /// instruction words name a key limb). An RPAU whose key memory holds all limbs has none.
    key_slots: HashMap<Place, u8>,
    /// For each row of the constant table, the mask of the RPAUs (residue polynomial arithmetic units) whose constant
    /// in the row is in use. The value alone does not tell whether it is in use, because 0 may be a constant, too.
    taken: Vec<u16>,
}

impl Emitter {
    pub fn new(d: &Description, plans: &[KeyPlan]) -> Self {
        let rpaus = d.rpaus;
        let of_plan = |p: &KeyPlan| {
            let r = usize::from(p.rpau);
            let slots = p.slots.clone().into_iter();
            slots.map(move |(k, slot)| ((r, k), slot))
        };
        let code = MicroCode {
            constants: vec![vec![0; rpaus]],
            ..MicroCode::default()
        };
        Self {
            code,
            rpaus,
            tables: d.tables.clone(),
            given: [0; QUEUES],
            known: [[0; QUEUES]; STREAMS],
            last: vec![[(0, 0); 2]; rpaus],
            sender: [0; 2],
            key_slots: plans.iter().flat_map(of_plan).collect(),
            taken: vec![0],
        }
    }

    /// Appends the word `word` to its instruction stream, after the `WAIT`s that it needs. `nodes` has one operation of
    /// the graph for each RPAU of the word's mask, or the one broadcast. Returns the word with the index of its
    /// immediate. Returns `None` if a table is full, or if a seed or a limb on the host has too large a number.
    pub fn emit(
        &mut self,
        word: OpWord,
        nodes: &[&Node],
        graph: &Graph,
        slots: &mut Slots,
    ) -> Option<OpWord> {
        let word = OpWord {
            imm: self.immediate(nodes, graph)?,
            ..word
        };
        let stream = word.stream();
        let queue = word.queue();
        let (reads, writes) = self.accesses(&word);
        let mut needs = [0; QUEUES];
        let mut need = |(on, count): Mark| needs[on] = count.max(needs[on]);
        for &(r, slot) in &reads {
            slots.logs[r][usize::from(slot)]
                .write
                .into_iter()
                .for_each(&mut need);
        }
        for &(r, slot) in &writes {
            let log = &slots.logs[r][usize::from(slot)];
            log.write
                .iter()
                .chain(&log.reads)
                .copied()
                .for_each(&mut need);
        }
        // The instruction words of one unit may come from different controllers, and so may those of the ring and of
        // the link. They keep the scheduled order, because their retire counters tell words apart by this order only.
        if word.on_cores() {
            word.rpaus()
                .for_each(|r| need(self.last[r][word.unit as usize]));
        } else if self.sender[queue - RING_QUEUE] != stream {
            need((queue, self.given[queue]));
            self.sender[queue - RING_QUEUE] = stream;
        }
        for (on, count) in needs.into_iter().enumerate() {
            // A stream's own instruction words have retired before its next word is issued; those of the ring and of
            // the link have not.
            if on != stream && self.known[stream][on] < count {
                self.known[stream][on] = count;
                self.code.streams[stream].push(encode(&Word::Wait {
                    queue: on as u8,
                    count,
                }));
            }
        }
        self.code.streams[stream].push(encode(&Word::Op(word)));
        self.given[queue] += 1;
        let mark = (queue, self.given[queue]);
        if word.on_cores() {
            word.rpaus()
                .for_each(|r| self.last[r][word.unit as usize] = mark);
        }
        for (r, slot) in reads {
            slots.logs[r][usize::from(slot)].reads.push(mark);
        }
        for (r, slot) in writes {
            let log = &mut slots.logs[r][usize::from(slot)];
            log.write = Some(mark);
            log.reads.clear();
        }
        Some(word)
    }

    fn immediate(&mut self, nodes: &[&Node], graph: &Graph) -> Option<u16> {
        let streams = &graph.streams;
        let first = nodes.first()?;
        let generated = |n: &Node| {
            n.sources
                .iter()
                .find_map(|s| {
                    if let Source::Stream(i) = s {
                        Some(*i)
                    } else {
                        None
                    }
                })
                .or({
                    if let Immediate::Stream(i) = n.immediate {
                        Some(i)
                    } else {
                        None
                    }
                })
        };
        if generated(first).is_some() {
            let mut row = vec![None; self.rpaus];
            for n in nodes {
                let stream = generated(n).and_then(|i| streams.get(i as usize)).copied();
                if stream.is_some_and(|s| usize::from(s.seed) >= self.tables.seeds) {
                    return None;
                }
                row[usize::from(n.rpau)] = stream;
            }
            let table = &mut self.code.generators;
            let at = table.iter().position(|r| *r == row).unwrap_or_else(|| {
                table.push(row);
                table.len() - 1
            });
            return index(at, self.tables.streams);
        }
        match first.immediate {
            Immediate::Galois(g) => {
                let table = &mut self.code.galois;
                let at = table.iter().position(|&h| h == g).unwrap_or_else(|| {
                    table.push(g);
                    table.len() - 1
                });
                index(at, self.tables.galois)
            }
            Immediate::Scalar(_) => {
                let wanted = nodes.iter().filter_map(|n| match n.immediate {
                    Immediate::Scalar(w) => Some((n.rpau, w)),
                    _ => None,
                });
                self.constants(&wanted.collect::<Vec<_>>())
            }
            Immediate::Row(at) => self.constants(graph.addends.get(at as usize)?),
            Immediate::Host(at) => index(at.into(), HOST_LIMBS),
            Immediate::None | Immediate::Stream(_) => Some(0),
        }
    }

    /// Returns the index of a row of the constant table that has each constant of `wanted`, pairs of RPAU and constant.
    /// The row has them already or has room for them. Returns `None` if the table is full.
    fn constants(&mut self, wanted: &[(u8, u64)]) -> Option<u16> {
        let wanted = wanted.iter().map(|&(r, w)| (usize::from(r), w));
        let wanted: Vec<(usize, u64)> = wanted.collect();
        let rows = self.code.constants.iter().zip(&self.taken).skip(1);
        let fits = |(row, taken): (&Vec<u64>, &u16)| {
            wanted
                .iter()
                .all(|&(r, w)| taken >> r & 1 == 0 || row[r] == w)
        };
        let at = rows
            .map(fits)
            .position(|fits| fits)
            .map(|i| i + 1)
            .unwrap_or_else(|| {
                self.code.constants.push(vec![0; self.rpaus]);
                self.taken.push(0);
                self.taken.len() - 1
            });
        for (r, w) in wanted {
            self.code.constants[at][r] = w;
            self.taken[at] |= 1 << r;
        }
        index(at, self.tables.constants)
    }

    /// Returns the slots that an instruction word reads and those that it writes, by RPAU. Key slots that the procedure
    /// loads have numbers after those of polynomial memory.
    fn accesses(&self, w: &OpWord) -> (Vec<Place>, Vec<Place>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let key_slot = |r, k| {
            let slot = self.key_slots.get(&(r, k));
            slot.map(|&slot| (r, MAX_SLOTS as u8 + slot))
        };
        if w.op == Opcode::Bcast {
            reads.push((usize::from(w.c), w.a));
        }
        for r in w.rpaus() {
            match (w.op, w.b) {
                (Opcode::Load, Operand::Key(k)) => writes.extend(key_slot(r, k)),
                (Opcode::Store, _) => {}
                _ => writes.push((r, w.dst)),
            }
            if w.op.is_pair() {
                writes.push((r, w.c));
            }
            if !matches!(w.op, Opcode::Bcast | Opcode::Prng | Opcode::Load) {
                reads.push((r, w.a));
            }
            match w.b {
                Operand::Slot(s) => reads.push((r, s)),
                Operand::Key(k) if w.op != Opcode::Load => reads.extend(key_slot(r, k)),
                _ => {}
            }
            if w.op == Opcode::Mac {
                reads.push((r, w.c));
            }
        }
        (reads, writes)
    }

    /// Returns the finished micro code, or `None` if a stream is longer than its program memory.
    pub fn finish(mut self, graph: &Graph) -> Option<MicroCode> {
        for stream in &mut self.code.streams {
            stream.push(encode(&Word::End));
        }
        self.code.name = graph.name.clone();
        self.code.log_n = graph.log_n;
        self.code.primes.clone_from(&graph.primes);
        let longest = self.code.streams.iter().map(Vec::len).max();
        longest
            .is_none_or(|words| words <= self.tables.words)
            .then_some(self.code)
    }
}

/// The number of limbs on the host that the immediate of a load or a store can name.
const HOST_LIMBS: usize = 1 << 12;

/// Returns `at` as the index of a table's row, or `None` if the table has only `depth` rows.
fn index(at: usize, depth: usize) -> Option<u16> {
    u16::try_from(at).ok().filter(|_| at < depth)
}

/// An RPAU and the number of one of its slots.
type Place = (usize, u8);
