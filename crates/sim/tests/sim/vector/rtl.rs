// SPDX-License-Identifier: Apache-2.0
//! Tests programs on the vector machine's RTL at radix 16 and N = 256. The results are the CPU's, and every event is in
//! the cycle of the performance simulator.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringmill_compiler::bgv::one_bootstrap;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::{Compiled, Options, compile};
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Limb, Request};
use ringmill_isa::macros::{SchemeName, Visibility};
use ringmill_isa::mid::{Program, Verified};
use ringmill_machines::vector::{Description, built};
use ringmill_math::slots::linear::Shape;
use ringmill_runtime::{Client, Server};
use ringmill_schemes::bfv::PlainModulus;
use ringmill_schemes::bgv::bootstrap::{Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{Bgv, Params, PrimePower};
use ringmill_sim::open;

use crate::vector::draw::Draw;

/// Writes the description of a machine to a file, and returns the file's path. The machine has radix 16, chunks of 32
/// words, a buffer of 160 limbs and the pipelines of the RTL. All tests use one built model of it.
fn description(name: &str) -> PathBuf {
    let mut d = Description::read(Description::PAPER).unwrap();
    d.log_radix = 4;
    d.log_lanes = 5;
    d.buffer_words = 160 << 8;
    d.queue = 64;
    // A chunk has a 64th of the words of the paper's chunk, so memory has a tenth of its latency. With the paper's
    // latency a run would take four times as long, all of it waiting.
    d.distant.latency_ns /= 10.0;
    d.stages = built::stages(4);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("vector-{name}.toml"));
    std::fs::write(&path, toml::to_string(&d).unwrap()).unwrap();
    path
}

const SLOTS: u32 = 8;

/// Compiles y = x w + (x rotated by 1) w over integers.
fn program() -> Arc<Compiled<Bgv>> {
    let params = Params::builder(8, PlainModulus::new(7681).unwrap())
        .friendly_primes(4, 2)
        .unwrap()
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let mut t = TraceBuilder::new("mixture", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let w = t.input("w", Visibility::Encrypted, None).unwrap();
    let product = t.mul(x, w, None).unwrap();
    let turned = t.rotate(x, 1, None).unwrap();
    let other = t.mul(turned, w, None).unwrap();
    let y = t.add(product, other, None).unwrap();
    t.output("y", y, None).unwrap();
    let mut program = t.finish();
    program.scheme = SchemeName::new("bgv").unwrap();
    let options = Options {
        seeded_keys: false,
        ranges: vec![Some(IntegerRange::up_to(9)); 2],
        ..Options::given(params)
    };
    Arc::new(compile::<Bgv>(program, &options).unwrap())
}

#[test]
fn a_program_on_the_rtl() {
    let path = description("program");
    let compiled = program();
    let vector = |k: i64| -> Vec<i64> { (0..i64::from(SLOTS)).map(|i| i * k % 19 - 9).collect() };
    let client = Client::<Bgv>::new(compiled.clone()).unwrap();
    let server = Server::new(compiled, client.evaluation_keys().unwrap()).unwrap();
    let (x, w) = (vector(3), vector(5));
    let inputs = BTreeMap::from([("x".to_owned(), x.clone()), ("w".to_owned(), w.clone())]);
    let ciphers = client.encrypt(&inputs).unwrap();
    let run = |name: &str, request: Request<'_>| {
        let device = open(name).unwrap();
        server
            .run(&*device, &ciphers, &BTreeMap::new(), request, &Silent)
            .unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    let rtl = run(&format!("rtl:{}", path.display()), Request::both());
    let report = rtl.report.machine.unwrap();
    assert_eq!(report.how, "RTL");
    println!("{} cycles in {} calls", report.cycles, report.calls);
    assert!(report.cycles > 0);
    let found = client.decrypt(&rtl.outputs.unwrap()).unwrap();
    let cpu = run("cpu:1", Request::function_only());
    assert_eq!(client.decrypt(&cpu.outputs.unwrap()).unwrap(), found);
    let n = SLOTS as usize;
    let y: Vec<i64> = (0..n).map(|i| (x[i] + x[(i + 1) % n]) * w[i]).collect();
    assert_eq!(found["y"], y);
}

/// A description that cannot be built in RTL is refused with the field. The paper's machine can be built.
#[test]
fn what_is_not_built_is_refused_by_its_field() {
    let mut d = Description::read(Description::PAPER).unwrap();
    built::check(&d).unwrap();
    d.stages.transform = 40;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vector-forty.toml");
    std::fs::write(&path, toml::to_string(&d).unwrap()).unwrap();
    for (name, field) in [
        (
            format!("rtl:{}", path.display()).as_str(),
            "stages.transform",
        ),
        ("rtl:vector-ours", "factory"),
    ] {
        let refused = open(name).map(|device| device.name()).unwrap_err();
        assert!(refused.to_string().contains(field), "{refused}");
    }
}

/// Every procedure of a thin bootstrap with p = 127, r = 1 and e = 2 gives the interpreter's bits on the RTL. The
/// procedures include all lines of the paper's Algorithm 3.
#[test]
#[ignore = "a minute and a half; `make full` runs it"]
fn a_thin_bootstraps_micro_programs_on_the_rtl() {
    let t = PrimePower::new(127, 1).unwrap().modulus().unwrap();
    let params = Params::builder(8, t)
        .friendly_primes(32, 11)
        .unwrap()
        .further_plain_moduli(1)
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let setup = Bootstrapping::new(params, 8).unwrap();
    let maps = Maps::new(&setup, Shape::default()).unwrap();
    let procedure = Arc::new(Procedure::new(setup, maps, false).unwrap());
    let compiled = one_bootstrap(&procedure).unwrap();
    let path = description("bootstrap");
    let device = open(&format!("rtl:{}", path.display())).unwrap();
    let mut draw = Draw::new(11);
    let (mut checked, mut cycles) = (0, 0);
    for procedure in compiled.program.bound_procs() {
        let moduli = &procedure.moduli;
        let args = procedure.params.iter().map(|param| {
            let modulus = moduli[usize::from(procedure.limb(param.value).unwrap().modulus.0)];
            let residues = draw.residues(modulus.value() as u64, 1 << procedure.log_n);
            (residues, modulus)
        });
        let args: Vec<_> = args.collect();
        let refs: Vec<&[u64]> = args.iter().map(|(limb, _)| limb.as_slice()).collect();
        let expected = ringmill_device::interpret::run(procedure, &refs, &[]).unwrap();
        let limbs = args
            .iter()
            .map(|(limb, modulus)| Limb::borrowed(limb, *modulus).unwrap());
        let bindings = Bindings {
            limbs: limbs.collect(),
            ..Bindings::default()
        };
        let program = Program::calling(Arc::clone(procedure), Vec::new());
        let program = Verified::new(program).unwrap();
        let ran = device.run(&program, &bindings, Request::both(), &Silent);
        let ran = ran.unwrap_or_else(|e| panic!("{}: {e}", procedure.name));
        let found: Vec<Vec<u64>> = (ran.outputs.unwrap().iter())
            .map(|limb| limb.wide().into_owned())
            .collect();
        assert!(found == expected, "{}", procedure.name);
        cycles += ran.machine.unwrap().cycles;
        checked += 1;
    }
    println!("{checked} procedures, {cycles} cycles");
    assert!(checked > 20, "{checked}");
}
