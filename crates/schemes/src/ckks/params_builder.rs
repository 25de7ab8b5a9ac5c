//! Building and checking parameter sets.

use std::sync::Arc;

use num_bigint::BigUint;
use ringmill_math::{Modulus, primes};

use super::error::CkksError;
use super::params::{ErrorDistribution, Params, SecretDistribution};
use super::security::{SecurityLevel, SecurityRecord, SecurityTable, bound, smallest_log_n};

#[derive(Clone, Debug)]
enum PrimeChoice {
    None,
    Bits { cipher: Vec<u32>, special: Vec<u32> },
    Values { cipher: Vec<u64>, special: Vec<u64> },
}

/// Collects the choices of a parameter set; [`ParamsBuilder::build`] checks them.
///
/// ```
/// use ringmill_schemes::ckks::Params;
/// let params = Params::builder(14).prime_bits(&[60, 40, 40, 40], &[60]).build().unwrap();
/// assert_eq!(params.dnum(), 4);
/// assert_eq!(params.default_scale(), 2f64.powi(40));
/// ```
#[derive(Clone, Debug)]
pub struct ParamsBuilder {
    log_n: u8,
    primes: PrimeChoice,
    dnum: Option<usize>,
    default_scale: Option<f64>,
    secret: SecretDistribution,
    error: ErrorDistribution,
    table: SecurityTable,
    level: SecurityLevel,
    insecure_allowed: bool,
}

impl ParamsBuilder {
    pub(super) fn new(log_n: u8) -> Self {
        Self {
            log_n,
            primes: PrimeChoice::None,
            dnum: None,
            default_scale: None,
            secret: SecretDistribution::default(),
            error: ErrorDistribution::default(),
            table: SecurityTable::default(),
            level: SecurityLevel::default(),
            insecure_allowed: false,
        }
    }

    /// A named set, open to further choices; see [`Params::named`].
    pub fn named(name: &str) -> Result<Self, CkksError> {
        let (log_n, count, table) = match name {
            "set1" => (14, 7, SecurityTable::Standard2018Ternary),
            "set2" => (15, 9, SecurityTable::default()),
            _ => {
                return Err(CkksError::UnknownSet {
                    got: name.to_owned(),
                });
            }
        };
        let mut cipher = vec![Params::SPARSE_60];
        cipher.extend(primes::ntt_primes(54, u32::from(log_n), count)?);
        let special = cipher.split_off(count);
        Ok(Self::new(log_n)
            .primes(&cipher, &special)
            .security(table, SecurityLevel::Bits128))
    }

    /// Primes by size in bits, chosen as SEAL's `CoeffModulus::Create` does from the two lists joined.
    pub fn prime_bits(mut self, cipher: &[u32], special: &[u32]) -> Self {
        self.primes = PrimeChoice::Bits {
            cipher: cipher.to_vec(),
            special: special.to_vec(),
        };
        self
    }

    /// Given primes: distinct, below 2^61 and 1 mod 2N.
    pub fn primes(mut self, cipher: &[u64], special: &[u64]) -> Self {
        self.primes = PrimeChoice::Values {
            cipher: cipher.to_vec(),
            special: special.to_vec(),
        };
        self
    }

    /// Number of key-switching digits, each of alpha = ceil(ciphertext primes / dnum) primes; needs alpha special
    /// primes. By default it follows from the number of special primes: one special prime gives one digit a prime (SEAL).
    pub fn dnum(mut self, dnum: usize) -> Self {
        self.dnum = Some(dnum);
        self
    }

    /// Scale of fresh encodings; by default 2^(bits of the last ciphertext prime), or the root of the only one.
    pub fn default_scale(mut self, scale: f64) -> Self {
        self.default_scale = Some(scale);
        self
    }

    pub fn secret(mut self, secret: SecretDistribution) -> Self {
        self.secret = secret;
        self
    }

    pub fn error(mut self, error: ErrorDistribution) -> Self {
        self.error = error;
        self
    }

    /// The table and level that [`ParamsBuilder::build`] checks; 128 bits of `guidelines_2024.ternary` by default.
    pub fn security(mut self, table: SecurityTable, level: SecurityLevel) -> Self {
        self.table = table;
        self.level = level;
        self
    }

    /// Accepts parameters that protect nothing. The opt-out is part of the parameters' identity and their summary, and
    /// so of every report.
    pub fn allow_insecure_parameters_for_tests_only(mut self) -> Self {
        self.insecure_allowed = true;
        self
    }

    /// Checks everything and makes the parameters.
    pub fn build(self) -> Result<Arc<Params>, CkksError> {
        let parameter = |what, expected: &str, got: String| CkksError::Parameter {
            what,
            expected: expected.into(),
            got,
        };
        if !Params::LOG_N.contains(&self.log_n) {
            return Err(parameter(
                "log2 of the ring degree",
                "3 to 17",
                self.log_n.to_string(),
            ));
        }
        let (cipher, special) = self.choose_primes()?;
        if cipher.is_empty()
            || special.is_empty()
            || cipher.len() + special.len() > Params::MAX_PRIMES
        {
            let got = format!("{} and {}", cipher.len(), special.len());
            return Err(parameter(
                "number of ciphertext and special primes",
                "at least one each, at most 64 in all",
                got,
            ));
        }
        let dnum = self.digits(cipher.len(), special.len())?;
        let moduli: Vec<u64> = cipher.iter().chain(&special).copied().collect();
        let reducers = check_primes(&moduli, self.log_n)?;
        if let SecretDistribution::SparseTernary { weight } = self.secret
            && (weight == 0 || weight as usize > 1 << self.log_n)
        {
            return Err(parameter(
                "weight of the sparse secret",
                "1 to N",
                weight.to_string(),
            ));
        }
        let default_scale = self
            .default_scale
            .unwrap_or_else(|| match cipher.as_slice() {
                [only] => 2f64.powi((64 - only.leading_zeros() as i32) / 2),
                [.., last] => 2f64.powi(64 - last.leading_zeros() as i32),
                [] => 1.0,
            });
        let log_q: f64 = cipher.iter().map(|&q| (q as f64).log2()).sum();
        if !(default_scale.is_finite() && default_scale >= 1.0 && default_scale.log2() < log_q) {
            return Err(CkksError::Scale {
                got: default_scale,
                max_log2: log_q,
            });
        }
        let security = self.check_security(&moduli)?;
        let params = Params {
            log_n: self.log_n,
            cipher_count: cipher.len(),
            moduli,
            reducers,
            dnum,
            default_scale,
            secret: self.secret,
            error: self.error,
            security,
            insecure_allowed: self.insecure_allowed,
            id: [0; 32],
        };
        Ok(Arc::new(params.with_id()))
    }

    fn choose_primes(&self) -> Result<(Vec<u64>, Vec<u64>), CkksError> {
        match &self.primes {
            PrimeChoice::None => Err(CkksError::Parameter {
                what: "choice of primes",
                expected: "sizes (prime_bits) or values (primes)".into(),
                got: "none".into(),
            }),
            PrimeChoice::Values { cipher, special } => Ok((cipher.clone(), special.clone())),
            PrimeChoice::Bits { cipher, special } => {
                let bits: Vec<u32> = cipher
                    .iter()
                    .chain(special)
                    .copied()
                    .take(Params::MAX_PRIMES + 1)
                    .collect();
                let mut chosen = primes::seal_coeff_modulus(u32::from(self.log_n), &bits)?;
                let special = chosen.split_off(cipher.len().min(chosen.len()));
                Ok((chosen, special))
            }
        }
    }

    fn digits(&self, cipher: usize, special: usize) -> Result<usize, CkksError> {
        let dnum = self.dnum.unwrap_or(cipher.div_ceil(special));
        let alpha = cipher
            .checked_div(dnum)
            .map_or(0, |_| cipher.div_ceil(dnum));
        if alpha == 0 || alpha != special || cipher.div_ceil(alpha) != dnum {
            return Err(CkksError::Parameter {
                what: "dnum",
                expected: format!(
                    "{} digits with {special} special and {cipher} ciphertext primes (alpha = ceil(ciphertext primes / dnum) special primes)",
                    cipher.div_ceil(special)
                ),
                got: dnum.to_string(),
            });
        }
        Ok(dnum)
    }

    fn check_security(&self, moduli: &[u64]) -> Result<SecurityRecord, CkksError> {
        let product: BigUint = moduli.iter().product();
        let qp_bits = product.bits() as u32;
        let log_qp: f64 = moduli.iter().map(|&q| (q as f64).log2()).sum();
        let bound = bound(self.table, self.level, self.log_n)?;
        let reason = self.insecurity(qp_bits, log_qp, bound);
        match reason {
            Some(reason) if !self.insecure_allowed => Err(CkksError::Insecure { reason }),
            insecure => Ok(SecurityRecord {
                table: self.table,
                level: self.level,
                log_qp,
                qp_bits,
                bound,
                insecure,
            }),
        }
    }

    fn insecurity(&self, qp_bits: u32, log_qp: f64, bound: Option<u32>) -> Option<String> {
        let (table, level, log_n) = (self.table, self.level.bits(), self.log_n);
        let covered = match self.secret {
            SecretDistribution::Ternary => true,
            SecretDistribution::Gaussian => table == SecurityTable::Guidelines2024Gaussian,
            SecretDistribution::SparseTernary { .. } => false,
        };
        if !covered
            || (self.secret == SecretDistribution::Ternary
                && table == SecurityTable::Guidelines2024Gaussian)
        {
            return Some(format!(
                "table {table} does not cover secrets of distribution {:?}",
                self.secret
            ));
        }
        match bound {
            None => Some(format!(
                "table {table} offers no {level}-bit parameters at N = 2^{log_n}"
            )),
            Some(bound) if qp_bits > bound => {
                let hint = smallest_log_n(qp_bits, table, self.level)
                    .map(|n| format!(" (N = 2^{n} would do)"));
                Some(format!(
                    "log2(QP) = {log_qp:.2} needs {qp_bits} bits, table {table} allows at most {bound} at N = 2^{log_n} for {level} bits{}",
                    hint.unwrap_or_default()
                ))
            }
            Some(_) => None,
        }
    }
}

fn check_primes(moduli: &[u64], log_n: u8) -> Result<Vec<Modulus>, CkksError> {
    let order = 2u64 << log_n;
    for (i, &q) in moduli.iter().enumerate() {
        let fault = if q >= 1 << Modulus::MAX_BITS {
            "a prime below 2^61"
        } else if !primes::is_prime(q) {
            "a prime"
        } else if q % order != 1 {
            "a prime that is 1 mod 2N"
        } else if moduli.iter().take(i).any(|&p| p == q) {
            "primes that differ"
        } else {
            continue;
        };
        return Err(CkksError::Parameter {
            what: "a modulus",
            expected: fault.into(),
            got: q.to_string(),
        });
    }
    moduli
        .iter()
        .map(|&q| Modulus::new(q).map_err(CkksError::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_sets_have_the_papers_shape() {
        let set1 = Params::named("set1").unwrap();
        assert_eq!(
            (
                set1.degree(),
                set1.cipher_count(),
                set1.special_count(),
                set1.dnum()
            ),
            (1 << 14, 7, 1, 7)
        );
        assert_eq!(
            set1.moduli()[0],
            (1 << 59) + (1 << 25) + (1 << 22) - (1 << 20) + 1
        );
        assert!(set1.moduli()[1..].windows(2).all(|w| w[0] > w[1]));
        assert!(set1.security().insecure.is_none());
        assert_eq!(set1.default_scale(), 2f64.powi(54));
        let guidelines = ParamsBuilder::named("set1")
            .unwrap()
            .security(Default::default(), Default::default());
        let error = guidelines.clone().build().unwrap_err().to_string();
        assert!(
            error.contains("430")
                && error.contains("guidelines_2024.ternary")
                && error.contains("2^15"),
            "{error}"
        );
        let record = guidelines
            .allow_insecure_parameters_for_tests_only()
            .build()
            .unwrap();
        assert!(record.summary().contains("INSECURE"));
        assert_ne!(record.id(), set1.id());
        assert!(Params::named("set3").is_err());
    }

    #[test]
    fn primes_are_seals() {
        let params = Params::builder(14)
            .prime_bits(&[60, 40, 40], &[60])
            .build()
            .unwrap();
        assert_eq!(
            params.moduli(),
            [
                1152921504606683137,
                1099508121601,
                1099510054913,
                1152921504606748673
            ]
        );
    }

    #[test]
    fn bad_choices_are_refused() {
        let small = |cipher: &[u32], special: &[u32]| {
            Params::builder(8)
                .prime_bits(cipher, special)
                .allow_insecure_parameters_for_tests_only()
        };
        assert!(small(&[40, 30, 30], &[40]).build().is_ok());
        assert!(
            small(&[40, 30, 30], &[40, 40])
                .build()
                .is_ok_and(|p| p.dnum() == 2)
        );
        assert!(small(&[40, 30, 30], &[40]).dnum(2).build().is_err());
        assert!(small(&[40, 30, 30], &[40]).dnum(0).build().is_err());
        assert!(small(&[40], &[]).build().is_err());
        assert!(small(&[], &[40]).build().is_err());
        assert!(small(&[40; 40], &[40; 40]).build().is_err());
        assert!(small(&[62], &[40]).build().is_err());
        assert!(small(&[40], &[40]).default_scale(f64::NAN).build().is_err());
        assert!(
            small(&[40], &[40])
                .default_scale(2f64.powi(50))
                .build()
                .is_err()
        );
        assert!(
            small(&[40], &[40])
                .secret(SecretDistribution::SparseTernary { weight: 0 })
                .build()
                .is_err()
        );
        assert!(Params::builder(8).prime_bits(&[40], &[40]).build().is_err());
        assert!(
            Params::builder(30)
                .prime_bits(&[40], &[40])
                .build()
                .is_err()
        );
        assert!(Params::builder(8).build().is_err());
        for values in [[97, 193], [7681, 7681], [12289, 1 << 62], [12289, 12291]] {
            let builder = Params::builder(8).primes(&values[..1], &values[1..]);
            assert!(
                builder
                    .allow_insecure_parameters_for_tests_only()
                    .build()
                    .is_err(),
                "{values:?}"
            );
        }
    }

    #[test]
    fn digits_follow_the_level() {
        let bits = [40, 30, 30, 30, 30];
        let params = Params::builder(8)
            .prime_bits(&bits, &[40, 40])
            .allow_insecure_parameters_for_tests_only();
        let params = params.build().unwrap();
        assert_eq!(params.dnum(), 3);
        assert_eq!(
            (
                params.digit(0, 4),
                params.digit(2, 4),
                params.digit(1, 2),
                params.digit(2, 2)
            ),
            (0..2, 4..5, 2..3, 3..3)
        );
        assert_eq!(
            (
                params.digits_at(4),
                params.digits_at(3),
                params.digits_at(0)
            ),
            (3, 2, 1)
        );
        assert_eq!(params.galois_element(1).unwrap(), 3);
        assert_eq!(params.galois_element(-1).unwrap() * 3 % 512, 1);
        assert!(params.galois_element(0).is_err() && params.galois_element(128).is_err());
    }
}
