// SPDX-License-Identifier: Apache-2.0
//! Computes the moduli and constants of a base extension, in the order in which a base-extension unit loads them.

use ringmill_math::{Modulus, RnsBasis};

use super::rowers::{self, Algorithm};
use super::{BasextError, Shape, Shared};

/// The moduli and constants of one base extension, in the order in which the unit loads them. Each
/// constant is stored times R, the factor of the Montgomery form, if the unit multiplies by it.
/// Cox-Rower only adds its correction delta and -Q modulo a target, for Q the product of the
/// sources, and stores both without R.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constants {
    l: usize,
    k: usize,
    exact: bool,
    words: Vec<u64>,
}

impl Constants {
    /// Computes the constants of an extension from the base `sources` to `targets` for the folded and the pipelined
    /// unit, which compute one target modulus at a time. An exact extension needs the redundant modulus.
    ///
    /// # Errors
    /// [`BasextError::Shape`] for no target modulus, or for more source or target moduli than the shape allows.
    /// [`BasextError::Modulus`] for a modulus that is not 1 modulo 2^[`Shape::low`], is 1, or has too many bits.
    /// [`BasextError::NotCoprime`] for a redundant modulus that is not coprime to the sources.
    pub fn new(
        shape: Shape,
        sources: &RnsBasis,
        redundant: Option<Modulus>,
        targets: &[Modulus],
    ) -> Result<Self, BasextError> {
        Self::of(Form::Folded, shape, sources, redundant, targets)
    }

    /// Computes the constants for the shared unit, which computes several target moduli at a time,
    /// in the order in which the unit loads them.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn shared(
        unit: Shared,
        sources: &RnsBasis,
        redundant: Option<Modulus>,
        targets: &[Modulus],
    ) -> Result<Self, BasextError> {
        Self::of(Form::Shared, unit.shape(), sources, redundant, targets)
    }

    /// Computes the constants of a rower unit, which extends a base by Cox-Rower or mixed radix and has no
    /// redundant modulus. The pipelined mixed-radix unit takes the constants of mixed radix, too.
    ///
    /// # Errors
    /// The errors of [`Self::new`]; for Cox-Rower `MathError::CoxRowerRange`, if moduli are too far below 2^w, for w
    /// the most bits of a modulus of the unit.
    pub fn rowers(
        algorithm: Algorithm,
        shape: Shape,
        sources: &RnsBasis,
        targets: &[Modulus],
    ) -> Result<Self, BasextError> {
        let form = match algorithm {
            Algorithm::CoxRower => Form::Rower,
            Algorithm::MixedRadix => Form::Radix,
        };
        Self::of(form, shape, sources, None, targets)
    }

    fn of(
        form: Form,
        shape: Shape,
        sources: &RnsBasis,
        redundant: Option<Modulus>,
        targets: &[Modulus],
    ) -> Result<Self, BasextError> {
        let (l, k) = (sources.moduli().len(), targets.len());
        for (what, got, most) in [
            ("the number of source moduli", l, shape.max_l()),
            ("the number of target moduli", k, shape.max_k()),
        ] {
            if !(1..=most).contains(&got) {
                return Err(BasextError::Shape {
                    what,
                    expected: format!("1 to {most}"),
                    got: got as u64,
                });
            }
        }
        for &modulus in sources.moduli().iter().chain(&redundant).chain(targets) {
            check(shape, modulus.value())?;
        }
        let times_r = |x, p: Modulus| p.mul(x, p.reduce_wide(1 << shape.word().log_r()));
        // The product of the sources, or of all but one, modulo p.
        let product = |p: Modulus, without: Option<usize>| {
            let numbered = sources.moduli().iter().enumerate();
            let rest = numbered.filter(|(i, _)| Some(*i) != without);
            rest.fold(p.reduce(1), |x, (_, q)| p.mul(x, p.reduce(q.value())))
        };
        let inverse = |m: Modulus, q: u64| {
            let not_coprime = |_| BasextError::NotCoprime { a: m.value(), b: q };
            m.inv(m.reduce(q)).map_err(not_coprime)
        };
        let mut words = Vec::with_capacity(1 + Self::count(l, k));
        match form {
            Form::Folded | Form::Shared => words.extend(match redundant {
                Some(m) => {
                    let of_product = form.signed(m, inverse(m, product(m, None))?);
                    [m.value(), times_r(of_product, m)]
                }
                None => [0; 2],
            }),
            Form::Rower => words.push(rowers::delta(shape, sources)?),
            Form::Radix => {}
        }
        if form == Form::Shared {
            words.push(redundant.map_or(0, |m| times_r(1, m)));
        }
        for (i, (&q, inverse_punctured)) in sources
            .moduli()
            .iter()
            .zip(sources.inverse_punctured_products())
            .enumerate()
        {
            words.push(q.value());
            match form {
                Form::Folded | Form::Shared | Form::Rower => {
                    words.push(times_r(inverse_punctured, q));
                }
                Form::Radix => {
                    for s in &sources.moduli()[..i] {
                        words.push(times_r(q.neg(inverse(q, s.value())?), q));
                    }
                }
            }
            match (form, redundant) {
                (Form::Folded, Some(m)) => words.push(times_r(product(m, Some(i)), m)),
                (Form::Shared, Some(m)) => words.push(times_r(inverse(m, q.value())?, m)),
                (Form::Folded | Form::Shared, None) => words.push(0),
                (Form::Rower | Form::Radix, _) => {}
            }
        }
        for &p in targets {
            words.push(p.value());
            match form {
                Form::Folded | Form::Shared | Form::Rower => {
                    let of_product = form.signed(p, product(p, None));
                    // Cox-Rower adds this constant, without a factor R.
                    words.push(match form {
                        Form::Rower => of_product,
                        Form::Folded | Form::Shared | Form::Radix => times_r(of_product, p),
                    });
                    words.extend((0..l).map(|i| times_r(product(p, Some(i)), p)));
                }
                Form::Radix => {
                    let weights = sources.moduli().iter().scan(p.reduce(1), |weight, q| {
                        let next = p.mul(*weight, p.reduce(q.value()));
                        Some(std::mem::replace(weight, next))
                    });
                    words.extend(weights.map(|weight| times_r(weight, p)));
                }
            }
        }
        Ok(Self {
            l,
            k,
            exact: redundant.is_some(),
            words,
        })
    }

    /// Returns the number of words that the folded unit, which computes one target modulus at a time, loads for an
    /// extension from `l` source moduli to `k` targets: moduli and constants.
    pub fn count(l: usize, k: usize) -> usize {
        2 + 3 * l + k * (2 + l)
    }

    /// Returns l, the number of source moduli of the extension to which the constants belong.
    pub fn l(&self) -> usize {
        self.l
    }

    /// Returns k, the number of target moduli of the extension to which the constants belong.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Returns whether the constants include a redundant modulus, which an exact extension needs.
    pub fn exact(&self) -> bool {
        self.exact
    }

    /// Returns the moduli and constants, one word for each beat of the unit's input. Constants by which the unit
    /// multiplies are stored times R. Here m is the redundant modulus, q_i a source, p_j a target, Q the product of the
    /// sources, Qhat_i is Q / q_i, and |x|_p is x modulo p. Without a redundant modulus, m and all constants modulo m
    /// are 0. The order depends on the unit:
    ///
    /// - Folded and pipelined: m, |Q^-1|_m; for each source q_i, |Qhat_i^-1|_(q_i), |Qhat_i|_m; for each target p_j,
    ///   |Q|_(p_j), and |Qhat_i|_(p_j) for each source.
    /// - Shared: as folded, with |-Q^-1|_m and |1|_m for |Q^-1|_m, |q_i^-1|_m for |Qhat_i|_m, and |-Q|_(p_j) for
    ///   |Q|_(p_j).
    /// - Cox-Rower: the correction delta; for each source q_i, |Qhat_i^-1|_(q_i); for each target p_j, |-Q|_(p_j), and
    ///   |Qhat_i|_(p_j) for each source.
    /// - Mixed radix, iterated or pipelined: for each source q_i, |-q_s^-1|_(q_i) for s < i; for each target p_j, |q_0
    ///   ... q_(s-1)|_(p_j) for s < l.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// The order and the signs in which a unit loads an extension's constants: `form_e` of `rm_basext_pkg`. The pipelined
/// unit has the form of the folded unit. Both units for mixed radix have the form `Radix`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Folded,
    Shared,
    Rower,
    Radix,
}

impl Form {
    /// Returns the constant x modulo `modulus` with the sign that the unit needs. The folded unit,
    /// which computes one target modulus at a time, subtracts the product with the constant and
    /// needs x. The shared unit adds that product and needs -x. Cox-Rower adds the constant itself
    /// and needs -x, too. Mixed radix has no such constant.
    fn signed(self, modulus: Modulus, x: u64) -> u64 {
        match self {
            Self::Folded => x,
            Self::Shared | Self::Rower | Self::Radix => modulus.neg(x),
        }
    }
}

/// Checks that the base-extension unit of this shape can compute modulo the number `value`.
///
/// # Errors
/// [`BasextError::Modulus`] for a number that is not 1 modulo 2^[`Shape::low`], is 1, or has too many bits.
pub(super) fn check(shape: Shape, value: u64) -> Result<(), BasextError> {
    let (low, bits) = (shape.low(), shape.word().modulus_bits());
    if value % (1 << low) == 1 && value > 1 && value >> bits == 0 {
        return Ok(());
    }
    Err(BasextError::Modulus {
        modulus: value,
        low,
        bits,
    })
}
