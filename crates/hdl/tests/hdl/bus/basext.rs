// SPDX-License-Identifier: Apache-2.0
//! Tests of the base-extension unit behind the shell: extensions must give the golden model's results, with random
//! stalls on all channels, and wrong commands and streams must be refused.

use std::sync::{Mutex, PoisonError};

use ringmill_hdl::basext::{Code, Command as Wanted, Operation};
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::shell::{Register, busy};
use ringmill_hdl::{BuildOptions, Hdl, HdlError, Top};
use ringmill_machines::basext::isa::{Answer, command as fields, config};
use ringmill_machines::basext::{Constants, Extension, Shape, Shared, Word, golden};
use ringmill_math::primes::ntt_primes;
use ringmill_math::{Modulus, RnsBasis};

use crate::bus::axi::{BUSY, Bus, END, EVENTS, OKAY, READ, SLVERR, WRITE};
use crate::bus::{LENGTH, READ_DONE, READ_ERROR, WRITE_DONE, WRITE_ERROR, command, hdl, seed};
use crate::common::failure::{Check, panics};
use crate::faults::list::{List, When};

const DONE: u32 = 1;
const AT_WORK: u32 = Answer::Busy as u32;
const LOG_N: u32 = 8;

/// A unit and the number of its ports: the folded unit, or the shared unit if there is a batch.
#[derive(Clone, Copy)]
struct Built {
    shape: Shape,
    ports: usize,
    batch: Option<usize>,
}

impl Built {
    fn new(word: Word, lanes: usize, ports: usize) -> Self {
        let shape = Shape::new(word, lanes, 8..=9, 3, 2).unwrap();
        Self {
            shape,
            ports,
            batch: None,
        }
    }

    fn narrow() -> Self {
        Self::new(Word::Bits32, 2, 1)
    }

    /// Returns a folded unit of four 32-bit words a beat, two at each of two ports.
    fn two_ports() -> Self {
        Self::new(Word::Bits32, 4, 2)
    }

    /// Returns a shared unit that computes two targets at a time.
    fn shared() -> Self {
        let batch = Some(2);
        Self {
            batch,
            ..Self::two_ports()
        }
    }

    /// Returns a folded unit of 2,048 bits a beat, as wide as the paper's.
    fn wide() -> Self {
        Self::new(Word::Bits64, 32, 2)
    }

    fn top(self) -> Top {
        let shape = self.shape;
        Top::new("rm_basext_axi")
            .int("Width", u64::from(shape.word().modulus_bits()))
            .int("Lanes", shape.lanes() as u64)
            .int("MinLogN", shape.min_log_n().into())
            .int("MaxLogN", shape.max_log_n().into())
            .int("MaxL", shape.max_l() as u64)
            .int("MaxK", shape.max_k() as u64)
            .int("Ports", self.ports as u64)
            .int("Batch", self.batch.unwrap_or(0) as u64)
    }
}

/// Returns the number of 32-bit words in a word of the streams.
fn halves(shape: Shape) -> usize {
    shape.word().bits() as usize / 32
}

fn bus(hdl: &Hdl, built: Built, seed: u64) -> Bus {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _guard = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let model = hdl
        .model(&built.top(), BuildOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let beat = built.shape.lanes() * halves(built.shape);
    Bus::new(model, beat, built.ports, Dice::new(seed)).unwrap()
}

fn word(wanted: Wanted) -> u32 {
    let word = fields::OP.put(wanted.operation.number())
        | fields::L.put(wanted.l.into())
        | fields::K.put(wanted.k.into())
        | fields::LOG_N.put(wanted.log_n.into());
    word as u32
}

fn load(l: usize, k: usize) -> u32 {
    word(Wanted {
        operation: Operation::Load,
        l: l as u8,
        k: k as u8,
        log_n: 0,
    })
}

fn extend(extension: Extension, log_n: u32) -> u32 {
    word(Wanted {
        operation: Operation::Extend(extension),
        l: 0,
        k: 0,
        log_n: log_n as u8,
    })
}

/// Writes a stream to memory with `each` words in each beat, the first lanes, and returns the number of beats.
fn lay(bus: &mut Bus, shape: Shape, address: u64, words: &[u64], each: usize) -> usize {
    let halves = halves(shape);
    for (number, beat_words) in words.chunks(each).enumerate() {
        for (lane, &word) in beat_words.iter().enumerate() {
            for half in 0..halves {
                let at = (number * shape.lanes() + lane) * halves + half;
                bus.lay(address, at, (word >> (32 * half)) as u32);
            }
        }
    }
    words.len().div_ceil(each)
}

fn lie(bus: &Bus, shape: Shape, address: u64, n: usize) -> Vec<u64> {
    let halves = halves(shape);
    let word = |i: usize| {
        let half = |half| u64::from(bus.lies(address, i * halves + half));
        (0..halves).rev().fold(0, |word, at| word << 32 | half(at))
    };
    (0..n).map(word).collect()
}

/// Lets the unit read a stretch of memory, and waits for the end of the read.
fn read(bus: &mut Bus, address: u64, beats: usize) -> Result<(), HdlError> {
    bus.transfer(READ, address, beats)?;
    bus.wait(READ_DONE)?;
    Ok(())
}

fn ended(bus: &mut Bus) -> Result<Code, HdlError> {
    bus.wait(DONE)?;
    Ok(Code::from_bits(bus.read(END)?.into()).unwrap())
}

struct Job {
    constants: Constants,
    limbs: Vec<Vec<u64>>,
    /// The targets' residues by the golden model: of the exact extension, and of the fast one.
    want: [Vec<Vec<u64>>; 2],
}

fn job(built: Built, dice: &mut Dice) -> Job {
    let shape = built.shape;
    let bits = shape.word().modulus_bits();
    let primes = ntt_primes(bits, 9, 6).unwrap();
    let moduli: Vec<Modulus> = primes.iter().map(|&q| Modulus::new(q).unwrap()).collect();
    let sources = RnsBasis::new(moduli[..3].to_vec()).unwrap();
    let (redundant, targets) = (Some(moduli[3]), &moduli[4..]);
    // Residues of small integers: they are the same modulo every prime, and so are the exact extension's results.
    let small: Vec<u64> = (0..1 << LOG_N).map(|_| dice.bits() >> 40).collect();
    let limbs = vec![small; 4];
    let want = [Extension::Exact, Extension::Fast].map(|extension| {
        let given = 3 + usize::from(extension == Extension::Exact);
        let given: Vec<&[u64]> = limbs[..given].iter().map(Vec::as_slice).collect();
        golden(&sources, redundant, targets, extension, &given).unwrap()
    });
    assert_eq!(want[0][0], limbs[0]);
    Job {
        constants: match built.batch {
            None => Constants::new(shape, &sources, redundant, targets),
            Some(batch) => {
                let unit = Shared::new(shape, batch).unwrap();
                Constants::shared(unit, &sources, redundant, targets)
            }
        }
        .unwrap(),
        limbs,
        want,
    }
}

fn load_constants(bus: &mut Bus, shape: Shape, job: &Job) {
    let beats = lay(bus, shape, 0x5_0000_0f00, job.constants.words(), 1);
    assert_eq!(command(bus, load(3, 2)).unwrap(), 0);
    read(bus, 0x5_0000_0f00, beats).unwrap();
    assert_eq!(ended(bus).unwrap(), Code::Ok);
}

/// Returns the address at which the residue polynomial with this number is stored.
fn at(limb: usize) -> u64 {
    0x9_0000_0000 + 0x2000 * limb as u64
}

/// Streams in the residues that one target needs, those modulo the redundant prime first, while the unit writes the
/// target to `to`. The command was sent before.
fn target(bus: &mut Bus, shape: Shape, extension: Extension, to: u64) {
    let beats = (1 << LOG_N) / shape.lanes();
    bus.transfer(WRITE, to, beats).unwrap();
    let redundant = (extension == Extension::Exact).then_some(3);
    for limb in redundant.into_iter().chain(0..3) {
        read(bus, at(limb), beats).unwrap();
    }
    bus.wait(WRITE_DONE).unwrap();
}

fn lay_limbs(bus: &mut Bus, shape: Shape, job: &Job) {
    for (number, limb) in job.limbs.iter().enumerate() {
        lay(bus, shape, at(number), limb, shape.lanes());
    }
}

fn extends(bus: &mut Bus, shape: Shape, job: &Job) {
    lay_limbs(bus, shape, job);
    for (extension, want) in [Extension::Exact, Extension::Fast]
        .into_iter()
        .zip(&job.want)
    {
        assert_eq!(command(bus, extend(extension, LOG_N)).unwrap(), 0);
        for (number, want) in want.iter().enumerate() {
            let to = at(8 + number);
            target(bus, shape, extension, to);
            assert_eq!(
                lie(bus, shape, to, 1 << LOG_N),
                *want,
                "{extension:?} {number}"
            );
        }
        bus.wait(DONE).unwrap();
        assert_eq!(bus.read(EVENTS).unwrap(), 0);
        assert_eq!(bus.read(END).unwrap(), 0);
    }
}

/// Runs both extensions of a job on the shared unit. It takes each residue polynomial once, that modulo the redundant
/// prime m last, and then writes both targets.
fn extends_in_a_batch(bus: &mut Bus, shape: Shape, job: &Job) {
    lay_limbs(bus, shape, job);
    let beats = (1 << LOG_N) / shape.lanes();
    for (extension, want) in [Extension::Exact, Extension::Fast]
        .into_iter()
        .zip(&job.want)
    {
        assert_eq!(command(bus, extend(extension, LOG_N)).unwrap(), 0);
        bus.transfer(WRITE, at(8), beats).unwrap();
        for limb in 0..3 + usize::from(extension == Extension::Exact) {
            read(bus, at(limb), beats).unwrap();
        }
        bus.wait(WRITE_DONE).unwrap();
        bus.transfer(WRITE, at(9), beats).unwrap();
        bus.wait(WRITE_DONE).unwrap();
        bus.wait(DONE).unwrap();
        for (number, want) in want.iter().enumerate() {
            let found = lie(bus, shape, at(8 + number), 1 << LOG_N);
            assert_eq!(found, *want, "{extension:?} {number}");
        }
        assert_eq!(bus.read(EVENTS).unwrap(), 0);
        assert_eq!(bus.read(END).unwrap(), 0);
    }
}

/// Loads constants and runs both extensions to two targets, with stalls on all ten channels and without.
#[test]
fn extensions_give_what_the_golden_model_gives() {
    check(&hdl(), Built::narrow());
}

#[test]
#[ignore = "wide multipliers take long to build; `make full` runs it"]
fn so_do_those_of_wide_moduli() {
    check(&hdl(), Built::new(Word::Bits64, 4, 1));
}

/// The five channels of each port stall independently of the other port's.
#[test]
fn so_do_those_behind_two_ports() {
    check(&hdl(), Built::two_ports());
}

#[test]
fn so_do_those_of_the_shared_unit() {
    check(&hdl(), Built::shared());
}

#[test]
#[ignore = "32 lanes of wide multipliers take long to build; `make full` runs it"]
fn so_do_those_of_2048_bits_a_beat() {
    check(&hdl(), Built::wide());
}

fn check(hdl: &Hdl, built: Built) {
    let (shape, ports) = (built.shape, built.ports);
    let mut dice = Dice::new(seed());
    let mut bus = bus(hdl, built, dice.bits());
    let machine = if built.batch.is_some() {
        b"BASS"
    } else {
        b"BASE"
    };
    assert_eq!(
        bus.read(Register::Machine.bits()).unwrap().to_be_bytes(),
        *machine
    );
    let config = config::LOG_PORTS.put(ports.ilog2().into())
        | config::MAX_LOG_N.put(9)
        | config::MAX_L.put(3)
        | config::MAX_K.put(2)
        | config::LANES.put(shape.lanes() as u64);
    assert_eq!(
        u64::from(bus.read(Register::Config.bits()).unwrap()),
        config
    );
    for stalls in [true, false] {
        bus.stall(stalls);
        let job = job(built, &mut dice);
        load_constants(&mut bus, shape, &job);
        match built.batch {
            None => extends(&mut bus, shape, &job),
            Some(_) => extends_in_a_batch(&mut bus, shape, &job),
        }
    }
    // Each transfer takes at least one burst at each port. The transfers are the constants, the residues (by the folded
    // unit once for each target) and the results.
    let least = if built.batch.is_some() { 20 } else { 30 };
    assert!(bus.bursts > least * ports, "{}", bus.bursts);
}

/// The unit of 2,048 bits a beat, at the paper's ring degrees, lints without warnings at two ports. Wrong numbers of
/// ports are refused with a reason.
#[test]
#[ignore = "a wide model; `make full` runs it"]
fn a_beat_of_2048_bits_needs_two_ports() {
    let built = |lanes, ports| {
        let shape = Shape::new(Word::Bits64, lanes, 14..=16, 32, 32).unwrap();
        let batch = None;
        hdl().lint(
            &Built {
                shape,
                ports,
                batch,
            }
            .top(),
        )
    };
    built(32, 2).unwrap_or_else(|e| panic!("{e}"));
    for (lanes, ports, says) in [
        (32, 1, "a port of AXI4 has 1024 bits at most"),
        (2, 4, "Ports must divide Lanes"),
        (16, 8, "Ports must be 1, 2 or 4"),
    ] {
        let said = built(lanes, ports).unwrap_err().to_string();
        assert!(said.contains(says), "{lanes} lanes, {ports} ports: {said}");
    }
}

/// Results are right if one port is slower than the other. An error at one port, wrong lengths and impossible starts
/// are told.
#[test]
fn ports_wait_for_each_other_and_fail_alone() {
    check_ports(&hdl(), Built::two_ports());
}

fn check_ports(hdl: &Hdl, built: Built) {
    let mut dice = Dice::new(seed());
    let shape = built.shape;
    let (n, beats) = (1 << LOG_N, (1 << LOG_N) / shape.lanes());
    let mut bus = bus(hdl, built, dice.bits());
    bus.stall(true);
    let job = job(built, &mut dice);
    for slow in 0..built.ports {
        bus.slow = Some(slow);
        load_constants(&mut bus, shape, &job);
        extends(&mut bus, shape, &job);
    }
    let fast = |bus: &mut Bus, to: [u64; 2]| {
        assert_eq!(command(bus, extend(Extension::Fast, LOG_N)).unwrap(), 0);
        for to in to {
            target(bus, shape, Extension::Fast, to);
        }
        bus.wait(DONE).unwrap();
        bus.read(EVENTS).unwrap()
    };
    for (port, other) in [(0, 1), (1, 0)] {
        // The other port is slow, so that the port that fails is done first.
        bus.slow = Some(other);
        for (stretch, event) in [(at(1), READ_ERROR), (at(9), WRITE_ERROR)] {
            let word = bus.at_port(stretch, port);
            bus.fenced = word..word + 0x400;
            assert_eq!(fast(&mut bus, [at(8), at(9)]), event, "port {port}");
            bus.write(EVENTS, event).unwrap();
        }
    }
    bus.slow = None;
    bus.fenced = 0..0;

    // A stretch that is longer than its stream keeps its last words; one that is shorter leaves the stream's rest to
    // the next write.
    assert_eq!(
        command(&mut bus, extend(Extension::Fast, LOG_N)).unwrap(),
        0
    );
    bus.transfer(WRITE, at(10), beats + 16).unwrap();
    (0..3).for_each(|limb| read(&mut bus, at(limb), beats).unwrap());
    bus.wait(WRITE_DONE).unwrap();
    assert_eq!(bus.wait(LENGTH).unwrap(), LENGTH);
    bus.transfer(WRITE, at(12), beats - 24).unwrap();
    (0..3).for_each(|limb| read(&mut bus, at(limb), beats).unwrap());
    bus.wait(WRITE_DONE).unwrap();
    assert_eq!(bus.wait(LENGTH).unwrap(), LENGTH);
    bus.transfer(WRITE, at(14), 24).unwrap();
    bus.wait(WRITE_DONE).unwrap();
    bus.wait(DONE).unwrap();
    assert_eq!(bus.read(EVENTS).unwrap(), 0);
    let cut = n - 24 * shape.lanes();
    let [first, second] = &job.want[1][..] else {
        panic!("two targets")
    };
    assert_eq!(lie(&bus, shape, at(10), n), *first);
    for port in 0..built.ports {
        let end = bus.at_port(at(10), port) + 4 * (n / built.ports) as u64;
        assert!(!bus.memory.contains_key(&end), "beyond the stream's end");
    }
    assert_eq!(lie(&bus, shape, at(12), cut), second[..cut]);
    assert_eq!(lie(&bus, shape, at(14), n - cut), second[cut..]);

    // Addresses without a register: a number of beats at ports other than 0, and registers of ports 2 and up.
    for register in [0x68, 0x6c, 0x78, 0x7c, 0x80, 0x84, 0x90, 0xa0] {
        assert_eq!(bus.try_read(register).unwrap().1, SLVERR, "{register:#x}");
        assert_eq!(bus.try_write(register, 1).unwrap(), SLVERR, "{register:#x}");
    }
    // Each port's addresses are registers of their own; an unaligned one at any port refuses the start.
    for which in [READ, WRITE] {
        let registers = [0x00, 0x04, 0x20, 0x24].map(|more| which + more);
        let values = registers.map(|_| dice.bits() as u32 & !7);
        for (register, value) in registers.into_iter().zip(values) {
            bus.write(register, value).unwrap();
        }
        for (register, value) in registers.into_iter().zip(values) {
            assert_eq!(bus.read(register).unwrap(), value, "{register:#x}");
        }
        for port in [which, which + 0x20] {
            bus.write(port, 0x1004).unwrap();
            assert_eq!(bus.try_write(which + 8, 4).unwrap(), SLVERR, "{port:#x}");
            bus.write(port, 0x1000).unwrap();
        }
    }
    assert_eq!(bus.read(BUSY).unwrap(), 0);
    // A read whose words nothing takes stays under way, and another is refused.
    assert_eq!(bus.try_write(READ + 8, 64).unwrap(), OKAY);
    assert_eq!(bus.try_write(READ + 8, 64).unwrap(), SLVERR);
    assert_eq!(u64::from(bus.read(BUSY).unwrap()), busy::READ.put(1));
}

/// Wrong commands are refused with an answer or a code at the end, and the next job runs.
#[test]
fn commands_and_streams_that_make_no_sense_are_refused() {
    check_refusals(&hdl(), Built::narrow());
}

#[test]
fn so_they_are_behind_two_ports() {
    check_refusals(&hdl(), Built::two_ports());
}

fn check_refusals(hdl: &Hdl, built: Built) {
    let mut dice = Dice::new(seed());
    let shape = built.shape;
    let mut bus = bus(hdl, built, dice.bits());
    bus.stall(true);
    let exact = extend(Extension::Exact, LOG_N);
    for wrong in [exact | 1 << 29, exact | 1 << 31, exact | 4, exact | 1 << 7] {
        assert_eq!(
            command(&mut bus, wrong).unwrap(),
            Answer::BadCommand as u32,
            "{wrong:#x}"
        );
    }
    assert_eq!(bus.read(BUSY).unwrap(), 0);
    assert_eq!(bus.read(EVENTS).unwrap(), 0);
    for (wrong, code) in [
        (exact, Code::NoConstants),
        (3, Code::BadCommand),
        (load(4, 2), Code::TooLarge),
        (load(3, 3), Code::TooLarge),
        (extend(Extension::Fast, 10), Code::TooLarge),
    ] {
        assert_eq!(command(&mut bus, wrong).unwrap(), 0);
        assert_eq!(ended(&mut bus).unwrap(), code);
    }
    let job = job(built, &mut dice);
    load_constants(&mut bus, shape, &job);
    // A command during another, and a polynomial of half the length.
    assert_eq!(command(&mut bus, exact).unwrap(), 0);
    assert_eq!(bus.read(BUSY).unwrap(), 1);
    assert_eq!(command(&mut bus, exact).unwrap(), AT_WORK);
    read(&mut bus, 0x4000, (1 << LOG_N) / shape.lanes() / 2).unwrap();
    assert_eq!(ended(&mut bus).unwrap(), Code::CutShort);
    extends(&mut bus, shape, &job);
}

/// Faults of the wrapper, and of the shell's logic for several ports. The list leaves out the one that waits for the
/// last word of one port only, because all ports end together.
pub const FAULTS: List = List {
    name: "bus_basext",
    text: include_str!("../faults/bus_basext.toml"),
    checks: &[
        ("wrapper", |hdl, _| {
            all(hdl, Built::narrow(), &[check_refusals, check])
        }),
        ("ports", |hdl, _| {
            all(hdl, Built::two_ports(), &[check_ports])
        }),
    ],
};

fn all(hdl: &Hdl, built: Built, checks: &[fn(&Hdl, Built)]) -> Check {
    // RTL that does not build proves nothing: this panic is no mismatch.
    drop(bus(hdl, built, 1));
    (checks.iter()).try_for_each(|check| panics(|| check(hdl, built)))
}

#[test]
#[ignore = "builds the unit once for each fault; `make full` runs it"]
fn every_fault_of_the_wrapper_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
