// SPDX-License-Identifier: Apache-2.0
//! Builds and checks the part of a parameter set that all ring schemes share.

use std::ops::Range;

use num_bigint::BigUint;
use ringmill_isa::mid::TableModulus;
use ringmill_math::{Modulus, primes};

use super::distributions::{ErrorDistribution, SecretDistribution};
use super::error::RlweError;
use super::params::{Insecure, Params};
use super::security::{
    SecurityLevel, SecurityRecord, SecurityTable, bound, no_bound, smallest_log_n,
};
use crate::scheme::SchemeTag;

#[derive(Clone, Debug)]
enum PrimeChoice {
    None,
    Bits { cipher: Vec<u32>, special: Vec<u32> },
    Values { cipher: Vec<u64>, special: Vec<u64> },
}

/// Collects the choices of a parameter set that ring schemes share; [`ParamsBuilder::build`] checks them.
#[derive(Clone, Debug)]
pub struct ParamsBuilder {
    log_n: u8,
    primes: PrimeChoice,
    dnum: Option<usize>,
    secret: SecretDistribution,
    error: ErrorDistribution,
    table: SecurityTable,
    level: SecurityLevel,
    insecure: Insecure,
    primes_alone: bool,
}

impl ParamsBuilder {
    pub(super) fn new(log_n: u8) -> Self {
        Self {
            log_n,
            primes: PrimeChoice::None,
            dnum: None,
            secret: SecretDistribution::default(),
            error: ErrorDistribution::default(),
            table: SecurityTable::default(),
            level: SecurityLevel::default(),
            insecure: Insecure::default(),
            primes_alone: false,
        }
    }

    /// Chooses ciphertext primes and special primes by their sizes in bits, as SEAL's `CoeffModulus::Create` does for
    /// the two lists joined.
    pub fn prime_bits(mut self, cipher: &[u32], special: &[u32]) -> Self {
        self.primes = PrimeChoice::Bits {
            cipher: cipher.to_vec(),
            special: special.to_vec(),
        };
        self
    }

    /// Makes divisions by primes in operations subtract t times a limb, for the plaintext modulus t (BASALISC paper,
    /// Equation 6), so that no such division computes modulo t. Only schemes whose messages are in the low bits (BGV)
    /// compute otherwise, but the identity of every scheme's parameters contains the choice. It is for machines whose
    /// multipliers take primes alone. The remainder of a division by k primes of product P is then below t k P.
    pub fn divide_modulo_primes_alone(mut self) -> Self {
        self.primes_alone = true;
        self
    }

    /// Sets the ciphertext primes and the special primes. All must be distinct primes below 2^61 that are 1 mod 2N, at
    /// most [`Params::MAX_PRIMES`] together.
    pub fn primes(mut self, cipher: &[u64], special: &[u64]) -> Self {
        self.primes = PrimeChoice::Values {
            cipher: cipher.to_vec(),
            special: special.to_vec(),
        };
        self
    }

    /// Sets dnum, the number of key-switching digits, from 1 to the number of ciphertext primes. [`digit_ranges`] says
    /// which primes each digit has. Each digit needs at least as many special primes as it has primes, or special
    /// primes whose product has at least as many bits as its own. By default dnum is the number of ciphertext primes
    /// divided by that of special primes, rounded up. So one special prime gives one digit for each ciphertext prime
    /// (SEAL).
    pub fn dnum(mut self, dnum: usize) -> Self {
        self.dnum = Some(dnum);
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

    /// Sets the security table and level against which [`ParamsBuilder::build`] checks, by default 128 bits of
    /// `guidelines_2024.ternary`.
    pub fn security(mut self, table: SecurityTable, level: SecurityLevel) -> Self {
        self.table = table;
        self.level = level;
        self
    }

    /// Accepts parameters without security. This opt-out is part of the parameters' identity. If the parameters miss
    /// the security level, their summary says so, and so does every report.
    pub fn allow_insecure_parameters_for_tests_only(self) -> Self {
        self.insecurity(Insecure::AllowedByMaker)
    }

    /// Sets who, if anyone, allowed the parameters to be insecure: their maker, as a file says, or the reader of
    /// the file.
    pub(crate) fn insecurity(mut self, insecure: Insecure) -> Self {
        self.insecure = insecure;
        self
    }

    /// Checks all choices and makes the common part of the parameters of `scheme`. The scheme adds its own part with
    /// [`Params::with_own`].
    ///
    /// # Errors
    /// [`RlweError::Insecure`] for parameters that miss the security level, unless the opt-out allows them. Also fails
    /// for a ring degree outside 2^3 to 2^17, unsuitable, missing or too many primes, and a wrong dnum. Fails for
    /// special primes that are too few or too small for the digits, and for a wrong weight of a sparse secret.
    pub fn build(self, scheme: SchemeTag) -> Result<Params, RlweError> {
        let parameter = |what, expected: &str, got: String| RlweError::Parameter {
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
                &format!("at least one each, at most {} in all", Params::MAX_PRIMES),
                got,
            ));
        }
        let dnum = digits(self.dnum, cipher.len(), special.len())?;
        let digits = digit_ranges(cipher.len(), dnum);
        check_special(&cipher, &special, &digits)?;
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
        let security = self.check_security(&moduli)?;
        let params = Params {
            scheme,
            log_n: self.log_n,
            cipher_count: cipher.len(),
            table: TableModulus::primes(&moduli),
            moduli,
            reducers,
            digits,
            secret: self.secret,
            error: self.error,
            security,
            insecure: self.insecure,
            low: Vec::new(),
            primes_alone: self.primes_alone,
            own: Vec::new(),
            own_words: String::new(),
            id: [0; 32],
        };
        Ok(params.with_own(Vec::new(), ""))
    }

    fn choose_primes(&self) -> Result<(Vec<u64>, Vec<u64>), RlweError> {
        match &self.primes {
            PrimeChoice::None => Err(RlweError::Parameter {
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

    fn check_security(&self, moduli: &[u64]) -> Result<SecurityRecord, RlweError> {
        let product: BigUint = moduli.iter().product();
        let qp_bits = product.bits() as u32;
        let log_qp: f64 = moduli.iter().map(|&q| (q as f64).log2()).sum();
        let bound = bound(self.table, self.secret, self.level, self.log_n)?;
        let reason = self.fault(qp_bits, log_qp, bound);
        match reason {
            Some(reason) if self.insecure == Insecure::Refused => {
                Err(RlweError::Insecure { reason })
            }
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

    /// Returns the reason why the parameters miss the security level, or `None` if they reach it. Q P, the product
    /// of all primes, has `qp_bits` bits, of which the security table allows `bound`.
    fn fault(&self, qp_bits: u32, log_qp: f64, bound: Option<u32>) -> Option<String> {
        let (table, level, log_n) = (self.table, self.level.bits(), self.log_n);
        if !table.covers(self.secret) {
            return Some(format!(
                "table {table} does not cover secrets of distribution {:?}",
                self.secret
            ));
        }
        match bound {
            None => Some(no_bound(table, self.secret, self.level, log_n)),
            Some(bound) if qp_bits > bound => {
                let hint = smallest_log_n(qp_bits, table, self.secret, self.level)
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

/// Returns dnum, the number of key-switching digits of `cipher` ciphertext primes. It is `given`, if the caller gives
/// one. Otherwise it is ceil(`cipher` / `special`) for `special` special primes.
///
/// # Errors
/// Fails for a `given` number that is not from 1 to `cipher`. If none is given, fails unless ceil(`cipher` / dnum) is
/// `special`, so that the largest digit has as many primes as there are special primes.
///
/// # Panics
/// Panics if `given` is `None` and `cipher` or `special` is 0.
pub fn digits(given: Option<usize>, cipher: usize, special: usize) -> Result<usize, RlweError> {
    if let Some(dnum) = given {
        return match (1..=cipher).contains(&dnum) {
            true => Ok(dnum),
            false => Err(RlweError::Parameter {
                what: "dnum",
                expected: format!("1 to {cipher}, the number of ciphertext primes"),
                got: dnum.to_string(),
            }),
        };
    }
    let dnum = cipher.div_ceil(special);
    let alpha = cipher.div_ceil(dnum);
    if alpha != special {
        // The number of ciphertext primes in digits that have as many primes as there are special primes.
        let whole = (cipher - cipher % special).max(special);
        return Err(RlweError::Parameter {
            what: "number of special primes",
            expected: format!(
                "{alpha}, as many as the largest of {dnum} digits of {cipher} ciphertext primes, or {whole} ciphertext primes beside {special} special ones"
            ),
            got: special.to_string(),
        });
    }
    Ok(dnum)
}

/// Returns the indices of the ciphertext primes of each of `dnum` key-switching digits, for `cipher` primes. If
/// possible, all digits but the last have ceil(`cipher` / `dnum`) primes, and the last one has the rest, at least one
/// prime. Otherwise the first digits have one prime more than the others. A `dnum` of 0 counts as 1, and one above
/// `cipher` as `cipher`.
pub fn digit_ranges(cipher: usize, dnum: usize) -> Vec<Range<usize>> {
    let dnum = dnum.clamp(1, cipher.max(1));
    let most = cipher.div_ceil(dnum);
    let even = cipher.div_ceil(most.max(1)) == dnum;
    let (least, longer) = (cipher / dnum, cipher % dnum);
    let start = |j: usize| match even {
        true => (j * most).min(cipher),
        false => j * least + j.min(longer),
    };
    (0..dnum).map(|j| start(j)..start(j + 1)).collect()
}

/// Returns the number of bits of the product of primes.
pub fn product_bits(primes: &[u64]) -> u32 {
    primes.iter().product::<BigUint>().bits() as u32
}

/// Refuses special primes that are fewer than the primes of some key-switching digit, if their product also has
/// fewer bits than the product of that digit's primes.
fn check_special(
    cipher: &[u64],
    special: &[u64],
    digits: &[Range<usize>],
) -> Result<(), RlweError> {
    let had = product_bits(special);
    let longer = |digit: &&Range<usize>| digit.len() > special.len();
    let needed = digits.iter().filter(longer);
    let needed = needed.map(|digit| product_bits(cipher.get(digit.clone()).unwrap_or_default()));
    match needed.max() {
        Some(needed) if needed > had => Err(RlweError::Parameter {
            what: "product of the special primes",
            expected: format!(
                "at least {needed} bits, those of the largest of {} digits of {} ciphertext primes; use more special primes or a larger dnum",
                digits.len(),
                cipher.len()
            ),
            got: format!("{had} bits"),
        }),
        Some(_) | None => Ok(()),
    }
}

fn check_primes(moduli: &[u64], log_n: u8) -> Result<Vec<Modulus>, RlweError> {
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
        return Err(RlweError::Parameter {
            what: "a modulus",
            expected: fault.into(),
            got: q.to_string(),
        });
    }
    moduli
        .iter()
        .map(|&q| Modulus::new(q).map_err(RlweError::from))
        .collect()
}
