// SPDX-License-Identifier: Apache-2.0
//! Thin bootstraps of BGV on the vector machine, where divisions compute modulo primes alone.

use std::sync::Arc;

use ringmill_compiler::bgv::one_bootstrap;
use ringmill_machines::vector::VectorUse;
use ringmill_machines::vector::{Description, VectorMachine};
use ringmill_machines::{Machine, SimOptions};
use ringmill_math::slots::linear::Shape;
use ringmill_schemes::bgv::bootstrap::{Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{Params, PrimePower};

use super::check::check;

/// Returns the paper's machine at radix 32 and 64 lanes, with a buffer of `limbs` limbs of N = 1024.
fn machine(limbs: u64) -> Description {
    let mut d = Description::read(Description::PAPER).unwrap();
    d.log_radix = 5;
    d.log_lanes = 6;
    d.buffer_words = limbs << 10;
    d
}

fn procedure(
    log_n: u8,
    [p, r]: [u64; 2],
    [cipher, special]: [usize; 2],
    weight: u32,
) -> Arc<Procedure> {
    let t = PrimePower::new(p, r as u32).unwrap().modulus().unwrap();
    let params = Params::builder(log_n, t)
        .friendly_primes(cipher, special)
        .unwrap()
        .further_plain_moduli(1)
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let setup = Bootstrapping::new(params, weight).unwrap();
    let maps = Maps::new(&setup, Shape::default()).unwrap();
    Arc::new(Procedure::new(setup, maps, false).unwrap())
}

/// Compares the micro program of every procedure of a thin bootstrap with the interpreter, and times the whole
/// bootstrap. All lines of the paper's Algorithm 3 are among the procedures.
#[test]
fn a_thin_bootstrap_gives_its_bits() {
    let compiled = one_bootstrap(&procedure(9, [17, 1], [24, 8], 8)).unwrap();
    let d = machine(128);
    let mut checked = 0;
    for procedure in compiled.program.bound_procs() {
        check(&d, procedure);
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
    let machine = VectorMachine::new(d).unwrap();
    let report = machine
        .simulate(&compiled.program, SimOptions::default())
        .unwrap();
    assert!(report.calls as usize >= checked);
}

/// Times one bootstrap of the paper's set, by the paper's counting and with distant memory and instructions.
#[test]
#[ignore = "half a minute of one core; `make full` runs it"]
fn a_bootstrap_at_full_size() {
    let compiled = one_bootstrap(&procedure(16, [127, 3], [42, 14], 64)).unwrap();
    let machine = VectorMachine::parse(Description::PAPER).unwrap();
    let begin = std::time::Instant::now();
    let report = machine
        .simulate(&compiled.program, SimOptions::default())
        .unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    let own = report.own::<VectorUse>().unwrap();
    println!(
        "{} calls, {} instructions in {seconds:.1} s: {:.2} ms by the paper's counting, {:.2} ms with all; {own:?}",
        report.calls,
        report.instructions,
        own.cycles_by_papers_counting as f64 / 1e6,
        report.cycles as f64 / 1e6
    );
    // The text of Table 8 has 40 ms.
    assert!(own.cycles_by_papers_counting < 40_000_000);
}
