//! BGV, whose divisions compute modulo primes alone for this machine, and a thin bootstrap.

use std::sync::Arc;

use ringmill_compiler::bgv::one_bootstrap;
use ringmill_machines::vector::{Description, VectorMachine};
use ringmill_machines::{Machine, SimOptions};
use ringmill_math::slots::linear::Shape;
use ringmill_schemes::bgv::bootstrap::{Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{Params, PrimePower};

use crate::check::check;

/// Radix 32, 64 lanes, for N = 512.
fn machine(limbs: u64) -> Description {
    let mut d = Description::read(Description::PAPER).unwrap();
    d.log_radix = 5;
    d.log_lanes = 6;
    d.buffer_words = limbs << 10;
    d
}

fn procedure() -> Arc<Procedure> {
    let t = PrimePower::new(17, 1).unwrap().modulus().unwrap();
    let params = Params::builder(9, t)
        .friendly_primes(24, 8)
        .unwrap()
        .further_plain_moduli(1)
        .divide_modulo_primes_alone()
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let setup = Bootstrapping::new(params, 8).unwrap();
    let maps = Maps::new(&setup, Shape::default()).unwrap();
    Arc::new(Procedure::new(setup, maps, false).unwrap())
}

/// Every procedure of a thin bootstrap, all lines of the paper's Algorithm 3 among them: its micro program's bits are the
/// interpreter's; and the bootstrap is timed whole.
#[test]
fn a_thin_bootstrap_gives_its_bits() {
    let compiled = one_bootstrap(&procedure()).unwrap();
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
