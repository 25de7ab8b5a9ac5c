//! The client: makes keys, encrypts, decrypts, measures.

use std::sync::Arc;

use ringmill_compiler::reference::evaluate;
use ringmill_compiler::{Compiled, KeyRequest};
use ringmill_isa::macros::Visibility;
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::noise::measured_bits;
use ringmill_schemes::ckks::{
    Decryptor, Encoder, Encryptor, KeyGenerator, PublicKey, RelinKey, SecretKey,
};

use super::{Ciphertexts, EvaluationKeys, RuntimeError, Vectors, check_length, check_names};
use crate::report::PrecisionReport;

/// Holds the secret key of one compiled program.
pub struct Client {
    compiled: Arc<Compiled>,
    keys: KeyGenerator,
    public: PublicKey,
    encoder: Encoder,
    encryptor: Encryptor,
    decryptor: Decryptor,
}

impl Client {
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
        let mut client = Self::with_generator(compiled, keys)?;
        client.encryptor = client.encryptor.seed_for_reproducible_tests_only(seed);
        Ok(client)
    }

    fn with_generator(
        compiled: Arc<Compiled>,
        mut keys: KeyGenerator,
    ) -> Result<Self, RuntimeError> {
        let params = &compiled.params;
        let public = keys.public_key()?;
        let encoder = Encoder::new(params.clone());
        let encryptor = Encryptor::with_public_key(params.clone(), &public)?;
        let decryptor = Decryptor::new(params.clone(), keys.secret_key().clone())?;
        Ok(Self {
            compiled,
            keys,
            public,
            encoder,
            encryptor,
            decryptor,
        })
    }

    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    pub fn secret_key(&self) -> &SecretKey {
        self.keys.secret_key()
    }

    /// For others who encrypt inputs to this client's key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Exactly the evaluation keys that the program needs.
    pub fn evaluation_keys(&mut self) -> Result<EvaluationKeys, RuntimeError> {
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
    /// them. Every encrypted input must be given; names that are no encrypted input are refused.
    pub fn encrypt(&mut self, inputs: &Vectors) -> Result<Ciphertexts, RuntimeError> {
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
        for input in encrypted() {
            let missing = || RuntimeError::MissingInput {
                kind: "encrypted",
                name: input.name.clone(),
            };
            let values = inputs.get(&input.name).ok_or_else(missing)?;
            check_length(&input.name, compiled.source.slots, values)?;
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

    /// Decrypts outputs to vectors of the program's slots.
    pub fn decrypt(&self, outputs: &Ciphertexts) -> Result<Vectors, RuntimeError> {
        let mut vectors = Vectors::new();
        for (name, cipher) in outputs {
            let refused = |source| RuntimeError::Value {
                name: name.clone(),
                source,
            };
            let plain = self.decryptor.decrypt(cipher).map_err(refused)?;
            let slots = self
                .encoder
                .decode(&plain, self.compiled.source.slots as usize)
                .map_err(refused)?;
            vectors.insert(name.clone(), slots);
        }
        Ok(vectors)
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
