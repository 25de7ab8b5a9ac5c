// SPDX-License-Identifier: Apache-2.0
//! Plans the removal of low digits: the rounding of an integer modulo p^e to a multiple of a power of p.

use super::error::DigitError;
use super::evaluation::{emit, plan_polynomial};
use super::local::Local;
use super::plan::{Builder, Plan, PlanCosts, PlanCount, Step};
use crate::Modulus;
use crate::primes::is_prime;

/// The functions of the lowest digit of numbers modulo p^e, if this digit lies between -`bound` and `bound`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LowDigit {
    p: u64,
    exponent: u32,
    q: Modulus,
    bound: u64,
}

impl LowDigit {
    /// The largest `bound` of [`LowDigit::new`], which allows all digits modulo the prime 65537.
    /// The time to compute a polynomial grows with the square of the bound.
    pub const MAX_BOUND: u64 = 1 << 15;

    /// Makes the functions of the lowest digit of a number modulo p^`exponent`, if this digit lies between -`bound` and
    /// `bound`.
    ///
    /// # Errors
    /// Fails unless p^e is a power below 2^60 of an odd prime. Also fails if `bound` is above
    /// (p - 1) / 2 or [`LowDigit::MAX_BOUND`].
    pub fn new(p: u64, exponent: u32, bound: u64) -> Result<Self, DigitError> {
        let q = power_of_odd_prime(p, exponent)?;
        let max = ((p - 1) / 2).min(Self::MAX_BOUND);
        if bound > max {
            return Err(DigitError::Bound { p, got: bound, max });
        }
        Ok(Self {
            p,
            exponent,
            q,
            bound,
        })
    }

    /// Makes the functions of the lowest digit of a number modulo p^`exponent` for all digits, from
    /// -(p - 1) / 2 to (p - 1) / 2.
    ///
    /// # Errors
    /// The errors of [`LowDigit::new`]; [`DigitError::TooLong`].
    pub fn any(p: u64, exponent: u32) -> Result<Self, DigitError> {
        power_of_odd_prime(p, exponent)?;
        check_length(p)?;
        Self::new(p, exponent, (p - 1) / 2)
    }

    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// Returns the modulus p^e of the numbers whose lowest digit the functions read.
    pub fn modulus(&self) -> Modulus {
        self.q
    }

    /// Returns the polynomial of least degree that takes x with lowest digit b to f(b) modulo p^e.
    /// `values` are the values of the function f from -`bound` to `bound`; the polynomial's
    /// coefficients are nearest to 0. An odd function has an odd polynomial, an even function an
    /// even one.
    ///
    /// # Errors
    /// [`DigitError::Table`] for a wrong number of values, [`DigitError::Residue`] for a value that is not below p^e.
    pub fn function(&self, values: &[u64]) -> Result<Vec<i64>, DigitError> {
        let (p, q, count) = (self.p, self.q, 2 * self.bound + 1);
        if values.len() as u64 != count {
            return Err(DigitError::Table {
                p,
                expected: count,
                got: values.len(),
            });
        }
        let modulus = q.value();
        if let Some(&got) = values.iter().find(|&&v| v >= modulus) {
            return Err(DigitError::Residue { got, modulus });
        }
        let first = -(self.bound as i64);
        let local = Local::new(q, p, self.exponent, first, values.len());
        let polynomial = local.interpolate(values)?;
        // The domain is symmetric: the odd part (f(x) - f(-x)) / 2 of an odd function is the same function.
        let mirrored = || values.iter().zip(values.iter().rev());
        let odd = mirrored().all(|(&a, &b)| q.add(a, b) == 0);
        let even = mirrored().all(|(&a, &b)| a == b);
        let keeps = |k: usize| !(odd && k.is_multiple_of(2) || even && !k.is_multiple_of(2));
        let centred = polynomial.iter().enumerate();
        let centred = centred.map(|(k, &c)| if keeps(k) { q.centred(c) } else { 0 });
        let mut polynomial: Vec<i64> = centred.collect();
        while polynomial.len() > 1 && polynomial.last() == Some(&0) {
            polynomial.pop();
        }
        Ok(polynomial)
    }

    /// Returns the cheapest plan to evaluate the polynomial of [`LowDigit::function`].
    ///
    /// # Errors
    /// The errors of [`LowDigit::function`].
    pub fn function_plan(&self, values: &[u64], costs: PlanCosts) -> Result<Plan, DigitError> {
        Ok(plan_polynomial(&self.function(values)?, costs))
    }

    /// Returns the polynomial modulo p^e that takes x to its lowest digit, called lowest-digit *retain*. It is odd. Its
    /// degree is at most (e - 1)(p - 1) + 1 for all digits modulo p (Chen and Han), and at most e (2 `bound` + 1) - 1
    /// for fewer.
    ///
    /// # Errors
    /// Never fails, because [`LowDigit::new`] has checked the bound of the digit.
    pub fn retain(&self) -> Result<Vec<i64>, DigitError> {
        let values: Vec<u64> = self.digits().map(|b| self.q.from_i64(b)).collect();
        self.function(&values)
    }

    /// Returns the polynomial that takes x to x minus its lowest digit, called lowest-digit *removal*.
    ///
    /// # Errors
    /// Never fails, because [`LowDigit::new`] has checked the bound of the digit.
    pub fn remove(&self) -> Result<Vec<i64>, DigitError> {
        let mut polynomial: Vec<i64> = self.retain()?.into_iter().map(|c| -c).collect();
        polynomial.resize(polynomial.len().max(2), 0);
        polynomial[1] = self.q.centred(self.q.from_i64(polynomial[1] + 1));
        Ok(polynomial)
    }

    /// Returns the cheapest plan to evaluate the polynomial of [`LowDigit::remove`].
    ///
    /// # Errors
    /// Never fails, because [`LowDigit::new`] has checked the bound of the digit.
    pub fn plan(&self, costs: PlanCosts) -> Result<Plan, DigitError> {
        Ok(plan_polynomial(&self.remove()?, costs))
    }

    /// Returns the plan of Halevi and Shoup to remove the lowest digit of a number x modulo p^e, as
    /// in HElib and the BASALISC paper. It computes x - F(F(... x)), where the polynomial F, of
    /// degree p, is applied e - 1 times. F keeps the lowest digit, and each application turns one
    /// more digit above it to 0. The plan is right for all digits modulo p.
    ///
    /// # Errors
    /// [`DigitError::TooLong`] for a prime above 65537.
    pub fn halevi_shoup_plan(&self, costs: PlanCosts) -> Result<Plan, DigitError> {
        let lift = self.halevi_shoup_lift()?;
        let mut builder = Builder::new(1);
        let x = builder.input(0);
        let mut digit = x;
        for _ in 1..self.exponent {
            digit = emit(&mut builder, digit, &lift, costs);
        }
        let output = builder.push(Step {
            linear: vec![(1, x), (-1, digit)],
            ..Step::default()
        });
        Ok(builder.finish(output))
    }

    /// Returns the polynomial F of Halevi and Shoup's digit removal: x^p minus the polynomial of
    /// degree below p with the values b^p - b at all digits b. So F(b) = b for every digit b, and
    /// the derivative of F is 0 modulo p.
    fn halevi_shoup_lift(&self) -> Result<Vec<i64>, DigitError> {
        let all = Self::any(self.p, self.exponent)?;
        let q = self.q;
        let values: Vec<u64> = all
            .digits()
            .map(|b| q.from_i64(b))
            .map(|b| q.sub(q.pow(b, self.p), b))
            .collect();
        // The values must be right at the digits alone, so an exponent of 1 suffices.
        let local = Local::new(q, self.p, 1, -(all.bound as i64), values.len());
        let mut lift = local.values_at_digits(&values)?;
        lift.iter_mut().for_each(|c| *c = q.neg(*c));
        lift.resize(self.p as usize + 1, 0);
        lift[self.p as usize] = 1;
        Ok(lift.iter().map(|&c| q.centred(c)).collect())
    }

    fn digits(&self) -> impl Iterator<Item = i64> {
        let bound = self.bound as i64;
        -bound..=bound
    }
}

/// The method by which a digit is removed. All methods compute the same result if the noise is within its bound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Method {
    /// Removes a digit with one polynomial of least degree, which serves only the values that noise
    /// can give to this digit.
    #[default]
    OfNoise,
    /// Removes a digit with one polynomial of least degree that serves all digits modulo p, for any noise ([`LowDigit::any`]:
    /// Chen and Han).
    AllDigits,
    /// Removes a digit with one polynomial of degree p, evaluated several times ([`LowDigit::halevi_shoup_plan`]: Halevi and
    /// Shoup, HElib, the BASALISC paper).
    HaleviShoup,
}

/// The removal of the lowest digit of a number modulo p^`exponent`. The plan computes the number
/// minus its lowest digit. The difference is a multiple of p, and is then divided by p.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Round {
    pub exponent: u32,
    pub plan: Plan,
}

/// The rounding of numbers modulo p^e to the nearest multiple of p^v, and their division by p^v. It takes v rounds, one for
/// each digit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DigitRemoval {
    p: u64,
    rounds: Vec<Round>,
}

impl DigitRemoval {
    /// Plans the map of numbers p^v m + r modulo p^e, with |r| at most `noise`, to m modulo p^(e -
    /// v). v is `digits` and e is `exponent`. Smaller noise gives shorter polynomials: if r does
    /// not fill a digit, the digit's polynomial serves only the values that r can give it.
    ///
    /// The BASALISC paper's older variant (section 8.3.2) also scales by p^k: it rounds fixed-point numbers while it
    /// bootstraps. That is the removal of k more digits, of any value: `digits` = v + k and `noise` = (p^(v + k) - 1) / 2.
    ///
    /// # Errors
    /// Fails unless p^e is a power below 2^60 of an odd prime. Also fails if no digit would be left, if the noise does
    /// not fit the digits that are removed, or if a digit may be above [`LowDigit::MAX_BOUND`] in magnitude.
    pub fn new(
        p: u64,
        exponent: u32,
        digits: u32,
        noise: u64,
        costs: PlanCosts,
    ) -> Result<Self, DigitError> {
        Self::by(Method::OfNoise, p, exponent, digits, noise, costs)
    }

    /// Plans the rounding as [`DigitRemoval::new`] does, by the given method.
    ///
    /// # Errors
    /// The errors of [`DigitRemoval::new`], and [`DigitError::TooLong`] for a prime above 65537 if
    /// the method serves all digits.
    pub fn by(
        method: Method,
        p: u64,
        exponent: u32,
        digits: u32,
        noise: u64,
        costs: PlanCosts,
    ) -> Result<Self, DigitError> {
        power_of_odd_prime(p, exponent)?;
        if digits >= exponent {
            return Err(DigitError::TooManyDigits {
                got: digits,
                exponent,
            });
        }
        let max = (p.pow(digits) - 1) / 2;
        if noise > max {
            return Err(DigitError::Noise {
                p,
                digits,
                got: noise,
                max,
            });
        }
        let mut left = noise;
        let mut rounds = Vec::with_capacity(digits as usize);
        for removed in 0..digits {
            let exponent = exponent - removed;
            let half = (p - 1) / 2;
            let plan = match method {
                Method::OfNoise => LowDigit::new(p, exponent, left.min(half))?.plan(costs)?,
                Method::AllDigits => LowDigit::any(p, exponent)?.plan(costs)?,
                Method::HaleviShoup => LowDigit::any(p, exponent)?.halevi_shoup_plan(costs)?,
            };
            left = if left <= half { 0 } else { (left + half) / p };
            rounds.push(Round { exponent, plan });
        }
        Ok(Self { p, rounds })
    }

    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// Returns the number of operations of the whole removal of digits: the sum over all rounds, each for one digit,
    /// which run in sequence.
    pub fn count(&self) -> PlanCount {
        let counts = self.rounds.iter().map(|r| r.plan.count());
        counts.fold(PlanCount::default(), |a, b| PlanCount {
            products: a.products + b.products,
            key_switches: a.key_switches + b.key_switches,
            scalars: a.scalars + b.scalars,
            depth: a.depth + b.depth,
            depth_with_scalars: a.depth_with_scalars + b.depth_with_scalars,
        })
    }

    /// Returns the result of the removal for the plain integer x: x rounded to a multiple of p^v,
    /// divided by p^v, for v digits. It is wrong if x has more noise than the removal was planned
    /// for.
    ///
    /// # Errors
    /// Never fails.
    pub fn evaluate(&self, x: u64) -> Result<u64, DigitError> {
        self.rounds.iter().try_fold(x, |x, round| {
            let q = Modulus::new(self.p.pow(round.exponent))?;
            Ok(round.plan.evaluate(q, &[x])? / self.p)
        })
    }
}

/// Refuses a prime p above 65537, for which a polynomial that serves all digits would be too long.
pub(super) fn check_length(p: u64) -> Result<(), DigitError> {
    let max = 2 * LowDigit::MAX_BOUND + 1;
    if p > max {
        return Err(DigitError::TooLong { p, max });
    }
    Ok(())
}

pub(super) fn power_of_odd_prime(p: u64, exponent: u32) -> Result<Modulus, DigitError> {
    let power = p.checked_pow(exponent);
    let fits = power.filter(|&q| exponent > 0 && q >> 60 == 0 && p != 2 && is_prime(p));
    let q = fits.ok_or(DigitError::Power { p, exponent })?;
    Ok(Modulus::new(q)?)
}
