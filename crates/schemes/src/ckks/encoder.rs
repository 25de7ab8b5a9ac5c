//! Encoding of real and complex vectors, and decoding.

use std::sync::{Arc, OnceLock};

use num_complex::Complex64;
use ringmill_math::{Modulus, Shoup, sample};

use super::arith::{forward, limbs_mut, plan};
use super::cipher::Plaintext;
use super::embedding::Embedding;
use super::error::CkksError;
use super::params::Params;

/// Margin, in bits, kept for the rounding of logarithms when sizes are compared.
const LOG_MARGIN: f64 = 1e-6;

/// Encodes vectors of 1 to N/2 slots (a power of two; shorter vectors repeat through the slots) and decodes.
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
pub struct Encoder {
    params: Arc<Params>,
    /// By log2 of the number of slots.
    embeddings: Vec<OnceLock<Embedding>>,
}

impl Encoder {
    pub fn new(params: Arc<Params>) -> Self {
        let embeddings = (0..params.log_n()).map(|_| OnceLock::new()).collect();
        Self { params, embeddings }
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

    /// [`Encoder::encode`] for real values.
    pub fn encode_real(
        &self,
        values: &[f64],
        level: u32,
        scale: f64,
    ) -> Result<Plaintext, CkksError> {
        let complex: Vec<_> = values.iter().map(|&v| Complex64::new(v, 0.0)).collect();
        self.encode(&complex, level, scale)
    }

    /// The polynomial whose slots are `values` times `scale`, each coefficient rounded to the nearest integer, at
    /// `level`. Refuses a number of values that is no power of two up to N/2, values that are not finite, and
    /// coefficients that do not fit between -Q/2 and Q/2.
    pub fn encode(
        &self,
        values: &[Complex64],
        level: u32,
        scale: f64,
    ) -> Result<Plaintext, CkksError> {
        check_scale(&self.params, level, scale)?;
        let embedding = self.embedding(values.len())?;
        if let Some((slot, bad)) = values
            .iter()
            .enumerate()
            .find(|(_, z)| !(z.re.is_finite() && z.im.is_finite()))
        {
            return Err(CkksError::NotFinite {
                slot,
                got: bad.to_string(),
            });
        }
        let coefficients = embedding.to_coefficients(values, scale);
        // `max` would drop a NaN, which an overflow inside the transform can make.
        let magnitude = |m: f64, c: &f64| {
            if c.is_finite() {
                m.max(c.abs())
            } else {
                f64::INFINITY
            }
        };
        let largest = coefficients.iter().fold(0.0, magnitude);
        check_fits(&self.params, largest, level)?;
        let limbs = self.spread(&coefficients, largest, level)?;
        Ok(Plaintext::trusted(&self.params, level, scale, limbs))
    }

    /// Rounds coefficients, which stand `gap` apart in the full ring, and transforms them modulo each prime.
    fn spread(
        &self,
        coefficients: &[f64],
        largest: f64,
        level: u32,
    ) -> Result<Vec<u64>, CkksError> {
        let params = &self.params;
        let indices: Vec<usize> = (0..=level as usize).collect();
        let gap = params.degree() / coefficients.len();
        let mut limbs = vec![0; indices.len() * params.degree()];
        if largest < 2f64.powi(62) {
            let mut integers = vec![0i64; params.degree()];
            for (place, c) in integers.iter_mut().step_by(gap).zip(coefficients) {
                *place = c.round() as i64;
            }
            for (_, q, limb) in limbs_mut(params, &indices, &mut limbs) {
                sample::to_limb_i64(q, &integers, limb)?;
            }
        } else {
            for (_, q, limb) in limbs_mut(params, &indices, &mut limbs) {
                for (place, &c) in limb.iter_mut().step_by(gap).zip(coefficients) {
                    *place = residue(q, c.round());
                }
            }
        }
        forward(params, &indices, &mut limbs)?;
        Ok(limbs)
    }

    /// The real parts of [`Encoder::decode`].
    pub fn decode_real(&self, plain: &Plaintext, slots: usize) -> Result<Vec<f64>, CkksError> {
        Ok(self
            .decode(plain, slots)?
            .into_iter()
            .map(|z| z.re)
            .collect())
    }

    /// The first `slots` slots (a power of two up to N/2), divided by the scale.
    pub fn decode(&self, plain: &Plaintext, slots: usize) -> Result<Vec<Complex64>, CkksError> {
        let params = &self.params;
        params.check_id("plaintext", plain.params_id())?;
        if slots > params.slots() || !slots.is_power_of_two() {
            return Err(CkksError::Slots {
                got: slots,
                max: params.slots(),
            });
        }
        let coefficients = self.coefficients(plain)?;
        let mut values = self
            .embedding(params.slots())?
            .to_slots(&coefficients, 1.0 / plain.scale());
        values.truncate(slots);
        Ok(values)
    }

    /// The polynomial's coefficients, centred between -Q/2 and Q/2 exactly and then rounded to doubles.
    pub fn coefficients(&self, plain: &Plaintext) -> Result<Vec<f64>, CkksError> {
        let params = &self.params;
        params.check_id("plaintext", plain.params_id())?;
        let indices: Vec<usize> = (0..=plain.level() as usize).collect();
        let mut limbs = plain.limbs().to_vec();
        for (i, _, limb) in limbs_mut(params, &indices, &mut limbs) {
            plan(params, i)?.inverse(limb)?;
        }
        let radix = MixedRadix::new(params.reducers().get(..indices.len()).unwrap_or(&[]))?;
        let limbs: Vec<&[u64]> = limbs.chunks_exact(params.degree()).collect();
        let mut digits = vec![0; limbs.len()];
        let one = |k: usize| {
            for (digit, limb) in digits.iter_mut().zip(&limbs) {
                *digit = limb.get(k).copied().unwrap_or(0);
            }
            radix.centred(&mut digits)
        };
        Ok((0..params.degree()).map(one).collect())
    }
}

/// Residues modulo q_0 ... q_level of the integer nearest to `value` times `scale`: a constant for
/// [`super::ops::OpKey::AddScalar`] and [`super::ops::OpKey::MulScalar`].
pub fn scalar_residues(
    params: &Params,
    value: f64,
    level: u32,
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
    Ok(params
        .reducers()
        .iter()
        .take(level as usize + 1)
        .map(|&q| residue(q, scaled))
        .collect())
}

fn check_scale(params: &Params, level: u32, scale: f64) -> Result<(), CkksError> {
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

fn check_fits(params: &Params, largest: f64, level: u32) -> Result<(), CkksError> {
    let room_log2 = params.log_q(level) - 1.0;
    let value_log2 = largest.max(1.0).log2();
    if value_log2 < room_log2 - LOG_MARGIN {
        return Ok(());
    }
    Err(CkksError::TooLarge {
        value_log2,
        level,
        room_log2,
    })
}

/// The residue of an integer held in a finite double, exactly.
fn residue(q: Modulus, x: f64) -> u64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1075;
    let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    let magnitude = if exponent >= 0 {
        q.mul(mantissa, q.pow(2, exponent as u64))
    } else {
        q.reduce(
            mantissa
                .checked_shr(exponent.unsigned_abs() as u32)
                .unwrap_or(0),
        )
    };
    if x < 0.0 { q.neg(magnitude) } else { magnitude }
}

/// Residues to centred doubles by mixed-radix digits: x = v_0 + v_1 q_0 + v_2 q_0 q_1 + ...
struct MixedRadix {
    moduli: Vec<Modulus>,
    /// q_j^-1 mod q_i at row i, column j < i.
    inverses: Vec<Vec<Shoup>>,
}

impl MixedRadix {
    fn new(moduli: &[Modulus]) -> Result<Self, CkksError> {
        let mut inverses = Vec::with_capacity(moduli.len());
        for (i, q) in moduli.iter().enumerate() {
            let row = moduli
                .iter()
                .take(i)
                .map(|p| Ok(q.shoup(q.inv(p.value())?)));
            inverses.push(row.collect::<Result<Vec<_>, CkksError>>()?);
        }
        Ok(Self {
            moduli: moduli.to_vec(),
            inverses,
        })
    }

    /// The centred value of these residues, which become its digits.
    fn centred(&self, residues: &mut [u64]) -> f64 {
        for (i, (q, row)) in self.moduli.iter().zip(&self.inverses).enumerate() {
            let (known, rest) = residues.split_at_mut(i.min(residues.len()));
            let Some(digit) = rest.first_mut() else { break };
            for (&v, &w) in known.iter().zip(row) {
                *digit = q.mul_shoup(q.sub(*digit, q.reduce(v)), w);
            }
        }
        // (Q - 1) / 2 has the digits (q_i - 1) / 2, and Q - 1 - x the digits q_i - 1 - v_i.
        let half = self.moduli.iter().map(|q| q.value() / 2);
        let negative = residues
            .iter()
            .zip(half)
            .rev()
            .find(|(v, h)| *v != h)
            .is_some_and(|(v, h)| *v > h);
        let horner = |sum: f64, (&v, q): (&u64, &Modulus)| {
            let digit = if negative { q.value() - 1 - v } else { v };
            sum * q.value() as f64 + digit as f64
        };
        let magnitude = residues.iter().zip(&self.moduli).rev().fold(0.0, horner);
        if negative {
            -(magnitude + 1.0)
        } else {
            magnitude
        }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_traits::ToPrimitive;
    use ringmill_math::RnsBasis;

    use super::*;

    fn params(bits: &[u32]) -> Arc<Params> {
        Params::builder(8)
            .prime_bits(bits, &[50])
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap()
    }

    #[test]
    fn every_slot_count_round_trips_and_repeats() {
        let params = params(&[50, 40, 40]);
        let encoder = Encoder::new(params.clone());
        for log in 0..8 {
            let n = 1usize << log;
            let values: Vec<_> = (0..n)
                .map(|i| Complex64::new(i as f64 - 3.25, 0.5 * i as f64))
                .collect();
            for level in 0..3 {
                let plain = encoder.encode(&values, level, 2f64.powi(36)).unwrap();
                let decoded = encoder.decode(&plain, 128).unwrap();
                for (i, z) in decoded.iter().enumerate() {
                    assert!(
                        (z - values[i % n]).norm() < 1e-7,
                        "n {n} level {level} slot {i}: {z}"
                    );
                }
            }
        }
    }

    #[test]
    fn values_beyond_64_bits_are_exact_to_double_precision() {
        let params = params(&[50, 50, 50, 50]);
        let encoder = Encoder::new(params.clone());
        let scale = 2f64.powi(150);
        let plain = encoder.encode_real(&[3.0, -1e10], 3, scale).unwrap();
        let decoded = encoder.decode_real(&plain, 2).unwrap();
        assert!(
            (decoded[0] - 3.0).abs() < 1e-4 && (decoded[1] + 1e10).abs() < 1e-4,
            "{decoded:?}"
        );
        let constant = encoder.encode_real(&[-7.0], 3, scale).unwrap();
        let coefficients = encoder.coefficients(&constant).unwrap();
        assert_eq!(coefficients[0], -7.0 * scale);
        assert!(coefficients[1..].iter().all(|&c| c == 0.0));
        for x in [
            0.0,
            1.0,
            -1.0,
            12345.0,
            -(2f64.powi(63)),
            2f64.powi(120) + 2f64.powi(80),
            0.49f64.round(),
        ] {
            for &q in params.reducers() {
                let exact = BigInt::from(x as i128) % q.value();
                let exact = ((exact + q.value()) % q.value()).to_u64().unwrap();
                assert_eq!(residue(q, x), exact, "{x}");
            }
        }
    }

    #[test]
    fn mixed_radix_agrees_with_big_integers() {
        let params = params(&[50, 40, 41]);
        let moduli = &params.reducers()[..3];
        let (radix, basis) = (
            MixedRadix::new(moduli).unwrap(),
            RnsBasis::new(moduli.to_vec()).unwrap(),
        );
        let half = moduli.iter().map(|q| q.value() / 2).collect::<Vec<_>>();
        let samples: Vec<Vec<u64>> = (0..200u64)
            .map(|k| {
                moduli
                    .iter()
                    .map(|q| q.reduce(k.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(k as u32)))
                    .collect()
            })
            .chain([
                vec![0, 0, 0],
                vec![1, 1, 1],
                moduli.iter().map(|q| q.value() - 1).collect(),
                half,
            ])
            .collect();
        for residues in samples {
            let exact = basis.compose_centred(&residues).unwrap().to_f64().unwrap();
            let ours = radix.centred(&mut residues.clone());
            assert!(
                (ours - exact).abs() <= exact.abs() * 1e-15,
                "{residues:?}: {ours} {exact}"
            );
        }
    }

    #[test]
    fn bad_vectors_are_refused() {
        let params = params(&[50, 40]);
        let encoder = Encoder::new(params.clone());
        let scale = params.default_scale();
        let encode = |v: &[f64], level, scale| encoder.encode_real(v, level, scale);
        assert!(matches!(
            encode(&[1.0; 3], 1, scale),
            Err(CkksError::Slots { got: 3, max: 128 })
        ));
        assert!(matches!(
            encode(&[], 1, scale),
            Err(CkksError::Slots { .. })
        ));
        assert!(matches!(
            encode(&[1.0; 256], 1, scale),
            Err(CkksError::Slots { .. })
        ));
        assert!(matches!(
            encode(&[0.0, f64::NAN], 1, scale),
            Err(CkksError::NotFinite { slot: 1, .. })
        ));
        assert!(matches!(
            encode(&[f64::INFINITY], 1, scale),
            Err(CkksError::NotFinite { .. })
        ));
        assert!(matches!(
            encode(&[1e40], 1, scale),
            Err(CkksError::TooLarge { level: 1, .. })
        ));
        assert!(matches!(
            encode(&[1e308; 2], 1, scale),
            Err(CkksError::TooLarge { .. })
        ));
        assert!(matches!(
            encode(&[1e300; 2], 1, 1e20),
            Err(CkksError::TooLarge { .. })
        ));
        assert!(matches!(
            encode(&[1.0], 1, f64::NAN),
            Err(CkksError::Scale { .. })
        ));
        assert!(matches!(
            encode(&[1.0], 1, -1.0),
            Err(CkksError::Scale { .. })
        ));
        assert!(matches!(
            encode(&[1.0], 0, 2f64.powi(51)),
            Err(CkksError::Scale { .. })
        ));
        assert!(matches!(
            encode(&[1.0], 2, scale),
            Err(CkksError::Level { got: 2, max: 1 })
        ));
        assert!(scalar_residues(&params, f64::NAN, 1, scale).is_err());
        assert!(scalar_residues(&params, 1e60, 1, scale).is_err());
        let plain = encode(&[1.0], 1, scale).unwrap();
        assert!(encoder.decode(&plain, 0).is_err() && encoder.decode(&plain, 256).is_err());
    }
}
