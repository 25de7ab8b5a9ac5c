// SPDX-License-Identifier: Apache-2.0
//! The server of a compiled program, which holds evaluation keys and runs the program on devices.
//!
//! A run expands key limbs from seeds and encodes the limbs of constants when a step reads them. The server keeps
//! these limbs for the next run, within a budget of bytes ([`Expanded`]).

mod plaintexts;

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_compiler::{Compiled, CompiledInput, PlainSource};
use ringmill_device::call::key_poly;
use ringmill_device::pool::OutputLimb;
use ringmill_device::progress::Progress;
use ringmill_device::{
    Agreement, Bindings, Device, Expanded, KeyId, Limb, Limbed, Request, Resident, SeedExpansion,
    Session, check_budget,
};
use ringmill_isa::Poly;
use ringmill_isa::macros::Visibility;
use ringmill_isa::mid::{HeadInput, InputRole, TableModulus};
use ringmill_limits::{Watch, room};
use ringmill_schemes::ckks::{Ciphertext, Ckks};
use ringmill_schemes::roles::Operator;
use ringmill_schemes::{Encrypted, Scheme};

use super::scheme::{ErrorOf, Runs};
use super::{RuntimeError, check_names};
use crate::report::{KeyReport, RunReport};
use plaintexts::{Lazy, Plain, Prepared, encoded_bytes, lifted_bytes};

/// The server of one compiled program, with one client's evaluation keys.
pub struct Server<S: Runs = Ckks> {
    compiled: Arc<Compiled<S>>,
    operator: S::Operator,
    /// The client's evaluation keys, one for each of the program's [`Compiled::keys`].
    keys: Vec<S::Key>,
    /// The expander of each of the program's seeds. A device makes one half of a key-switching key from each seed.
    seeds: Vec<Arc<SeedExpansion>>,
    /// The cache of key limbs that were expanded from seeds, and of encoded constants, which the server keeps from
    /// run to run.
    expanded: Arc<Expanded>,
    /// The program's plaintext operands, one for each of [`Compiled::plaintexts`].
    plaintexts: Vec<Prepared<S>>,
}

/// A server's program that is open on a device. The device keeps the evaluation keys from run to run if it can keep
/// anything; otherwise each run binds them again.
pub struct Running<'s, S: Runs> {
    server: &'s Server<S>,
    device: &'s dyn Device,
    session: Box<dyn Session + 's>,
}

impl<S: Runs> Running<'_, S> {
    /// Runs the program once. `ciphers` has every encrypted input by name, `plains` every plain one. A request for
    /// timing only ignores both. Inputs of another secret key than the evaluation keys' are refused. The report names
    /// objects without an identifier, which cannot be checked. The report's precision is the predicted one; the client
    /// adds its measurements.
    ///
    /// # Errors
    /// [`RuntimeError`] for inputs that are missing, unknown, or do not fit; for a request that the device refuses; for
    /// an output that reveals its message without a key; at a limit, or at a stop.
    pub fn run(
        &mut self,
        ciphers: &BTreeMap<String, S::Ciphertext>,
        plains: &BTreeMap<String, S::Message>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<AnswerOf<S>, ErrorOf<S>> {
        let (server, device) = (self.server, self.device);
        let compiled = &server.compiled;
        if !request.function {
            return Ok(Answer {
                outputs: None,
                report: simulate(compiled, device, request, progress)?,
            });
        }
        server.check_names(ciphers, plains)?;
        check_budget(device, &request)?;
        let bytes = server.plaintexts.iter().map(|plain| match *plain {
            Prepared::Constant(..) | Prepared::Lifted(_) if device.expands() => 0,
            Prepared::Input(_, at) | Prepared::Constant(_, at) => encoded_bytes(compiled, &at),
            Prepared::Lifted(lifted) => lifted_bytes(compiled, lifted, false),
        });
        let bytes = bytes.sum();
        request.watch.admit("the encoded inputs", bytes)?;
        let plains = server.plains(plains, device.expands(), &request.watch)?;
        let limbs = server.brought(ciphers, &plains)?;
        let agreement = server.belong_together(ciphers)?;
        let mut outcome = self.session.run(limbs, request, progress)?;
        let limbs = outcome.outputs.take();
        let key_id = agreement.key_id();
        let outputs = limbs
            .map(|limbs| server.outputs(limbs, key_id))
            .transpose()?;
        let keys = KeyReport {
            identity: agreement.known.map(|id| id.to_string()),
            unchecked: agreement.unchecked,
        };
        let report = S::report(compiled, &device.name(), &outcome, Some(keys));
        Ok(Answer { outputs, report })
    }
}

/// Returns the error for an input limb of the program that has no data.
fn missing_limb<E>(input: &HeadInput) -> RuntimeError<E> {
    RuntimeError::MissingInput {
        kind: "limb",
        name: input.name.clone(),
    }
}

/// The result of a server's run of a program: the outputs, and the report.
#[derive(Debug)]
pub struct Answer<C = Ciphertext, R = RunReport> {
    /// The output ciphertexts by name, or `None` if the request did not ask for outputs (the request's field `function`
    /// is false).
    pub outputs: Option<BTreeMap<String, C>>,
    pub report: R,
}

/// The result of a run of a scheme's program.
pub type AnswerOf<S> = Answer<<S as Scheme>::Ciphertext, <S as Runs>::Report>;

/// Computes the timing of a compiled program on a device, without keys and data. A request with a budget of bytes for
/// expanded key limbs is refused, because timing alone expands nothing.
///
/// # Errors
/// [`RuntimeError::Device`] for a program or a request that the device refuses, and at a limit or a stop.
pub fn simulate<S: Runs>(
    compiled: &Compiled<S>,
    device: &dyn Device,
    request: Request<'_>,
    progress: &dyn Progress,
) -> Result<S::Report, ErrorOf<S>> {
    let request = Request {
        function: false,
        timing: true,
        ..request
    };
    let outcome = device.run(&compiled.program, &Bindings::default(), request, progress)?;
    Ok(S::report(compiled, &device.name(), &outcome, None))
}

impl<S: Runs> Server<S> {
    /// Makes a server. The keys must be of the program's parameters and of one secret key, and none may be missing.
    /// Keys that the program does not need are dropped.
    ///
    /// # Errors
    /// [`RuntimeError::MissingKey`], [`RuntimeError::Key`] for a key of other parameters, [`RuntimeError::NotSeeded`],
    /// [`RuntimeError::OtherKeys`] for keys of several secret keys, [`RuntimeError::Halt`] at the default memory limit.
    pub fn new(compiled: Arc<Compiled<S>>, keys: S::Keys) -> Result<Self, ErrorOf<S>> {
        Self::new_watched(compiled, keys, &Watch::default())
    }

    /// Makes a server as [`Server::new`] does. `watch` can stop the work and limits its memory.
    ///
    /// # Errors
    /// Those of [`Server::new`]; [`RuntimeError::Halt`].
    pub fn new_watched(
        compiled: Arc<Compiled<S>>,
        keys: S::Keys,
        watch: &Watch,
    ) -> Result<Self, ErrorOf<S>> {
        // Seeded keys are used unchanged and share the memory of the caller's keys. Stored keys may have to be
        // expanded.
        if !compiled.seeded {
            watch.admit("the server's expanded keys", compiled.key_bytes())?;
        }
        let operator = S::Operator::new(compiled.params.clone());
        let held = hold(&compiled, &operator, &keys, watch)?;
        agree(key_ids(&compiled, &held))?;
        let expanded = Arc::default();
        let seeds = seeds(&compiled, &held, &expanded)?;
        let plaintexts = compiled.plaintexts.iter().map(|wanted| match wanted.from {
            PlainSource::Data(number) => Prepared::Constant(number, wanted.at),
            PlainSource::Input(input) => Prepared::Input(input, wanted.at),
            PlainSource::Lifted(number) => Prepared::Lifted(number),
        });
        let plaintexts = plaintexts.collect();
        Ok(Self {
            compiled,
            operator,
            keys: held,
            seeds,
            expanded,
            plaintexts,
        })
    }

    pub fn compiled(&self) -> &Arc<Compiled<S>> {
        &self.compiled
    }

    /// Opens the program on a device. Keys stay there from run to run, if the device keeps data between runs at all. So
    /// do constants, if the device encodes them itself when a step reads them ([`Device::expands`]).
    ///
    /// # Errors
    /// [`RuntimeError::Device`] for a program that the device cannot run.
    pub fn open<'s>(
        &'s self,
        device: &'s dyn Device,
        watch: &Watch,
    ) -> Result<Running<'s, S>, ErrorOf<S>> {
        let constants = self.constants(device.expands())?;
        let resident = self.resident(&constants)?;
        Ok(Running {
            session: device.open(&self.compiled.program, resident, watch)?,
            server: self,
            device,
        })
    }

    /// Runs the program once on a device: [`Server::open`], then [`Running::run`].
    ///
    /// # Errors
    /// The errors of [`Server::open`] and of [`Running::run`].
    pub fn run(
        &self,
        device: &dyn Device,
        ciphers: &BTreeMap<String, S::Ciphertext>,
        plains: &BTreeMap<String, S::Message>,
        request: Request<'_>,
        progress: &dyn Progress,
    ) -> Result<AnswerOf<S>, ErrorOf<S>> {
        // An unknown name is refused before the device plans the program.
        if request.function {
            self.check_names(ciphers, plains)?;
        }
        let mut running = self.open(device, &request.watch)?;
        running.run(ciphers, plains, request, progress)
    }

    /// Checks that all names are inputs of the program.
    fn check_names(
        &self,
        ciphers: &BTreeMap<String, S::Ciphertext>,
        plains: &BTreeMap<String, S::Message>,
    ) -> Result<(), ErrorOf<S>> {
        let known = |visibility: Visibility| -> Vec<&str> {
            let inputs = self.compiled.inputs.iter();
            let such = inputs.filter(|input| input.visibility == visibility);
            such.map(|input| input.name.as_str()).collect()
        };
        let encrypted = known(Visibility::Encrypted);
        check_names(ciphers.keys(), &encrypted, "encrypted input")?;
        check_names(plains.keys(), &known(Visibility::Plain), "plain input")
    }

    /// Checks that the evaluation keys and the inputs belong to one secret key.
    fn belong_together(
        &self,
        ciphers: &BTreeMap<String, S::Ciphertext>,
    ) -> Result<Agreement<String>, ErrorOf<S>> {
        let inputs = ciphers
            .iter()
            .map(|(name, c)| (format!("ciphertext `{name}`"), c.key_id()));
        agree(key_ids(&self.compiled, &self.keys).chain(inputs))
    }

    /// Returns an entry for each input limb of the program: the limb if it belongs to a key, or to a constant that
    /// the device encodes, otherwise `None`. No residue is checked, because the constructors of keys and plaintexts
    /// ensure that residues are below their modulus.
    fn resident<'s>(&'s self, constants: &[Lazy<'s>]) -> Result<Resident<'s>, ErrorOf<S>> {
        let mut limbs = Vec::with_capacity(self.compiled.program.inputs.len());
        for input in &self.compiled.program.inputs {
            let (modulus, q) = self.modulus(input)?;
            limbs.push(match input.role {
                InputRole::Key { key, digit, part } => {
                    let key = self.keys.get(key as usize);
                    let limb = key.and_then(|key| key.limb(key_poly(digit, part), modulus));
                    let limb = limb.ok_or_else(|| missing_limb(input))?;
                    Some(Limb::scanned(limb, q))
                }
                InputRole::Plain { input } => {
                    let constant = constants.get(input as usize).and_then(Option::as_ref);
                    constant.map(|c| Limb::of_constant(Arc::clone(c), modulus, q))
                }
                // The schemes on rings have no exponents.
                InputRole::Cipher { .. } | InputRole::Exponent { .. } => None,
            });
        }
        Ok(Resident {
            limbs,
            seeds: self.seeds.clone(),
        })
    }

    /// Returns the modulus of an input limb, with its index in the program's list of moduli.
    fn modulus(&self, input: &HeadInput) -> Result<(usize, TableModulus), ErrorOf<S>> {
        let ty = input.ty.limb().ok_or_else(|| missing_limb(input))?;
        let modulus = usize::from(ty.modulus.0);
        let q = self.compiled.program.moduli.get(modulus).copied();
        Ok((modulus, q.ok_or_else(|| missing_limb(input))?))
    }

    /// Returns the limbs of the ciphertexts and plaintexts that the caller passes to a run, in the order of the
    /// program's inputs.
    fn brought<'a>(
        &self,
        ciphers: &'a BTreeMap<String, S::Ciphertext>,
        plains: &'a [Option<Plain<S>>],
    ) -> Result<Vec<Limb<'a>>, ErrorOf<S>> {
        let mut inputs: Vec<Option<&S::Ciphertext>> =
            Vec::with_capacity(self.compiled.inputs.len());
        for input in &self.compiled.inputs {
            inputs.push(match input.visibility {
                Visibility::Encrypted => Some(self.fitting(input, ciphers)?),
                Visibility::Plain => None,
            });
        }
        let mut limbs = Vec::new();
        for input in &self.compiled.program.inputs {
            let found: (&'a dyn Limbed, Poly) = match input.role {
                InputRole::Key { .. } => continue,
                InputRole::Cipher { input: at, poly } => {
                    let cipher = inputs.get(at as usize).copied().flatten();
                    (cipher.ok_or_else(|| missing_limb(input))?, poly)
                }
                InputRole::Plain { input: at } => {
                    match plains.get(at as usize).ok_or_else(|| missing_limb(input))? {
                        None => continue,
                        Some(Plain::Encoded(plain)) => (plain, Poly::FIRST),
                        Some(Plain::Lifted(plain)) => (&**plain, Poly::FIRST),
                    }
                }
                // The schemes on rings have no exponents.
                InputRole::Exponent { .. } => return Err(missing_limb(input)),
            };
            let (modulus, q) = self.modulus(input)?;
            let limb = found.0.limb(found.1, modulus);
            limbs.push(Limb::scanned(limb.ok_or_else(|| missing_limb(input))?, q));
        }
        Ok(limbs)
    }

    /// Returns the ciphertext of an input after a check. Its parameters, level, note (scale or correction factor) and
    /// size must be those of the program.
    fn fitting<'a>(
        &self,
        input: &CompiledInput<S>,
        ciphers: &'a BTreeMap<String, S::Ciphertext>,
    ) -> Result<&'a S::Ciphertext, ErrorOf<S>> {
        let name = || input.name.clone();
        let missing = || RuntimeError::MissingInput {
            kind: "encrypted",
            name: name(),
        };
        let cipher = ciphers.get(&input.name).ok_or_else(missing)?;
        let refused = |source| RuntimeError::Value {
            name: name(),
            source,
        };
        self.operator.check(cipher).map_err(refused)?;
        if !S::agree(&cipher.at(), &input.at) {
            return Err(RuntimeError::WrongPlace {
                name: name(),
                expected: S::place(&input.at),
                got: S::place(&cipher.at()),
            });
        }
        let expected = S::FRESH_POLYS;
        if cipher.polys() != expected {
            return Err(RuntimeError::WrongSize {
                name: name(),
                expected,
                got: cipher.polys(),
            });
        }
        Ok(cipher)
    }

    /// Assembles the limbs of a run's outputs to ciphertexts by name.
    fn outputs(
        &self,
        limbs: Vec<OutputLimb>,
        key_id: Option<KeyId>,
    ) -> Result<BTreeMap<String, S::Ciphertext>, ErrorOf<S>> {
        let compiled = &self.compiled;
        let program = &compiled.program;
        // (output, polynomial, modulus) sorts limbs into limb-major polynomials.
        let outputs = program.outputs.iter().zip(&program.types().outputs);
        let places = outputs.zip(limbs);
        let mut places: Vec<_> = places
            .map(|((output, ty), limb)| {
                let modulus = ty.limb().map_or(u16::MAX, |ty| ty.modulus.0);
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
            cipher.resize(cipher.len().max(poly.index() + 1), Vec::new());
            if let Some(data) = cipher.get_mut(poly.index()) {
                data.extend_from_slice(&limb.wide());
            }
        }
        let mut ciphertexts = BTreeMap::new();
        for (output, polys) in compiled.outputs.iter().zip(polys) {
            let name = output.name.clone();
            let Ok(cipher) = self.operator.ciphertext(&output.at, polys, key_id) else {
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

/// Returns the evaluation keys that the program needs, in the program's order. Each has the form in which the program
/// takes it.
fn hold<S: Runs>(
    compiled: &Compiled<S>,
    operator: &S::Operator,
    keys: &S::Keys,
    watch: &Watch,
) -> Result<Vec<S::Key>, ErrorOf<S>> {
    let mut held = Vec::with_capacity(compiled.keys.len());
    for name in &compiled.keys {
        watch.check()?;
        let key = operator.key(keys, name, compiled.seeded);
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

/// Returns an expander of each of the program's seeds, which it finds in the key-switching keys `held`.
fn seeds<S: Runs>(
    compiled: &Compiled<S>,
    held: &[S::Key],
    expanded: &Arc<Expanded>,
) -> Result<Vec<Arc<SeedExpansion>>, ErrorOf<S>> {
    let numbers = compiled.program.seeds.iter();
    let seed = |&number: &u32| {
        let name = compiled.keys.get(number as usize);
        let named = || name.map_or_else(|| format!("key number {number}"), ToString::to_string);
        let seed = held.get(number as usize).and_then(Limbed::seed);
        let seed = seed.ok_or_else(|| RuntimeError::NotSeeded { key: named() })?;
        Ok(Arc::new(SeedExpansion::within(*seed, expanded)))
    };
    numbers.map(seed).collect()
}

/// Returns the name of each evaluation key, with the identifier of the secret key that it belongs to.
fn key_ids<S: Runs>(
    compiled: &Compiled<S>,
    keys: &[S::Key],
) -> impl Iterator<Item = (String, Option<KeyId>)> {
    let names = compiled.keys.iter().map(ToString::to_string);
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
