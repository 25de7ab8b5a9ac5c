//! The server: evaluation keys, encoded constants, and programs run on devices.

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::Compiled;
use ringmill_isa::mid::{HeadInput, InputRole, Unrolled};
use ringmill_limits::{Watch, room};
use ringmill_schemes::KeyId;
use ringmill_schemes::call::key_poly;
use ringmill_schemes::ckks::Ciphertext;
use ringmill_schemes::identity::Agreement;
use ringmill_schemes::roles::{Operator, Place};
use ringmill_schemes::{Encrypted, Limbed, Scheme};

use super::executable::{
    CiphertextOf, ErrorOf, Executable, KeyNameOf, KeyOf, KeysOf, MessageOf, PlainFrom, PlaintextOf,
    Port, limb_bytes,
};
use super::{RuntimeError, check_names};
use crate::DeviceError;
use crate::bindings::{Bindings, Limb, SeedExpansion};
use crate::device::{Device, Request};
use crate::pool::OutputLimb;
use crate::progress::Progress;
use crate::report::{KeyReport, RunReport};

/// Runs one compiled program with one client's evaluation keys.
pub struct Server<P: Executable = Compiled> {
    compiled: Arc<P>,
    operator: P::Operator,
    /// One for each of [`Executable::keys`].
    keys: Vec<KeyOf<P>>,
    /// One for each of the program's seeds; they keep what they expand.
    seeds: Vec<Arc<SeedExpansion>>,
    /// One for each of [`Executable::plaintexts`].
    plaintexts: Vec<Prepared<P>>,
}

/// A plaintext that the program takes.
enum Prepared<P: Executable> {
    Constant(PlaintextOf<P>),
    /// The input that is encoded at each run, and where.
    Input(u32, Place<P::Scheme>),
}

/// What a run gave.
#[derive(Debug)]
pub struct Answer<C = Ciphertext, R = RunReport> {
    /// Output ciphertexts by name, when function was asked for.
    pub outputs: Option<BTreeMap<String, C>>,
    pub report: R,
}

/// The answer of a program's run.
pub type AnswerOf<P> = Answer<CiphertextOf<P>, <P as Executable>::Report>;

fn unrolled<P: Executable>(program: &P) -> Result<&Unrolled, RuntimeError<ErrorOf<P>>> {
    Ok(program.unrolled().map_err(DeviceError::from)?)
}

/// Timing of a compiled program on a device: no keys, no data.
pub fn simulate<P: Executable>(
    compiled: &P,
    device: &dyn Device,
    request: Request<'_>,
    progress: &dyn Progress,
) -> Result<P::Report, RuntimeError<ErrorOf<P>>> {
    let request = Request {
        function: false,
        timing: true,
        ..request
    };
    let outcome = device.run(unrolled(compiled)?, &Bindings::default(), request, progress)?;
    Ok(compiled.report(&device.name(), &outcome, None))
}

impl<P: Executable> Server<P> {
    /// Checks that the keys are of the program's parameters and of one secret key and that none is missing, and encodes
    /// the program's constants. Keys that the program does not need are dropped.
    pub fn new(compiled: Arc<P>, keys: KeysOf<P>) -> Result<Self, RuntimeError<ErrorOf<P>>> {
        Self::new_watched(compiled, keys, &Watch::default())
    }

    /// As [`Server::new`], under limits.
    pub fn new_watched(
        compiled: Arc<P>,
        keys: KeysOf<P>,
        watch: &Watch,
    ) -> Result<Self, RuntimeError<ErrorOf<P>>> {
        let wanted = compiled.plaintexts();
        let constants = wanted
            .iter()
            .filter(|(from, _)| matches!(from, PlainFrom::Constant(_)));
        // Encoded constants, and its own copy of the keys.
        let held = encoded_bytes(&*compiled, constants.map(|(_, at)| at)) + compiled.key_bytes();
        watch.admit("the encoded constants and keys", held)?;
        let operator = P::Operator::new(compiled.params().clone());
        let held = hold(&*compiled, &operator, &keys, watch)?;
        agree(key_ids(&*compiled, &held))?;
        let seeds = seeds(&*compiled, &held)?;
        let mut plaintexts = Vec::with_capacity(wanted.len());
        for (from, at) in wanted {
            watch.check()?;
            plaintexts.push(match from {
                PlainFrom::Constant(number) => {
                    Prepared::Constant(constant(&*compiled, &operator, number, &at)?)
                }
                PlainFrom::Input(input) => Prepared::Input(input, at),
            });
        }
        Ok(Self {
            compiled,
            operator,
            keys: held,
            seeds,
            plaintexts,
        })
    }

    pub fn compiled(&self) -> &Arc<P> {
        &self.compiled
    }

    /// Runs the program. `ciphers` names every encrypted input, `plains` every plain one; when only timing is asked for
    /// neither is looked at. Inputs of another secret key than the evaluation keys' are refused; the report names what has
    /// no identity, so that it cannot be checked. A report's precision is the predicted one; the client adds what it
    /// measures.
    pub fn run(
        &self,
        device: &dyn Device,
        ciphers: &BTreeMap<String, CiphertextOf<P>>,
        plains: &BTreeMap<String, MessageOf<P>>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<AnswerOf<P>, RuntimeError<ErrorOf<P>>> {
        let compiled = &*self.compiled;
        if !request.function {
            return Ok(Answer {
                outputs: None,
                report: simulate(compiled, device, request, progress)?,
            });
        }
        let ports = compiled.inputs();
        let known = |encrypted: bool| -> Vec<&str> {
            let ports = ports.iter().filter(|port| port.encrypted == encrypted);
            ports.map(|port| port.name).collect()
        };
        check_names(ciphers.keys(), &known(true), "encrypted input")?;
        check_names(plains.keys(), &known(false), "plain input")?;
        let inputs = self.plaintexts.iter().filter_map(|plain| match plain {
            Prepared::Input(_, at) => Some(at),
            Prepared::Constant(_) => None,
        });
        let bytes = encoded_bytes(compiled, inputs);
        request.watch.admit("the encoded inputs", bytes)?;
        let encoded = self.encode(&ports, plains)?;
        let bindings = self.bind(&ports, ciphers, &encoded)?;
        let agreement = self.belong_together(ciphers)?;
        let mut outcome = device.run(unrolled(compiled)?, &bindings, request, progress)?;
        let limbs = outcome.outputs.take();
        let key_id = agreement.key_id();
        let outputs = limbs.map(|limbs| self.outputs(limbs, key_id)).transpose()?;
        let keys = KeyReport {
            identity: agreement.known.map(|id| id.to_string()),
            unchecked: agreement.unchecked,
        };
        let report = compiled.report(&device.name(), &outcome, Some(keys));
        Ok(Answer { outputs, report })
    }

    /// Whether the evaluation keys and the inputs belong to one secret key.
    fn belong_together(
        &self,
        ciphers: &BTreeMap<String, CiphertextOf<P>>,
    ) -> Result<Agreement<String>, RuntimeError<ErrorOf<P>>> {
        let inputs = ciphers
            .iter()
            .map(|(name, c)| (format!("ciphertext `{name}`"), c.key_id()));
        agree(key_ids(&*self.compiled, &self.keys).chain(inputs))
    }

    /// Plain inputs, encoded wherever the program takes them; `None` for constants.
    fn encode(
        &self,
        ports: &[Port<'_, P::Scheme>],
        plains: &BTreeMap<String, MessageOf<P>>,
    ) -> Result<Vec<Option<PlaintextOf<P>>>, RuntimeError<ErrorOf<P>>> {
        let mut encoded = Vec::with_capacity(self.plaintexts.len());
        for plain in &self.plaintexts {
            let Prepared::Input(number, at) = plain else {
                encoded.push(None);
                continue;
            };
            let Some(port) = ports.get(*number as usize) else {
                encoded.push(None);
                continue;
            };
            let missing = || RuntimeError::MissingInput {
                kind: "plain",
                name: port.name.to_owned(),
            };
            let message = plains.get(port.name).ok_or_else(missing)?;
            self.compiled.check(*number as usize, message)?;
            let plain = self.operator.encode(message, at);
            let refused = |source| RuntimeError::Value {
                name: port.name.to_owned(),
                source,
            };
            encoded.push(Some(plain.map_err(refused)?));
        }
        Ok(encoded)
    }

    /// The program's input limbs. Scheme objects hold residues below their modulus by construction, so none is scanned.
    fn bind<'a>(
        &'a self,
        ports: &[Port<'_, P::Scheme>],
        ciphers: &'a BTreeMap<String, CiphertextOf<P>>,
        encoded: &'a [Option<PlaintextOf<P>>],
    ) -> Result<Bindings<'a>, RuntimeError<ErrorOf<P>>> {
        let program = self.compiled.program();
        let mut inputs: Vec<Option<&CiphertextOf<P>>> = Vec::with_capacity(ports.len());
        for port in ports {
            inputs.push(match port.encrypted {
                true => Some(self.fitting(port, ciphers)?),
                false => None,
            });
        }
        let object = |input: &HeadInput| -> Option<(&'a dyn Limbed, usize)> {
            match input.role {
                InputRole::Cipher { input, poly } => {
                    let cipher = inputs.get(input as usize).copied().flatten()?;
                    Some((cipher, usize::from(poly)))
                }
                InputRole::Plain { input } => {
                    let plain = match self.plaintexts.get(input as usize)? {
                        Prepared::Constant(plain) => plain,
                        Prepared::Input(..) => encoded.get(input as usize)?.as_ref()?,
                    };
                    Some((plain, 0))
                }
                InputRole::Key { key, digit, part } => {
                    Some((self.keys.get(key as usize)?, key_poly(digit, part)))
                }
            }
        };
        let mut limbs = Vec::with_capacity(program.inputs.len());
        for input in &program.inputs {
            let modulus = usize::from(input.ty.modulus.0);
            let missing = || RuntimeError::MissingInput {
                kind: "limb",
                name: input.name.clone(),
            };
            let q = program.moduli.get(modulus).copied().ok_or_else(missing)?;
            let found = object(input).and_then(|(object, poly)| object.limb(poly, modulus));
            limbs.push(Limb::scanned(found.ok_or_else(missing)?, q));
        }
        Ok(Bindings {
            limbs,
            seeds: self.seeds.clone(),
        })
    }

    /// The ciphertext of an input, when its parameters, place and size are those the program takes.
    fn fitting<'a>(
        &self,
        port: &Port<'_, P::Scheme>,
        ciphers: &'a BTreeMap<String, CiphertextOf<P>>,
    ) -> Result<&'a CiphertextOf<P>, RuntimeError<ErrorOf<P>>> {
        let name = || port.name.to_owned();
        let missing = || RuntimeError::MissingInput {
            kind: "encrypted",
            name: name(),
        };
        let cipher = ciphers.get(port.name).ok_or_else(missing)?;
        let refused = |source| RuntimeError::Value {
            name: name(),
            source,
        };
        self.operator.check(cipher).map_err(refused)?;
        if !P::Scheme::agree(&cipher.at(), &port.at) {
            return Err(RuntimeError::WrongPlace {
                name: name(),
                expected: P::Scheme::place(&port.at),
                got: P::Scheme::place(&cipher.at()),
            });
        }
        let expected = P::Scheme::FRESH_POLYS;
        if cipher.polys() != expected {
            return Err(RuntimeError::WrongSize {
                name: name(),
                expected,
                got: cipher.polys(),
            });
        }
        Ok(cipher)
    }

    /// Output limbs as ciphertexts.
    fn outputs(
        &self,
        limbs: Vec<OutputLimb>,
        key_id: Option<KeyId>,
    ) -> Result<BTreeMap<String, CiphertextOf<P>>, RuntimeError<ErrorOf<P>>> {
        let compiled = &*self.compiled;
        let program = unrolled(compiled)?;
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
        let ports = compiled.outputs();
        let mut polys: Vec<Vec<Vec<u64>>> = vec![Vec::new(); ports.len()];
        for ((output, poly, _), limb) in places {
            let Some(cipher) = polys.get_mut(output as usize) else {
                continue;
            };
            cipher.resize(cipher.len().max(usize::from(poly) + 1), Vec::new());
            if let Some(data) = cipher.get_mut(usize::from(poly)) {
                data.extend_from_slice(&limb);
            }
        }
        let mut ciphertexts = BTreeMap::new();
        for (Port { name, at, .. }, polys) in ports.into_iter().zip(polys) {
            let name = name.to_owned();
            let Ok(cipher) = self.operator.ciphertext(&at, polys, key_id) else {
                return Err(RuntimeError::IncompleteOutput { name });
            };
            if cipher.is_transparent() {
                return Err(RuntimeError::Transparent { name });
            }
            ciphertexts.insert(name, cipher);
        }
        Ok(ciphertexts)
    }
}

/// Bytes of plaintexts at such places.
fn encoded_bytes<'a, P: Executable>(
    compiled: &P,
    places: impl Iterator<Item = &'a Place<P::Scheme>>,
) -> u64
where
    Place<P::Scheme>: 'a,
{
    let limbs: u64 = places.map(|at| u64::from(at.level) + 1).sum();
    limbs * limb_bytes(compiled)
}

/// The keys that the program takes, in the form it takes them.
fn hold<P: Executable>(
    compiled: &P,
    operator: &P::Operator,
    keys: &KeysOf<P>,
    watch: &Watch,
) -> Result<Vec<KeyOf<P>>, RuntimeError<ErrorOf<P>>> {
    let mut held = Vec::with_capacity(compiled.keys().len());
    for name in compiled.keys() {
        watch.check()?;
        let key = operator.key(keys, name, compiled.seeded());
        let key = key.map_err(|source| RuntimeError::Key {
            key: name.to_string(),
            source,
        })?;
        held.push(key.ok_or_else(|| RuntimeError::MissingKey {
            key: name.to_string(),
        })?);
    }
    Ok(held)
}

/// The program's seeds.
fn seeds<P: Executable>(
    compiled: &P,
    held: &[KeyOf<P>],
) -> Result<Vec<Arc<SeedExpansion>>, RuntimeError<ErrorOf<P>>> {
    let numbers = compiled.program().seeds.iter();
    let seed = |&number: &u32| {
        let name = compiled.keys().get(number as usize);
        let named =
            || name.map_or_else(|| format!("key number {number}"), KeyNameOf::<P>::to_string);
        let seed = held.get(number as usize).and_then(Limbed::seed);
        let seed = seed.ok_or_else(|| RuntimeError::NotSeeded { key: named() })?;
        Ok(Arc::new(SeedExpansion::new(*seed)))
    };
    numbers.map(seed).collect()
}

fn constant<P: Executable>(
    compiled: &P,
    operator: &P::Operator,
    number: u32,
    at: &Place<P::Scheme>,
) -> Result<PlaintextOf<P>, RuntimeError<ErrorOf<P>>> {
    let name = format!("constant vector {number}");
    let Some(message) = compiled.constant(number) else {
        let kind = "constant";
        return Err(RuntimeError::MissingInput { kind, name });
    };
    let plain = operator.encode(&message, at);
    plain.map_err(|source| RuntimeError::Value { name, source })
}

/// Keys by name with their identities.
fn key_ids<P: Executable>(
    compiled: &P,
    keys: &[KeyOf<P>],
) -> impl Iterator<Item = (String, Option<KeyId>)> {
    let names = compiled.keys().iter().map(ToString::to_string);
    names.zip(keys.iter().map(Limbed::key_id))
}

fn agree<E>(
    parts: impl IntoIterator<Item = (String, Option<KeyId>)>,
) -> Result<Agreement<String>, RuntimeError<E>> {
    KeyId::agree(parts).map_err(|mismatch| RuntimeError::OtherKeys {
        what: mismatch.what,
        expected: mismatch.expected.short(),
        got: mismatch.got.short(),
    })
}
