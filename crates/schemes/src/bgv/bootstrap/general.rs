// SPDX-License-Identifier: Apache-2.0
//! General bootstrapping, of any polynomial: slots may hold any elements of the slot ring, not only integers. Let l
//! be the number of slots. The steps are:
//!
//! 1. encapsulation and raising of the modulus, applied to the polynomial itself, because its N coefficients are what
//!    the bootstrap refreshes;
//! 2. [halvings](ringmill_math::slots::linear::halvings), which split the N coefficients into N / l parts of l;
//! 3. for each part: the map to slots, the removal of digits as in thin bootstrapping, and the map back to
//!    coefficients;
//! 4. the sum of part i times x^i over all parts.
//!
//! Parts are visited depth first. So no more than log2(N / l) + 1 parts wait at one time.

use std::sync::Arc;

use ringmill_isa::Galois;
use ringmill_isa::macros::{MacroImm, MacroOp, MacroType};
use ringmill_math::slots::linear::Halving;

use super::bootstrapper::Bootstrapper;
use super::emit::{Emitted, Emitter};
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::layout::malformed;
use super::lift::{Lift, Lifted};
use super::maps::MapNumber;
use super::value::Value;
use crate::bgv::Factor;

/// A polynomial that a general bootstrap still has to split into halves or, after the last halving, to refresh. It
/// knows its position among all parts of the whole polynomial.
struct Part {
    /// The exponent of the power of x by which this part is multiplied in the sum that gives the whole polynomial.
    power: usize,
    /// The number of halvings from the whole polynomial to this part.
    halved: usize,
    value: Emitted,
}

impl Bootstrapper {
    /// Bootstraps a ciphertext of any polynomial modulo p^r. The result has the same polynomial, a high level, and a
    /// noise bound of its own. A general bootstrap removes digits N / l times, where l is the number of slots; a thin
    /// bootstrap does that once. The ciphertext's level must be [`Bootstrapping::inner`](super::Bootstrapping::inner)
    /// or above.
    ///
    /// # Errors
    /// [`BootstrapError::Parameters`] if parameters or maps are those of thin bootstrapping
    /// ([`Bootstrapping::general`](super::Bootstrapping::general), [`Maps::general`](super::Maps::general)), or if
    /// there are N slots and so nothing to split. [`BootstrapError::NoLevel`] for a level below the inner one.
    /// Otherwise the errors of [`Bootstrapper::bootstrap`].
    pub fn bootstrap_general(
        &self,
        value: &Value,
        keys: &BootstrapKeys,
    ) -> Result<Value, BootstrapError> {
        if !self.maps().is_general() || !self.setup().is_general() {
            return Err(BootstrapError::Parameters {
                reason:
                    "they, or their maps, are those of thin bootstrapping: make them by `general`"
                        .into(),
            });
        }
        let inner = self.setup().inner();
        self.check_operand(value, keys, inner)?;
        self.ran(&[value], keys, |e, inputs| {
            let operand = inputs.first().copied().ok_or_else(malformed)?;
            self.all_parts(e, operand)
        })
    }

    fn all_parts(&self, e: &Emitter<'_>, operand: Emitted) -> Result<Emitted, BootstrapError> {
        let (raised, outer) = self.refreshed(e, operand)?;
        let halvings = self.maps().halvings();
        let mut parts = vec![Part {
            power: 0,
            halved: 0,
            value: raised,
        }];
        let mut total: Option<Emitted> = None;
        while let Some(part) = parts.pop() {
            if let Some(halving) = halvings.get(part.halved) {
                let [even, odd] = e.halved(part.value, *halving)?;
                let halved = part.halved + 1;
                for (value, more) in [(odd, halving.spacing), (even, 0)] {
                    parts.push(Part {
                        power: part.power + more,
                        halved,
                        value,
                    });
                }
                continue;
            }
            let fresh = self.part(e, part, outer)?;
            total = Some(match total {
                Some(total) => e.sum(total, fresh)?,
                None => fresh,
            });
        }
        let total = total.ok_or_else(|| BootstrapError::Parameters {
            reason: "a polynomial without parts".into(),
        })?;
        e.check("a bootstrap", total)
    }

    /// Emits the removal of digits below the message in a part of the polynomial. A part has the l coefficients of
    /// x^(i + k N / l) for one i and all k, where l is the number of slots. Returns a polynomial with these
    /// coefficients only.
    fn part(&self, e: &Emitter<'_>, part: Part, outer: Factor) -> Result<Emitted, BootstrapError> {
        let maps = self.maps();
        let value = e.map(part.value, (MapNumber::ToSlots, &maps.to_slots), false)?;
        let value = self.without_digits(e, value, outer)?;
        let to_coefficients = (MapNumber::ToCoefficients, &maps.to_coefficients);
        let value = e.map(value, to_coefficients, false)?;
        e.times_power(value, part.power as i64)
    }
}

impl Emitter<'_> {
    /// Emits the split of a polynomial in a power y of x into two halves. They are twice the part with even powers
    /// of y, and twice the part with odd powers divided by y.
    fn halved(&self, a: Emitted, halving: Halving) -> Result<[Emitted; 2], BootstrapError> {
        let model = self.model(a.factor)?;
        let by = Galois(halving.galois as u32);
        let switched = model.switch_key(a.noise, a.level);
        let at = Emitted::at(a.level, a.factor);
        let morphed = self.with(|code| {
            let ty = MacroType::Morphed { by, at };
            code.push(MacroOp::Morph, vec![a.value], MacroImm::Galois(by), [ty])
        });
        let place = (a.level, a.factor, switched);
        let image = self.step_of(MacroOp::Ksw, morphed, MacroImm::None, place);
        let place = (a.level, a.factor, model.add(a.noise, image.noise));
        let [even, odd] = [MacroOp::Add, MacroOp::Sub]
            .map(|op| self.step(op, &[a, image], MacroImm::None, place));
        let odd = self.times_power(odd, -(halving.spacing as i64))?;
        Ok([
            self.check("a halving", even)?,
            self.check("a halving", odd)?,
        ])
    }

    /// Multiplies a value by a power of x, which costs neither noise nor a level.
    fn times_power(&self, a: Emitted, power: i64) -> Result<Emitted, BootstrapError> {
        if power == 0 {
            return Ok(a);
        }
        let lifted = Lifted::power(self.params, power, a.level)?;
        self.sum_plain(&[(a, &Arc::new(Lift::passing(lifted)))])
    }

    fn sum(&self, a: Emitted, b: Emitted) -> Result<Emitted, BootstrapError> {
        let b = match a.factor == b.factor {
            true => b,
            false => self.under(b, a.factor)?,
        };
        let noise = self.model(a.factor)?.add(a.noise, b.noise);
        let made = (a.level, a.factor, noise);
        Ok(self.step(MacroOp::Add, &[a, b], MacroImm::None, made))
    }
}
