// SPDX-License-Identifier: Apache-2.0
//! Tests a compiled CKKS program on the RTL of ring machines, which gives the CPU's bits in the model's cycles.
//! Descriptions and programs that the RTL is not built for are refused.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_compiler::compile;
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::Visibility;
use ringmill_machines::ring::Description;
use ringmill_runtime::{Client, Server, Vectors};
use ringmill_schemes::ckks::Params;
use ringmill_sim::open;

/// Primes that are 1 modulo 2^17 and next to a power of two.
const PRIMES: [u64; 3] = [
    (1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1,
    (1 << 54) - (1 << 22) + (1 << 19) + (1 << 17) + 1,
    (1 << 53) + (1 << 20) - (1 << 17) + 1,
];

/// Writes a description to a file, with three RPAUs, rows of 4, limbs of 2^`log_n` coefficients and no stand-ins, and
/// returns the file's path. For `ring-stored` it is the machine that the tests of the crate `hdl` build, so one built
/// model serves both.
fn description(name: &str, text: &str, log_n: u8) -> PathBuf {
    let mut text = text.to_owned();
    // With one stage a pass, a row of 4 takes 2 butterflies and 2 twiddle generators.
    let single = text.contains("stages = 1 ");
    let generators = if single {
        ("generator = 16 ", "generator = 2 ".to_owned())
    } else {
        ("generator = 0 ", "generator = 0 ".to_owned())
    };
    let butterflies = if single {
        ("butterfly = 16 ", "butterfly = 2 ".to_owned())
    } else {
        ("butterfly = 32 ", "butterfly = 4 ".to_owned())
    };
    for (from, to) in [
        ("log_n = 14 ", format!("log_n = {log_n} ")),
        ("rpaus = 10\n", "rpaus = 3\n".to_owned()),
        ("row = 32 ", "row = 4 ".to_owned()),
        butterflies,
        generators,
        ("dyadic = 4 ", "dyadic = 2 ".to_owned()),
        ("lanes = 32 ", "lanes = 4 ".to_owned()),
        (
            "residues_per_cycle = 4 ",
            "residues_per_cycle = 2 ".to_owned(),
        ),
        ("group = 8 ", "group = 2 ".to_owned()),
        ("residues = 8 ", "residues = 2 ".to_owned()),
        ("slots = 18 ", "slots = 5 ".to_owned()),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, &to);
    }
    if let Some(stand_in) = text.find("# Set-1 has no prime") {
        text.truncate(stand_in);
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ring-{name}.toml"));
    std::fs::write(&path, &text).unwrap();
    path
}

/// Compiles y = x w + (x rotated by 1) w and z = x^2 over all slots. `seeded` tells whether key halves come from seeds.
fn program(log_n: u8, seeded: bool) -> Arc<Compiled> {
    // The primes are those of the machine that the tests of the crate `hdl` build, two for each RPAU.
    let set = Params::named("set2").unwrap();
    let others = set.moduli().iter().filter(|q| !PRIMES.contains(q));
    let cipher: Vec<u64> = PRIMES[..1]
        .iter()
        .chain(others.take(3))
        .chain(&PRIMES[1..2])
        .copied()
        .collect();
    let params = Params::builder(log_n)
        .primes(&cipher, &PRIMES[2..])
        .default_scale(2f64.powi(54))
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let mut t = TraceBuilder::new("mixture", 1 << (log_n - 1)).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let w = t.input("w", Visibility::Encrypted, None).unwrap();
    let product = t.mul(x, w, None).unwrap();
    let turned = t.rotate(x, 1, None).unwrap();
    let other = t.mul(turned, w, None).unwrap();
    let y = t.add(product, other, None).unwrap();
    let z = t.square(x, None).unwrap();
    t.output("y", y, None).unwrap();
    t.output("z", z, None).unwrap();
    let options = Options {
        seeded_keys: seeded,
        ..Options::given(params)
    };
    Arc::new(compile(t.finish(), &options).unwrap())
}

/// Runs the program on the CPU, on the model and on the RTL of a description. Compares the RTL's outputs with the CPU's
/// and its cycles with the model's.
fn check(path: &Path, log_n: u8, seeded: bool) {
    let compiled = program(log_n, seeded);
    let slots = 1 << (log_n - 1);
    let vector = |f: fn(f64) -> f64| -> Vec<Complex64> {
        (0..slots)
            .map(|i| Complex64::new(f(f64::from(i)), 0.0))
            .collect()
    };
    let client = Client::new(compiled.clone()).unwrap();
    let server = Server::new(compiled, client.evaluation_keys().unwrap()).unwrap();
    let inputs = Vectors::from([
        ("x".into(), vector(|i| (i / 5.0).sin())),
        ("w".into(), vector(|i| (i / 3.0).cos())),
    ]);
    let ciphers = client.encrypt(&inputs).unwrap();
    let run = |name: &str, request: Request<'_>| {
        let device = open(name).unwrap();
        server
            .run(device.as_ref(), &ciphers, &Vectors::new(), request, &Silent)
            .unwrap()
    };
    let cpu = run("cpu:1", Request::function_only());
    let sim = run(&format!("sim:{}", path.display()), Request::timing_only());
    let rtl = run(&format!("rtl:{}", path.display()), Request::both());
    assert_eq!(rtl.outputs.unwrap(), cpu.outputs.unwrap());
    let (rtl, sim) = (rtl.report.machine.unwrap(), sim.report.machine.unwrap());
    assert_eq!((rtl.how, rtl.cycles), ("RTL", sim.cycles));
    println!(
        "{}: {} cycles in {} calls",
        path.display(),
        rtl.cycles,
        rtl.calls
    );
}

/// The program runs at the native degree with seeded keys.
#[test]
fn a_program_on_the_rtl() {
    check(&description("program", Description::STORED, 6), 6, true);
}

/// The program runs on RTL like that of `ring`, with generated twiddles and a ring that does not reduce.
#[test]
#[ignore = "another machine to build; `make full` runs it"]
fn a_program_on_the_papers_rtl() {
    check(&description("paper", Description::MEDHA, 7), 7, true);
}

/// The program runs with stored keys at the native degree, and with seeded keys at twice the degree as half rings.
#[test]
#[ignore = "programs that run long in RTL; `make full` runs it"]
fn programs_of_stored_keys_and_half_rings_on_the_rtl() {
    let machine = description("programs", Description::STORED, 6);
    check(&machine, 6, false);
    check(&machine, 7, true);
}

/// A description that cannot be built in RTL is refused with the field. The descriptions `ring` and `ring-stored` can
/// be built.
#[test]
fn what_is_not_built_is_refused_by_its_field() {
    let text = Description::MEDHA.replace("dyadic = 4 ", "dyadic = 8 ");
    let edited = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ring-edited.toml");
    std::fs::write(&edited, &text).unwrap();
    let edited = format!("rtl:{}", edited.display());
    for (name, field) in [("rtl:ring-large", "splits"), (&edited, "cores.dyadic")] {
        let refused = open(name)
            .map(|device| device.name())
            .unwrap_err()
            .to_string();
        assert!(refused.contains(field), "{refused}");
    }
    for name in ["rtl:ring", "rtl:ring-stored"] {
        assert!(open(name).is_ok(), "{name}");
    }
}
