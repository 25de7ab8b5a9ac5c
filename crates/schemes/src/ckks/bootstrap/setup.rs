// SPDX-License-Identifier: Apache-2.0
//! The parameters of CKKS bootstrapping: the levels that each step of a bootstrap takes, and the sparse secret.

use std::fmt;
use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_math::primes::ntt_primes_excluding;

use crate::ckks::chain::rescaling_primes;
use crate::ckks::{CkksError, Params};
use crate::rlwe::sparse;

/// The number of levels that each step of a bootstrap takes, and the size of the message relative to q_0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    /// The number of matrices of the map from slots to coefficients, each of which takes a level.
    pub to_coefficients: u32,
    /// The number of levels that a bootstrapped value has for products of the program, before it is bootstrapped again.
    pub free: u32,
    /// The base-2 logarithm of the length of the Chebyshev series. The series takes this number of levels and one more,
    /// for a second division of its last sum.
    pub log_length: u32,
    /// The number of matrices of the map from coefficients to slots, each of which takes a level.
    pub to_slots: u32,
    /// The base-2 logarithm of q_0 over the largest coefficient of the message, when the modulus is raised from q_0.
    pub ratio_bits: u32,
    /// How often a value is bootstrapped. Each time after the first bootstraps the error of the time before, so the
    /// error of the result shrinks by the same factor again (ePrint 2022/1167).
    pub iterations: u32,
}

impl Layout {
    /// Returns the level of the operand of a bootstrap.
    pub fn start(&self) -> Level {
        Level(self.to_coefficients)
    }

    /// Returns whether all numbers of levels are so small that their sum is a valid level.
    fn is_sane(&self) -> bool {
        let all = [
            self.to_coefficients,
            self.free,
            self.log_length,
            self.to_slots,
        ];
        all.into_iter().all(|levels| levels <= 256)
    }

    /// Returns the level of the result of a bootstrap.
    pub fn end(&self) -> Level {
        self.start().above(self.free)
    }

    /// Returns the level to which the modulus is raised, the highest of the parameters.
    pub fn top(&self) -> Level {
        self.end().above(self.log_length + 1 + self.to_slots)
    }
}

/// The largest weight of a sparse secret. The series that removes multiples of q_0 is fitted around (h + 1) / 2
/// integers for the weight h, and none of the allowed lengths is precise for a larger weight.
const MOST_WEIGHT: u32 = 128;

/// The largest number of iterations of a bootstrap. Three reach the precision of a scale of 2^60.
const MOST_ITERATIONS: u32 = 4;

/// The checked parameters of CKKS bootstrapping.
#[derive(Clone, Debug)]
pub struct Bootstrapping {
    params: Arc<Params>,
    layout: Layout,
    weight: u32,
    key_bits: u64,
    security: String,
}

impl Bootstrapping {
    /// Chooses parameters for a sparse secret with `weight` coefficients other than 0.
    ///
    /// # Errors
    /// Fails for parameters with another number of levels than the layout's. Fails for a map of no matrices or of more
    /// than log2 N - 1, and for a weight outside 1 to 128. Fails for a `log_length` outside 4 to 8, `ratio_bits` outside
    /// 7 to 24, and `iterations` outside 1 to 4. Also fails for a sparse secret that is insecure under the modulus of its key, q_0 times
    /// one special prime, unless the parameters may be insecure.
    pub fn new(params: Arc<Params>, layout: Layout, weight: u32) -> Result<Self, CkksError> {
        let refused = |reason: String| CkksError::NotBootstrapped { reason };
        let top = params.max_level();
        if !layout.is_sane() {
            return Err(refused(format!("no layout has the levels {layout:?}")));
        }
        if layout.top() != top {
            let (needed, got) = (layout.top().primes(), top.primes());
            return Err(refused(format!(
                "their steps take {needed} ciphertext primes, and there are {got}"
            )));
        }
        let maps = [layout.to_coefficients, layout.to_slots];
        let longest = u32::from(params.log_n()).saturating_sub(1);
        if maps.iter().any(|&stages| stages == 0 || stages > longest) {
            return Err(refused(format!(
                "a map between slots and coefficients has 1 to {longest} matrices, not {maps:?}"
            )));
        }
        if !(4..=8).contains(&layout.log_length) {
            return Err(refused(format!(
                "a series of length 2^{}; 2^4 to 2^8 are possible",
                layout.log_length
            )));
        }
        if !(7..=24).contains(&layout.ratio_bits) {
            return Err(refused(format!(
                "a message 2^{} times smaller than q_0; 2^7 to 2^24 are possible",
                layout.ratio_bits
            )));
        }
        if !(1..=MOST_ITERATIONS).contains(&layout.iterations) {
            return Err(refused(format!(
                "{} iterations, not 1 to {MOST_ITERATIONS}",
                layout.iterations
            )));
        }
        if !(1..=MOST_WEIGHT).contains(&weight) {
            return Err(refused(format!(
                "a sparse secret of weight {weight}, not 1 to {MOST_WEIGHT}"
            )));
        }
        let key_bits = sparse::key_bits(&params, Level::LOWEST)?;
        let security = sparse::security(&params, weight, key_bits).map_err(refused)?;
        Ok(Self {
            params,
            layout,
            weight,
            key_bits,
            security,
        })
    }

    pub fn params(&self) -> &Arc<Params> {
        &self.params
    }

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the weight of the sparse secret: the number of its coefficients other than 0.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Returns the bits of the modulus of the encapsulation key, under which the sparse secret must be secure.
    pub fn key_bits(&self) -> u64 {
        self.key_bits
    }

    /// Returns one line about the security table by which the sparse secret is secure. If the parameters may be
    /// insecure, the line may begin with `INSECURE` and give the reason.
    pub fn security(&self) -> &str {
        &self.security
    }

    /// Returns (h + 1) / 2, where h is the weight of the sparse secret. For every ciphertext, it bounds the
    /// coefficients over q_0 after the raising of the modulus. Each of them is a sum of h + 1 numbers between -1/2
    /// and 1/2.
    pub fn range(&self) -> f64 {
        f64::from(self.weight + 1) / 2.0
    }
}

impl fmt::Display for Bootstrapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} free levels; multiples of q_0 up to {}, so that no bootstrap fails; encapsulated secret of weight {}: {}",
            self.layout.free,
            self.range(),
            self.weight,
            self.security
        )
    }
}

/// A named CKKS parameter set that bootstraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// N = 2^16: 32,768 slots, and 15 levels with primes of 40 bits for products between two bootstraps.
    Deep,
    /// N = 2^16: 32,768 slots, and 12 levels with primes of 45 bits for products between two bootstraps. Its errors
    /// are smaller than those of [`Set::Deep`].
    Fine,
    /// N = 2^16: 32,768 slots, and 8 levels with primes of 60 bits for products between two bootstraps. A bootstrap
    /// runs twice, and its errors are about the squares of those of [`Set::Deep`].
    Precise,
    /// N = 2^11, insecure, for tests: 1,024 slots, and 4 levels with primes of 40 bits for products between two
    /// bootstraps.
    ToyForTestsOnly,
    /// N = 2^11, insecure, for tests: 1,024 slots, and 3 levels with primes of 60 bits for products between two
    /// bootstraps. A bootstrap runs twice.
    PreciseToyForTestsOnly,
}

/// The sizes of a named parameter set's ring and primes.
struct Sizes {
    log_n: u8,
    free: u32,
    /// The size in bits of the primes of the program's levels and of the map to coefficients. It is also log2 of the
    /// scale.
    scale_bits: u32,
    /// The size in bits of the primes of the Chebyshev series, but for the last two.
    series_bits: u32,
    /// The size in bits of the primes of the map to slots.
    slots_bits: u32,
    log_length: u32,
    ratio_bits: u32,
    iterations: u32,
    dnum: usize,
    /// The number of special primes and their size in bits.
    special: (usize, u32),
    insecure: bool,
}

impl Set {
    /// All named sets, each with the name that programs use. The secure sets come first, and of these the cheapest.
    pub const ALL: [(&'static str, Self); 5] = [
        ("deep", Self::Deep),
        ("fine", Self::Fine),
        ("precise", Self::Precise),
        ("toy_insecure_for_tests_only", Self::ToyForTestsOnly),
        (
            "precise_toy_insecure_for_tests_only",
            Self::PreciseToyForTestsOnly,
        ),
    ];

    /// The secure named sets, the cheapest first.
    pub const SECURE: [Self; 3] = [Self::Deep, Self::Fine, Self::Precise];

    /// Returns the set with this name, or `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|&(own, _)| own == name);
        found.map(|(_, set)| set)
    }

    fn sizes(self) -> Sizes {
        match self {
            Self::Deep => Sizes {
                log_n: 16,
                free: 15,
                scale_bits: 40,
                series_bits: 59,
                slots_bits: 56,
                log_length: 7,
                ratio_bits: 11,
                iterations: 1,
                dnum: 4,
                special: (8, 47),
                insecure: false,
            },
            Self::Fine => Sizes {
                log_n: 16,
                free: 12,
                scale_bits: 45,
                series_bits: 56,
                slots_bits: 54,
                log_length: 8,
                ratio_bits: 7,
                iterations: 1,
                dnum: 4,
                special: (8, 48),
                insecure: false,
            },
            Self::Precise => Sizes {
                log_n: 16,
                free: 8,
                scale_bits: 60,
                series_bits: 59,
                slots_bits: 56,
                log_length: 7,
                ratio_bits: 12,
                iterations: 2,
                dnum: 4,
                special: (8, 54),
                insecure: false,
            },
            Self::ToyForTestsOnly => Sizes {
                log_n: 11,
                free: 4,
                scale_bits: 40,
                series_bits: 59,
                slots_bits: 56,
                log_length: 7,
                ratio_bits: 11,
                iterations: 1,
                dnum: 3,
                special: (8, 46),
                insecure: true,
            },
            Self::PreciseToyForTestsOnly => Sizes {
                log_n: 11,
                free: 3,
                scale_bits: 60,
                series_bits: 59,
                slots_bits: 56,
                log_length: 7,
                ratio_bits: 12,
                iterations: 2,
                dnum: 3,
                special: (8, 54),
                insecure: true,
            },
        }
    }

    /// Returns the checked parameters of bootstrapping of the named set.
    ///
    /// # Errors
    /// None: the sets are tested.
    pub fn bootstrapping(self) -> Result<Bootstrapping, CkksError> {
        let sizes = self.sizes();
        let layout = Layout {
            to_coefficients: MATRICES,
            free: sizes.free,
            log_length: sizes.log_length,
            to_slots: MATRICES,
            ratio_bits: sizes.ratio_bits,
            iterations: sizes.iterations,
        };
        let log_n = u32::from(sizes.log_n);
        let levels = vec![1.0; layout.end().index()];
        let rescaling = rescaling_primes(sizes.scale_bits, log_n, &levels)?;
        let mut primes = ntt_primes_excluding(BASE_BITS, log_n, 1, &rescaling)?;
        primes.extend(rescaling);
        for (count, bits) in [
            (2, LAST_BITS),
            (sizes.log_length - 1, sizes.series_bits),
            (MATRICES, sizes.slots_bits),
        ] {
            primes.extend(ntt_primes_excluding(bits, log_n, count as usize, &primes)?);
        }
        let (count, bits) = sizes.special;
        let special = ntt_primes_excluding(bits, log_n, count, &primes)?;
        let builder = Params::builder(sizes.log_n)
            .primes(&primes, &special)
            .dnum(sizes.dnum)
            .default_scale(f64::from(sizes.scale_bits).exp2());
        let builder = match sizes.insecure {
            true => builder.allow_insecure_parameters_for_tests_only(),
            false => builder,
        };
        Bootstrapping::new(builder.build()?, layout, WEIGHT)
    }
}

/// The size in bits of q_0, the lowest prime of the named sets.
const BASE_BITS: u32 = 60;
/// The size in bits of the two primes by which the last sum of the named sets' Chebyshev series is divided.
const LAST_BITS: u32 = 33;
/// The number of matrices of each of the named sets' two maps between slots and coefficients.
const MATRICES: u32 = 3;
/// The weight of the named sets' sparse secrets: the number of their coefficients other than 0.
const WEIGHT: u32 = 32;
