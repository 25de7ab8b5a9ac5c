// SPDX-License-Identifier: Apache-2.0
//! Tests the scheme [`Clear`]: clients, servers, devices and the file container run it, although none of them has code
//! for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::clear::{Clear, ClearError, Operation, Params, Value};
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::{CompileError, Compiled, Limit, Options, ParamsChoice, Target, compile};
use ringmill_device::Limbed;
use ringmill_device::Request;
use ringmill_device::call::{Interpreted, Results, call};
use ringmill_device::progress::Silent;
use ringmill_isa::Level;
use ringmill_isa::macros::{MacroProgram, SchemeName, Visibility, text};
use ringmill_runtime::{Client, RuntimeError, Server, simulate};
use ringmill_schemes::file::FileError;
use ringmill_schemes::{Operation as _, ParameterSet, ProcCache, ckks};
use ringmill_sim::open;

const LOG_N: u8 = 12;

/// Returns a program with the outputs y = (x + w) x p + (0, 1, .., 7, 0, 1, ..) + 3 and z = x x + w w, entry by entry.
/// The sum z is relinearised once, which does nothing in this scheme.
fn traced() -> MacroProgram {
    let mut t = TraceBuilder::new("clear", 1 << LOG_N).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let w = t.input("w", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let ramp = (0..1 << LOG_N).map(|i| (f64::from(i % 8), 0.0)).collect();
    let ramp = t.vector(ramp, None).unwrap();
    let three = t.scalar(3.0, None).unwrap();
    let sum = t.add(x, w, None).unwrap();
    let product = t.mul(sum, x, None).unwrap();
    let product = t.mul(product, p, None).unwrap();
    let sum = t.add(product, ramp, None).unwrap();
    let y = t.add(sum, three, None).unwrap();
    t.output("y", y, None).unwrap();
    let squares = [x, w].map(|v| t.square(v, None).unwrap());
    let z = t.add(squares[0], squares[1], None).unwrap();
    t.output("z", z, None).unwrap();
    let mut program = t.finish();
    program.scheme = SchemeName::new("clear").unwrap();
    program
}

fn program(params: Arc<Params>) -> Arc<Compiled<Clear>> {
    Arc::new(compile(traced(), &Options::given(params)).unwrap())
}

fn entries(params: &Params, f: impl Fn(u64) -> u64) -> Vec<u64> {
    (0..params.degree() as u64).map(f).collect()
}

fn named<T>(parts: impl IntoIterator<Item = (&'static str, T)>) -> BTreeMap<String, T> {
    let parts = parts.into_iter();
    parts.map(|(name, part)| (name.to_owned(), part)).collect()
}

#[test]
fn its_programs_run_on_every_device_from_client_to_client() {
    let params = Params::new(LOG_N).unwrap();
    let compiled = program(params.clone());
    let x = entries(&params, |i| 3 * i + 1);
    let w = entries(&params, |i| i * i);
    let p = entries(&params, |i| 1_000_003 * i + 7);
    let modulus = u128::from(params.moduli()[0]) * u128::from(params.moduli()[1]);
    let expected: Vec<u64> = (0..params.degree())
        .map(|i| {
            let [x, w, p] = [x[i], w[i], p[i]].map(u128::from);
            ((((x + w) * x % modulus) * p + i as u128 % 8 + 3) % modulus) as u64
        })
        .collect();
    let squares = |i: usize| {
        let [x, w] = [x[i], w[i]].map(u128::from);
        ((x * x + w * w) % modulus) as u64
    };
    let sums: Vec<u64> = (0..params.degree()).map(squares).collect();

    let client = Client::new(compiled.clone()).unwrap();
    let ciphers = client.encrypt(&named([("x", x), ("w", w)])).unwrap();
    client.evaluation_keys().unwrap();
    let server = Server::new(compiled.clone(), ()).unwrap();
    let plains = named([("p", p)]);
    for device in ["cpu:2", "sim:ring"] {
        let device = open(device).unwrap();
        let timing = device.clock_mhz().is_some();
        let request = Request {
            timing,
            ..Request::function_only()
        };
        let answer = server
            .run(&*device, &ciphers, &plains, request, &Silent)
            .unwrap();
        assert_eq!(answer.report.contains("Some("), timing, "{}", answer.report);
        assert!(answer.report.contains("INSECURE"));
        // Integers stay exact beyond the 53 bits of a double.
        let outputs = client.decrypt(&answer.outputs.unwrap()).unwrap();
        assert_eq!(outputs["y"], expected, "{}", device.name());
        assert_eq!(outputs["z"], sums, "{}", device.name());
        assert!(expected.iter().any(|&y| y >> 53 != 0));
    }
    let timing = simulate(
        &*compiled,
        &*open("sim:ring").unwrap(),
        Request::timing_only(),
        &Silent,
    );
    assert!(timing.unwrap().contains("Some("));
}

#[test]
fn what_does_not_fit_its_program_is_refused() {
    let params = Params::new(LOG_N).unwrap();
    let compiled = program(params.clone());
    let client = Client::new(compiled.clone()).unwrap();
    let server = Server::new(compiled, ()).unwrap();
    let run = |ciphers: BTreeMap<String, Value>, plains| {
        let cpu = open("cpu:1").unwrap();
        server.run(&*cpu, &ciphers, &plains, Request::function_only(), &Silent)
    };
    let ones = vec![1; params.degree()];
    let short = client.encrypt(&named([("x", vec![1]), ("w", vec![1])]));
    assert!(matches!(
        short,
        Err(RuntimeError::VectorLength { got: 1, .. })
    ));
    let missing = client.encrypt(&named([("x", ones.clone())]));
    assert!(matches!(missing, Err(RuntimeError::MissingInput { .. })));
    let value = Value::encode(&params, &ones).unwrap();
    let ciphers = named([("x", value.clone()), ("w", value.clone())]);
    let no_plain = run(ciphers, BTreeMap::new());
    assert!(matches!(
        no_plain,
        Err(RuntimeError::MissingInput { kind: "plain", .. })
    ));
    let other = Params::new(LOG_N - 1).unwrap();
    let stranger = Value::encode(&other, &vec![1; other.degree()]).unwrap();
    let mixed = run(named([("x", value), ("w", stranger)]), named([("p", ones)]));
    assert!(matches!(mixed, Err(RuntimeError::Value { name, .. }) if name == "w"));
}

#[test]
fn its_operations_are_called_and_its_objects_written_and_read() {
    let params = Params::new(LOG_N).unwrap();
    let cache = ProcCache::<Clear>::new(params.clone());
    let a = Value::encode(&params, &entries(&params, |i| i)).unwrap();
    let b = Value::encode(&params, &entries(&params, |i| i + 2)).unwrap();
    let operands: [&dyn Limbed; 2] = [&a, &b];
    let procedure = cache.get(&Operation::Mul).unwrap();
    assert!(Arc::ptr_eq(
        &procedure,
        &cache.get(&Operation::Mul).unwrap()
    ));
    let made_of = Results {
        size: Operation::Mul.result_size(),
        passes_through: &|poly| Operation::Mul.passes_through(poly),
        short: false,
    };
    let mut results = call(&Interpreted, &procedure, &operands, &made_of).unwrap();
    let limbs = results.remove(0).remove(0).into_wide();
    let limbs = limbs.chunks(params.degree()).map(<[u64]>::to_vec);
    let product = Value::new(&params, limbs.collect()).unwrap();
    assert_eq!(
        product.decode(&params).unwrap(),
        entries(&params, |i| i * (i + 2))
    );

    let bytes = params.write();
    assert_eq!(Params::read(&bytes).unwrap(), params);
    let file = product.write(&params);
    assert_eq!(Value::read(&file, &params).unwrap(), product);
    for length in [0, 12, 71, file.len() - 1] {
        assert!(Value::read(&file[..length], &params).is_err());
    }
    let mut altered = file.clone();
    altered[100] ^= 1;
    assert!(Value::read(&altered, &params).is_err());

    // The reader of another scheme names the scheme of the file.
    let theirs = ckks::Params::builder(4).prime_bits(&[30], &[30]);
    let theirs = theirs.allow_insecure_parameters_for_tests_only();
    let refused = ckks::file::read_ciphertext(&file, &theirs.build().unwrap());
    assert!(matches!(refused, Err(FileError::Scheme { got: 255, .. })));
}

/// Tests that the compiler follows the scheme's own rules: for parameters that it chooses or is given, the limits of a
/// machine, and constants.
#[test]
fn its_programs_compile_by_its_own_rules() {
    let chosen = compile(traced(), &Options::<Clear>::default()).unwrap();
    assert_eq!(chosen.params.degree(), 1 << LOG_N);
    assert_eq!((chosen.output_level, chosen.inputs.len()), (Level(1), 3));
    assert_eq!(chosen.plaintexts.len(), 2);
    assert!(chosen.keys.is_empty() && chosen.key_bytes() == 0);
    // Equal operations share a procedure, and the printed text of a program compiles to the same program.
    let names: Vec<&str> = chosen.program.procs.iter().map(|p| &*p.name).collect();
    assert_eq!(
        names,
        [
            "clear.add",
            "clear.mul",
            "clear.add_constant",
            "clear.square"
        ]
    );
    let loaded = text::parse(&text::print(&traced())).unwrap();
    let again = compile(loaded, &Options::<Clear>::default()).unwrap();
    assert_eq!(again.program, chosen.program);

    let refused = |change: &dyn Fn(&mut MacroProgram), options: &Options<Clear>| {
        let mut program = traced();
        change(&mut program);
        compile(program, options).unwrap_err()
    };
    let default = Options::default();
    let theirs = refused(&|p| p.scheme = SchemeName::default(), &default);
    let expected = "clear";
    assert!(matches!(theirs, CompileError::OtherScheme { expected: e, .. } if e == expected));
    let half = refused(&|p| p.data[0][3].0 = 0.5, &default);
    assert!(matches!(
        half,
        CompileError::Scheme(ClearError::Value { .. })
    ));
    let target = Target {
        machine: "small".into(),
        log_n: Limit {
            field: "log_n",
            is: 1..=LOG_N - 1,
        },
        modulus_bits: Limit {
            field: "word_bits",
            is: 64,
        },
        friendly_bits: Limit {
            field: "word_bits",
            is: 0,
        },
        moduli: Limit {
            field: "rpaus",
            is: 8,
        },
        extends_modulo_primes: false,
        primes_alone: Limit {
            field: "kind",
            is: false,
        },
        runs_whole: Limit {
            field: "kind",
            is: false,
        },
        expands_seeds: true,
        explicit: false,
        engine: None,
    };
    let options = Options {
        params: ParamsChoice::Choose(0),
        target: Some(target),
        ..default
    };
    let large = refused(&|_| {}, &options);
    assert!(matches!(large, CompileError::Target(e) if e.field == "log_n"));
}
