// SPDX-License-Identifier: Apache-2.0
//! Tests that the predicted precision is a bound on the measured precision, and a close one. Random programs of every
//! operation are encrypted, run and decrypted.
//!
//! The bound holds for every key and every input within the ranges, which are declared or come from a sample. So it is
//! close if some input and some key come near it. Inputs are searched for in the clear
//! ([`Worst`](ringmill_test_circuits::worst::Worst)) and the worst are encrypted. While an output is too far from its
//! bound, the search goes on with another key. The largest error found counts.
//!
//! `RINGMILL_PRECISION_CASES` sets the number of programs, and `RINGMILL_PRECISION_SEED` the first seed. If the number
//! is 1, the program is printed.

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::Accuracy;
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::ckks::{Compiled, InputRange, Options, ParamsChoice, Wanted};
use ringmill_compiler::{CompileError, Passes, compile};
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::Level;
use ringmill_isa::macros::{MacroOp, MacroProgram, Visibility, text};
use ringmill_limits::Watch;
use ringmill_runtime::{Client, Sender, Server, Vectors};
use ringmill_schemes::ckks::Params;
use ringmill_sim::open;
use ringmill_test_circuits::inputs::of_kind;
use ringmill_test_circuits::numbers::Numbers;
use ringmill_test_circuits::programs::{Case, Limits, case};
use ringmill_test_circuits::worst::Worst;

/// Seeds that every run includes: the program with the least slack of some thousands, and programs whose predictions a
/// coarser bound put 10 to 19 bits too low.
const KEPT: &[u64] = &[4930, 2783, 1204, 1216, 13723, 18418, 13061, 12211, 9725];

/// The largest slack in bits of the median output.
const MEDIAN: f64 = 4.0;
/// The largest slack in bits of any output.
const WORST: f64 = 8.0;
/// The seed of a program whose output may be all error. P is smaller than a digit, so the error of a conjugation is as
/// large as the value in slot 0, which is raised to the 11th power.
const NOTHING_TO_READ: u64 = 3789;
/// The most searches, each with keys of its own, for an input that comes near the bound.
const TRIES: u64 = 8;
/// The number of inputs that a search tries.
const MOVES: usize = 24;

/// The bit that makes the seed for drawing the digits from a program's seed. So drawing the digits changes no other
/// draw of the program.
const DIGITS: u64 = 1 << 40;

/// The bit of seeds whose programs often switch ciphertexts with one key that differ by a public value.
const ALIKE: u64 = 1 << 31;

/// A random program and the options to compile it with. The seed determines both.
struct Drawn {
    case: Case,
    options: Options,
    said: String,
}

/// Returns the numbers of special primes and of digits. Half of the programs have them as drawn. The others have any
/// number of digits, with as many special primes as the largest digit has primes, or as few as have its bits. Programs
/// that are kept stay as they were.
fn digits(seed: u64, bits: &[u32], special: usize, special_bits: u32) -> (usize, usize) {
    let mut other = Numbers::new(seed ^ DIGITS);
    if seed == NOTHING_TO_READ || KEPT.contains(&seed) || other.one_in(2) {
        return (special, bits.len().div_ceil(special));
    }
    let dnum = 1 + other.below(bits.len());
    let longest = bits.len().div_ceil(dnum);
    let scale = bits.last().copied().unwrap_or(0);
    let needed = bits[0] + (scale + 1) * (longest as u32 - 1);
    let fewest = needed.div_ceil(special_bits) as usize;
    (if other.one_in(2) { longest } else { fewest }, dnum)
}

fn draw(seed: u64) -> Drawn {
    let mut numbers = Numbers::new(seed);
    let n = &mut numbers;
    // Most programs use the smallest ring, which takes the least time.
    let log_n = [12, 12, 12, 12, 12, 12, 13, 14][n.below(8)];
    let levels = n.between(0, 8);
    let scale = n.between(30, 52);
    let given = !n.one_in(4);
    let limits = Limits {
        slots: 1 << n.between(1, log_n - 1),
        operations: n.between(1, 40) as usize,
        depth: if given { levels } else { levels.min(4) },
        largest: 256.0,
        alike: seed & ALIKE != 0,
    };
    let sampled = n.one_in(3);
    let ends = !sampled && !n.one_in(4);
    let case = case(n, limits, ends);
    let params = if given {
        let special = 1 + n.below(2.min(levels as usize + 1));
        let mut bits = vec![(scale + n.between(3, 12)).min(60)];
        bits.extend(std::iter::repeat_n(scale, levels as usize));
        let special_bits = (scale + n.between(1, 20)).min(60);
        let (special, dnum) = digits(seed, &bits, special, special_bits);
        let specials = vec![special_bits; special];
        let params = Params::builder(log_n as u8)
            .prime_bits(&bits, &specials)
            .dnum(dnum)
            .default_scale(f64::from(scale).exp2())
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        ParamsChoice::Given(params)
    } else {
        ParamsChoice::Choose(Wanted {
            accuracy: Accuracy::Bits(n.between(8, 24)),
            ..Wanted::default()
        })
    };
    let passes = Passes {
        lazy_relin: !limits.alike || n.one_in(2),
        hoist: !limits.alike || n.one_in(2),
        ..Passes::ALL
    };
    let options = Options {
        params,
        passes,
        // With a sample the compiler derives the ranges: the sample's largest values times a margin, up to a power of
        // two.
        ranges: case
            .ranges
            .iter()
            .map(|&range| (!sampled).then_some(range))
            .collect(),
        sample: sampled.then(|| case.inputs.clone()),
        seeded_keys: n.one_in(2),
        ..Options::default()
    };
    let kind = match (sampled, ends) {
        (true, _) => "sampled",
        (false, true) => "near the ends",
        (false, false) => "anywhere",
    };
    Drawn {
        case,
        options,
        said: format!("seed {seed}: {limits:?}, {kind}"),
    }
}

/// The slack of one program's outputs.
struct Found {
    /// For each output the measured bits minus the predicted bits, the least over the searches.
    slack: Vec<f64>,
    seed: u64,
    said: String,
}

/// Measures the slack of the program of a seed. Returns `None` if the compiler refuses it, as for parameters that are
/// too small.
fn run(seed: u64) -> Option<Found> {
    run_drawn(draw(seed), seed)
}

fn run_drawn(drawn: Drawn, seed: u64) -> Option<Found> {
    let Drawn {
        case,
        options,
        mut said,
    } = drawn;
    let compiled = match compile(case.program.clone(), &options) {
        Ok(compiled) => Arc::new(compiled),
        Err(
            CompileError::Overflow { .. }
            | CompileError::Meaningless { .. }
            | CompileError::TooLarge { .. }
            | CompileError::TooPrecise { .. }
            | CompileError::NoParameters { .. }
            | CompileError::Transparent { .. },
        ) => return None,
        Err(error) => panic!("{said}: {error}"),
    };
    said += &format!(", {}", compiled.params.summary());
    if from_environment("RINGMILL_PRECISION_CASES") == Some(1) {
        println!("{}", text::print(&compiled.managed));
        println!("ranges {:?}", case.ranges);
    }
    let ranges: Vec<InputRange> = compiled.inputs.iter().map(|input| input.range).collect();
    let mut worst = Worst::new(
        &compiled.managed,
        &compiled.params,
        &ranges,
        &case.inputs,
        seed,
    );
    let mut slack = vec![f64::INFINITY; case.program.outputs.len()];
    for attempt in 0..TRIES {
        // The output furthest from its bound.
        let (output, &most) = (slack.iter().enumerate())
            .max_by(|a, b| a.1.total_cmp(b.1))
            .unwrap();
        if attempt > 0 && most <= WORST {
            break;
        }
        worst.search(MOVES);
        let inputs = worst.inputs(output);
        let (predicted, measured) =
            measure(&case.program, inputs, &compiled, seed ^ (attempt << 32));
        if from_environment("RINGMILL_PRECISION_CASES") == Some(1) {
            println!("predicted {predicted:.2?}, measured {measured:.2?}");
        }
        for ((slack, p), m) in slack.iter_mut().zip(predicted).zip(measured) {
            *slack = slack.min(m - p);
        }
    }
    Some(Found { slack, seed, said })
}

/// Encrypts the inputs under the public key, which is noisier than the secret key, runs the program and decrypts. Returns
/// the predicted and the measured bits of each output.
fn measure(
    program: &MacroProgram,
    inputs: &[Vec<Complex64>],
    compiled: &Arc<Compiled>,
    seed: u64,
) -> (Vec<f64>, Vec<f64>) {
    let mut bytes = [1; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let client =
        Client::from_seed_for_reproducible_tests_only(Arc::clone(compiled), bytes).unwrap();
    let server = Server::new(Arc::clone(compiled), client.evaluation_keys().unwrap()).unwrap();
    let of = |kind| of_kind(program, inputs, kind);
    let (encrypted, plain) = (of(Visibility::Encrypted), of(Visibility::Plain));
    let sender = Sender::from_seed_for_reproducible_tests_only;
    let sender = sender(Arc::clone(compiled), &client.public_key().unwrap(), bytes).unwrap();
    let ciphers = sender.encrypt(&encrypted, &Watch::default()).unwrap();
    let device = open("cpu:1").unwrap();
    let answer = server
        .run(
            device.as_ref(),
            &ciphers,
            &plain,
            Request::function_only(),
            &Silent,
        )
        .unwrap();
    let outputs = client.decrypt(&answer.outputs.unwrap()).unwrap();
    let inputs: Vectors = encrypted.into_iter().chain(plain).collect();
    let rows = client.measure(&inputs, &outputs).unwrap();
    rows.iter()
        .map(|row| (row.predicted_bits, row.measured_bits.unwrap()))
        .unzip()
}

/// Runs the programs of the seeds on all cores, and asserts that the slack of their outputs is within the limits.
fn hold(seeds: &[u64]) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&seed) =
                    seeds.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let result = run(seed);
                    found.lock().unwrap().extend(result);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(2 * found.len() >= seeds.len(), "most programs must run");
    let of = |f: &'_ Found| f.slack.iter().map(|&s| (s, f.seed)).collect::<Vec<_>>();
    let mut all: Vec<(f64, u64)> = found.iter().flat_map(of).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let said = |seed: u64| {
        let of = found.iter().find(|f| f.seed == seed);
        of.map_or("", |f| f.said.as_str())
    };
    let (least, most, median) = (all[0], all[all.len() - 1], all[all.len() / 2]);
    println!(
        "{} of {} programs ran, {} outputs: slack {:.2} to {:.2} bits, median {:.2}\n  least: {}\n  most: {}",
        found.len(),
        seeds.len(),
        all.len(),
        least.0,
        most.0,
        median.0,
        said(least.1),
        said(most.1)
    );
    assert!(
        least.0 >= 0.0,
        "{:.2} bits worse than predicted: {}",
        -least.0,
        said(least.1)
    );
    assert!(
        most.0 <= WORST,
        "{:.2} bits better than predicted: {}",
        most.0,
        said(most.1)
    );
    assert!(
        median.0 <= MEDIAN,
        "{:.2} bits of slack in the median",
        median.0
    );
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn seeds(count: u64) -> Vec<u64> {
    let count = from_environment("RINGMILL_PRECISION_CASES").unwrap_or(count);
    let first = from_environment("RINGMILL_PRECISION_SEED").unwrap_or(1);
    println!("seeds {first} to {}", first + count - 1);
    (first..first + count).collect()
}

#[test]
fn predicted_precision_is_a_close_bound() {
    let mut seeds = seeds(300);
    seeds.extend(KEPT);
    hold(&seeds);
}

/// The compiler refuses an output whose error may be larger than every value, instead of predicting negative bits.
#[test]
fn an_output_of_which_nothing_could_be_read_is_refused() {
    let Drawn { case, options, .. } = draw(NOTHING_TO_READ);
    match compile(case.program, &options) {
        Err(CompileError::Meaningless {
            error, magnitude, ..
        }) => assert!(error > 1.0 && error > magnitude),
        other => panic!("{:?}", other.map(|compiled| compiled.predicted)),
    }
}

/// A key that switches the same polynomial several times adds the same error each time, so the errors add up without
/// cancelling.
#[test]
fn errors_that_are_the_same_are_not_independent() {
    let mut seeds = seeds(std::env::var_os("RINGMILL_FUZZ_SECONDS").map_or(34, |_| 100));
    seeds.iter_mut().for_each(|seed| *seed |= ALIKE);
    hold(&seeds);
}

/// The program is a sum over many public p of key switches of x + p. The compiled program must have a key switch for
/// each p.
#[test]
fn sums_of_what_differs_by_what_is_public_are_bounded() {
    for (number, way) in [Way::Rotate, Way::Conjugate, Way::Multiply, Way::Square]
        .into_iter()
        .enumerate()
    {
        let drawn = public_differences(way, 128);
        let switched = [MacroOp::Rotate, MacroOp::Conj, MacroOp::Relin];
        let compiled = compile(drawn.case.program.clone(), &drawn.options).unwrap();
        let count = (compiled.managed.instrs.iter())
            .filter(|i| switched.contains(&i.op))
            .count();
        assert!(count >= 128, "{way:?}: {count} key switches");
        let found = run_drawn(drawn, number as u64).unwrap();
        println!("{way:?}: slack {:.2}", found.slack[0]);
        assert!(
            (0.0..WORST).contains(&found.slack[0]),
            "{way:?}: {:.2}",
            found.slack[0]
        );
    }
}

/// Returns a mask for N = 2^12: zeros in the slots where the mean of the digits causes most of a key switch's error,
/// and ones in all others.
fn away_from_the_mean(slots: u32) -> Vec<(f64, f64)> {
    let degree = 4096u64;
    let mask = (0..slots).scan(1u64, |e, _| {
        let ones = 1.0 / (std::f64::consts::PI * *e as f64 / (2 * degree) as f64).sin();
        *e = *e * 3 % (2 * degree);
        Some((f64::from(u8::from(ones < 4.0)), 0.0))
    });
    mask.collect()
}

/// The program is a sum of rotations of y + (x << i) (p + 1 - q) by the same steps, with and without 1 - q. For p = 0
/// and q = 1 all of them switch the polynomial of y, which the compiler cannot know.
#[test]
fn what_plain_inputs_make_the_same_is_bounded() {
    for with_q in [false, true] {
        let (slots, count) = (1024, 256);
        let mut n = Numbers::new(11);
        let mut trace = TraceBuilder::new("same", slots).unwrap();
        let [x, y] = ["x", "y"].map(|name| trace.input(name, Visibility::Encrypted, None).unwrap());
        let [p, q] = ["p", "q"].map(|name| trace.input(name, Visibility::Plain, None).unwrap());
        let mut sum: Option<Traced> = None;
        for i in 0..count {
            let turned = trace.rotate(x, i, None).unwrap();
            let product = trace.mul(turned, p, None).unwrap();
            let mut other = trace.add(product, y, None).unwrap();
            if with_q {
                let taken = trace.mul(turned, q, None).unwrap();
                let left = trace.sub(turned, taken, None).unwrap();
                other = trace.add(other, left, None).unwrap();
            }
            let made = trace.rotate(other, 3, None).unwrap();
            sum = Some(match sum {
                None => made,
                Some(sum) => trace.add(sum, made, None).unwrap(),
            });
        }
        let mask = trace.vector(away_from_the_mean(slots), None).unwrap();
        let masked = trace.mul(sum.unwrap(), mask, None).unwrap();
        trace.output("out", masked, None).unwrap();
        let params = Params::builder(12)
            .prime_bits(&[55, 40, 40, 40], &[55])
            .dnum(4)
            .default_scale(40f64.exp2())
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        let ranges = [0.25, 0.25, 0.01, 1.0].map(|radius| Some(InputRange::Disc { radius }));
        let mut vector =
            || -> Vec<Complex64> { (0..slots).map(|_| (n.signed() / 4.0).into()).collect() };
        let same = |value: f64| vec![Complex64::from(value); slots as usize];
        let inputs = vec![vector(), vector(), same(0.0), same(1.0)];
        let options = Options {
            params: ParamsChoice::Given(params),
            ranges: ranges.to_vec(),
            ..Options::default()
        };
        let compiled = Arc::new(compile(trace.finish(), &options).unwrap());
        let rotations = (compiled.managed.instrs.iter()).filter(|i| i.op == MacroOp::Rotate);
        assert!(rotations.count() >= 256, "none merged");
        // Each seed generates the keys of 256 rotations.
        let seeds = std::env::var_os("RINGMILL_FUZZ_SECONDS").map_or(2, |_| 6);
        for seed in 0..seeds {
            let (predicted, measured) = measure(&compiled.source, &inputs, &compiled, seed);
            println!("predicted {predicted:.2?}, measured {measured:.2?}");
            assert!((predicted[0]..predicted[0] + WORST).contains(&measured[0]));
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Rotate,
    Conjugate,
    /// (x + p) y
    Multiply,
    /// (x + p) x
    Square,
}

/// Returns a program that sums the key switches of x plus each of `count` public vectors and constants. Its last step
/// sets to zero the slots in which the mean of the digits causes most of the error, since that part is the same for all
/// ciphertexts.
fn public_differences(way: Way, count: usize) -> Drawn {
    let slots = 1024;
    let mut n = Numbers::new(7);
    let mut trace = TraceBuilder::new("public", slots).unwrap();
    let input =
        |trace: &mut TraceBuilder, name| trace.input(name, Visibility::Encrypted, None).unwrap();
    let (x, y) = (input(&mut trace, "x"), input(&mut trace, "y"));
    let mut sum: Option<Traced> = None;
    for i in 0..count {
        let public = if i % 4 == 0 {
            trace.scalar(n.signed(), None).unwrap()
        } else {
            let vector = (0..slots).map(|_| (n.signed(), 0.0)).collect();
            trace.vector(vector, None).unwrap()
        };
        let other = trace.add(x, public, None).unwrap();
        let made = match way {
            Way::Rotate => trace.rotate(other, 3, None),
            Way::Conjugate => trace.conj(other, None),
            Way::Multiply => trace.mul(other, y, None),
            Way::Square => trace.mul(other, x, None),
        };
        let made = made.unwrap();
        sum = Some(match sum {
            None => made,
            Some(sum) => trace.add(sum, made, None).unwrap(),
        });
    }
    let mask = trace.vector(away_from_the_mean(slots), None).unwrap();
    let sum = trace.add(sum.unwrap(), y, None).unwrap();
    let masked = trace.mul(sum, mask, None).unwrap();
    trace.output("out", masked, None).unwrap();
    let ranges = vec![InputRange::Disc { radius: 1.0 }; 2];
    let mut vector = || {
        (0..slots)
            .map(|_| Complex64::new(n.signed(), 0.0))
            .collect()
    };
    let inputs = vec![vector(), vector()];
    let params = Params::builder(12)
        .prime_bits(&[40; 9], &[40])
        .dnum(9)
        .default_scale(40f64.exp2())
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    Drawn {
        case: Case {
            program: trace.finish(),
            ranges: ranges.clone(),
            inputs,
        },
        options: Options {
            params: ParamsChoice::Given(params),
            ranges: ranges.into_iter().map(Some).collect(),
            passes: Passes {
                lazy_relin: false,
                ..Passes::ALL
            },
            output_level: Level(6),
            ..Options::default()
        },
        said: format!("{way:?} of {count}"),
    }
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn predicted_precision_is_a_close_bound_on_twenty_thousand_programs() {
    hold(&seeds(20_000));
}
