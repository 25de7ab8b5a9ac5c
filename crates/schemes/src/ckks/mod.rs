//! SEAL's RNS variant of CKKS. A level-l ciphertext has l + 1 primes; all limbs are in evaluation form; slot i of a
//! polynomial m is m(zeta^(3^i)), zeta = e^(pi i / N).

mod arith;
pub mod cipher;
mod embedding;
pub mod encoder;
pub mod encrypt;
pub mod error;
pub mod evaluator;
pub mod file;
pub mod flooding;
pub mod identity;
pub mod key;
pub mod keygen;
mod lift;
pub mod noise;
pub mod ops;
pub mod params;
mod params_builder;
mod public;
pub mod security;

pub use cipher::{Ciphertext, Plaintext, SeededCiphertext};
pub use encoder::Encoder;
pub use encrypt::{Decryptor, Encryptor};
pub use error::CkksError;
pub use evaluator::Evaluator;
pub use flooding::Flooding;
pub use identity::KeyId;
pub use key::{GaloisKeys, KSwitchKey, KeyForm, KeyHalf, PublicKey, RelinKey, SecretKey};
pub use keygen::KeyGenerator;
pub use noise::{FAILURE_BITS, Noise, NoiseModel, Slots};
pub use ops::{OpKey, ProcCache};
pub use params::{ErrorDistribution, Params, SecretDistribution};
pub use params_builder::ParamsBuilder;
pub use security::{SecurityLevel, SecurityTable};
