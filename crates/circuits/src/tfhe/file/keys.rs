// SPDX-License-Identifier: Apache-2.0
//! Reads and writes public and evaluation keys, each as the seed of its masks and its bodies.

use ringmill_schemes::file::{FileError, Header, Kind, Reader, Writer};
use ringmill_schemes::size;

use super::{SEED, of, read_words, width, write_words};
use crate::tfhe::TfheError;
use crate::tfhe::keys::{BootstrapKey, KeySwitchKey, PublicKey, common};
use crate::tfhe::params::Params;

/// A key whose file holds the seed of its masks and its bodies.
trait SeededKey: Sized {
    fn stored(&self) -> (&[u8; 32], &[u64]);

    /// Returns the number of words of the bodies.
    fn words(params: &Params) -> usize;

    fn of_words(
        params: &Params,
        header: &Header,
        seed: [u8; 32],
        bodies: Vec<u64>,
    ) -> Result<Self, TfheError>;
}

fn write_payload(w: &mut Writer, params: &Params, key: &impl SeededKey) {
    let (seed, bodies) = key.stored();
    w.bytes(seed);
    write_words(w, params, bodies);
}

fn payload_bytes(key: &impl SeededKey) -> usize {
    size::sum([SEED, size::of_words(key.stored().1.len())])
}

/// Reads a key that must be all that is left of the bytes.
fn read_payload<K: SeededKey>(
    header: &Header,
    r: &mut Reader<'_>,
    params: &Params,
) -> Result<K, FileError> {
    let seed = r.array()?;
    let bodies = read_words(r, params, K::words(params))?;
    Ok(K::of_words(params, header, seed, bodies)?)
}

/// Defines the functions that write and read files of a key.
macro_rules! seeded {
    ($write:ident, $read:ident, $key:ident) => {
        impl SeededKey for $key {
            fn stored(&self) -> (&[u8; 32], &[u64]) {
                (self.seed(), self.bodies())
            }

            fn words(params: &Params) -> usize {
                Self::words_of(params)
            }

            fn of_words(
                params: &Params,
                header: &Header,
                seed: [u8; 32],
                bodies: Vec<u64>,
            ) -> Result<Self, TfheError> {
                Ok(Self::new(params, seed, bodies)?.with_key_id(header.key_id))
            }
        }

        /// Writes a file of the key. The payload is the seed of the key's masks (32 bytes), then the bodies. The caller
        /// passes the parameters of the key, which fix the bytes of a word.
        pub fn $write(params: &Params, key: &$key) -> Vec<u8> {
            let mut w = Writer::new(Kind::$key, key.origin(), payload_bytes(key));
            write_payload(&mut w, params, key);
            w.finish()
        }

        /// Reads the key from a file.
        ///
        /// # Errors
        /// [`FileError`] for a file of another kind or of other parameters, a damaged file, or a word that is no
        /// residue modulo q.
        pub fn $read(bytes: &[u8], params: &Params) -> Result<$key, FileError> {
            let (header, mut r) = of(bytes, Kind::$key, params)?;
            read_payload(&header, &mut r, params)
        }
    };
}

seeded!(write_bootstrap_key, read_bootstrap_key, BootstrapKey);
seeded!(write_key_switch_key, read_key_switch_key, KeySwitchKey);
seeded!(write_public_key, read_public_key, PublicKey);

/// Writes a file of both keys with which a server runs circuits. The payload is that of the bootstrapping key's file, then
/// that of the key-switching key's file.
///
/// # Errors
/// [`TfheError::OtherParams`] for a key of other parameters; [`TfheError::OtherKeys`] if the keys belong to different
/// secret keys.
pub fn write_circuit_keys(
    params: &Params,
    bootstrap: &BootstrapKey,
    switch: &KeySwitchKey,
) -> Result<Vec<u8>, TfheError> {
    params.check("bootstrapping key", bootstrap.origin())?;
    params.check("key-switching key", switch.origin())?;
    let origin = params.origin(common(bootstrap, switch)?);
    let capacity = size::sum([payload_bytes(bootstrap), payload_bytes(switch)]);
    let mut w = Writer::new(Kind::CircuitKeys, &origin, capacity);
    write_payload(&mut w, params, bootstrap);
    write_payload(&mut w, params, switch);
    Ok(w.finish())
}

/// Reads a file of [`write_circuit_keys`].
///
/// # Errors
/// [`FileError`] for a file of another kind or of other parameters, a damaged file, or a word that is no residue modulo
/// q.
pub fn read_circuit_keys(
    bytes: &[u8],
    params: &Params,
) -> Result<(BootstrapKey, KeySwitchKey), FileError> {
    let (header, mut r) = of(bytes, Kind::CircuitKeys, params)?;
    // The sizes of both keys are compared with the payload before memory is allocated for either.
    let bytes = |words: usize| size::sum([SEED, width(params).saturating_mul(words)]);
    let first = bytes(BootstrapKey::words_of(params));
    let second = bytes(KeySwitchKey::words_of(params));
    r.expect_remaining(size::sum([first, second]) as u64)?;
    let mut own = r.part(Kind::BootstrapKey, first)?;
    let bootstrap = read_payload(&header, &mut own, params)?;
    Ok((bootstrap, read_payload(&header, &mut r, params)?))
}
