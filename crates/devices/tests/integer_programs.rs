//! Programs of whole numbers, compiled for BFV: random ones against the same arithmetic in the clear, to the last digit,
//! with their noise within its prediction; and what is refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::bfv::{Compiled, Options, ParamsChoice, Wanted};
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::exact::reference::evaluate;
use ringmill_compiler::{CompileError, compile};
use ringmill_devices::progress::Silent;
use ringmill_devices::runtime::{Client, RuntimeError, Server, simulate};
use ringmill_devices::{Request, open, target};
use ringmill_isa::macros::{MacroProgram, SchemeName, Visibility};
use ringmill_math::Prng;
use ringmill_schemes::bfv::{Bfv, Multiplication, Params, PlainModulus};

const LARGEST: i64 = 50;

struct Draw(Prng);

impl Draw {
    fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(Prng::from_seed_for_reproducible_tests_only(bytes))
    }

    fn below(&mut self, n: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill_bytes(&mut bytes);
        u64::from_le_bytes(bytes) % n
    }

    fn vector(&mut self, slots: u32) -> Vec<i64> {
        let values = (0..slots).map(|_| self.below(2 * LARGEST as u64 + 1) as i64 - LARGEST);
        values.collect()
    }
}

fn named(name: &str) -> SchemeName {
    SchemeName::new(name).unwrap()
}

/// Two encrypted inputs, a plain one, and a few operations on what there is so far; at most two products in sequence.
fn random_program(draw: &mut Draw, slots: u32) -> MacroProgram {
    let mut t = TraceBuilder::new("random", slots).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let mut values: Vec<(Traced, u32)> = vec![(x, 0), (y, 0)];
    for _ in 0..1 + draw.below(10) {
        let pick = |draw: &mut Draw, values: &[(Traced, u32)]| {
            values[draw.below(values.len() as u64) as usize]
        };
        let (a, depth) = pick(draw, &values);
        let (b, other) = pick(draw, &values);
        let deepest = depth.max(other);
        let made = match draw.below(9) {
            0 => (t.add(a, b, None).unwrap(), deepest),
            1 => (t.sub(a, b, None).unwrap(), deepest),
            2 => (t.neg(a, None).unwrap(), depth),
            3 if deepest < 2 => (t.mul(a, b, None).unwrap(), deepest + 1),
            4 if depth < 2 => (t.square(a, None).unwrap(), depth + 1),
            5 if depth < 2 => (t.mul(a, p, None).unwrap(), depth + 1),
            6 => {
                let data = draw.vector(slots).into_iter();
                let data = data.map(|v| (v as f64, 0.0)).collect();
                let data = t.vector(data, None).unwrap();
                (t.add(a, data, None).unwrap(), depth)
            }
            7 => {
                let c = draw.below(9) as f64 - 4.0;
                let c = t.scalar(c, None).unwrap();
                (t.add(a, c, None).unwrap(), depth)
            }
            _ if slots > 1 => {
                let step = 1 + draw.below(u64::from(slots) - 1) as i64;
                (t.rotate(a, step, None).unwrap(), depth)
            }
            _ => (t.add(a, a, None).unwrap(), depth),
        };
        values.push(made);
    }
    // What is encrypted shows in every output: x + x - 2 x would be transparent.
    let (last, _) = values[values.len() - 1];
    let seven = t.scalar(7.0, None).unwrap();
    let masked = t.mul(x, seven, None).unwrap();
    let shown = t.add(last, masked, None).unwrap();
    t.output("last", last, None).unwrap();
    t.output("shown", shown, None).unwrap();
    let mut program = t.finish();
    program.scheme = named("bfv");
    program
}

fn options(multiplication: Multiplication) -> Options {
    Options {
        input_bound: LARGEST as f64,
        params: ParamsChoice::Choose(Wanted {
            multiplication,
            ..Wanted::default()
        }),
        ..Options::default()
    }
}

fn for_machine(name: &str, multiplication: Multiplication) -> Options {
    Options {
        target: Some(target(name).unwrap()),
        ..options(multiplication)
    }
}

/// Outputs by name and, for each of the program's, its predicted and its measured budget.
type Ran = (BTreeMap<String, Vec<i64>>, Vec<(f64, u32)>);

/// Runs a program on a device; `None` where a plain vector of zeros would let an output show.
fn run(compiled: &Arc<Compiled>, device: &str, vectors: &[Vec<i64>; 3]) -> Option<Ran> {
    let client = Client::<Bfv>::new(Arc::clone(compiled)).unwrap();
    let [x, y, p] = vectors.clone();
    let inputs = BTreeMap::from([("x".to_owned(), x), ("y".to_owned(), y)]);
    let inputs = client.encrypt(&inputs).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let server = Server::new(Arc::clone(compiled), keys).unwrap();
    let plain = BTreeMap::from([("p".to_owned(), p)]);
    let device = open(device).unwrap();
    let request = Request::function_only();
    let outputs = match server.run(&*device, &inputs, &plain, request, &Silent) {
        Ok(answer) => answer.outputs.unwrap(),
        Err(RuntimeError::Transparent { .. }) => return None,
        Err(error) => panic!("{error}"),
    };
    let budgets = compiled.outputs.iter().zip(&compiled.predicted);
    let budgets = budgets.map(|(output, predicted)| {
        let measured = client.noise_budget(&outputs[&output.name]).unwrap();
        (predicted.budget, measured)
    });
    let budgets = budgets.collect();
    Some((client.decrypt(&outputs).unwrap(), budgets))
}

/// Random programs of these seeds; gives how many ran, and the least and the largest slack of predicted noise.
fn random_programs(seeds: std::ops::Range<u64>) -> (usize, f64, f64) {
    let (mut ran, mut least, mut most) = (0, f64::INFINITY, f64::NEG_INFINITY);
    for seed in seeds {
        let mut draw = Draw::new(seed);
        let slots = 1 << draw.below(9);
        let program = random_program(&mut draw, slots);
        let multiplication = Multiplication::ALL[draw.below(2) as usize];
        let compiled = match compile(program.clone(), &options(multiplication)) {
            Ok(compiled) => Arc::new(compiled),
            Err(CompileError::Transparent { .. }) => continue,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        let vectors = [0; 3].map(|_| draw.vector(slots));
        let clear = vectors
            .clone()
            .map(|v| v.into_iter().map(i128::from).collect());
        let expected = evaluate(&program, &clear).unwrap();
        let Some((outputs, budgets)) = run(&compiled, "cpu:2", &vectors) else {
            continue;
        };
        for ((output, expected), (predicted, measured)) in
            compiled.outputs.iter().zip(expected).zip(budgets)
        {
            let got: Vec<i128> = outputs[&output.name].iter().map(|&v| v.into()).collect();
            assert_eq!(got, expected, "seed {seed}, {}", output.name);
            // A budget is measured in whole bits, rounded down by up to two.
            let slack = f64::from(measured) + 2.0 - predicted;
            assert!(
                slack >= 0.0,
                "seed {seed}: {predicted} predicted, {measured} measured"
            );
            (least, most) = (least.min(slack), most.max(slack));
        }
        ran += 1;
    }
    (ran, least, most)
}

#[test]
fn random_programs_give_what_they_give_in_the_clear() {
    let (ran, least, most) = random_programs(0..100);
    println!("{ran} programs, slack {least:.1} to {most:.1} bits");
    assert!(ran >= 80);
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn thousands_of_random_programs() {
    let (ran, least, most) = random_programs(1_000..3_000);
    println!("{ran} programs, slack {least:.1} to {most:.1} bits");
    assert!(ran >= 1_500);
}

/// x y + rotate(x, 3) and its options.
fn product() -> MacroProgram {
    let mut t = TraceBuilder::new("product", 16).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let xy = t.mul(x, y, None).unwrap();
    let turned = t.rotate(x, 3, None).unwrap();
    let turned = t.mul(turned, p, None).unwrap();
    let z = t.add(xy, turned, None).unwrap();
    t.output("z", z, None).unwrap();
    let mut program = t.finish();
    program.scheme = named("bfv");
    program
}

/// A co-processor leaves what it lacks to its host; a whole machine says what it lacks.
#[test]
fn machines_give_the_same_or_name_what_they_lack() {
    for multiplication in Multiplication::ALL {
        let compiled = compile(product(), &for_machine("polymul", multiplication)).unwrap();
        let compiled = Arc::new(compiled);
        let mut draw = Draw::new(1);
        let vectors = [0; 3].map(|_| draw.vector(16));
        let clear = vectors
            .clone()
            .map(|v| v.into_iter().map(i128::from).collect());
        let expected = evaluate(&product(), &clear).unwrap();
        for device in ["cpu:1", "sim:polymul"] {
            let (outputs, _) = run(&compiled, device, &vectors).unwrap();
            let got: Vec<i128> = outputs["z"].iter().map(|&v| v.into()).collect();
            assert_eq!(got, expected[0], "{device}, {}", multiplication.name());
        }
        let ring = open("sim:ring").unwrap();
        let refused = simulate(&compiled, &*ring, Request::timing_only(), &Silent);
        let refused = refused.unwrap_err().to_string();
        println!("{refused}");
        assert!(refused.contains("of its description"), "{refused}");
    }
}

#[test]
fn what_could_wrap_is_refused() {
    let wide = |magnitude: u64| Options {
        ranges: vec![Some(IntegerRange::up_to(magnitude)); 3],
        ..options(Multiplication::Hps)
    };
    // 2 (2^28)^2 = 2^57 fits a plaintext modulus, 2 (2^31)^2 does not, and 2 (2^63)^2 no 127 bits.
    compile(product(), &wide(1 << 28)).unwrap();
    let refused = compile(product(), &wide(1 << 31)).unwrap_err();
    assert!(
        matches!(refused, CompileError::PlainRange { .. }),
        "{refused}"
    );
    let refused = compile(product(), &wide(u64::MAX)).unwrap_err();
    assert!(
        matches!(refused, CompileError::Unbounded { .. }),
        "{refused}"
    );

    let t = PlainModulus::batching(11, 20).unwrap();
    let given = Params::builder(11, t)
        .prime_bits(&[50], &[50])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let narrow = |params: &Arc<Params>| Options {
        params: ParamsChoice::Given(Arc::clone(params)),
        ..options(Multiplication::Behz)
    };
    let refused = compile(product(), &narrow(&given)).unwrap_err();
    assert!(
        matches!(refused, CompileError::TooNoisy { .. }),
        "{refused}"
    );

    let compiled = compile(product(), &options(Multiplication::Behz)).unwrap();
    let client = Client::<Bfv>::new(Arc::new(compiled)).unwrap();
    let beyond = BTreeMap::from([
        ("x".to_owned(), vec![LARGEST + 1; 16]),
        ("y".to_owned(), vec![0; 16]),
    ]);
    let refused = client.encrypt(&beyond).unwrap_err();
    assert!(
        matches!(refused, RuntimeError::IntegerOutOfRange { .. }),
        "{refused}"
    );

    // Half of something is no whole number.
    let mut t = TraceBuilder::new("half", 4).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let half = t.scalar(0.5, None).unwrap();
    let y = t.mul(x, half, None).unwrap();
    t.output("y", y, None).unwrap();
    let mut program = t.finish();
    program.scheme = named("bfv");
    let refused = compile(program, &options(Multiplication::Behz)).unwrap_err();
    assert!(
        matches!(refused, CompileError::NotWhole { .. }),
        "{refused}"
    );
}
