//! At full size: rows of 32, 32 butterflies, 4 dyadic cores, N = 2^14, 18 limbs of key memory over nine stripes, narrow slots of
//! eight residues a cycle.

use std::sync::Arc;
use std::time::Instant;

use ringmill_hdl::BuildOptions;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::Machine;
use ringmill_machines::ring::Description;
use ringmill_schemes::ckks::{OpKey, Params, ProcCache};

use crate::bench::PRIMES;
use crate::procedures::run;
use crate::random::check_words_on;
use crate::setup::{hdl, seed};

/// `ring-stored` as it is shipped, of so many RPAUs, none of which stands in for another.
fn full(rpaus: usize) -> Description {
    let mut d = Description::parse(Description::STORED).unwrap();
    d.rpaus = rpaus;
    d.stand_in.clear();
    d.check().unwrap();
    d
}

/// All words beside each other on an RPAU, limbs of 2^14 coefficients and smaller ones.
#[test]
#[ignore = "an RPAU of 36 multipliers and limbs of 2^14; `make full` runs it"]
fn words_of_an_rpau() {
    let mut dice = Dice::new(seed());
    let began = Instant::now();
    check_words_on(hdl(), &full(1), PRIMES[1], 2, &mut dice).unwrap();
    println!("built and run in {:?}", began.elapsed());
}

/// Multiplication with relinearisation, and a rescale: every grant, every slot at its word's retirement, the end, and the results the
/// reference interpreter's.
fn check_operations(d: &Description, params: Arc<Params>) {
    let mut dice = Dice::new(seed());
    let began = Instant::now();
    let mut machine = Machine::new(
        hdl(),
        d,
        params.moduli(),
        // Limbs of 2^14 a residue a cycle would take longer than what is done with them.
        BuildOptions {
            open: true,
            ..BuildOptions::default()
        },
        dice.bits() as u32,
    )
    .unwrap();
    println!("built, twiddles loaded: {:?}", began.elapsed());
    let level = params.max_level();
    for key in [OpKey::rescale(level, 2), OpKey::mul_relin(level, true)] {
        let began = Instant::now();
        let procedure = ProcCache::new(params.clone()).get(&key).unwrap();
        let cycles = run(&mut machine, d, &procedure, &mut dice);
        let name = &procedure.name;
        println!(
            "{name}: {cycles} cycles, limbs loaded and run in {:?}",
            began.elapsed()
        );
    }
}

/// Two ciphertext primes and a special one on three RPAUs.
#[test]
#[ignore = "three RPAUs of 36 multipliers; `make full` runs it"]
fn operations_on_three_units() {
    let set = Params::named("set2").unwrap();
    let primes = &set.moduli()[..3];
    let params = Params::builder(14)
        .primes(&primes[..2], &primes[2..])
        .build()
        .unwrap();
    check_operations(&full(3), params);
}

/// Set-1 on the machine as it is shipped.
#[test]
#[ignore = "ten RPAUs of 36 multipliers; `make full` runs it"]
fn operations_of_set_1() {
    let d = Description::parse(Description::STORED).unwrap();
    check_operations(&d, Params::named("set1").unwrap());
}
