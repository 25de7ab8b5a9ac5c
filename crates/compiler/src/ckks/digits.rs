// SPDX-License-Identifier: Apache-2.0
//! Chooses digits and special primes for a CKKS program whose ciphertext primes are chosen.

use std::sync::Arc;

use ringmill_schemes::ckks::{Ckks, Params};
use ringmill_schemes::rlwe;

use super::search::{Fitted, Search};
use crate::digits::{Digits, Products, Setting, Work};
use crate::error::CompileError;
use crate::scheme::options::KeyWishes;

/// The most bits by which the scale may grow so that a key switch can have fewer digits. Fewer
/// digits take k > 1 special primes. A fresh encryption is divided by all of them, and k divisions
/// round about sqrt(k) times as much as one.
const MORE_BITS: u32 = 3;

/// The result of the search for key-switching digits at one ring degree.
enum Outcome {
    Fits(Box<Candidate>),
    /// The evaluation keys are larger than the user allows. These are the fewest bytes that they take. If the user
    /// allows that many, but only with digits that are too imprecise, these are the bytes with the parameters' first
    /// digits.
    Bytes(u64),
}

/// A program fitted to parameters, with the key-switching digits of these parameters.
struct Candidate {
    fitted: Fitted,
    digits: Digits,
    /// The best key-switching digits that the next ring degree has room for, or `None` if it is not
    /// tried.
    above: Option<Digits>,
}

impl Outcome {
    fn of(fitted: Fitted, digits: Digits, above: Option<Digits>) -> Self {
        Self::Fits(Box::new(Candidate {
            fitted,
            digits,
            above,
        }))
    }
}

impl Candidate {
    /// Returns whether the key-switching digits of the next ring degree may be so much better that
    /// they pay for larger ciphertexts.
    fn may_rise(&self, wishes: &KeyWishes) -> bool {
        let above = self.above.as_ref();
        above.is_some_and(|above| wishes.prefer_larger(above, &self.digits))
    }
}

impl Search<'_> {
    /// Returns the program at the smallest ring degree whose keys are as small as the user demands, or at the next one
    /// if its digits pay for larger ciphertexts.
    ///
    /// # Errors
    /// [`CompileError::KeysTooLarge`], and the errors of [`Search::run`].
    pub(super) fn with_keys(&mut self) -> Result<Fitted, CompileError> {
        let wishes = self.options.keys;
        let mut least = None;
        let smaller = loop {
            match (self.at_next_degree(), least) {
                (Ok(Outcome::Fits(candidate)), _) => break candidate,
                (Ok(Outcome::Bytes(bytes)), _) => {
                    least = Some(least.map_or(bytes, |least: u64| least.min(bytes)));
                }
                (Err(error @ CompileError::Halt(_)), _) | (Err(error), None) => return Err(error),
                (Err(_), Some(least)) => {
                    let wanted = wishes.most_bytes.unwrap_or(u64::MAX);
                    return Err(CompileError::KeysTooLarge { wanted, least });
                }
            }
        };
        if !smaller.may_rise(&wishes) {
            return Ok(smaller.fitted);
        }
        match self.at_next_degree() {
            Ok(Outcome::Fits(larger)) if wishes.prefer_larger(&larger.digits, &smaller.digits) => {
                Ok(larger.fitted)
            }
            Err(error @ CompileError::Halt(_)) => Err(error),
            Ok(_) | Err(_) => Ok(smaller.fitted),
        }
    }

    /// Returns the outcome of the search for key-switching digits at the smallest ring degree that
    /// has room for the program. The next call begins above this degree.
    fn at_next_degree(&mut self) -> Result<Outcome, CompileError> {
        let fitted = self.run()?;
        self.least_log_n = u32::from(fitted.params.log_n()) + 1;
        self.with_digits(fitted)
    }

    /// Returns the program with the best key-switching digits that its ring degree has room for, at
    /// its scale or a slightly larger one.
    fn with_digits(&mut self, fitted: Fitted) -> Result<Outcome, CompileError> {
        let wishes = self.options.keys;
        let params = Arc::clone(&fitted.params);
        let (log_n, managed) = (u32::from(params.log_n()), &fitted.managed);
        let level_primes = |value| Work::primes_of(managed, value);
        let work = Work::of::<Ckks>(managed, &params, Products::WithinQ, level_primes)?;
        let start = self.priced(&params, &work);
        if work.keys() == 0 || self.asks_target {
            return Ok(Outcome::of(fitted, start, None));
        }
        let above = self.setting(log_n + 1, params.cipher_moduli(), &work)?;
        let above = above.and_then(|above| wishes.ranked(&above.choices()).into_iter().next());
        let first = params.default_scale().log2().round() as u32;
        let mut fewest = start.bytes;
        for scale_bits in first..=first + MORE_BITS {
            let Some(params) = self.at_scale(&params, first, scale_bits)? else {
                break;
            };
            let Some(setting) = self.setting(log_n, params.cipher_moduli(), &work)? else {
                break;
            };
            let choices = setting.choices();
            let bytes = choices.iter().map(|choice| choice.bytes);
            fewest = bytes.fold(fewest, u64::min);
            let better = wishes.better(&choices, &start);
            let Some(best) = better.first() else {
                break;
            };
            // If the best digits are too imprecise, fewer special primes round less.
            let next = better.iter().find(|digits| digits.special < best.special);
            for digits in std::iter::once(best).chain(next) {
                if let Some(fitted) = self.fitted_with(&params, scale_bits, digits)? {
                    return Ok(Outcome::of(fitted, digits.clone(), above));
                }
            }
        }
        Ok(match wishes.allow(start.bytes) {
            true => Outcome::of(fitted, start, above),
            false if wishes.allow(fewest) => Outcome::Bytes(start.bytes),
            false => Outcome::Bytes(fewest),
        })
    }

    /// Returns parameters with a scale of `scale_bits`, or `None` if the ring degree of `params`, which has a scale of
    /// `first` bits, has no room for it.
    fn at_scale(
        &self,
        params: &Arc<Params>,
        first: u32,
        scale_bits: u32,
    ) -> Result<Option<Arc<Params>>, CompileError> {
        if scale_bits == first {
            return Ok(Some(Arc::clone(params)));
        }
        if !self.scales_that_fit()?.contains(&scale_bits) {
            return Ok(None);
        }
        let built = self.at_degree(params.log_n().into(), scale_bits);
        match built {
            Ok(built) => Ok(built),
            Err(error @ CompileError::Halt(_)) => Err(error),
            // The ring degree lacks primes of this size.
            Err(_) => Ok(None),
        }
    }

    /// Returns the program at parameters with these key-switching digits. Returns `None` if it is then less precise
    /// than the user demands, if a value does not fit its level, or if there are no such special primes.
    fn fitted_with(
        &mut self,
        params: &Params,
        scale_bits: u32,
        digits: &Digits,
    ) -> Result<Option<Fitted>, CompileError> {
        let (log_n, cipher) = (u32::from(params.log_n()), params.cipher_moduli());
        let Some(special) = digits.special_primes(self.room.step(log_n), cipher) else {
            return Ok(None);
        };
        let params = self.built(log_n, scale_bits, (cipher, &special), digits.dnum)?;
        let fitted = self.fitted(params)?;
        let enough = fitted.missing_bits(self.wanted.accuracy) <= 0.0;
        let serves = fitted.prediction.tightest.fits() && enough;
        Ok(Some(fitted).filter(|_| serves))
    }

    /// Returns the digits of the key switches under `params`, with their costs for the program's
    /// work.
    fn priced(&self, params: &Params, work: &Work) -> Digits {
        let (log_n, cipher) = (params.log_n().into(), params.cipher_moduli());
        self.setting_of(log_n, cipher, work, u32::MAX)
            .of_params(params)
    }

    /// Returns the conditions under which key-switching digits are chosen at a ring degree: the
    /// ciphertext primes, the limits on the bits of primes, and the program's work. Returns `None`
    /// if the tables or the target lack the degree.
    fn setting<'a>(
        &self,
        log_n: u32,
        cipher: &'a [u64],
        work: &'a Work,
    ) -> Result<Option<Setting<'a>>, CompileError> {
        if log_n > *self.room.log_n.end() {
            return Ok(None);
        }
        let allowed = self.allowed_bits(log_n)?;
        Ok(allowed.map(|allowed| self.setting_of(log_n, cipher, work, allowed)))
    }

    fn setting_of<'a>(
        &self,
        log_n: u32,
        cipher: &'a [u64],
        work: &'a Work,
        allowed: u32,
    ) -> Setting<'a> {
        Setting {
            log_n,
            cipher,
            allowed,
            max_bits: self.room.max_bits,
            max_primes: self.room.moduli.min(rlwe::Params::MAX_PRIMES),
            work,
            seeded: self.options.seeded(),
        }
    }
}
