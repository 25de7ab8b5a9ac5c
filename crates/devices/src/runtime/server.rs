//! The server: evaluation keys, encoded constants, and programs run on devices.

use std::sync::Arc;

use num_complex::Complex64;
use ringmill_compiler::{
    Compiled, CompiledInput, CompiledOutput, KeyRequest, PlainRequest, PlainSource,
};
use ringmill_isa::macros::Visibility;
use ringmill_isa::mid::InputRole;
use ringmill_limits::{Watch, room};
use ringmill_schemes::ckks::identity::Agreement;
use ringmill_schemes::ckks::{Ciphertext, Encoder, KSwitchKey, KeyId, Params, Plaintext};

use super::{
    Ciphertexts, EvaluationKeys, RuntimeError, Vectors, check_length, check_names, check_range,
};
use crate::bindings::{Bindings, Limb, SeedExpansion};
use crate::device::{Device, Request};
use crate::pool::OutputLimb;
use crate::progress::Progress;
use crate::report::{KeyReport, RunReport};

/// Relative difference of scales that counts as none: beyond the noise of computing the same scale in another order.
const SCALE_TOLERANCE: f64 = 1e-9;

/// Runs one compiled program with one client's evaluation keys.
pub struct Server {
    compiled: Arc<Compiled>,
    encoder: Encoder,
    /// One for each of [`Compiled::keys`].
    keys: Vec<KSwitchKey>,
    /// One for each of the program's seeds; they keep what they expand.
    seeds: Vec<Arc<SeedExpansion>>,
    /// For each of [`Compiled::plaintexts`] that is a constant, its encoding.
    constants: Vec<Option<Plaintext>>,
}

/// What a run gave.
#[derive(Debug)]
pub struct Answer {
    /// Output ciphertexts by name, when function was asked for.
    pub outputs: Option<Ciphertexts>,
    pub report: RunReport,
}

/// Timing of a compiled program on a device: no keys, no data.
pub fn simulate(
    compiled: &Compiled,
    device: &dyn Device,
    request: Request<'_>,
    progress: &dyn Progress,
) -> Result<RunReport, RuntimeError> {
    let request = Request {
        function: false,
        timing: true,
        ..request
    };
    let outcome = device.run(&compiled.program, &Bindings::default(), request, progress)?;
    Ok(RunReport::new(&device.name(), compiled, &outcome))
}

impl Server {
    /// Checks that the keys are of the program's parameters and of one secret key and that none is missing, and encodes
    /// the program's constants. Keys that the program does not need are dropped.
    pub fn new(compiled: Arc<Compiled>, keys: EvaluationKeys) -> Result<Self, RuntimeError> {
        Self::new_watched(compiled, keys, &Watch::default())
    }

    /// As [`Server::new`], under limits.
    pub fn new_watched(
        compiled: Arc<Compiled>,
        keys: EvaluationKeys,
        watch: &Watch,
    ) -> Result<Self, RuntimeError> {
        watch.admit("the encoded constants and keys", held_bytes(&compiled))?;
        let mut held = Vec::with_capacity(compiled.keys.len());
        for request in &compiled.keys {
            watch.check()?;
            held.push(usable(&compiled, request, &keys)?);
        }
        agree(key_ids(&compiled, &held))?;
        let mut seeds = Vec::with_capacity(compiled.program.seeds.len());
        for &key in &compiled.program.seeds {
            let named = compiled
                .keys
                .get(key as usize)
                .map_or_else(|| format!("key number {key}"), key_name);
            let seed = held.get(key as usize).and_then(KSwitchKey::seed);
            seeds.push(Arc::new(SeedExpansion::new(
                *seed.ok_or(RuntimeError::NotSeeded { key: named })?,
            )));
        }
        let encoder = Encoder::new(compiled.params.clone());
        let mut constants = Vec::with_capacity(compiled.plaintexts.len());
        for request in &compiled.plaintexts {
            watch.check()?;
            constants.push(match request.from {
                PlainSource::Data(index) => Some(constant(&encoder, &compiled, index, request)?),
                PlainSource::Input(_) => None,
            });
        }
        Ok(Self {
            compiled,
            encoder,
            keys: held,
            seeds,
            constants,
        })
    }

    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    /// Runs the program. `ciphers` names every encrypted input, `plains` every plain one; when only timing is asked for
    /// neither is looked at. Inputs of another secret key than the evaluation keys' are refused; the report names what has
    /// no identity, so that it cannot be checked. The report's precision is the predicted one; the client adds what it measures.
    pub fn run(
        &self,
        device: &dyn Device,
        ciphers: &Ciphertexts,
        plains: &Vectors,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<Answer, RuntimeError> {
        let compiled = &*self.compiled;
        if !request.function {
            return Ok(Answer {
                outputs: None,
                report: simulate(compiled, device, request, progress)?,
            });
        }
        let known = |v: Visibility| -> Vec<&str> {
            compiled
                .inputs
                .iter()
                .filter(|i| i.visibility == v)
                .map(|i| i.name.as_str())
                .collect()
        };
        check_names(
            ciphers.keys(),
            &known(Visibility::Encrypted),
            "encrypted input",
        )?;
        check_names(plains.keys(), &known(Visibility::Plain), "plain input")?;
        let bytes = encoded_bytes(compiled, |from| matches!(from, PlainSource::Input(_)));
        request.watch.admit("the encoded inputs", bytes)?;
        let encoded = self.encode(plains)?;
        let bindings = self.bind(ciphers, &encoded)?;
        let agreement = self.belong_together(ciphers)?;
        let mut outcome = device.run(&compiled.program, &bindings, request, progress)?;
        let limbs = outcome.outputs.take();
        let key_id = agreement.key_id();
        let outputs = limbs.map(|limbs| self.outputs(limbs, key_id)).transpose()?;
        let mut report = RunReport::new(&device.name(), compiled, &outcome);
        report.keys = Some(KeyReport {
            identity: agreement.known.map(|id| id.to_string()),
            unchecked: agreement.unchecked,
        });
        Ok(Answer { outputs, report })
    }

    /// Whether the evaluation keys and the inputs belong to one secret key.
    fn belong_together(&self, ciphers: &Ciphertexts) -> Result<Agreement<String>, RuntimeError> {
        let inputs = ciphers
            .iter()
            .map(|(name, c)| (format!("ciphertext `{name}`"), c.key_id()));
        agree(key_ids(&self.compiled, &self.keys).chain(inputs))
    }

    /// Plain inputs, encoded wherever the program takes them; `None` for constants.
    fn encode(&self, plains: &Vectors) -> Result<Vec<Option<Plaintext>>, RuntimeError> {
        let compiled = &*self.compiled;
        let mut encoded = Vec::with_capacity(compiled.plaintexts.len());
        for request in &compiled.plaintexts {
            let PlainSource::Input(index) = request.from else {
                encoded.push(None);
                continue;
            };
            let Some(input) = compiled.inputs.get(index as usize) else {
                encoded.push(None);
                continue;
            };
            let name = input.name.as_str();
            let missing = || RuntimeError::MissingInput {
                kind: "plain",
                name: name.to_owned(),
            };
            let values = plains.get(name).ok_or_else(missing)?;
            check_length(name, compiled.source.slots, values)?;
            check_range(input, values)?;
            let refused = |source| RuntimeError::Value {
                name: name.to_owned(),
                source,
            };
            encoded.push(Some(
                self.encoder
                    .encode(values, request.at.level, request.at.scale)
                    .map_err(refused)?,
            ));
        }
        Ok(encoded)
    }

    /// The program's input limbs. Scheme objects hold residues below their modulus by construction, so none is scanned.
    fn bind<'a>(
        &'a self,
        ciphers: &'a Ciphertexts,
        encoded: &'a [Option<Plaintext>],
    ) -> Result<Bindings<'a>, RuntimeError> {
        let compiled = &*self.compiled;
        let program = &compiled.program;
        let mut inputs: Vec<Option<&Ciphertext>> = Vec::with_capacity(compiled.inputs.len());
        for input in &compiled.inputs {
            inputs.push(match input.visibility {
                Visibility::Encrypted => Some(fitting(&compiled.params, input, ciphers)?),
                Visibility::Plain => None,
            });
        }
        let mut limbs = Vec::with_capacity(program.inputs.len());
        for input in &program.inputs {
            let modulus = program
                .limbs
                .get(input.limb.0 as usize)
                .map_or(usize::MAX, |t| usize::from(t.modulus.0));
            let found = match input.role {
                InputRole::Cipher { input, poly } => inputs
                    .get(input as usize)
                    .copied()
                    .flatten()
                    .and_then(|c| c.limb(poly.into(), modulus)),
                InputRole::Plain { input: index } => {
                    let of = |list: &'a [Option<Plaintext>]| {
                        list.get(index as usize).and_then(Option::as_ref)
                    };
                    of(&self.constants)
                        .or_else(|| of(encoded))
                        .and_then(|p| p.limb(modulus))
                }
                InputRole::Key { key, digit, part } => self
                    .keys
                    .get(key as usize)
                    .and_then(|k| k.limb(digit.into(), part.into(), modulus)),
            };
            let missing = || RuntimeError::MissingInput {
                kind: "limb",
                name: input.name.clone(),
            };
            let q = program.moduli.get(modulus).copied().ok_or_else(missing)?;
            limbs.push(Limb::scanned(found.ok_or_else(missing)?, q));
        }
        Ok(Bindings {
            limbs,
            seeds: self.seeds.clone(),
        })
    }

    /// Output limbs as ciphertexts.
    fn outputs(
        &self,
        limbs: Vec<OutputLimb>,
        key_id: Option<KeyId>,
    ) -> Result<Ciphertexts, RuntimeError> {
        let compiled = &*self.compiled;
        let program = &compiled.program;
        // (output, polynomial, modulus) sorts limbs into limb-major polynomials.
        let mut places: Vec<_> = program
            .outputs
            .iter()
            .zip(limbs)
            .map(|(output, limb)| {
                let modulus = program
                    .limbs
                    .get(output.limb.0 as usize)
                    .map_or(u16::MAX, |t| t.modulus.0);
                ((output.output, output.poly, modulus), limb)
            })
            .collect();
        places.sort_by_key(|(place, _)| *place);
        let residues: usize = places.iter().map(|(_, limb)| limb.len()).sum();
        room("the outputs", 2 * 8 * residues as u64)?;
        let mut polys: Vec<Vec<Vec<u64>>> = vec![Vec::new(); compiled.outputs.len()];
        for ((output, poly, _), limb) in places {
            let Some(cipher) = polys.get_mut(output as usize) else {
                continue;
            };
            cipher.resize(cipher.len().max(usize::from(poly) + 1), Vec::new());
            if let Some(data) = cipher.get_mut(usize::from(poly)) {
                data.extend_from_slice(&limb);
            }
        }
        let mut ciphertexts = Ciphertexts::new();
        for (CompiledOutput { name, at }, polys) in compiled.outputs.iter().zip(polys) {
            let cipher = Ciphertext::new(&compiled.params, at.level, at.scale, polys);
            let incomplete = |_| RuntimeError::IncompleteOutput { name: name.clone() };
            let cipher = cipher.map_err(incomplete)?.with_key_id(key_id);
            if cipher.is_transparent() {
                return Err(RuntimeError::Transparent { name: name.clone() });
            }
            ciphertexts.insert(name.clone(), cipher);
        }
        Ok(ciphertexts)
    }
}

/// Bytes of the plaintexts that come from such sources.
fn encoded_bytes(compiled: &Compiled, wanted: impl Fn(&PlainSource) -> bool) -> u64 {
    let requests = compiled.plaintexts.iter().filter(|r| wanted(&r.from));
    let limbs: u64 = requests.map(|r| u64::from(r.at.level) + 1).sum();
    8 * limbs * compiled.params.degree() as u64
}

/// Bytes that a server makes and keeps: encoded constants, and its own copy of the keys.
fn held_bytes(compiled: &Compiled) -> u64 {
    let constants = encoded_bytes(compiled, |from| matches!(from, PlainSource::Data(_)));
    constants + compiled.key_bytes()
}

/// Keys by name with their identities.
fn key_ids(
    compiled: &Compiled,
    keys: &[KSwitchKey],
) -> impl Iterator<Item = (String, Option<KeyId>)> {
    let ids = keys.iter().map(KSwitchKey::key_id);
    compiled.keys.iter().map(key_name).zip(ids)
}

fn agree(
    parts: impl IntoIterator<Item = (String, Option<KeyId>)>,
) -> Result<Agreement<String>, RuntimeError> {
    KeyId::agree(parts).map_err(|mismatch| RuntimeError::OtherKeys {
        what: mismatch.what,
        expected: mismatch.expected.short(),
        got: mismatch.got.short(),
    })
}

/// Whether two scales are the same but for rounding.
pub(super) fn same_scale(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() <= SCALE_TOLERANCE
}

fn key_name(request: &KeyRequest) -> String {
    match request {
        KeyRequest::Relin => "relinearisation key".to_owned(),
        KeyRequest::Galois(element) => format!("Galois key of element {element}"),
    }
}

/// The key asked for, in the form the program takes.
fn usable(
    compiled: &Compiled,
    request: &KeyRequest,
    keys: &EvaluationKeys,
) -> Result<KSwitchKey, RuntimeError> {
    let found = match request {
        KeyRequest::Relin => keys.relin.as_ref().map(|k| &k.0),
        KeyRequest::Galois(element) => keys.galois.get(*element).ok(),
    };
    let key = found.ok_or_else(|| RuntimeError::MissingKey {
        key: key_name(request),
    })?;
    let refused = |source| RuntimeError::Key {
        key: key_name(request),
        source,
    };
    compiled
        .params
        .check_id("key", key.params_id())
        .map_err(refused)?;
    if compiled.seeded {
        Ok(key.clone())
    } else {
        key.expanded(&compiled.params).map_err(refused)
    }
}

fn constant(
    encoder: &Encoder,
    compiled: &Compiled,
    index: u32,
    request: &PlainRequest,
) -> Result<Plaintext, RuntimeError> {
    let named = || format!("constant vector {index}");
    let data = compiled.managed.data.get(index as usize);
    let data = data.ok_or_else(|| RuntimeError::MissingInput {
        kind: "constant",
        name: named(),
    })?;
    let values: Vec<Complex64> = data
        .iter()
        .map(|&(re, im)| Complex64::new(re, im))
        .collect();
    let refused = |source| RuntimeError::Value {
        name: named(),
        source,
    };
    encoder
        .encode(&values, request.at.level, request.at.scale)
        .map_err(refused)
}

/// The ciphertext of an input, when its parameters, level, scale and size are those the program takes.
fn fitting<'a>(
    params: &Params,
    input: &CompiledInput,
    ciphers: &'a Ciphertexts,
) -> Result<&'a Ciphertext, RuntimeError> {
    let missing = || RuntimeError::MissingInput {
        kind: "encrypted",
        name: input.name.clone(),
    };
    let cipher = ciphers.get(&input.name).ok_or_else(missing)?;
    let refused = |source| RuntimeError::Value {
        name: input.name.clone(),
        source,
    };
    params
        .check_id("ciphertext", cipher.params_id())
        .map_err(refused)?;
    if cipher.level() != input.at.level || !same_scale(cipher.scale(), input.at.scale) {
        return Err(RuntimeError::WrongPlace {
            name: input.name.clone(),
            level: input.at.level,
            scale: input.at.scale.log2(),
            got_level: cipher.level(),
            got_scale: cipher.scale().log2(),
        });
    }
    if cipher.size() != 2 {
        return Err(RuntimeError::WrongSize {
            name: input.name.clone(),
            expected: 2,
            got: cipher.size(),
        });
    }
    Ok(cipher)
}
