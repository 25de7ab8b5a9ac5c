//! The client: makes keys, encrypts, decrypts, measures.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::reference::evaluate;
use ringmill_compiler::{Compiled, KeyRequest};
use ringmill_isa::macros::Visibility;
use ringmill_limits::{Watch, room};
use ringmill_math::Prng;
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::noise::measured_bits;
use ringmill_schemes::ckks::{
    Ciphertext, Decryptor, Encoder, Encryptor, Flooding, KeyGenerator, KeyId, Plaintext, PublicKey,
    RelinKey, SecretKey,
};

use super::server::same_scale;
use super::{
    Ciphertexts, EvaluationKeys, RuntimeError, Vectors, check_length, check_names, check_range,
};
use crate::report::PrecisionReport;

/// Holds the secret key of one compiled program, and no randomness: every encryption and every key draws its own, so
/// that copies of a client (a forked process, a restored machine) repeat nothing.
pub struct Client {
    compiled: Arc<Compiled>,
    keys: KeyGenerator,
    public: Arc<PublicKey>,
    encoder: Arc<Encoder>,
    encryptor: Arc<Encryptor>,
    decryptor: Arc<Decryptor>,
    watch: Watch,
}

impl Client {
    /// This client, sharing all it holds; what is done with it asks `watch` as it goes.
    pub fn watched(&self, watch: &Watch) -> Self {
        Self {
            compiled: Arc::clone(&self.compiled),
            keys: self.keys.watched(watch),
            public: Arc::clone(&self.public),
            encoder: Arc::clone(&self.encoder),
            encryptor: Arc::clone(&self.encryptor),
            decryptor: Arc::clone(&self.decryptor),
            watch: watch.clone(),
        }
    }

    /// A client with a fresh secret key.
    pub fn new(compiled: Arc<Compiled>) -> Result<Self, RuntimeError> {
        let keys = KeyGenerator::new(compiled.params.clone())?;
        Self::with_generator(compiled, keys)
    }

    /// A client with a secret key that exists, of the program's parameters.
    pub fn with_secret_key(
        compiled: Arc<Compiled>,
        secret: SecretKey,
    ) -> Result<Self, RuntimeError> {
        let keys = KeyGenerator::from_secret_key(compiled.params.clone(), secret)?;
        Self::with_generator(compiled, keys)
    }

    /// The same keys and encryptions on every run: for tests that must repeat, and for nothing else.
    pub fn from_seed_for_reproducible_tests_only(
        compiled: Arc<Compiled>,
        seed: [u8; 32],
    ) -> Result<Self, RuntimeError> {
        let keys =
            KeyGenerator::from_seed_for_reproducible_tests_only(compiled.params.clone(), seed)?;
        let client = Self::with_generator(compiled, keys)?;
        let encryptor = Encryptor::with_public_key(client.compiled.params.clone(), &client.public)?;
        Ok(Self {
            encryptor: Arc::new(encryptor.seed_for_reproducible_tests_only(seed)),
            ..client
        })
    }

    fn with_generator(compiled: Arc<Compiled>, keys: KeyGenerator) -> Result<Self, RuntimeError> {
        let params = &compiled.params;
        let public = keys.public_key()?;
        let encoder = Encoder::new(params.clone());
        let encryptor = Encryptor::with_public_key(params.clone(), &public)?;
        let decryptor = Decryptor::new(params.clone(), keys.secret_key().clone())?;
        Ok(Self {
            compiled,
            keys,
            public: Arc::new(public),
            encoder: Arc::new(encoder),
            encryptor: Arc::new(encryptor),
            decryptor: Arc::new(decryptor),
            watch: Watch::default(),
        })
    }

    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    pub fn secret_key(&self) -> &SecretKey {
        self.keys.secret_key()
    }

    /// The identity of the secret key, which ciphertexts and keys made here carry; none where the secret key came from a
    /// file that has none.
    pub fn key_id(&self) -> Option<KeyId> {
        self.keys.secret_key().key_id()
    }

    /// For others who encrypt inputs to this client's key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Exactly the evaluation keys that the program needs, of [`Compiled::key_bytes`] in all.
    ///
    /// # Errors
    /// [`RuntimeError::Halt`] when they take more memory than there may be, or when it is stopped.
    pub fn evaluation_keys(&self) -> Result<EvaluationKeys, RuntimeError> {
        self.watch
            .admit("the evaluation keys", self.compiled.key_bytes())?;
        let form = if self.compiled.seeded {
            KeyForm::Seeded
        } else {
            KeyForm::Stored
        };
        let mut relin: Option<RelinKey> = None;
        let mut elements = Vec::new();
        for request in &self.compiled.keys {
            match request {
                KeyRequest::Relin => relin = Some(self.keys.relin_key(form)?),
                KeyRequest::Galois(element) => elements.push(*element),
            }
        }
        Ok(EvaluationKeys {
            relin,
            galois: self.keys.galois_keys(&elements, form)?,
        })
    }

    /// Encrypts the program's encrypted inputs, each a vector of the program's slots, at the level and scale it takes
    /// them. Every encrypted input must be given; names that are no encrypted input, and values outside the range that the
    /// program was compiled for, are refused.
    pub fn encrypt(&self, inputs: &Vectors) -> Result<Ciphertexts, RuntimeError> {
        let compiled = &self.compiled;
        let encrypted = || {
            compiled
                .inputs
                .iter()
                .filter(|i| i.visibility == Visibility::Encrypted)
        };
        let known: Vec<&str> = encrypted().map(|i| i.name.as_str()).collect();
        check_names(inputs.keys(), &known, "encrypted input")?;
        let mut ciphertexts = Ciphertexts::new();
        // A plaintext and the two polynomials of its ciphertext, and as much while each is made.
        let params = &compiled.params;
        let limbs: u64 = encrypted().map(|i| u64::from(i.at.level) + 1).sum();
        let working = 8 * params.moduli().len() as u64;
        let bytes = 8 * params.degree() as u64 * (2 * limbs + working);
        self.watch.admit("the encrypted inputs", bytes)?;
        for input in encrypted() {
            self.watch.check()?;
            let missing = || RuntimeError::MissingInput {
                kind: "encrypted",
                name: input.name.clone(),
            };
            let values = inputs.get(&input.name).ok_or_else(missing)?;
            check_length(&input.name, compiled.source.slots, values)?;
            check_range(input, values)?;
            let refused = |source| RuntimeError::Value {
                name: input.name.clone(),
                source,
            };
            let plain = self
                .encoder
                .encode(values, input.at.level, input.at.scale)
                .map_err(refused)?;
            ciphertexts.insert(input.name.clone(), self.encryptor.encrypt(&plain)?);
        }
        Ok(ciphertexts)
    }

    /// Decrypts outputs to vectors of the program's slots: for the key's holder alone, since the error in a decryption
    /// tells of the secret key. What others see comes from [`Client::decrypt_to_share`].
    pub fn decrypt(&self, outputs: &Ciphertexts) -> Result<Vectors, RuntimeError> {
        let mut vectors = Vectors::new();
        for (name, cipher) in outputs {
            let plain = self.open(name, cipher)?;
            vectors.insert(name.clone(), self.decode(name, &plain)?);
        }
        Ok(vectors)
    }

    fn open(&self, name: &str, cipher: &Ciphertext) -> Result<Plaintext, RuntimeError> {
        self.watch.check()?;
        let residues: usize = cipher.polys().iter().map(Vec::len).sum();
        room("a decryption", 8 * 2 * residues as u64)?;
        self.decryptor
            .decrypt(cipher)
            .map_err(|source| RuntimeError::Value {
                name: name.to_owned(),
                source,
            })
    }

    fn decode(&self, name: &str, plain: &Plaintext) -> Result<Vec<Complex64>, RuntimeError> {
        self.encoder
            .decode(plain, self.compiled.source.slots as usize)
            .map_err(|source| RuntimeError::Value {
                name: name.to_owned(),
                source,
            })
    }

    /// Decrypts outputs of this program for others to see: noise as wide as the predicted error times what `flooding`
    /// asks for is added first, fresh for each (docs/security.md). Errors are hidden from those who know the inputs or
    /// chose them, as long as the outputs were computed as the program says.
    ///
    /// # Errors
    /// Besides those of [`Client::decrypt`]: a ciphertext that is no output of the program, an output without a bound,
    /// or one of which the noise would leave nothing.
    pub fn decrypt_to_share(
        &self,
        outputs: &Ciphertexts,
        flooding: &Flooding,
    ) -> Result<Vectors, RuntimeError> {
        let mut shared = Vectors::new();
        for (name, cipher) in outputs {
            let bound = self.shareable(name, cipher, flooding)?;
            let refused = |source| RuntimeError::Value {
                name: name.clone(),
                source,
            };
            let plain = self.open(name, cipher)?;
            // The noise, its residues by prime, and the plaintext with it.
            let words = 2 * self.compiled.params.degree() + 2 * plain.limbs().len();
            room("the noise of a shared decryption", 8 * words as u64)?;
            let mut prng = Prng::from_os().map_err(|e| refused(e.into()))?;
            let noisy = flooding
                .flood(&self.compiled.params, &plain, bound, &mut prng)
                .map_err(refused)?;
            shared.insert(name.clone(), self.decode(name, &noisy)?);
        }
        Ok(shared)
    }

    /// For each output of the program the bits after the binary point that [`Client::decrypt_to_share`] leaves.
    pub fn shared_bits(&self, flooding: &Flooding) -> BTreeMap<String, f64> {
        let compiled = &self.compiled;
        let outputs = compiled.outputs.iter().zip(&compiled.predicted);
        outputs
            .map(|(output, predicted)| {
                let bound = (-predicted.bits()).exp2();
                let after = flooding.bound_after(&compiled.params, bound, output.at.scale);
                (output.name.clone(), -after.log2())
            })
            .collect()
    }

    /// The bound on the error of an output that may be shared.
    fn shareable(
        &self,
        name: &str,
        cipher: &Ciphertext,
        flooding: &Flooding,
    ) -> Result<f64, RuntimeError> {
        let compiled = &self.compiled;
        let known: Vec<&str> = compiled.outputs.iter().map(|o| o.name.as_str()).collect();
        check_names(std::iter::once(&name.to_owned()), &known, "output")?;
        let refused = |reason: String| RuntimeError::NotShareable {
            name: name.to_owned(),
            reason,
        };
        let place = known.iter().position(|&known| known == name);
        let found = place.and_then(|i| compiled.outputs.get(i).zip(compiled.predicted.get(i)));
        let (output, predicted) =
            found.ok_or_else(|| refused("nothing is predicted of it".into()))?;
        let (at, params) = (output.at, &compiled.params);
        if cipher.level() != at.level || !same_scale(cipher.scale(), at.scale) || cipher.size() != 2
        {
            return Err(refused(
                "the ciphertext is not at the level and scale of the program's output, so the predicted error is not \
                 its own; share what this program's run gave"
                    .into(),
            ));
        }
        let bound = (-predicted.bits()).exp2();
        if !(bound.is_finite() && bound > 0.0) {
            return Err(refused(
                "its error has no bound; compile with ranges of the inputs under which it has one"
                    .into(),
            ));
        }
        let after = flooding.bound_after(params, bound, at.scale);
        let magnitude = predicted.magnitude;
        if after >= magnitude {
            return Err(refused(format!(
                "the noise would be up to 2^{:.1}, and values are at most 2^{:.1}; compile with {:.0} bits more of \
                 precision, or ask for fewer statistical bits",
                after.log2(),
                magnitude.log2(),
                (after / magnitude).log2().ceil() + 1.0,
            )));
        }
        let capacity = predicted.capacity;
        if magnitude + after >= capacity {
            return Err(refused(format!(
                "values of 2^{:.1} with noise of 2^{:.1} do not fit the level, which holds 2^{:.1}; compile with more \
                 integer bits",
                magnitude.log2(),
                after.log2(),
                capacity.log2(),
            )));
        }
        Ok(bound)
    }

    /// Precision of outputs against the program evaluated in the clear on `inputs`, which names every input, plain ones
    /// too. Outputs that are not given are reported with their prediction alone.
    pub fn measure(
        &self,
        inputs: &Vectors,
        outputs: &Vectors,
    ) -> Result<Vec<PrecisionReport>, RuntimeError> {
        let compiled = &self.compiled;
        let mut clear = Vec::with_capacity(compiled.source.inputs.len());
        for input in &compiled.source.inputs {
            let missing = || RuntimeError::MissingInput {
                kind: "clear",
                name: input.name.clone(),
            };
            clear.push(inputs.get(&input.name).ok_or_else(missing)?.clone());
        }
        let expected = evaluate(&compiled.source, &clear)?;
        let mut report = PrecisionReport::predicted(compiled);
        for (row, expected) in report.iter_mut().zip(&expected) {
            row.measured_bits = outputs
                .get(&row.output)
                .and_then(|got| measured_bits(got, expected));
        }
        Ok(report)
    }
}
