// SPDX-License-Identifier: Apache-2.0
//! Tests of the bootstrapping engine behind the shell: whole bootstraps with random stalls on all channels, and wrong
//! commands and streams, which must be refused.

use std::sync::{Mutex, PoisonError};

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::shell::Register;
use ringmill_hdl::torus::{Code, switching_key, top};
use ringmill_hdl::{BuildOptions, Hdl, HdlError, Top};
use ringmill_machines::torus::isa::{Answer, Opcode, command as fields, config};
use ringmill_machines::torus::keyswitch::{Digits, Generators, golden};
use ringmill_machines::torus::{Golden, KeyStream, KeySwitch, Shape, Sizes};

use crate::bus::axi::{BUSY, Bus, END, EVENTS, READ, WRITE};
use crate::bus::{LENGTH, READ_DONE, WRITE_DONE, command, hdl, seed};
use crate::common::failure::{Check, panics};
use crate::faults::list::{List, When};

const LOAD: u32 = fields::OP.put(Opcode::Load.bits()) as u32;
const RUN: u32 = fields::OP.put(Opcode::Run.bits()) as u32;
const UNLOAD: u32 = fields::OP.put(Opcode::Unload.bits()) as u32;
const SWITCH: u32 = fields::OP.put(Opcode::Switch.bits()) as u32;
const GIVE: u32 = fields::OP.put(Opcode::Give.bits()) as u32;
const DONE: u32 = 1;
const AT_WORK: u32 = Answer::Busy as u32;
const WORD_BITS: usize = 52;
/// Addresses above 4 GiB for reads, 192 bytes below the end of a page, and for writes.
const HERE: u64 = 0x5_0000_0f40;
const THERE: u64 = 0x7_0001_0000;

/// Returns the bits of a command that name a ciphertext's place.
fn at_place(place: usize) -> u32 {
    fields::PLACE.put(place as u64) as u32
}

/// Returns an engine of ring degree N = 16 and LWE dimension n = 6, with places for two ciphertexts.
fn shape() -> Shape {
    Shape::new(Sizes {
        log_n: 4,
        levels: 3,
        log_base: 7,
        dim: 6,
        unroll: 1,
        units: 2,
        log_lanes: 1,
        log_pos: 0,
        places: 2,
        group: 1,
        key_beats: 16,
        switch: KeySwitch {
            digits: Digits {
                log_base: 2,
                levels: 5,
            },
            generators: Generators {
                cores: 1,
                rounds: 2,
                steps: 2,
            },
        },
    })
    .unwrap()
}

/// A width of the bus: the 32-bit words of a beat, and the ports over which it is divided.
#[derive(Clone, Copy)]
struct Built {
    words: usize,
    ports: usize,
}

/// A narrow bus: a beat of the bootstrapping key takes ten beats of the bus.
const NARROW: Built = Built { words: 2, ports: 1 };
/// A wide bus: a beat of the bootstrapping key takes two beats of the bus, and the last beat of a stream of words is
/// never full.
const WIDE: Built = Built {
    words: 16,
    ports: 2,
};

impl Built {
    fn bits(self) -> usize {
        32 * self.words
    }

    /// Returns the number of beats of the bus for a beat of the bootstrapping key.
    fn parts(self) -> usize {
        (shape().beat_words() * WORD_BITS).div_ceil(self.bits())
    }
}

fn bus(hdl: &Hdl, built: Built, seed: u64) -> Bus {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _guard = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let engine = top(shape());
    let top = Top {
        module: "rm_torus_axi".to_owned(),
        once: Vec::new(),
        ..engine
    };
    let top = top
        .int("DataWidth", built.bits() as u64)
        .int("Ports", built.ports as u64);
    let model = hdl
        .model(&top, BuildOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    Bus::new(model, built.words, built.ports, Dice::new(seed)).unwrap()
}

/// Random keys and ciphertexts to load, and the golden model's results: the large ciphertexts of the bootstraps, and
/// the small ones after the key switch.
struct Job {
    loads: Vec<Vec<u32>>,
    key: Vec<Vec<u64>>,
    switching_key: Vec<u32>,
    large: Vec<Vec<u32>>,
    small: Vec<Vec<u32>>,
}

impl Job {
    fn new(dice: &mut Dice) -> Self {
        let shape = shape();
        let (n, dim) = (shape.degree(), shape.sizes().dim);
        let software = Golden::new(shape).unwrap();
        let key: Vec<Vec<u64>> = (0..shape.gadgets() * shape.rows() * 2)
            .map(|_| software.evaluations(&dice.limb(n, 1 << 32)).unwrap())
            .collect();
        let stream = KeyStream::new(shape, key.iter().map(Vec::as_slice).collect()).unwrap();
        let mut seed = [0; 32];
        seed.fill_with(|| dice.bits() as u8);
        let digits = shape.switch().digits();
        let bodies: Vec<u32> = (0..n * digits.levels).map(|_| dice.bits() as u32).collect();
        let (mut loads, mut large) = (Vec::new(), Vec::new());
        for _ in 0..shape.sizes().places {
            let table = dice.limb(n, 1 << 32);
            let mut exponent = || dice.below(2 * n as u64) as usize;
            let minus_body = exponent();
            let mask: Vec<usize> = (0..dim).map(|_| exponent()).collect();
            let made = software
                .bootstrap(&stream, &table, minus_body, &mask)
                .unwrap();
            large.push(made.iter().map(|&x| x as u32).collect());
            let table = table.iter().map(|&x| x as u32);
            let exponents = mask.iter().map(|&a| a as u32);
            loads.push(
                std::iter::once(minus_body as u32)
                    .chain(table)
                    .chain(exponents)
                    .collect(),
            );
        }
        Self {
            small: golden(digits, &seed, &bodies, dim, &large).unwrap(),
            switching_key: switching_key(&seed, &bodies),
            loads,
            key: (0..shape.key_total())
                .map(|at| {
                    let mut words = vec![0; shape.beat_words()];
                    stream.beat(at, &mut words);
                    words
                })
                .collect(),
            large,
        }
    }
}

/// Writes words to memory, fills the last beat with random words that the engine must ignore, and returns the number of
/// beats.
fn lay(bus: &mut Bus, built: Built, words: &[u32], dice: &mut Dice) -> usize {
    let beats = words.len().div_ceil(built.words);
    for at in 0..beats * built.words {
        let rubbish = dice.bits() as u32;
        bus.lay(HERE, at, words.get(at).copied().unwrap_or(rubbish));
    }
    beats
}

/// Writes beats of the bootstrapping key to memory, each from the start of a beat of the bus. Returns the number of
/// beats of the bus.
fn lay_key(bus: &mut Bus, built: Built, key: &[Vec<u64>]) -> usize {
    for (number, beat) in key.iter().enumerate() {
        let mut bits = vec![0u32; built.parts() * built.words];
        for (i, &word) in beat.iter().enumerate() {
            for bit in 0..WORD_BITS {
                let at = i * WORD_BITS + bit;
                bits[at / 32] |= ((word >> bit & 1) as u32) << (at % 32);
            }
        }
        let begin = number * bits.len();
        for (at, &word) in bits.iter().enumerate() {
            bus.lay(HERE, begin + at, word);
        }
    }
    key.len() * built.parts()
}

fn ended(bus: &mut Bus) -> Result<Code, HdlError> {
    bus.wait(DONE)?;
    Ok(Code::from_bits(bus.read(END)?.into()).unwrap())
}

/// Sends a command with a read of `beats` beats, and returns the code at the end.
fn with_read(bus: &mut Bus, word: u32, beats: usize) -> Code {
    assert_eq!(command(bus, word).unwrap(), 0, "{word:#x}");
    bus.transfer(READ, HERE, beats).unwrap();
    let code = ended(bus).unwrap();
    bus.wait(READ_DONE).unwrap();
    code
}

/// Sends a command without streams, and returns the code at the end.
fn alone(bus: &mut Bus, word: u32) -> Code {
    assert_eq!(command(bus, word).unwrap(), 0, "{word:#x}");
    ended(bus).unwrap()
}

/// Sends a command that writes a place's result, and returns the result's words.
fn result(bus: &mut Bus, built: Built, word: u32, words: usize) -> Vec<u32> {
    let beats = words.div_ceil(built.words);
    assert_eq!(command(bus, word).unwrap(), 0);
    bus.transfer(WRITE, THERE, beats).unwrap();
    bus.wait(WRITE_DONE).unwrap();
    assert_eq!(ended(bus).unwrap(), Code::Ok);
    assert_eq!(bus.read(EVENTS).unwrap() & LENGTH, 0);
    for at in words..beats * built.words {
        assert_eq!(bus.lies(THERE, at), 0, "behind the last word");
    }
    (0..words).map(|at| bus.lies(THERE, at)).collect()
}

fn bootstraps(bus: &mut Bus, built: Built, job: &Job, dice: &mut Dice) {
    let last = at_place(job.loads.len() - 1);
    for (place, load) in job.loads.iter().enumerate() {
        let beats = lay(bus, built, load, dice);
        let code = with_read(bus, LOAD | at_place(place), beats);
        assert_eq!(code, Code::Ok);
    }
    let beats = lay_key(bus, built, &job.key);
    assert_eq!(with_read(bus, RUN | last, beats), Code::Ok);
    let beats = lay(bus, built, &job.switching_key, dice);
    assert_eq!(with_read(bus, SWITCH | last, beats), Code::Ok);
    for (place, (large, small)) in job.large.iter().zip(&job.small).enumerate() {
        let at = at_place(place);
        assert_eq!(result(bus, built, UNLOAD | at, large.len()), *large);
        assert_eq!(result(bus, built, GIVE | at, small.len()), *small);
    }
    assert_eq!(bus.read(EVENTS).unwrap(), 0);
}

fn check(hdl: &Hdl, built: Built) {
    let mut dice = Dice::new(seed());
    let mut bus = bus(hdl, built, dice.bits());
    assert_eq!(
        bus.read(Register::Machine.bits()).unwrap().to_be_bytes(),
        *b"TORU"
    );
    let config = config::LOG_N.put(4)
        | config::DIM.put(6)
        | config::PLACES.put(2)
        | config::UNROLL.put(1)
        | config::LOG_WORDS.put(built.words.ilog2().into());
    assert_eq!(
        u64::from(bus.read(Register::Config.bits()).unwrap()),
        config
    );
    for stalls in [true, false] {
        bus.stall(stalls);
        let job = Job::new(&mut dice);
        bootstraps(&mut bus, built, &job, &mut dice);
    }
}

/// Wrong commands and streams are refused with an answer or a code at the end, and the next bootstrap runs.
fn check_refusals(hdl: &Hdl, built: Built) {
    let mut dice = Dice::new(seed());
    let mut bus = bus(hdl, built, dice.bits());
    let job = Job::new(&mut dice);
    bus.stall(true);
    for wrong in [RUN | 1 << 16, LOAD | 1 << 31, GIVE | 8, SWITCH | 1 << 7] {
        assert_eq!(
            command(&mut bus, wrong).unwrap(),
            Answer::BadCommand as u32,
            "{wrong:#x}"
        );
    }
    assert_eq!(bus.read(BUSY).unwrap(), 0);
    assert_eq!(bus.read(EVENTS).unwrap(), 0);
    for (word, code) in [
        (RUN, Code::NotLoaded),
        (UNLOAD | at_place(1), Code::NotLoaded),
        (SWITCH, Code::NotLoaded),
        (GIVE, Code::NotLoaded),
        (5, Code::BadCommand),
        (7, Code::BadCommand),
        (LOAD | at_place(2), Code::BadCommand),
    ] {
        assert_eq!(alone(&mut bus, word), code, "{word:#x}");
    }
    // Loads that are a beat too short, and one or three beats too long; then one with an exponent that is too large.
    let beats = lay(&mut bus, built, &job.loads[0], &mut dice);
    assert_eq!(with_read(&mut bus, LOAD, beats - 1), Code::CutShort);
    assert_eq!(with_read(&mut bus, LOAD, beats + 1), Code::TooLong);
    assert_eq!(with_read(&mut bus, LOAD, beats + 3), Code::TooLong);
    let mut bad = job.loads[0].clone();
    *bad.last_mut().unwrap() = 32;
    let beats = lay(&mut bus, built, &bad, &mut dice);
    assert_eq!(with_read(&mut bus, LOAD, beats), Code::BadExponent);
    assert_eq!(alone(&mut bus, RUN), Code::NotLoaded);
    // Bootstrapping keys that end early, between beats of the key or within one, and keys that are too long.
    let parts = built.parts();
    for (less, more, code) in [
        (1, 0, Code::KeyShort),
        (parts, 0, Code::KeyShort),
        (parts + 1, 0, Code::KeyShort),
        (40 * parts, 0, Code::KeyShort),
        (0, 1, Code::KeyLong),
        (0, parts, Code::KeyLong),
        (0, 3 * parts, Code::KeyLong),
    ] {
        let beats = lay(&mut bus, built, &job.loads[0], &mut dice);
        assert_eq!(with_read(&mut bus, LOAD, beats), Code::Ok);
        let beats = lay_key(&mut bus, built, &job.key) - less + more;
        assert_eq!(with_read(&mut bus, RUN, beats), code, "{less} less, {more}");
        assert_eq!(alone(&mut bus, UNLOAD), Code::NotLoaded);
    }
    bootstraps(&mut bus, built, &job, &mut dice);
    // A command during another; switching keys that end early, and one that is too long.
    let beats = lay(&mut bus, built, &job.switching_key, &mut dice);
    assert_eq!(command(&mut bus, SWITCH).unwrap(), 0);
    assert_eq!(bus.read(BUSY).unwrap(), 1);
    assert_eq!(command(&mut bus, RUN).unwrap(), AT_WORK);
    bus.transfer(READ, HERE, 2).unwrap();
    assert_eq!(ended(&mut bus).unwrap(), Code::KeyShort);
    bus.wait(READ_DONE).unwrap();
    assert_eq!(with_read(&mut bus, SWITCH, beats - 1), Code::KeyShort);
    assert_eq!(with_read(&mut bus, SWITCH, beats + 1), Code::KeyLong);
    assert_eq!(alone(&mut bus, GIVE), Code::NotLoaded);
    assert_eq!(with_read(&mut bus, SWITCH, beats), Code::Ok);
    let found = result(&mut bus, built, GIVE, job.small[0].len());
    assert_eq!(found, job.small[0]);
}

#[test]
#[ignore = "a model of its own; `make full` runs it"]
fn bootstraps_give_what_the_golden_model_gives() {
    check(&hdl(), NARROW);
}

#[test]
#[ignore = "another model; `make full` runs it"]
fn so_do_those_behind_two_ports() {
    check(&hdl(), WIDE);
}

#[test]
fn commands_and_streams_that_make_no_sense_are_refused() {
    check_refusals(&hdl(), WIDE);
}

#[test]
#[ignore = "a model of its own; `make full` runs it"]
fn so_they_are_where_beats_are_narrow() {
    check_refusals(&hdl(), NARROW);
}

/// Faults of the wrapper, and of the modules between the bus's beats and the engine's words. The list leaves out where
/// the count of a too long stream stops, because it makes no difference which word of the excess beat is marked.
pub const FAULTS: List = List {
    name: "bus_torus",
    text: include_str!("../faults/bus_torus.toml"),
    checks: &[
        ("wide", |hdl, _| all(hdl, WIDE)),
        ("narrow", |hdl, _| all(hdl, NARROW)),
    ],
};

fn all(hdl: &Hdl, built: Built) -> Check {
    // RTL that does not build proves nothing: this panic is no mismatch.
    drop(bus(hdl, built, 1));
    panics(|| check_refusals(hdl, built))?;
    panics(|| check(hdl, built))
}

#[test]
#[ignore = "builds the engine once for each fault; `make full` runs it"]
fn every_fault_of_the_wrapper_is_noticed() {
    FAULTS.all_are_noticed(When::Full);
}
