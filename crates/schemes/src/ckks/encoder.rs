// SPDX-License-Identifier: Apache-2.0
//! Encodes real and complex vectors to CKKS plaintexts, and decodes them.

use std::sync::{Arc, Mutex, OnceLock};

use num_complex::Complex64;
use ringmill_isa::Level;
use ringmill_math::wipe::off_the_stack;
use ringmill_math::{Modulus, Residues, declassify, kernels, sample};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::embedding::{Embedding, Points};
use super::error::CkksError;
use super::lift::{Lift, LiftScratch};
use super::params::Params;
use super::{Plaintext, Scale};
use crate::rlwe::arith::{limbs_mut, plan};

/// The margin in bits by which a size must stay below its limit, because the logarithms of both are rounded.
const LOG_MARGIN: f64 = 1e-6;

/// The size in bits of a plaintext's largest coefficient up to which coefficients are rounded to integers of one
/// word.
const SHORT_BITS: u32 = 62;

/// Encodes and decodes vectors of 1 to N/2 slots, a power of two. Shorter vectors repeat through the slots.
///
/// ```
/// # fn main() -> Result<(), ringmill_schemes::ckks::CkksError> {
/// use ringmill_schemes::ckks::{Encoder, Params};
/// let params = Params::builder(12).prime_bits(&[35, 35], &[35]).build()?;
/// let encoder = Encoder::new(params.clone());
/// let plain = encoder.encode_real(&[1.5, -2.0], params.max_level(), params.default_scale())?;
/// let values = encoder.decode_real(&plain, 4)?;
/// assert!((values[2] - 1.5).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
///
/// An encoder keeps buffers for as many calls as ever ran at the same time. Each takes 32 N to 44 N bytes, and after a
/// decoding 8 bytes for each residue of the largest plaintext. The buffers are wiped after each call, because a
/// decrypted plaintext reveals information about the secret key.
pub struct Encoder {
    params: Arc<Params>,
    /// The canonical embeddings that were used so far. The index is the base-2 logarithm of the number of slots.
    embeddings: Vec<OnceLock<Embedding>>,
    lift: OnceLock<Lift>,
    spare: Mutex<Vec<Scratch>>,
}

/// The buffers of one call of the encoder. They are empty between calls, so that a buffer that grows copies no old
/// contents.
#[derive(Default, Zeroize, ZeroizeOnDrop)]
struct Scratch {
    points: Points,
    coefficients: Vec<f64>,
    /// The rounded coefficients, and the same coefficients at their places in the full ring of degree N if there
    /// are fewer than N.
    integers: [Vec<i64>; 2],
    limbs: Vec<u64>,
    lift: LiftScratch,
}

impl Encoder {
    pub fn new(params: Arc<Params>) -> Self {
        let embeddings = (0..params.log_n()).map(|_| OnceLock::new()).collect();
        Self {
            params,
            embeddings,
            lift: OnceLock::new(),
            spare: Mutex::default(),
        }
    }

    /// Runs the function `f` with buffers that an earlier call left, or with new ones.
    fn with_scratch<T>(&self, f: impl FnOnce(&mut Scratch) -> T) -> T {
        // Nobody waits for a spare: in a process forked while a thread held the lock, the wait would never end.
        let spare = self.spare.try_lock().ok().and_then(|mut spare| spare.pop());
        let mut scratch = spare.unwrap_or_default();
        let result = off_the_stack(|| f(&mut scratch));
        scratch.zeroize();
        if let Ok(mut spare) = self.spare.try_lock() {
            spare.push(scratch);
        }
        result
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    fn embedding(&self, slots: usize) -> Result<&Embedding, CkksError> {
        let fault = CkksError::Slots {
            got: slots,
            max: self.params.slots(),
        };
        if !slots.is_power_of_two() {
            return Err(fault);
        }
        let cell = self
            .embeddings
            .get(slots.trailing_zeros() as usize)
            .ok_or(fault)?;
        Ok(cell.get_or_init(|| Embedding::new(slots)))
    }

    /// Encodes real numbers as slots at a scale and a level, as [`Encoder::encode`] does complex ones.
    pub fn encode_real(
        &self,
        values: &[f64],
        level: Level,
        scale: f64,
    ) -> Result<Plaintext, CkksError> {
        let values = values.iter().map(|&v| Complex64::new(v, 0.0));
        self.with_scratch(|scratch| self.encode_values(values, level, scale, scratch))
    }

    /// Encodes the polynomial whose slots are `values` times `scale`, at `level`. Each coefficient is rounded to the
    /// nearest integer.
    ///
    /// The run time reveals how many bits the largest coefficient has, and nothing else about the message.
    ///
    /// # Errors
    /// Fails for a number of values that is no power of two up to N/2, values that are not finite, and coefficients
    /// outside of -Q/2 to Q/2. Also fails for a level that the parameters lack, and for a scale that is not positive
    /// and below Q.
    pub fn encode(
        &self,
        values: &[Complex64],
        level: Level,
        scale: f64,
    ) -> Result<Plaintext, CkksError> {
        let values = values.iter().copied();
        self.with_scratch(|scratch| self.encode_values(values, level, scale, scratch))
    }

    fn encode_values(
        &self,
        values: impl ExactSizeIterator<Item = Complex64> + Clone,
        level: Level,
        scale: f64,
        scratch: &mut Scratch,
    ) -> Result<Plaintext, CkksError> {
        let moduli: Vec<usize> = level.moduli().collect();
        let limbs = self.limbs(values, (level, scale), &moduli, scratch)?;
        Ok(Plaintext::trusted(
            &self.params,
            level,
            Scale(scale),
            limbs,
        )?)
    }

    /// Encodes numbers as [`Encoder::encode`] does, modulo the moduli of indices `moduli`. Returns the limbs one after
    /// another, in evaluation form. The limits of the level's modulus hold whatever the moduli are.
    pub(super) fn encode_over(
        &self,
        values: &[Complex64],
        at: (Level, f64),
        moduli: &[usize],
    ) -> Result<Zeroizing<Vec<u64>>, CkksError> {
        let values = values.iter().copied();
        self.with_scratch(|scratch| self.limbs(values, at, moduli, scratch))
    }

    fn limbs(
        &self,
        values: impl ExactSizeIterator<Item = Complex64> + Clone,
        (level, scale): (Level, f64),
        moduli: &[usize],
        scratch: &mut Scratch,
    ) -> Result<Zeroizing<Vec<u64>>, CkksError> {
        check_scale(&self.params, level, scale)?;
        let embedding = self.embedding(values.len())?;
        let (points, coefficients) = (&mut scratch.points, &mut scratch.coefficients);
        embedding.to_coefficients(values.clone(), scale, points, coefficients);
        let largest = sample::largest(coefficients);
        // A slot that is not finite makes some coefficient so; an overflow inside the transform can do it too.
        if declassify(largest == f64::INFINITY) {
            let mut slots = values.enumerate();
            let bad = slots.find(|(_, z)| !(z.re.is_finite() && z.im.is_finite()));
            if let Some((slot, bad)) = bad {
                return Err(CkksError::NotFinite {
                    slot,
                    got: bad.to_string(),
                });
            }
        }
        check_fits(&self.params, largest, level)?;
        self.spread(
            coefficients,
            bits_of(largest),
            moduli,
            &mut scratch.integers,
        )
    }

    /// Rounds coefficients below 2^`bits` to integers, puts them at their places in the full ring, and transforms
    /// the polynomial to evaluation form modulo the moduli of indices `indices`.
    fn spread(
        &self,
        coefficients: &[f64],
        bits: u32,
        indices: &[usize],
        [integers, spread]: &mut [Vec<i64>; 2],
    ) -> Result<Zeroizing<Vec<u64>>, CkksError> {
        let params = &self.params;
        let (n, gap) = (params.degree(), params.degree() / coefficients.len());
        let mut limbs = Zeroizing::new(vec![0; indices.len() * n]);
        if bits <= SHORT_BITS {
            integers.resize(coefficients.len(), 0);
            sample::round(coefficients, integers)?;
            let integers = if gap == 1 {
                integers
            } else {
                spread.clear();
                spread.resize(n, 0);
                for (place, &x) in spread.iter_mut().step_by(gap).zip(integers.iter()) {
                    *place = x;
                }
                spread
            };
            // Rounding can reach the bound.
            let bound = 1 << bits;
            for (i, q, limb) in limbs_mut(params, indices, &mut limbs) {
                sample::to_limb_i64(q, bound, integers, limb)?;
                plan(params, i)?.forward(limb)?;
            }
        } else {
            for (i, q, limb) in limbs_mut(params, indices, &mut limbs) {
                let residues = RealResidues::new(q);
                for (place, &c) in limb.iter_mut().step_by(gap).zip(coefficients) {
                    *place = residues.of(c);
                }
                plan(params, i)?.forward(limb)?;
            }
        }
        Ok(limbs)
    }

    /// Decodes slots as [`Encoder::decode`] does, and returns their real parts.
    pub fn decode_real(&self, plain: &Plaintext, slots: usize) -> Result<Vec<f64>, CkksError> {
        self.decode_values(plain, slots, |z| z.re)
    }

    /// Decodes the first `slots` slots of a plaintext (a power of two up to N/2): the values, divided by the scale.
    ///
    /// The run time reveals two facts about each block of 512 coefficients. One is whether the residues modulo q_0 are
    /// small compared to the least prime. The other is whether all coefficients lie between -q_0/2 and q_0/2, and if
    /// not, the first prime whose residues show it. Blocks within that range are lifted faster. The run time reveals
    /// nothing else about the message.
    ///
    /// # Errors
    /// Fails for a plaintext of other parameters, and for a number of slots that is no power of two up to N/2.
    pub fn decode(&self, plain: &Plaintext, slots: usize) -> Result<Vec<Complex64>, CkksError> {
        self.decode_values(plain, slots, |z| z)
    }

    fn decode_values<T>(
        &self,
        plain: &Plaintext,
        slots: usize,
        part: impl Fn(Complex64) -> T,
    ) -> Result<Vec<T>, CkksError> {
        let params = &self.params;
        params.check_id("plaintext", plain.params_id())?;
        if slots > params.slots() || !slots.is_power_of_two() {
            return Err(CkksError::Slots {
                got: slots,
                max: params.slots(),
            });
        }
        let embedding = self.embedding(params.slots())?;
        self.with_scratch(|scratch| {
            self.lift_into(plain, scratch)?;
            let (coefficients, points) = (&scratch.coefficients, &mut scratch.points);
            let values = embedding.to_slots(coefficients, 1.0 / plain.scale(), points, slots);
            Ok(values.map(part).collect())
        })
    }

    /// Returns the coefficients of a plaintext's polynomial, centred exactly between -Q/2 and Q/2 and then rounded to
    /// doubles.
    pub fn coefficients(&self, plain: &Plaintext) -> Result<Vec<f64>, CkksError> {
        self.params.check_id("plaintext", plain.params_id())?;
        self.with_scratch(|scratch| {
            self.lift_into(plain, scratch)?;
            Ok(scratch.coefficients.clone())
        })
    }

    /// Writes the coefficients of a plaintext, centred between -Q/2 and Q/2 and rounded to doubles, to
    /// `scratch.coefficients`.
    fn lift_into(&self, plain: &Plaintext, scratch: &mut Scratch) -> Result<(), CkksError> {
        let params = &self.params;
        let indices: Vec<usize> = plain.level().moduli().collect();
        let limbs = &mut scratch.limbs;
        limbs.clear();
        match plain.limbs() {
            Residues::Wide(words) => limbs.extend_from_slice(words),
            Residues::Short(words) => {
                limbs.resize(words.len(), 0);
                kernels::widen(limbs, words)?;
            }
        }
        for (i, _, limb) in limbs_mut(params, &indices, limbs) {
            plan(params, i)?.inverse(limb)?;
        }
        let coefficients = &mut scratch.coefficients;
        coefficients.resize(params.degree(), 0.0);
        self.lift()?.centred(limbs, coefficients, &mut scratch.lift)
    }

    fn lift(&self) -> Result<&Lift, CkksError> {
        if let Some(lift) = self.lift.get() {
            return Ok(lift);
        }
        let params = &self.params;
        let reducers = params.reducers().get(..params.cipher_count());
        let lift = Lift::new(reducers.unwrap_or(&[]))?;
        Ok(self.lift.get_or_init(|| lift))
    }
}

/// Returns the residues, modulo q_0 ... q_level, of the integer nearest to `value` times `scale`. The operations of
/// `OpKey::add_scalar` and `OpKey::mul_scalar` take them as their constant.
///
/// # Errors
/// Fails for a value that is not finite, and for an integer outside of -Q/2 to Q/2. Also fails for a level that the
/// parameters lack, and for a scale that is not positive and below Q.
pub fn scalar_residues(
    params: &Params,
    value: f64,
    level: Level,
    scale: f64,
) -> Result<Vec<u64>, CkksError> {
    check_scale(params, level, scale)?;
    if !value.is_finite() {
        return Err(CkksError::NotFinite {
            slot: 0,
            got: value.to_string(),
        });
    }
    let scaled = (value * scale).round();
    check_fits(params, scaled.abs(), level)?;
    let primes = params.reducers().iter().take(level.primes());
    Ok(primes.map(|&q| RealResidues::new(q).of(scaled)).collect())
}

fn check_scale(params: &Params, level: Level, scale: f64) -> Result<(), CkksError> {
    params.check_level(level)?;
    let max_log2 = params.log_q(level);
    if scale.is_finite() && scale > 0.0 && scale.log2() < max_log2 {
        return Ok(());
    }
    Err(CkksError::Scale {
        got: scale,
        max_log2,
    })
}

/// Returns a bound on the absolute values in slots: smaller ones can be encoded at a level and scale, and decode
/// correctly there.
pub fn capacity(params: &Params, level: Level, scale: f64) -> f64 {
    (room_log2(params, level) - LOG_MARGIN - scale.log2()).exp2()
}

/// Returns log2(Q / 2) for a level of modulus Q. The absolute values of a plaintext's coefficients must stay below
/// Q / 2.
fn room_log2(params: &Params, level: Level) -> f64 {
    params.log_q(level) - 1.0
}

fn check_fits(params: &Params, largest: f64, level: Level) -> Result<(), CkksError> {
    let room_log2 = room_log2(params, level);
    if declassify(largest.max(1.0) < (room_log2 - LOG_MARGIN).exp2()) {
        return Ok(());
    }
    Err(CkksError::TooLarge {
        value_log2: largest.max(1.0).log2(),
        level,
        room_log2,
    })
}

/// Returns the least number of bits b with `largest` < 2^b, or one more than [`SHORT_BITS`] if b is larger than
/// that.
fn bits_of(largest: f64) -> u32 {
    let mut bits = 0;
    while bits <= SHORT_BITS && declassify(largest >= f64::from(bits).exp2()) {
        bits += 1;
    }
    bits
}

/// A table for one prime, by which doubles are rounded to integers and reduced modulo the prime.
struct RealResidues {
    q: Modulus,
    /// The residues of 2^(2^k) modulo the prime, for each k below [`Self::EXPONENT_BITS`].
    powers: [u64; Self::EXPONENT_BITS],
}

impl RealResidues {
    /// The number of bits of the exponent by which the mantissa of a double is shifted left, which is less than
    /// 2^10.
    const EXPONENT_BITS: usize = 10;

    fn new(q: Modulus) -> Self {
        let mut powers = [q.reduce(2); Self::EXPONENT_BITS];
        for k in 1..powers.len() {
            powers[k] = q.mul(powers[k - 1], powers[k - 1]);
        }
        Self { q, powers }
    }

    /// Returns the residue of the integer nearest to a finite double; halves round away from zero. It is exact and
    /// takes constant time.
    fn of(&self, x: f64) -> u64 {
        let (q, bits) = (self.q, x.to_bits());
        let exponent = ((bits >> 52 & 0x7ff) as i64).wrapping_sub(1075);
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        // One of the two shifts is by 0. A right shift by 54 or more leaves nothing.
        let left = exponent.max(0) as u64;
        let right = exponent.wrapping_neg().clamp(0, 63) as u32;
        let half = 1u64.wrapping_shl(right) >> 1;
        let mut magnitude = q.reduce(mantissa.wrapping_add(half).wrapping_shr(right));
        for (k, &power) in self.powers.iter().enumerate() {
            let chosen = (left >> k & 1).wrapping_neg();
            magnitude = q.mul(magnitude, (power & chosen) | (1 & !chosen));
        }
        let sign = ((bits as i64) >> 63) as u64;
        (magnitude & !sign) | (q.neg(magnitude) & sign)
    }
}
