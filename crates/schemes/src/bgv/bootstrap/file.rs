// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of bootstrapping keys. The linear maps of the bootstrap determine which keys a file has,
//! their sizes and their order. The order is: the encapsulation key; the relinearisation key; the Galois keys of the
//! map to coefficients, then those of all later steps, each in ascending order of elements; the encrypted secret.
#![deny(clippy::arithmetic_side_effects)]

use ringmill_isa::Level;

use super::error::BootstrapError;
use super::keys::BootstrapKeys;
use super::maps::Maps;
use super::params::Bootstrapping;
use crate::bgv::{Ciphertext, Factor, Params};
use crate::file::{FileError, Kind, Writer, key_bytes, limb_bytes, open, read_key, write_key};
use crate::rlwe::sparse::encapsulation_shape;
use crate::rlwe::switching::Shape;
use crate::rlwe::{GaloisKeys, KSwitchKey, RelinKey};
use ringmill_device::KeyId;

impl BootstrapKeys {
    /// Returns the content of a file of these bootstrapping keys.
    ///
    /// # Errors
    /// Fails if the keys belong to different secret keys, or to other parameters than `setup`.
    pub fn write(&self, setup: &Bootstrapping) -> Result<Vec<u8>, BootstrapError> {
        let params = setup.params();
        let galois = self.low.iter().chain(self.high.iter());
        let keys = [&self.encapsulation, &self.relin.0].into_iter();
        let keys: Vec<&KSwitchKey> = keys.chain(galois.map(|(_, key)| key)).collect();
        for key in &keys {
            params.check_id("bootstrapping key", key.params_id())?;
        }
        let parts = keys.iter().map(|key| ("bootstrapping key", key.key_id()));
        let secret = ("encrypted secret", self.secret.key_id());
        let key_id = KeyId::common(parts.chain([secret])).map_err(crate::rlwe::RlweError::from)?;
        let moduli = params.reducers().get(..params.max_level().primes());
        let moduli = moduli.unwrap_or_default();
        let bytes = keys.iter().map(|key| key_bytes(params, key));
        let secret = limb_bytes(moduli, params.degree()).saturating_mul(2);
        let capacity = bytes.fold(secret, usize::saturating_add);
        let mut w = Writer::new(Kind::BootstrapKey, &params.origin(key_id), capacity);
        for key in keys {
            write_key(&mut w, params, key);
        }
        let secret = self.secret.polys().iter();
        secret.for_each(|poly| w.limbs(moduli, poly.residues()));
        Ok(w.finish())
    }

    /// Reads keys from the content of a file that [`BootstrapKeys::write`] made for the same parameters and maps.
    ///
    /// # Errors
    /// Fails for any other content.
    pub fn read(bytes: &[u8], setup: &Bootstrapping, maps: &Maps) -> Result<Self, FileError> {
        let params: &Params = setup.params();
        let refused = |e: BootstrapError| FileError::Refused(e.to_string());
        params.check_id("linear maps", maps.params_id())?;
        let scheme = params.scheme();
        let (header, mut r) = open(bytes, Kind::BootstrapKey, scheme, Some(params.id()))?;
        let [low, high] = maps.elements();
        let (start, top) = (setup.start().map_err(refused)?, params.max_level());
        let id = header.key_id;
        let encapsulation = encapsulation_shape(setup.params(), setup.inner());
        let encapsulation = encapsulation.map_err(|e| refused(e.into()))?;
        let encapsulation = read_key(&mut r, params, &encapsulation, id)?;
        let relin = RelinKey(read_key(&mut r, params, &Shape::at(params, top), id)?);
        let mut galois = |elements: Vec<_>, level: Level| {
            let shape = Shape::at(params, level);
            let mut keys = GaloisKeys::new();
            for element in elements {
                keys.insert(element, read_key(&mut r, params, &shape, id)?);
            }
            Ok::<_, FileError>(keys)
        };
        let (low, high) = (galois(low, start)?, galois(high, top)?);
        let moduli = params.reducers().get(..top.primes()).unwrap_or_default();
        let mut poly = || r.limbs(moduli, params.degree());
        let polys = vec![poly()?, poly()?];
        r.end()?;
        let factor = Factor::one_modulo(params.last_plain());
        let secret = Ciphertext::new(params, top, factor, polys).map_err(FileError::from)?;
        Ok(Self {
            encapsulation,
            secret: secret.with_key_id(id),
            relin,
            low,
            high,
        })
    }
}
