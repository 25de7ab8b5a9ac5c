// SPDX-License-Identifier: Apache-2.0
//! Named BGV parameter sets that bootstrap.

use std::sync::Arc;

use super::error::BootstrapError;
use super::params::Bootstrapping;
use crate::bgv::{Params, PrimePower};

/// A named BGV parameter set that bootstraps integers modulo p^r in slots. It has Montgomery-friendly primes and a
/// dense ternary secret.
///
/// ```
/// use ringmill_schemes::bgv::bootstrap::Set;
/// let basalisc = Set::BASALISC.bootstrapping().unwrap();
/// assert_eq!(basalisc.structure().slots(), 64);
/// assert!((basalisc.params().security().log_qp - 1737.5).abs() < 0.1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Set {
    pub name: &'static str,
    pub log_n: u8,
    /// The prime p. `exponents` has r and e: the plaintext modulus of messages is p^r, and the last plaintext
    /// modulus is p^e.
    pub prime: u64,
    pub exponents: [u32; 2],
    /// The number of ciphertext primes, then the number of special primes.
    pub primes: [usize; 2],
    /// The weight of the sparse secret: the number of its coefficients other than 0.
    pub weight: u32,
    /// The number of stages of the map to coefficients and of the map to slots.
    pub map_depth: usize,
    /// Whether the set is insecure, for tests and comparisons only.
    insecure: bool,
}

impl Set {
    /// The example parameter set of the BASALISC paper: N = 65536, messages modulo 127^3, the last plaintext
    /// modulus 127^4, 42 ciphertext primes and 14 special primes.
    pub const BASALISC: Self = Self {
        name: "basalisc",
        log_n: 16,
        prime: 127,
        exponents: [3, 4],
        primes: [42, 14],
        weight: 64,
        map_depth: 1,
        insecure: false,
    };
    /// A secure set with thousands of slots: 4,096 integers modulo 8191.
    pub const MANY_SLOTS: Self = Self {
        name: "many-slots",
        log_n: 16,
        prime: 8191,
        exponents: [1, 2],
        primes: [42, 14],
        weight: 64,
        map_depth: 3,
        insecure: false,
    };
    /// A secure set of ring degree N = 2^15.
    pub const MEDIUM: Self = Self {
        name: "medium",
        log_n: 15,
        prime: 127,
        exponents: [1, 2],
        primes: [20, 7],
        weight: 64,
        map_depth: 1,
        insecure: false,
    };
    /// A secure set of ring degree N = 2^14.
    pub const SMALL: Self = Self {
        name: "small",
        log_n: 14,
        prime: 31,
        exponents: [1, 2],
        primes: [12, 1],
        weight: 32,
        map_depth: 1,
        insecure: false,
    };
    /// An insecure parameter set with a small ring degree, for tests only.
    pub const INSECURE_TOY_FOR_TESTS_ONLY: Self = Self {
        name: "insecure-toy-for-tests-only",
        log_n: 9,
        prime: 17,
        exponents: [1, 2],
        primes: [24, 8],
        weight: 8,
        map_depth: 1,
        insecure: true,
    };
    /// Insecure sets for comparisons with other libraries only. At N = 2^13 and 2^14, messages are modulo 127, the
    /// last plaintext modulus is 127^2, and the ciphertext primes have 868 bits in all. At N = 2^15, messages are
    /// modulo 127^3, the last plaintext modulus is 127^4, and the ciphertext primes have 1271 bits.
    pub const INSECURE_COMPARISONS: [Self; 3] = [
        Self::compared("insecure-comparison-13", 13, [1, 2], [28, 7]),
        Self::compared("insecure-comparison-14", 14, [1, 2], [28, 7]),
        Self::compared("insecure-comparison-15", 15, [3, 4], [41, 14]),
    ];
    /// All named sets that are secure.
    pub const ALL: [Self; 4] = [Self::BASALISC, Self::MANY_SLOTS, Self::MEDIUM, Self::SMALL];

    const fn compared(
        name: &'static str,
        log_n: u8,
        exponents: [u32; 2],
        primes: [usize; 2],
    ) -> Self {
        Self {
            name,
            log_n,
            prime: 127,
            exponents,
            primes,
            weight: 64,
            map_depth: 1,
            insecure: true,
        }
    }

    /// Returns the set with this name, or `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        let toy = Self::INSECURE_TOY_FOR_TESTS_ONLY;
        Self::ALL
            .into_iter()
            .chain(Self::INSECURE_COMPARISONS)
            .chain([toy])
            .find(|set| set.name == name)
    }

    /// Returns the checked parameters of bootstrapping of this named set.
    ///
    /// # Errors
    /// None for a named set.
    pub fn bootstrapping(self) -> Result<Bootstrapping, BootstrapError> {
        let [r, e] = self.exponents;
        let t = PrimePower::new(self.prime, r)?.modulus()?;
        let [cipher, special] = self.primes;
        let builder = Params::builder(self.log_n, t)
            .friendly_primes(cipher, special)?
            .further_plain_moduli((e - r) as u8);
        let builder = match self.insecure {
            true => builder.allow_insecure_parameters_for_tests_only(),
            false => builder,
        };
        let params: Arc<Params> = builder.build()?;
        let setup = Bootstrapping::new(params, self.weight)?;
        Ok(setup.with_map_depth(self.map_depth))
    }
}
