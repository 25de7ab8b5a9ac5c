//! The base-extension unit behind the same shell: jobs of the golden model with random stalls on all channels, and what is
//! refused.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use ringmill_hdl::basext::{Code, Command as Wanted, Operation};
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, HdlError, Top};
use ringmill_machines::basext::{Constants, Extension, Shape, Word, golden};
use ringmill_math::primes::ntt_primes;
use ringmill_math::{Modulus, RnsBasis};

use crate::axi::{BUSY, Bus, END, EVENTS, READ, WRITE};
use crate::faulty::Faulty;
use crate::{LENGTH, READ_DONE, WRITE_DONE, WRITE_ERROR, command, hdl, seed, transfer};

const DONE: u32 = 1;
const AT_WORK: u32 = 8;
const LOG_N: u32 = 8;

fn shape(word: Word) -> Shape {
    let lanes = match word {
        Word::Bits32 => 2,
        Word::Bits64 => 4,
    };
    Shape::new(word, lanes, 8..=9, 3, 2).unwrap()
}

/// Words of 32 bits in a beat.
fn beat(shape: Shape) -> usize {
    shape.lanes() * shape.word().bits() as usize / 32
}

fn bus(hdl: &Hdl, shape: Shape, seed: u64) -> Bus {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _guard = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let top = Top::new("rm_basext_axi")
        .int("Width", u64::from(shape.word().modulus_bits()))
        .int("Lanes", shape.lanes() as u64)
        .int("MinLogN", shape.min_log_n().into())
        .int("MaxLogN", shape.max_log_n().into())
        .int("MaxL", shape.max_l() as u64)
        .int("MaxK", shape.max_k() as u64);
    let model = hdl
        .model(&top, BuildOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    Bus::new(model, beat(shape), Dice::new(seed)).unwrap()
}

fn word(wanted: Wanted) -> u32 {
    wanted.operation.number() as u32
        | u32::from(wanted.l) << 8
        | u32::from(wanted.k) << 16
        | u32::from(wanted.log_n) << 24
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

/// Lays words of the streams into memory; `each` a beat.
fn lay(bus: &mut Bus, shape: Shape, address: u64, words: &[u64], each: usize) -> usize {
    let halves = shape.word().bits() as usize / 32;
    for (number, beat_words) in words.chunks(each).enumerate() {
        for (lane, &word) in beat_words.iter().enumerate() {
            for half in 0..halves {
                let at = number * beat(shape) + lane * halves + half;
                let value = (word >> (32 * half)) as u32;
                bus.memory.insert(address + 4 * at as u64, value);
            }
        }
    }
    words.len().div_ceil(each)
}

fn lie(bus: &Bus, shape: Shape, address: u64, n: usize) -> Vec<u64> {
    let halves = shape.word().bits() as usize / 32;
    let word = |i: usize| {
        let half = |half| u64::from(bus.word(address + 4 * (i * halves + half) as u64));
        (0..halves).rev().fold(0, |word, at| word << 32 | half(at))
    };
    (0..n).map(word).collect()
}

/// Reads a stretch of memory into the unit.
fn read(bus: &mut Bus, address: u64, beats: usize) -> Result<(), HdlError> {
    transfer(bus, READ, address, beats)?;
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
    /// Exact, and fast.
    want: [Vec<Vec<u64>>; 2],
}

fn job(shape: Shape, dice: &mut Dice) -> Job {
    let bits = shape.word().modulus_bits();
    let primes = ntt_primes(bits, 9, 6).unwrap();
    let moduli: Vec<Modulus> = primes.iter().map(|&q| Modulus::new(q).unwrap()).collect();
    let sources = RnsBasis::new(moduli[..3].to_vec()).unwrap();
    let (redundant, targets) = (Some(moduli[3]), &moduli[4..]);
    // The residues of small integers: the same modulo every prime, and the exact extension too.
    let small: Vec<u64> = (0..1 << LOG_N).map(|_| dice.bits() >> 40).collect();
    let limbs = vec![small; 4];
    let want = [Extension::Exact, Extension::Fast].map(|extension| {
        let given = 3 + usize::from(extension == Extension::Exact);
        let given: Vec<&[u64]> = limbs[..given].iter().map(Vec::as_slice).collect();
        golden(&sources, redundant, targets, extension, &given).unwrap()
    });
    assert_eq!(want[0][0], limbs[0]);
    Job {
        constants: Constants::new(shape, &sources, redundant, targets).unwrap(),
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

fn extends(bus: &mut Bus, shape: Shape, job: &Job) {
    let n = 1 << LOG_N;
    let beats = n / shape.lanes();
    let at = |limb: usize| 0x9_0000_0000 + 0x2000 * limb as u64;
    for (number, limb) in job.limbs.iter().enumerate() {
        lay(bus, shape, at(number), limb, shape.lanes());
    }
    for (extension, want) in [Extension::Exact, Extension::Fast]
        .into_iter()
        .zip(&job.want)
    {
        assert_eq!(command(bus, extend(extension, LOG_N)).unwrap(), 0);
        for (target, want) in want.iter().enumerate() {
            let to = at(8 + target);
            transfer(bus, WRITE, to, beats).unwrap();
            let redundant = (extension == Extension::Exact).then_some(3);
            for limb in redundant.into_iter().chain(0..3) {
                read(bus, at(limb), beats).unwrap();
            }
            bus.wait(WRITE_DONE).unwrap();
            assert_eq!(lie(bus, shape, to, n), *want, "{extension:?} {target}");
        }
        assert_eq!(bus.wait(DONE | LENGTH | WRITE_ERROR).unwrap(), DONE);
        assert_eq!(bus.read(END).unwrap(), 0);
    }
}

/// Constants and both extensions to two targets, with stalls on all ten channels and without.
#[test]
fn extensions_give_what_the_golden_model_gives() {
    check(&hdl(), shape(Word::Bits32));
}

#[test]
#[ignore = "wide multipliers take long to build; `make full` runs it"]
fn so_do_those_of_wide_moduli() {
    check(&hdl(), shape(Word::Bits64));
}

fn check(hdl: &Hdl, shape: Shape) {
    let mut dice = Dice::new(seed());
    let mut bus = bus(hdl, shape, dice.bits());
    assert_eq!(bus.read(0x04).unwrap().to_be_bytes(), *b"BASE");
    let config = 9 << 24 | 3 << 16 | 2 << 8 | shape.lanes() as u32;
    assert_eq!(bus.read(0x08).unwrap(), config);
    for stalls in [true, false] {
        bus.stall(stalls);
        let job = job(shape, &mut dice);
        load_constants(&mut bus, shape, &job);
        extends(&mut bus, shape, &job);
    }
}

/// Answers, and codes at the end; the next job runs.
#[test]
fn commands_and_streams_that_make_no_sense_are_refused() {
    check_refusals(&hdl());
}

fn check_refusals(hdl: &Hdl) {
    let mut dice = Dice::new(seed());
    let shape = shape(Word::Bits32);
    let mut bus = bus(hdl, shape, dice.bits());
    bus.stall(true);
    let exact = extend(Extension::Exact, LOG_N);
    for wrong in [exact | 1 << 29, exact | 1 << 31, exact | 4, exact | 1 << 7] {
        assert_eq!(command(&mut bus, wrong).unwrap(), 1, "{wrong:#x}");
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
    let job = job(shape, &mut dice);
    load_constants(&mut bus, shape, &job);
    // A polynomial of half the length; a command beside another.
    assert_eq!(command(&mut bus, exact).unwrap(), 0);
    assert_eq!(bus.read(BUSY).unwrap(), 1);
    assert_eq!(command(&mut bus, exact).unwrap(), AT_WORK);
    read(&mut bus, 0x4000, (1 << LOG_N) / 4).unwrap();
    assert_eq!(ended(&mut bus).unwrap(), Code::CutShort);
    extends(&mut bus, shape, &job);
}

/// Single-line faults of the wrapper: what stands there once, what stands there instead.
const FAULTS: [(&str, &str); 8] = [
    ("cmd[31:29] == '0 && cmd[7:2] == '0", "cmd[31:29] == '0"),
    ("cmd_valid && known && ready", "cmd_valid && ready"),
    ("known && ready && !take_q", "known && !take_q"),
    ("!known ? 8'(BadCommand) : take", "take"),
    ("finished_q <= done", "finished_q <= 1'b0"),
    (".cmd_l_i(cmd_q[15:8])", ".cmd_l_i(cmd_q[23:16])"),
    (".cmd_k_i(cmd_q[23:16])", ".cmd_k_i(cmd_q[15:8])"),
    ("8'(!ready || take_q)", "8'(take_q)"),
];

#[test]
#[ignore = "builds the unit once for each fault; `make full` runs it"]
fn faults_of_the_wrapper_are_caught() {
    let shape = shape(Word::Bits32);
    for (from, to) in FAULTS {
        let copy = Faulty::copy("rm_basext_axi.sv", from, to);
        let faulty = hdl().with_sources(&[copy.root()]).unwrap();
        // What does not build proves nothing.
        drop(bus(&faulty, shape, 1));
        let fails = |check: &dyn Fn()| catch_unwind(AssertUnwindSafe(check)).is_err();
        let caught = fails(&|| check_refusals(&faulty)) || fails(&|| check(&faulty, shape));
        assert!(caught, "{from} -> {to} is not caught");
    }
}
