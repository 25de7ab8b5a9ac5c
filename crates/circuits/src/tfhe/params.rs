// SPDX-License-Identifier: Apache-2.0
//! A checked TFHE parameter set, and the types of its parts.

use std::sync::Arc;

use ringmill_device::KeyId;
use ringmill_device::ParamsId;
use ringmill_math::torus::{Coefficients, Gadget, KeyShape, NarrowRing, TorusRing};
use ringmill_schemes::identity::{Origin, short_id};

use super::exactness::Exactness;
use super::noise::NoiseModel;
use super::security::Security;
use super::{ParamsBuilder, TAG, TfheError};

/// n: the number of bits of the small LWE secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LweDimension(pub usize);

/// k: the number of mask polynomials of a GLWE ciphertext.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GlweRank(pub usize);

/// A gadget decomposition: signed digits, `levels` of them in base 2^`log_base`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decomposition {
    pub log_base: u32,
    pub levels: usize,
}

/// q, the ciphertext modulus. Noise is given as a fraction of the torus, so it is the same for each q. A prime saves
/// the lift of products to other primes; otherwise it changes only how a fraction of the torus is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CiphertextModulus {
    /// The ciphertext modulus is 2^32, the word of a 32-bit torus.
    Torus32,
    /// The ciphertext modulus is 2^64, the word of a 64-bit torus.
    Torus64,
    /// The ciphertext modulus is the largest prime of `bits` bits (20 to 52) that is 1 modulo 2^12, and so has the
    /// roots of unity of every ring up to 2^11.
    Prime { bits: u32 },
}

/// The number m of secret bits that one step of blind rotation takes (Kong and Li's paper, Section III-E). A blind
/// rotation has n / m steps (rounded up) for a small key of n bits. Each step of m bits has 2^m - 1 gadget ciphertexts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Unrolling {
    #[default]
    One,
    Two,
    Three,
}

impl Unrolling {
    pub const ALL: [Self; 3] = [Self::One, Self::Two, Self::Three];

    /// Returns m, the number of secret bits in a step of a blind rotation.
    pub const fn m(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Three => 3,
        }
    }

    /// Returns 2^m - 1, the number of patterns of m secret bits that are not all 0. Each such pattern has a gadget
    /// ciphertext of its own.
    pub const fn patterns(self) -> usize {
        (1 << self.m()) - 1
    }
}

/// The key under which the inputs and outputs of operations are, the small or the large one. It fixes the order of a
/// bootstrap's parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// Inputs and outputs are under the small key. A bootstrap is a blind rotation, then a key switch (Kong and Li's
    /// paper, Algorithm 1).
    #[default]
    BootstrapFirst,
    /// Inputs and outputs are under the large key. A bootstrap is a key switch, then a blind rotation.
    KeySwitchFirst,
}

/// The way in which a bootstrap rounds a phase to multiples of 1/2N.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ModulusSwitch {
    /// The bootstrap rounds each coefficient of the ciphertext to the nearest multiple of 1/2N of
    /// the torus.
    #[default]
    Nearest,
    /// The bootstrap rounds each coefficient of the ciphertext to the nearest multiple of 1/2N of the torus, after a
    /// correction of the body by the mean error. The mean is half the sum of the mask's rounding errors, as a secret
    /// bit is 1 half of the time. For a key with as many 1s as 0s, the correction about halves the variance of the
    /// rounding's noise.
    CentredMean,
}

/// The kind of messages that ciphertexts of a parameter set encrypt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Messages {
    /// Ciphertexts encrypt bits: true is 1/8 of the torus, false is -1/8.
    Booleans,
    /// Ciphertexts encrypt integers m below 2^(message_bits + carry_bits), as m / 2^(message_bits + carry_bits + 1).
    /// The top bit of the torus stays free.
    Integers { message_bits: u32, carry_bits: u32 },
}

impl Messages {
    /// Messages of 2 bits with carries of 2 bits, which the lookups of a circuit take.
    pub const CIRCUITS: Self = Self::Integers {
        message_bits: 2,
        carry_bits: 2,
    };

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Booleans => "booleans",
            Self::Integers { .. } => "integers",
        }
    }
}

/// The largest probability with which the worst operation of a parameter set may fail ([`Params::failure_log2`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FailureRate {
    #[default]
    Below2Minus40,
    Below2Minus64,
    Below2Minus128,
}

impl FailureRate {
    /// Returns log2 of the failure probability that this rate allows.
    pub const fn log2(self) -> i32 {
        match self {
            Self::Below2Minus40 => -40,
            Self::Below2Minus64 => -64,
            Self::Below2Minus128 => -128,
        }
    }
}

/// The sizes of a TFHE parameter set: dimensions, digits, noise, modulus, and the choices that fix a bootstrap.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sizes {
    pub n: LweDimension,
    pub k: GlweRank,
    /// log2 of the ring degree N.
    pub log_degree: u8,
    pub bootstrap: Decomposition,
    pub key_switch: Decomposition,
    /// The standard deviation of the noise under the small key, as a fraction of the torus.
    pub lwe_std: f64,
    pub glwe_std: f64,
    pub modulus: CiphertextModulus,
    pub unrolling: Unrolling,
    pub order: Order,
    pub switch: ModulusSwitch,
    pub messages: Messages,
}

impl Sizes {
    /// Returns the ring degree N of the accumulators.
    pub fn degree(&self) -> usize {
        1 << self.log_degree
    }

    /// Returns k N, the dimension of the large LWE key.
    pub fn large_dimension(&self) -> usize {
        self.k.0 * self.degree()
    }

    /// Returns the number of steps of a blind rotation. Each takes m secret bits; the last takes those that remain.
    pub fn steps(&self) -> usize {
        self.n.0.div_ceil(self.unrolling.m())
    }

    /// Returns (k + 1) l, the number of rows of a gadget ciphertext with k mask polynomials and l digits.
    pub fn rows(&self) -> usize {
        (self.k.0 + 1) * self.bootstrap.levels
    }
}

/// A checked parameter set: its security, the exactness of its products and its failure rate are as the builder
/// demanded.
pub struct Params {
    pub(super) name: Option<&'static str>,
    pub(super) sizes: Sizes,
    pub(super) q: Coefficients,
    pub(super) ring: TorusRing,
    pub(super) narrow: Option<NarrowRing>,
    pub(super) bootstrap: Gadget,
    pub(super) key_switch: Gadget,
    pub(super) shape: KeyShape,
    pub(super) exactness: Exactness,
    pub(super) security: Security,
    pub(super) failure: f64,
    pub(super) id: ParamsId,
}

impl std::fmt::Debug for Params {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Params").field(&self.sizes).finish()
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Params {
    /// Returns the named set of [`super::sets`] with the sizes that it has there.
    ///
    /// # Errors
    /// [`TfheError::UnknownSet`]; errors of [`ParamsBuilder::build`].
    pub fn named(name: &str) -> Result<Arc<Self>, TfheError> {
        ParamsBuilder::named(name)?.build()
    }

    /// Returns small parameters for booleans that fail below 2^-40. They keep nothing secret, and are for tests and
    /// examples.
    ///
    /// # Errors
    /// None for these sizes; the type is that of [`ParamsBuilder::build`].
    pub fn toy_for_tests_only() -> Result<Arc<Self>, TfheError> {
        ParamsBuilder::toy_for_tests_only().build()
    }

    pub fn name(&self) -> Option<&'static str> {
        self.name
    }

    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Returns the identity: a hash of [`Params::canonical`] and of the expansion of masks, since keys with another
    /// expansion are other keys.
    pub fn id(&self) -> &ParamsId {
        &self.id
    }

    pub fn coefficients(&self) -> Coefficients {
        self.q
    }

    pub fn ring(&self) -> &TorusRing {
        &self.ring
    }

    /// Returns the ring with which blind rotations compute in 32-bit words, if the parameters allow such words.
    pub fn narrow(&self) -> Option<&NarrowRing> {
        self.narrow.as_ref()
    }

    /// Returns the gadget that decomposes polynomials in a blind rotation into digits.
    pub fn bootstrap_gadget(&self) -> &Gadget {
        &self.bootstrap
    }

    /// Returns the gadget that decomposes numbers in a key switch into digits.
    pub fn key_switch_gadget(&self) -> &Gadget {
        &self.key_switch
    }

    /// Returns the numbers of rows and columns of a gadget ciphertext.
    pub fn shape(&self) -> KeyShape {
        self.shape
    }

    /// Returns the proof that the products of a bootstrap are exact with this set's transforms.
    pub fn exactness(&self) -> &Exactness {
        &self.exactness
    }

    pub fn security(&self) -> &Security {
        &self.security
    }

    /// Returns the model of the largest noise under any secret key that is drawn.
    pub fn noise(&self) -> NoiseModel {
        NoiseModel::new(&self.sizes)
    }

    /// Returns log2 of the probability that the worst operation fails. For booleans it is a gate whose operands are
    /// results of MUX. For integers it is a table of a message plus 2^`message_bits` times another. The figure holds
    /// for every secret key that is drawn; the probability is over evaluation keys and ciphertexts.
    pub fn failure_log2(&self) -> f64 {
        self.failure
    }

    /// Returns the record of the parameters and of the secret key that a ciphertext or a key carries.
    pub(super) fn origin(&self, key_id: Option<KeyId>) -> Origin {
        Origin {
            scheme: TAG,
            params_id: self.id,
            key_id,
        }
    }

    /// Checks that a ciphertext or a key has these parameters. `what` names the object in the error.
    pub(super) fn check(&self, what: &'static str, origin: &Origin) -> Result<(), TfheError> {
        if origin.params_id == self.id {
            return Ok(());
        }
        Err(TfheError::OtherParams {
            what,
            expected: short_id(&self.id),
            got: short_id(&origin.params_id),
        })
    }

    /// Checks that words of a ciphertext or a key are residues modulo q. `what` names the object in the error.
    pub(super) fn check_words(&self, what: &'static str, words: &[u64]) -> Result<(), TfheError> {
        match words.iter().find(|&&x| !self.q.holds(x)) {
            None => Ok(()),
            Some(&got) => Err(TfheError::Residue {
                what,
                modulus: self.q.modulus(),
                got,
            }),
        }
    }

    /// Returns the contents of a parameter file, in little-endian: the byte of the scheme; the fields of [`Sizes`]
    /// other than noise, in order, as words of 32 bits; and the two standard deviations as doubles. A decomposition,
    /// the modulus and the messages take two words each. The primes that compute products are no part of it.
    pub fn canonical(&self) -> Vec<u8> {
        canonical(&self.sizes)
    }

    /// Returns lines of text for reports: sizes, security, the failure probability, and the reason why products are
    /// exact. Noise, messages and the modulus switch are left out.
    pub fn summary(&self) -> String {
        let s = &self.sizes;
        let name = self.name.unwrap_or("own parameters");
        format!(
            "TFHE, {name}: n = {}, k = {}, N = {}, bootstrap {} levels of 2^{}, key switch {} of 2^{}, m = {}, {:?}, {:?}\n{}\nfails with probability 2^{:.1}\n{}",
            s.n.0,
            s.k.0,
            s.degree(),
            s.bootstrap.levels,
            s.bootstrap.log_base,
            s.key_switch.levels,
            s.key_switch.log_base,
            s.unrolling.m(),
            s.modulus,
            s.order,
            self.security.summary(),
            self.failure,
            self.exactness.summary(),
        )
    }
}

/// Returns the bytes that the identity hashes. They name the expansion of masks, since keys with another expansion
/// belong to other parameters.
pub(super) fn identified(s: &Sizes) -> Vec<u8> {
    const MASKS: &[u8] = b"masks: words of the keystream";
    let mut bytes = canonical(s);
    bytes.extend(MASKS);
    bytes
}

fn canonical(s: &Sizes) -> Vec<u8> {
    let mut bytes = vec![TAG.byte];
    let (kind, bits) = match s.modulus {
        CiphertextModulus::Torus32 => (0u32, 32),
        CiphertextModulus::Torus64 => (0, 64),
        CiphertextModulus::Prime { bits } => (1, bits),
    };
    let (message, carry) = match s.messages {
        Messages::Booleans => (0, 0),
        Messages::Integers {
            message_bits,
            carry_bits,
        } => (message_bits, carry_bits),
    };
    let fields = [
        s.n.0 as u32,
        s.k.0 as u32,
        s.log_degree.into(),
        s.bootstrap.log_base,
        s.bootstrap.levels as u32,
        s.key_switch.log_base,
        s.key_switch.levels as u32,
        kind,
        bits,
        s.unrolling.m() as u32,
        (s.order == Order::KeySwitchFirst).into(),
        (s.switch == ModulusSwitch::CentredMean).into(),
        message,
        carry,
    ];
    bytes.extend(fields.iter().flat_map(|x| x.to_le_bytes()));
    for std in [s.lwe_std, s.glwe_std] {
        bytes.extend(std.to_bits().to_le_bytes());
    }
    bytes
}

/// The length in bytes of a parameter set's canonical form.
pub(super) const CANONICAL: usize = 1 + 14 * 4 + 2 * 8;
