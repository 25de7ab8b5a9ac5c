// SPDX-License-Identifier: Apache-2.0
//! Tests of random programs, in which words of all streams run beside each other and share memory ports.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::{Machine, RpauError, Tables};
use ringmill_hdl::{BuildOptions, Hdl};
use ringmill_isa::mid::TableModulus;
use ringmill_machines::ring::description::{MemoryKind, PortGroup};
use ringmill_machines::ring::interpret::Memory;
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, QUEUES, STREAMS, Unit, Word};
use ringmill_machines::ring::{Description, built};
use ringmill_math::RingKind;

use crate::common::setup::{hdl, seed};
use crate::ring::bench::{Bench, ELEMENTS, PRIMES, WIDE, code, medha, primes, toy, traced, word};
use crate::ring::words::SMALL;

/// An RPAU and one of its slots, or a key slot behind these.
type Place = (usize, u8);

/// The ranges and the features from which random words are drawn.
struct World {
    rpaus: usize,
    /// The slots that words use: `slots` of them, from `first` on, which is of layer 0.
    first: u64,
    slots: u64,
    /// The first narrow slot; all slots from it on are narrow.
    wide: u64,
    constants: u64,
    /// The number of layers. Slot s and key s hold residues of layer s mod `layers`.
    layers: u64,
    /// Whether every word reads a narrow slot, so that all words want the one port of these.
    crowded: bool,
    /// Whether the ring network and the link exist, so that there may be stores and loads of keys.
    machine: bool,
    /// Whether broadcasts bring residues that are not reduced. They go to the slots [`RAW`], which only `RED` reads.
    raw: bool,
}

/// The slots, one of each layer, for broadcast residues that are not reduced.
const RAW: std::ops::Range<u8> = 6..8;

/// Returns the slots that a word reads, and those that it writes. Keys count as slots from [`KEY`] on.
fn accesses(w: &OpWord) -> (Vec<Place>, Vec<Place>) {
    let mut writes: Vec<Place> = w.rpaus().map(|r| (r, w.dst)).collect();
    if w.op.is_pair() {
        writes.extend(w.rpaus().map(|r| (r, w.c)));
    }
    match (w.op, w.b) {
        (Opcode::Load, Operand::Key(k)) => {
            return (vec![], w.rpaus().map(|r| (r, KEY + k)).collect());
        }
        (Opcode::Load, _) => return (vec![], writes),
        // A store reads its slot, and writes none.
        (Opcode::Store, _) => return (w.rpaus().map(|r| (r, w.a)).collect(), vec![]),
        (Opcode::Prng, _) => return (vec![], writes),
        _ => {}
    }
    if w.op == Opcode::Bcast {
        return (vec![(w.c.into(), w.a)], writes);
    }
    let mut slots = vec![w.a];
    match w.b {
        Operand::Slot(b) => slots.push(b),
        Operand::Key(k) => slots.push(KEY + k),
        Operand::None | Operand::Generator => {}
    }
    if w.op == Opcode::Mac {
        slots.push(w.c);
    }
    let reads = w.rpaus().flat_map(|r| slots.iter().map(move |&s| (r, s)));
    (reads.collect(), writes)
}

/// The number of key indices that words use.
const KEYS: u64 = 5;
/// The place of key 0, behind all slots. A key's place is found by its index, because indices and key slots correspond
/// one to one.
const KEY: u8 = 32;
/// The number of the host's limbs that loads take. Stores do not change these.
const HOST: u64 = 4;

/// Draws a word that the machine must run.
fn draw(dice: &mut Dice, world: &World) -> OpWord {
    use Opcode::*;
    let &World {
        rpaus,
        first,
        slots,
        wide,
        constants,
        layers,
        machine,
        raw,
        crowded: _,
    } = world;
    let slots = slots / layers * layers;
    let layer = dice.below(layers);
    let any = |dice: &mut Dice| (first + dice.below(slots / layers) * layers + layer) as u8;
    let slot = |dice: &mut Dice| {
        let drawn = any(dice);
        match raw && RAW.contains(&drawn) {
            // The two slots before `RAW`, or else the two behind it.
            true if first + 1 < RAW.start.into() => drawn - 2,
            true => drawn + 2,
            false => drawn,
        }
    };
    let key = |dice: &mut Dice| {
        let keys = (KEYS - layer).div_ceil(layers);
        Operand::Key((dice.below(keys) * layers + layer) as u8)
    };
    let unit = if dice.chance(2) {
        Unit::Main
    } else {
        Unit::Dyadic
    };
    let wise = [Copy, Add, Sub, Neg, Mul, Mac, Muli, Addi, Subm, Red];
    let op = match (unit, dice.below(8)) {
        (_, 0) if dice.chance(2) => {
            if machine && dice.chance(2) {
                Store
            } else {
                Load
            }
        }
        (_, 0) => Bcast,
        (Unit::Main, 1..=3) => [Ntt, Intt][dice.below(2) as usize],
        (Unit::Main, 4 | 5) => [Auto, Autoh, Autoc, Split, Join][dice.below(5) as usize],
        (Unit::Dyadic, 1) => Prng,
        _ => wise[dice.below(wise.len() as u64) as usize],
    };
    let b = match op {
        Add | Sub | Mul | Mac | Subm => match (unit, dice.below(6)) {
            (_, 0 | 1) => key(dice),
            (_, 2) if op != Subm => Operand::Generator,
            _ => Operand::Slot(slot(dice)),
        },
        Autoh | Split | Join => Operand::Slot(slot(dice)),
        Load if machine && dice.chance(3) => key(dice),
        _ => Operand::None,
    };
    let imm = match op {
        _ if b == Operand::Generator => dice.below(4),
        Prng => dice.below(4),
        Load => dice.below(HOST),
        // Places behind the limbs that loads take.
        Store => HOST + dice.below((1 << 12) - HOST),
        Auto | Autoc => dice.below(WIDE),
        Autoh => dice.below(ELEMENTS),
        Bcast => dice.below(constants),
        Muli | Addi | Subm => 1 + dice.below(constants - 1),
        Red => dice.below(constants),
        _ => 0,
    };
    let kinds = [RingKind::Full, RingKind::HalfPlus, RingKind::HalfMinus];
    // `BCAST` and `RED` may read residues of any layer. A broadcast takes a constant other than 0 only for residues of
    // its own layer.
    let reduced = matches!(op, Bcast | Red);
    let a = if reduced {
        (first + dice.below(slots)) as u8
    } else {
        slot(dice)
    };
    let other = u64::from(a) % layers != layer;
    let imm = if op == Bcast && other { 0 } else { imm };
    let mut w = OpWord {
        controller: dice.below(2) as u8,
        layer: layer as u8,
        ring: kinds[dice.below(3) as usize],
        b,
        c: match op {
            Mac | Autoh | Split | Join => slot(dice),
            Bcast => dice.below(rpaus as u64) as u8,
            _ => 0,
        },
        mask: if op.on_link() {
            1 << dice.below(rpaus as u64)
        } else {
            1 + dice.below((1 << rpaus) - 1) as u16
        },
        imm: imm as u16,
        ..word(op, unit, any(dice), a)
    };
    let slots = if op.needs_rows() {
        slots.min((wide - first) / layers * layers)
    } else {
        slots
    };
    let (first, slots) = (first as u8, slots as u8);
    w.dst = first + (w.dst - first) % slots;
    // A permutation's results go to other slots than its operands, and two results to different slots.
    let reads: Vec<u8> = match (op.is_permutation(), b) {
        (true, Operand::Slot(b)) => vec![w.a, b],
        (true, _) => vec![w.a],
        (false, _) => vec![],
    };
    let apart = |from: u8, taken: &[u8]| {
        let step = |i: u8| first + (from - first + i * layers as u8) % slots;
        let mut places = (0..slots / layers as u8).map(step);
        places.find(|s| !taken.contains(s)).unwrap_or(from)
    };
    w.dst = apart(w.dst, &reads);
    if raw && op == Bcast {
        w.dst = RAW.start + layer as u8;
    }
    if op.is_pair() {
        w.c = apart(w.c, &[reads, vec![w.dst]].concat());
    }
    w
}

/// Returns whether a word reads a narrow slot. Places of keys do not count.
fn reads_narrow(w: &OpWord, world: &World) -> bool {
    let narrow = world.wide..KEY.into();
    let (reads, _) = accesses(w);
    reads.iter().any(|&(_, slot)| narrow.contains(&slot.into()))
}

/// A word that was drawn: its stream, the counter in which it retires, its number among the words of this counter, and
/// the slots that it reads and writes.
struct Drawn {
    stream: usize,
    queue: usize,
    number: u32,
    reads: Vec<Place>,
    writes: Vec<Place>,
}

/// Draws `count` words and puts each into its stream, behind the `WAIT`s that its data need.
fn streams(dice: &mut Dice, count: usize, world: &World) -> [Vec<Word>; STREAMS] {
    let mut streams: [Vec<Word>; STREAMS] = Default::default();
    let mut given = [0u32; QUEUES];
    let mut before: Vec<Drawn> = Vec::new();
    for _ in 0..count {
        let mut w = draw(dice, world);
        while world.crowded && !reads_narrow(&w, world) {
            w = draw(dice, world);
        }
        let (reads, writes) = accesses(&w);
        let mut needs = [0u32; QUEUES];
        for other in &before {
            let meets = |x: &[Place], y: &[Place]| x.iter().any(|s| y.contains(s));
            // Words of the link and of the ring network stay in order, so that their counters say which have retired.
            // Words of one stream need no wait for that.
            let conflict =
                (!w.on_cores() && other.queue == w.queue() && other.stream != w.stream())
                    || meets(&reads, &other.writes)
                    || meets(&writes, &other.writes)
                    || meets(&writes, &other.reads);
            // Words of its own stream end before it, except those of the link.
            if conflict {
                needs[other.queue] = needs[other.queue].max(other.number);
            }
        }
        let stream = &mut streams[w.stream()];
        for (queue, &count) in needs.iter().enumerate() {
            if count > 0 && queue != w.stream() {
                let queue = queue as u8;
                stream.push(Word::Wait { queue, count });
            }
        }
        stream.push(Word::Op(w));
        given[w.queue()] += 1;
        before.push(Drawn {
            stream: w.stream(),
            queue: w.queue(),
            number: given[w.queue()],
            reads,
            writes,
        });
    }
    streams
}

/// Returns the number of slots that are not narrow.
fn wide(d: &Description) -> u64 {
    let groups = d.slot_groups();
    let wide = groups.iter().filter(|&&g| !d.is_narrow(g.into()));
    wide.count() as u64
}

/// Draws the first of `slots` slots. Half of the time they are the machine's last slots, which include the narrow ones.
fn first(dice: &mut Dice, d: &Description, slots: u64) -> u64 {
    let last = d.slots() as u64 - slots;
    if dice.chance(2) { last } else { 0 }
}

/// Draws whether every word of a program reads a narrow slot: one time in four if the program's slots include narrow
/// ones, else never.
fn crowded(dice: &mut Dice, d: &Description, first: u64, slots: u64) -> bool {
    let any = first + slots / 2 * 2 > wide(d);
    any && dice.chance(4)
}

/// Draws log2 of a limb's size: mostly the native one, at times a smaller one.
fn draw_size(dice: &mut Dice, d: &Description) -> u8 {
    let least = d.row.ilog2() as u8 + 1;
    if dice.chance(3) {
        least + dice.below(u64::from(d.log_n - least) + 1) as u8
    } else {
        d.log_n
    }
}

fn check_random(d: &Description, prime: u64, programs: usize) {
    let mut dice = Dice::new(seed());
    check_words_on(hdl(), d, prime, programs, &mut dice).unwrap();
}

/// Runs `programs` random programs on one RPAU of the RTL in `hdl`, in lockstep with the model.
pub fn check_words_on(
    hdl: &Hdl,
    d: &Description,
    prime: u64,
    programs: usize,
    dice: &mut Dice,
) -> Result<(), RpauError> {
    let mut bench = Bench::new(hdl, d, prime, true, dice)?;
    for _ in 0..programs {
        let size = draw_size(dice, d);
        bench.size(size, dice)?;
        // With few slots words wait for each other; with many they run beside each other.
        let slots = 4 + dice.below(d.slots() as u64 - 3);
        let constants: Vec<Vec<u64>> = (0..8)
            .map(|i| vec![if i == 0 { 0 } else { dice.below(prime) }])
            .collect();
        let first = first(dice, d, slots);
        let world = World {
            rpaus: 1,
            first,
            slots,
            wide: wide(d),
            crowded: crowded(dice, d, first, slots),
            constants: constants.len() as u64,
            layers: 1,
            machine: false,
            raw: false,
        };
        let streams = streams(dice, 40, &world);
        bench.check(&code(size, streams, constants))?;
    }
    Ok(())
}

#[test]
#[ignore = "another machine to build; `make full` runs it"]
fn words_beside_each_other() {
    let (log_n, butterflies, prime) = SMALL;
    check_random(&toy(log_n, butterflies, 1), prime, 5);
}

#[test]
#[ignore = "another machine to build; `make full` runs it"]
fn words_beside_each_other_with_the_papers_sizes() {
    let (log_n, butterflies, prime) = SMALL;
    check_random(&medha(log_n, butterflies, 1), prime, 5);
}

#[test]
#[ignore = "many programs; `make full` runs it"]
fn many_words_beside_each_other() {
    check_random(&toy(6, 4, 1), PRIMES[0], 300);
    check_random(&toy(7, 8, 1), PRIMES[1], 200);
    check_random(&toy(10, 16, 1), PRIMES[0], 10);
    check_random(&medha(7, 2, 1), PRIMES[0], 200);
    check_random(&medha(8, 4, 1), PRIMES[2], 100);
    check_random(&medha(10, 8, 1), PRIMES[1], 10);
}

/// Draws a machine of random shape: rows, cores, memory ports, key memory, and the distances on the ring network. It
/// may be one that cannot be built.
fn any_shape(dice: &mut Dice, rpaus: usize) -> Description {
    let log_row = 2 + dice.below(3) as u8;
    let log_n = log_row + 2 + dice.below(3) as u8;
    let row = 1 << log_row;
    let mut d = match dice.chance(2) {
        true => toy(log_n, row, rpaus),
        false => medha(log_n, row / 2, rpaus),
    };
    d.cores.dyadic = 1 << dice.below(log_row.min(3).into());
    d.generator.residues_per_cycle = d.cores.dyadic;
    let group = |kind, slots, residues| PortGroup {
        kind,
        slots,
        residues,
    };
    // At least eight slots are not narrow, because unreduced broadcasts go to slots 6 and 7.
    let shared = 1 + dice.below(9) as usize;
    let singles = 8usize.saturating_sub(shared) + dice.below(3) as usize;
    d.memory = vec![group(MemoryKind::Uram, shared, None)];
    d.memory
        .extend((0..singles).map(|_| group(MemoryKind::Bram, 1, None)));
    let least = d.cores.dyadic.max(2);
    if least < row && !dice.chance(4) {
        let residues = least << dice.below((row / least).ilog2().into());
        let slots = 1 + dice.below(2) as usize;
        d.memory
            .push(group(MemoryKind::Uram, slots, Some(residues)));
    }
    d.keys.group = 2 << dice.below(log_row.into());
    d.keys.stripes = 1 + dice.below(12) as usize;
    d.keys.slots = KEYS as usize + dice.below(4) as usize;
    d.ring.hop = 1 + dice.below(4);
    d.ring.crossing = dice.below(4);
    d.ring.dies = 1 + dice.below(4) as usize;
    d.pipeline.dispatch = 1 + dice.below(6);
    d
}

/// Returns a machine's shape as a line of text.
fn brief(d: &Description) -> String {
    let memory: Vec<_> = d.memory.iter().map(|g| (g.slots, g.residues)).collect();
    format!(
        "N 2^{}, rows of {}, {} stages, {} dyadic, {memory:?}, keys of {} x {}, hop {} + {} over {} dies, dispatch {}",
        d.log_n,
        d.row,
        d.main.stages,
        d.cores.dyadic,
        d.keys.group,
        d.keys.stripes,
        d.ring.hop,
        d.ring.crossing,
        d.ring.dies,
        d.pipeline.dispatch
    )
}

#[test]
#[ignore = "machines of many shapes; `make full` runs it"]
fn machines_of_any_shape() {
    let mut dice = Dice::new(seed());
    let mut built = 0;
    while built < 12 {
        let rpaus = [1, 3][dice.below(2) as usize];
        let d = any_shape(&mut dice, rpaus);
        if let Err(refused) = d.check().and_then(|_| built::check(&d)) {
            println!("refused: {refused}");
            continue;
        }
        built += 1;
        println!("{built}: {rpaus} of {}", brief(&d));
        let found = match rpaus {
            1 => check_words_on(hdl(), &d, PRIMES[built % 3], 20, &mut dice),
            _ => check_programs(hdl(), &d, dice.bits(), 10),
        };
        found.unwrap_or_else(|error| panic!("{d:#?}: {error}"));
    }
}

/// Random programs are right on an RPAU of the shipped machine `ring`, with 16 butterflies and their generators, rows
/// of 32 coefficients and N = 2^14.
#[test]
#[ignore = "an RPAU of 36 multipliers and limbs of 2^14; `make full` runs it"]
fn words_of_the_papers_rpau() {
    let mut d = Description::parse(Description::MEDHA).unwrap();
    d.rpaus = 1;
    check_random(&d, PRIMES[1], 2);
}

/// Runs random programs of four streams on a machine of three RPAUs, broadcasts among their words. The start of each
/// word, each slot and the end must be those of the model. A program finds what the last one left, if it is of the same
/// size and modulo the same primes.
fn check_machine(
    d: &Description,
    machine: &mut Machine,
    dice: &mut Dice,
    programs: usize,
) -> Result<(), RpauError> {
    let primes = primes();
    let smallest = *primes.iter().min().unwrap();
    let seeds: Vec<[u8; 32]> = (0..2)
        .map(|_| std::array::from_fn(|_| dice.bits() as u8))
        .collect();
    let moduli = primes.iter().copied().map(TableModulus::Prime).collect();
    let mut memory = Memory::new(moduli, seeds.clone(), true);
    memory.key_table = (0..3)
        .flat_map(|r| (0..d.keys.slots as u8).map(move |slot| ((r, slot), slot)))
        .collect();
    // For each RPAU, the number of the prime of its even slots in the last program of the same size.
    let mut before = [None; 3];
    let mut size = 0;
    for _ in 0..programs {
        let last = std::mem::replace(&mut size, draw_size(dice, d));
        let n = 1 << size;
        machine.size(size)?;
        if size != last {
            before = [None; 3];
            // The host's residues are below the smallest prime, so that every RPAU may load them.
            memory.host = (0..HOST as u16)
                .map(|at| (at, dice.limb(n, smallest)))
                .collect();
        }
        let slots = 8 + dice.below(d.slots() as u64 - 7);
        let first = first(dice, d, slots) / 2 * 2;
        let world = World {
            rpaus: 3,
            first,
            slots,
            wide: wide(d),
            crowded: crowded(dice, d, first, slots),
            constants: 8,
            layers: 2,
            machine: true,
            raw: !d.ring.reduces,
        };
        let constants: Vec<Vec<u64>> = (0..8)
            .map(|i| {
                let mut constant = || if i == 0 { 0 } else { dice.below(smallest) };
                (0..3).map(|_| constant()).collect()
            })
            .collect();
        let streams = streams(dice, 60, &world);
        let mut code = code(size, streams, constants);
        // In layer 0 an RPAU works modulo its own first prime, or at times modulo its second.
        code.primes = (0..3).map(|r| r + 3 * u8::from(dice.chance(3))).collect();
        for row in &mut code.generators {
            *row = vec![row[0]; 3];
        }
        for r in 0..3 {
            let prime = [primes[usize::from(code.primes[r])], primes[r + 3]];
            let stays = |slot: u8| match before[r] {
                None => false,
                Some(prime) => slot % 2 == 1 || prime == code.primes[r],
            };
            for slot in (0..d.slots() as u8).filter(|&s| !stays(s)) {
                let limb = dice.limb(n, prime[usize::from(slot % 2)]);
                machine.fill(r, slot, &limb)?;
                memory.slots.insert((r, slot), limb);
            }
            for slot in (0..d.keys.slots as u8).filter(|&s| !stays(s)) {
                let limb = dice.limb(n, prime[usize::from(slot % 2)]);
                machine.fill_key(r, slot, &limb)?;
                memory.keys.insert((r, slot), limb);
                let sent = dice.limb(n, prime[usize::from(slot % 2)]);
                memory.host_keys.insert((r, slot), sent);
            }
            before[r] = Some(code.primes[r]);
            machine.tables(
                r,
                &Tables {
                    constants: code.constants.iter().map(|row| row[r]).collect(),
                    streams: code.generators.iter().map(|row| row[r]).collect(),
                    galois: &code.galois,
                    seeds: &seeds,
                    keys: (0..d.keys.slots as u8).map(|slot| (slot, slot)).collect(),
                },
            )?;
        }
        // The host is as fast as the link in half of the programs, and else delays its transfers.
        let stalls: Vec<u64> = if dice.chance(2) {
            Vec::new()
        } else {
            (0..60).map(|_| dice.below(300)).collect()
        };
        let (words, cycles) = traced(d, &code, &mut memory, &stalls);
        machine.lockstep(&code, &words, cycles)?;
    }
    Ok(())
}

/// Runs `programs` random programs on a machine of three RPAUs of the RTL in `hdl`, in lockstep with the model.
pub fn check_programs(
    hdl: &Hdl,
    d: &Description,
    seed: u64,
    programs: usize,
) -> Result<(), RpauError> {
    let mut dice = Dice::new(seed);
    let mut machine = Machine::new(
        hdl,
        d,
        &primes(),
        BuildOptions::default(),
        dice.bits() as u32,
    )?;
    check_machine(d, &mut machine, &mut dice, programs)
}

#[test]
#[ignore = "many programs; `make full` runs it"]
fn many_programs_on_three_units() {
    check_programs(hdl(), &toy(6, 4, 3), seed(), 200).unwrap();
    check_programs(hdl(), &medha(7, 2, 3), seed(), 200).unwrap();
}
