// SPDX-License-Identifier: Apache-2.0
//! Operations that all schemes share: sampling, centring of residues, and transforms.

use ringmill_math::sample::{self, WideGaussian};
use ringmill_math::{Modulus, NttPlan, Prng, Ring, plans::Task, primes};

use super::{Failure, Operation, expect_dependent, secret_seed};
use crate::valgrind::mark;

pub const OPERATIONS: &[Operation] = &[
    Operation {
        name: "samplers",
        run: samplers,
    },
    Operation {
        name: "wide Gaussian",
        run: wide_gaussian,
    },
    Operation {
        name: "centred residues",
        run: centred,
    },
    Operation {
        name: "transforms",
        run: transforms,
    },
];

/// The number of samples of each kind. It needs more than one block of random numbers, and the last block only in part.
const SAMPLES: usize = 300;

fn prng() -> Prng {
    Prng::from_seed_for_reproducible_tests_only(secret_seed(2))
}

/// Returns moduli: a small one that samples may exceed, and one of each length for which there are other kernels.
fn moduli() -> Result<Vec<Modulus>, Failure> {
    let mut moduli = vec![Modulus::new(97)?];
    for bits in [30, 50, 52, 60] {
        let found = primes::ntt_primes(bits, 8, 1)?;
        moduli.extend(
            found
                .into_iter()
                .map(Modulus::new)
                .collect::<Result<Vec<_>, _>>()?,
        );
    }
    Ok(moduli)
}

fn samplers() -> Result<(), Failure> {
    let mut prng = prng();
    let drawn = [
        sample::ternary(&mut prng, SAMPLES),
        sample::sparse_ternary(&mut prng, SAMPLES, 32)?,
        sample::centred_binomial(&mut prng, SAMPLES, 21)?,
        sample::gaussian(&mut prng, SAMPLES, 3.2)?,
    ];
    let mut limb = vec![0; SAMPLES];
    for q in moduli()? {
        for samples in &drawn {
            sample::to_limb(q, samples, &mut limb)?;
        }
        sample::uniform(&mut prng, q, &mut limb);
    }
    drawn
        .iter()
        .try_for_each(|samples| expect_dependent(samples))
}

fn wide_gaussian() -> Result<(), Failure> {
    let mut limb = vec![0; SAMPLES];
    for gaussian in [
        WideGaussian::at_least(40f64.exp2())?,
        WideGaussian::exactly(0.7)?,
        WideGaussian::exactly(20f64.exp2())?,
    ] {
        let drawn = gaussian.draw(&mut prng(), SAMPLES);
        for q in moduli()? {
            sample::to_limb_i128(q, &drawn, &mut limb)?;
        }
        expect_dependent(&limb)?;
    }
    Ok(())
}

fn centred() -> Result<(), Failure> {
    for q in moduli()? {
        let residues: Vec<u64> = (0..256).map(|i| q.reduce(u64::MAX / 256 * i)).collect();
        mark(&residues);
        let centred: Vec<i64> = residues.iter().map(|&x| q.centred(x)).collect();
        let mut limb = vec![0; centred.len()];
        sample::to_limb_i64(q, q.value() / 2, &centred, &mut limb)?;
        expect_dependent(&limb)?;
    }
    Ok(())
}

/// Runs the transforms on every kernel that may be chosen at this level of vector instructions.
fn transforms() -> Result<(), Failure> {
    let ring = Ring::full(8);
    for q in moduli()?.into_iter().skip(1) {
        let plan = NttPlan::new(q, ring)?;
        for kernel in plan.kernels() {
            let mut limb: Vec<u64> = (0..ring.len() as u64).map(|i| q.reduce(i << 50)).collect();
            mark(&limb);
            plan.run_on(&kernel, Task::Forward, &mut limb)?;
            plan.run_on(&kernel, Task::Inverse, &mut limb)?;
            expect_dependent(&limb)?;
        }
    }
    Ok(())
}
