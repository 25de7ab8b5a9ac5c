// SPDX-License-Identifier: Apache-2.0
//! Checks of a base-extension unit with jobs of many kinds. The residues are those of big integers, some of them at
//! edges of the range, with coefficients in any order.

use num_bigint::BigUint;
use ringmill_hdl::basext::{ExtendError, Extender};
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_machines::basext::rowers::{Algorithm, COX_BITS};
use ringmill_machines::basext::{Extension, Shape, Unit, load_cycles};
use ringmill_math::{Modulus, RnsBasis, reduce_big};

use crate::common::failure::Failure;

impl From<ExtendError> for Failure {
    fn from(error: ExtendError) -> Self {
        match error {
            ExtendError::Hdl(error) => error.into(),
            error => Self::Mismatch(error.to_string()),
        }
    }
}

/// The order in which a job's coefficients come.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    Natural,
    Reversed,
    Random,
}

/// A job on a unit.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub l: usize,
    pub k: usize,
    pub log_n: u32,
    pub order: Order,
    pub stalls: bool,
    /// The number of polynomials, one after another: in one command if the unit can.
    pub polynomials: u64,
}

/// The bases of a job: distinct primes that the unit takes, in random order. About half are the largest, the others are
/// of every size.
pub struct Bases {
    pub sources: RnsBasis,
    pub redundant: Modulus,
    pub targets: Vec<Modulus>,
}

impl Bases {
    /// Draws bases of l sources and k targets for a unit. For Cox-Rower only the largest primes are drawn.
    pub fn of(unit: Unit, l: usize, k: usize, rng: &mut Dice) -> Self {
        let near = matches!(unit, Unit::Rowers(Algorithm::CoxRower, _));
        Self::new(unit.shape(), near, l, k, rng)
    }

    fn new(shape: Shape, near: bool, l: usize, k: usize, rng: &mut Dice) -> Self {
        let (low, bits) = (shape.low(), shape.word().modulus_bits());
        let (mut primes, mut largest) = (Vec::new(), (1u64 << bits) - (1 << low) + 1);
        while primes.len() < l + k + 1 {
            // A candidate is the next of the largest numbers, or in half of the cases a number of random size.
            let candidate = if near || rng.chance(2) {
                largest -= 1 << low;
                largest + (1 << low)
            } else {
                let size = low + 3 + rng.below(u64::from(bits - low - 3)) as u32;
                (rng.below(1 << (size - low)) << low) + (1 << size) + 1
            };
            if ringmill_math::primes::is_prime(candidate) && !primes.contains(&candidate) {
                primes.push(candidate);
            }
        }
        for at in (1..primes.len()).rev() {
            primes.swap(at, rng.below(at as u64 + 1) as usize);
        }
        let mut moduli = primes.iter().map(|&p| Modulus::new(p).unwrap());
        Self {
            sources: RnsBasis::new(moduli.by_ref().take(l).collect()).unwrap(),
            redundant: moduli.next().unwrap(),
            targets: moduli.collect(),
        }
    }
}

/// Returns `n` integers below Q, the product of the sources: 0, those within l + 1 of 0 and of Q, the l + 1 above Q /
/// 2, and random ones.
pub fn integers(bases: &Bases, n: usize, rng: &mut Dice) -> Vec<BigUint> {
    let product = bases.sources.product();
    let mut values = vec![BigUint::ZERO, BigUint::from(1u32)];
    for near in 1..=bases.sources.moduli().len() as u32 + 1 {
        values.push(product - near);
        values.push(product / 2u32 + near);
        values.push(BigUint::from(near));
    }
    let words = product.iter_u64_digits().count() + 1;
    while values.len() < n {
        let digits: Vec<u32> = (0..2 * words).map(|_| rng.bits() as u32).collect();
        values.push(BigUint::from_slice(&digits) % product);
    }
    values.truncate(n);
    values
}

fn arrange(values: &mut [BigUint], order: Order, rng: &mut Dice) {
    match order {
        Order::Natural => {}
        Order::Reversed => {
            let bits = values.len().ilog2();
            for at in 0..values.len() {
                let other = at.reverse_bits() >> (usize::BITS - bits);
                if at < other {
                    values.swap(at, other);
                }
            }
        }
        Order::Random => {
            for at in (1..values.len()).rev() {
                values.swap(at, rng.below(at as u64 + 1) as usize);
            }
        }
    }
}

pub fn limbs(values: &[BigUint], moduli: &[Modulus]) -> Vec<Vec<u64>> {
    let limb = |&q| values.iter().map(|x| reduce_big(x, q)).collect();
    moduli.iter().map(limb).collect()
}

/// Runs the jobs one after another on a unit, exact and fast. Residues must be those of the golden model, which are
/// compared with the big integers, and cycles those of the cycle model. Returns the cycles of the last exact extension.
pub fn check(hdl: &Hdl, made: impl Into<Unit>, cases: &[Case], seed: u64) -> Result<u64, Failure> {
    check_on(unit(hdl, made, Optimise::default())?, cases, seed)
}

/// Runs the jobs as [`check`] does, on a model that takes longer to build and runs faster.
pub fn check_large(
    hdl: &Hdl,
    made: impl Into<Unit>,
    cases: &[Case],
    seed: u64,
) -> Result<u64, Failure> {
    check_on(unit(hdl, made, Optimise::Run)?, cases, seed)
}

pub fn unit(hdl: &Hdl, made: impl Into<Unit>, optimise: Optimise) -> Result<Extender, Failure> {
    let options = BuildOptions {
        optimise,
        ..Default::default()
    };
    Ok(Extender::new(hdl, made, options)?)
}

fn check_on(mut unit: Extender, cases: &[Case], seed: u64) -> Result<u64, Failure> {
    let mut rng = Dice::new(seed);
    let mut last = 0;
    for case in cases {
        last = check_one(&mut unit, case, &mut rng)?;
    }
    Ok(last)
}

fn check_one(unit: &mut Extender, case: &Case, rng: &mut Dice) -> Result<u64, Failure> {
    let made = unit.unit();
    let wrong = |what: String| Err(Failure::Mismatch(format!("{made:?} {case:?}: {what}")));
    let bases = Bases::of(made, case.l, case.k, rng);
    let redundant = Some(bases.redundant);
    let mut polynomials = Vec::new();
    for _ in 0..case.polynomials {
        let mut values = integers(&bases, 1 << case.log_n, rng);
        arrange(&mut values, case.order, rng);
        polynomials.push(values);
    }
    let constants = made.constants(&bases.sources, redundant, &bases.targets);
    let constants = constants.expect("the bases fit the unit");
    unit.stall(case.stalls.then(|| Dice::new(rng.bits())));
    let taken = unit.load(&constants)?;
    if !case.stalls && taken != load_cycles(constants.words().len()) {
        return wrong(format!("the load takes {taken} cycles"));
    }
    let moduli: Vec<Modulus> = bases.sources.moduli().to_vec();
    let all: Vec<Modulus> = moduli.iter().copied().chain(redundant).collect();
    let mut last = 0;
    // The bound below which Cox-Rower is exact is `below` / `whole` of Q.
    let whole = BigUint::from(1u32) << COX_BITS;
    let below = match made {
        Unit::Rowers(Algorithm::CoxRower, _) => &whole - constants.words()[0],
        _ => whole.clone(),
    };
    for extension in [Extension::Exact, Extension::Fast] {
        if !made.extends(extension) {
            continue;
        }
        let exact = extension == Extension::Exact;
        let of = match made.takes_redundant(extension) {
            true => &all,
            false => &moduli,
        };
        let given: Vec<Vec<Vec<u64>>> = polynomials.iter().map(|p| limbs(p, of)).collect();
        let given: Vec<Vec<&[u64]>> = given
            .iter()
            .map(|limbs| limbs.iter().map(Vec::as_slice).collect())
            .collect();
        let (got, taken) = unit.extend_all(extension, &given)?;
        let mut want = Vec::new();
        for (values, given) in polynomials.iter().zip(&given) {
            let limbs_of = made.golden(&bases.sources, redundant, &bases.targets, extension, given);
            let limbs_of = limbs_of.expect("the bases are sound");
            if exact {
                let product = bases.sources.product();
                let meant = |c: usize| &values[c] * &whole < product * &below;
                let asked = limbs(values, &bases.targets);
                for (limb, asked) in limbs_of.iter().zip(&asked) {
                    let differs = (0..limb.len()).find(|&c| limb[c] != asked[c] && meant(c));
                    assert_eq!(differs, None, "the golden model");
                }
            }
            want.extend(limbs_of);
        }
        if exact {
            last = taken;
        }
        if got != want {
            let differs = |(a, b): (&Vec<u64>, &Vec<u64>)| {
                (0..a.len().max(b.len())).find(|&c| a.get(c) != b.get(c))
            };
            let at: Vec<_> = got.iter().zip(&want).map(differs).collect();
            return wrong(format!(
                "{extension:?}: {} polynomials, the first differences at {at:?}",
                got.len()
            ));
        }
        let model = made.cycles(extension, case.l, case.k, case.log_n, case.polynomials);
        if !case.stalls && taken != model {
            return wrong(format!(
                "{extension:?} takes {taken} cycles, {model} in the model"
            ));
        }
    }
    Ok(last)
}
