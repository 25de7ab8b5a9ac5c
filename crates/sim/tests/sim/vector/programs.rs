// SPDX-License-Identifier: Apache-2.0
//! Tests programs of BGV, BFV and CKKS that are compiled for the vector machine. `sim:vector` gives the CPU's results
//! and a report, and every micro program gives the bits of the reference interpreter.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::Accuracy;
use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::exact::IntegerRange;
use ringmill_compiler::{CompileError, Compiled, Options, ParamsChoice, compile};
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::{MacroProgram, SchemeName, Visibility};
use ringmill_isa::mid::ParamRole;
use ringmill_machines::vector::VectorUse;
use ringmill_machines::vector::{Counting, Description, alone, correct};
use ringmill_runtime::report::RunReport;
use ringmill_runtime::{Client, Runs, Server};
use ringmill_schemes::ParameterSet;
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::bgv::Bgv;
use ringmill_schemes::ckks::Ckks;
use ringmill_sim::{open, target};

use crate::vector::draw::Draw;

const SLOTS: u32 = 16;

/// Makes a program with the outputs z = (x y + p) x + (x rotated by 1) p and x - p. It has products of ciphertexts, a
/// rotation, and sums and products with plaintexts.
fn program(scheme: &str) -> MacroProgram {
    let mut t = TraceBuilder::new("mixture", SLOTS).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let y = t.input("y", Visibility::Encrypted, None).unwrap();
    let p = t.input("p", Visibility::Plain, None).unwrap();
    let product = t.mul(x, y, None).unwrap();
    let sum = t.add(product, p, None).unwrap();
    let deep = t.mul(sum, x, None).unwrap();
    let turned = t.rotate(x, 1, None).unwrap();
    let weighted = t.mul(turned, p, None).unwrap();
    let z = t.add(deep, weighted, None).unwrap();
    t.output("z", z, None).unwrap();
    let less = t.sub(x, p, None).unwrap();
    t.output("less", less, None).unwrap();
    let mut program = t.finish();
    program.scheme = SchemeName::new(scheme).unwrap();
    program
}

/// Runs a program on the CPU and on the machine. Returns the decrypted outputs, and the report's cycles with distant
/// memory and without (the paper's counting).
fn run<S: Runs<Report = RunReport>>(
    compiled: &Arc<Compiled<S>>,
    vectors: &[S::Message; 3],
) -> (BTreeMap<String, S::Message>, [u64; 2])
where
    S::Message: Clone + PartialEq + std::fmt::Debug,
{
    let client = Client::<S>::new(Arc::clone(compiled)).unwrap();
    let [x, y, p] = vectors.clone();
    let inputs = BTreeMap::from([("x".to_owned(), x), ("y".to_owned(), y)]);
    let inputs = client.encrypt(&inputs).unwrap();
    let plain = BTreeMap::from([("p".to_owned(), p)]);
    let server = Server::new(Arc::clone(compiled), client.evaluation_keys().unwrap()).unwrap();
    let mut found = Vec::new();
    let mut cycles = [0; 2];
    for (name, request) in [
        ("cpu:1", Request::function_only()),
        ("sim:vector", Request::both()),
    ] {
        let device = open(name).unwrap();
        let answer = server.run(&*device, &inputs, &plain, request, &Silent);
        let answer = answer.unwrap_or_else(|e| panic!("{name}: {e}"));
        if let Some(report) = &answer.report.machine {
            let own = report.own::<VectorUse>().unwrap();
            cycles = [report.cycles, own.cycles_by_papers_counting];
        }
        found.push(client.decrypt(&answer.outputs.unwrap()).unwrap());
    }
    assert_eq!(found[0], found[1]);
    assert!(cycles[0] >= cycles[1] && cycles[1] > 0, "{cycles:?}");
    (found.swap_remove(0), cycles)
}

fn options<S: Runs>() -> Options<S> {
    Options {
        target: Some(target("vector").unwrap()),
        ..Options::default()
    }
}

fn friendly(moduli: &[u64]) {
    let fits = |q: &u64| q >> 32 == 0 && q % (1 << 17) == 1;
    assert!(moduli.iter().all(fits), "{moduli:?}");
}

fn whole<S: Runs<Report = RunReport, Message = Vec<i64>, Range = IntegerRange>>(
    scheme: &str,
) -> Arc<Compiled<S>>
where
    S::Params: ParameterSet,
{
    let range = Some(IntegerRange::up_to(9));
    let options = Options::<S> {
        ranges: vec![range; 3],
        ..options()
    };
    let compiled = Arc::new(compile::<S>(program(scheme), &options).unwrap());
    friendly(compiled.params.moduli());
    assert!(!compiled.seeded);
    let vector = |k: i64| (0..i64::from(SLOTS)).map(|i| (i * k) % 19 - 9).collect();
    let vectors: [Vec<i64>; 3] = [3, 5, 7].map(vector);
    let (found, _) = run::<S>(&compiled, &vectors);
    let [x, y, p] = &vectors;
    let n = SLOTS as usize;
    let z: Vec<i64> = (0..n)
        .map(|i| (x[i] * y[i] + p[i]) * x[i] + x[(i + 1) % n] * p[i])
        .collect();
    let less: Vec<i64> = (0..n).map(|i| x[i] - p[i]).collect();
    assert_eq!(found["z"], z);
    assert_eq!(found["less"], less);
    compiled
}

fn real(precision_bits: u32) -> Result<Arc<Compiled<Ckks>>, CompileError> {
    let options = Options::<Ckks> {
        params: ParamsChoice::Choose(ringmill_compiler::ckks::Wanted {
            accuracy: Accuracy::Bits(precision_bits),
            ..Default::default()
        }),
        ..options()
    };
    let compiled = Arc::new(compile::<Ckks>(program("ckks"), &options)?);
    friendly(compiled.params.moduli());
    Ok(compiled)
}

/// Returns the largest error of the outputs.
fn error_of(compiled: &Arc<Compiled<Ckks>>) -> f64 {
    use num_complex::Complex64;
    let vector = |k: f64| -> Vec<Complex64> {
        let of = |i: u32| Complex64::new((f64::from(i) * k).sin(), 0.0);
        (0..SLOTS).map(of).collect()
    };
    let vectors = [0.3, 0.7, 1.1].map(vector);
    let (found, _) = run::<Ckks>(compiled, &vectors);
    let [x, y, p] = &vectors;
    let n = SLOTS as usize;
    let errors = (0..n).map(|i| {
        let z = (x[i] * y[i] + p[i]) * x[i] + x[(i + 1) % n] * p[i];
        (found["z"][i] - z)
            .norm()
            .max((found["less"][i] - (x[i] - p[i])).norm())
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn whole_numbers_made_for_the_machine() {
    let bgv = whole::<Bgv>("bgv");
    assert!(bgv.params.primes_alone());
    whole::<Bfv>("bfv");
}

#[test]
fn real_numbers_take_two_primes_a_level_where_one_is_too_small() {
    let compiled = real(25).unwrap();
    let scale = compiled.params.default_scale().log2();
    assert!(scale >= 48.0, "{scale}");
    // A digit has at least the two primes of a level, so at least two special primes are needed.
    assert!(compiled.params.special_count() >= 2);
    let error = error_of(&compiled);
    assert!(error < 2f64.powi(-25), "{error:e}");
    // At this precision a level needs one prime only.
    let compiled = real(5).unwrap();
    assert!(compiled.params.default_scale().log2() < 32.0);
    assert!(error_of(&compiled) < 2f64.powi(-5));
    // A precision that needs more than two primes a level is refused.
    let refused = real(60).unwrap_err();
    assert!(
        matches!(
            refused,
            CompileError::Target(_) | CompileError::TooPrecise { .. }
        ),
        "{refused}"
    );
}

/// Runs every procedure of a compiled program on residues, compares the results with the interpreter's, and returns the
/// number of procedures.
fn procedures<S: Runs>(compiled: &Compiled<S>) -> usize {
    let d = Description::read(Description::PAPER).unwrap();
    let mut draw = Draw::new(5);
    let mut count = 0;
    for procedure in compiled.program.bound_procs() {
        let args = procedure.params.iter().map(|param| {
            let ty = procedure.limb(param.value).unwrap();
            let q = procedure.moduli[usize::from(ty.modulus.0)].value() as u64;
            draw.residues(q, 1 << procedure.log_n)
        });
        let args: Vec<Vec<u64>> = args.collect();
        let refs: Vec<&[u64]> = args.iter().map(Vec::as_slice).collect();
        let there = |number: usize| !matches!(procedure.params[number].role, ParamRole::Key { .. });
        let made = alone(&d, procedure, &there, Counting::PAPER).unwrap();
        let expected = ringmill_device::interpret::run(procedure, &refs, &[]).unwrap();
        let found = correct::results(&made, procedure, &refs).unwrap();
        assert!(found == expected, "{}", procedure.name);
        count += 1;
    }
    count
}

#[test]
#[ignore = "half a minute; `make full` runs it"]
fn every_procedure_of_the_programs_gives_its_bits() {
    assert!(procedures(&whole::<Bgv>("bgv")) >= 6);
    assert!(procedures(&whole::<Bfv>("bfv")) >= 4);
    assert!(procedures(&real(25).unwrap()) >= 6);
}
