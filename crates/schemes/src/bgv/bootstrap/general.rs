// SPDX-License-Identifier: Apache-2.0
//! General bootstrapping: any polynomial, that is elements of the slot ring, not integers in slots alone.
//!
//! 1. encapsulation and the raising of the modulus, of the polynomial as it is: what is to be refreshed lies in its N coefficients;
//! 2. [halvings](ringmill_math::slots::linear::halvings) take these apart, l at a time;
//! 3. each part goes to slots, loses its digits as in thin bootstrapping, and goes back to coefficients;
//! 4. the parts are put together: part i times x^i, in sum.
//!
//! Parts are gone through depth first: of N / l only log2(N / l) are there at one time.

use ringmill_isa::{Galois, Level};
use ringmill_math::slots::linear::Halving;

use super::bootstrapper::Bootstrapper;
use super::constant::Constant;
use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::value::{Engine, Value};
use crate::bgv::{Factor, OpKey};

/// A polynomial that is still to be taken apart, and which part of all it is.
struct Part {
    /// The power of x that it was divided by.
    power: usize,
    /// How many halvings it has behind it.
    halved: usize,
    value: Value,
}

impl Bootstrapper {
    /// A ciphertext of the same polynomial modulo p^r, whatever it is, with as much noise as its bound says, at a high level: N / l thin
    /// bootstraps' removals of digits. Its level is [`Bootstrapping::inner`](super::Bootstrapping::inner) or above.
    ///
    /// # Errors
    /// [`BootstrapError::Parameters`] where parameters or maps are those of thin bootstrapping
    /// ([`Bootstrapping::general`](super::Bootstrapping::general), [`Maps::general`](super::Maps::general));
    /// [`BootstrapError::NoLevel`] below the inner level; otherwise as [`Bootstrapper::bootstrap`].
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
        let engine = self.engine(keys);
        let (raised, outer) = self.refreshed(&engine, value, &mut |_, _| {})?;
        let halvings = self.maps().halvings();
        let mut parts = vec![Part {
            power: 0,
            halved: 0,
            value: raised,
        }];
        let mut total: Option<Value> = None;
        while let Some(part) = parts.pop() {
            if let Some(halving) = halvings.get(part.halved) {
                let [even, odd] = engine.halved(&part.value, *halving)?;
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
            let fresh = self.part(&engine, part, outer)?;
            total = Some(match total {
                Some(total) => engine.sum(&total, &fresh)?,
                None => fresh,
            });
        }
        let total = total.ok_or_else(|| BootstrapError::Parameters {
            reason: "a polynomial without parts".into(),
        })?;
        engine.check("a bootstrap", total)
    }

    /// l coefficients, those of x^(i + k N / l), without noise: a polynomial that has these and no others.
    fn part(
        &self,
        engine: &Engine<'_>,
        part: Part,
        outer: Factor,
    ) -> Result<Value, BootstrapError> {
        let [low, _, high] = self.constants();
        let (maps, keys) = (self.maps(), engine.keys);
        let value = engine.map(part.value, (&maps.to_slots, high), &keys.high)?;
        let value = self.without_digits(engine, value, outer)?;
        let value = engine.map(value, (&maps.to_coefficients, low), &keys.high)?;
        engine.times_power(&value, part.power as i64)
    }
}

impl Engine<'_> {
    /// The even part and the odd part of a polynomial in x^m, the latter over x^m, each times 2.
    fn halved(&self, a: &Value, halving: Halving) -> Result<[Value; 2], BootstrapError> {
        let model = self.model(a.factor())?;
        let element = Galois(halving.galois as u32);
        let key = self.keys.high.get(element);
        key.map_err(|_| BootstrapError::MissingKey(element))?;
        let image = Value {
            cipher: self
                .evaluator
                .automorphism(&a.cipher, element, &self.keys.high)?,
            noise: model.switch_key(a.noise, a.level()),
        };
        let noise = model.add(a.noise, image.noise);
        let even = Value {
            cipher: self.evaluator.add(&a.cipher, &image.cipher)?,
            noise,
        };
        let odd = Value {
            cipher: self.evaluator.sub(&a.cipher, &image.cipher)?,
            noise,
        };
        let odd = self.times_power(&odd, -(halving.spacing as i64))?;
        Ok([
            self.check("a halving", even)?,
            self.check("a halving", odd)?,
        ])
    }

    /// Times a power of x: neither noise nor a level.
    fn times_power(&self, a: &Value, power: i64) -> Result<Value, BootstrapError> {
        if power == 0 {
            return Ok(a.clone());
        }
        let level: Level = a.level();
        let power = Constant::power(self.params, power, level)?;
        let op = OpKey::sum_plain(level, 1);
        let shared = self.evaluator.shared();
        Ok(Value {
            cipher: shared.one(&op, &[&a.cipher], &[&power], &[], a.factor())?,
            noise: a.noise,
        })
    }

    fn sum(&self, a: &Value, b: &Value) -> Result<Value, BootstrapError> {
        let model = self.model(a.factor())?;
        Ok(Value {
            cipher: self.evaluator.add(&a.cipher, &b.cipher)?,
            noise: model.add(a.noise, b.noise),
        })
    }
}
