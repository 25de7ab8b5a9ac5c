//! Files of bootstrapping keys. What the maps need says which keys there are, of which sizes and in which order: the encapsulation key,
//! the relinearisation key, the Galois keys of the map to coefficients and those of what comes after, each by its element in ascending
//! order, and the encrypted secret.

use ringmill_isa::Level;

use super::error::BootstrapError;
use super::keys::{BootstrapKeys, encapsulation_shape};
use super::maps::Maps;
use super::params::Bootstrapping;
use crate::bgv::{Ciphertext, Factor, KeyForm, Params};
use crate::file::{FileError, Kind, Reader, Writer, open};
use crate::identity::KeyId;
use crate::rlwe::switching::Shape;
use crate::rlwe::{GaloisKeys, KSwitchKey, KeyHalf, RelinKey};

const STORED: u8 = 0;
const SEEDED: u8 = 1;

impl BootstrapKeys {
    /// The keys as a file.
    ///
    /// # Errors
    /// Keys of two secret keys.
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
        let capacity = self.bytes() as usize + 64 * keys.len();
        let mut w = Writer::new(Kind::BootstrapKey, &params.origin(key_id), capacity);
        for key in keys {
            w.bytes(&[if key.seed().is_some() { SEEDED } else { STORED }]);
            key.b().iter().for_each(|b| w.residues(b));
            match key.a() {
                KeyHalf::Seed(seed) => w.bytes(seed),
                KeyHalf::Stored(a) => a.iter().for_each(|a| w.residues(a)),
            }
        }
        self.secret.polys().iter().for_each(|poly| w.residues(poly));
        Ok(w.finish())
    }

    /// Reads what [`BootstrapKeys::write`] wrote for the same parameters and maps.
    ///
    /// # Errors
    /// Any other bytes.
    pub fn read(bytes: &[u8], setup: &Bootstrapping, maps: &Maps) -> Result<Self, FileError> {
        let params: &Params = setup.params();
        let refused = |e: BootstrapError| FileError::Refused(e.to_string());
        params.check_id("linear maps", maps.params_id())?;
        let scheme = params.scheme();
        let (header, mut r) = open(bytes, Kind::BootstrapKey, scheme, Some(params.id()))?;
        let [low, high] = maps.elements();
        let (start, top) = (setup.start().map_err(refused)?, params.max_level());
        let id = header.key_id;
        let encapsulation = encapsulation_shape(setup).map_err(refused)?;
        let encapsulation = switching(&mut r, params, &encapsulation, id)?;
        let relin = RelinKey(switching(&mut r, params, &Shape::at(params, top), id)?);
        let mut galois = |elements: Vec<_>, level: Level| {
            let shape = Shape::at(params, level);
            let mut keys = GaloisKeys::new();
            for element in elements {
                keys.insert(element, switching(&mut r, params, &shape, id)?);
            }
            Ok::<_, FileError>(keys)
        };
        let (low, high) = (galois(low, start)?, galois(high, top)?);
        let count = top.primes() * params.degree();
        r.expect_remaining(16 * count as u64)?;
        let polys = vec![r.residues(count)?, r.residues(count)?];
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

/// Checks that the bytes are there before anything is allocated.
fn switching(
    r: &mut Reader<'_>,
    params: &Params,
    shape: &Shape,
    key_id: Option<KeyId>,
) -> Result<KSwitchKey, FileError> {
    let (got, form) = (r.remaining(), r.u8()?);
    let known = match form {
        STORED => KeyForm::Stored,
        SEEDED => KeyForm::Seeded,
        other => {
            return Err(FileError::Field {
                what: "form of the bootstrapping key",
                expected: "0 or 1".into(),
                got: other.to_string(),
            });
        }
    };
    let expected = 1 + shape.bytes(params, known);
    if got < expected {
        return Err(FileError::Length {
            what: "bootstrapping key",
            expected,
            got,
        });
    }
    let half = |r: &mut Reader<'_>| {
        let digits = shape.digits.iter();
        let digits = digits.map(|_| r.residues(shape.digit_len(params)));
        digits.collect::<Result<Vec<_>, _>>()
    };
    let b = half(r)?;
    let a = match known {
        KeyForm::Seeded => KeyHalf::Seed(r.array()?),
        KeyForm::Stored => KeyHalf::Stored(half(r)?),
    };
    Ok(shape.key(params, b, a, key_id)?)
}
