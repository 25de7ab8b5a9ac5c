// SPDX-License-Identifier: Apache-2.0
//! Times BGV under a set that bootstraps: single operations at the top level, and thin bootstraps. Each result is
//! decrypted and compared with the computation in the clear.

use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_device::{Limbed, ParamsId};
use ringmill_isa::{Galois, Level, Poly};
use ringmill_math::slots::SlotEncoder;
use ringmill_math::{Modulus, NttPlan, Residues, Ring};
use ringmill_schemes::bgv::bootstrap::{
    BootstrapKeys, Bootstrapper, Bootstrapping, Maps, Set, Value,
};
use ringmill_schemes::bgv::{
    Bgv, Ciphertext, Decryptor, Encryptor, Evaluator, ExactParams, Factor, KSwitchKey, KeyForm,
    KeyGenerator, NoiseModel, OpKey, Params, Plaintext,
};

use ringmill_schemes::rlwe::RingParams;
use ringmill_schemes::{ParameterSet, ProcCache};
use serde_json::json;

use crate::group::Group;
use crate::{Result, chain};

/// The name of the row of a bootstrap. All other rows are operations.
const BOOTSTRAP: &str = "bootstrap";
/// The difference between a slot of the second operand and that of the first, before reduction modulo t.
const SHIFT: u64 = 1_000_003;

/// Makes the named rows of a parameter set ready, on this number of threads.
///
/// # Errors
/// Fails if there is no such set, or if a computation fails. A name that is no row makes no row.
pub fn open(set: &str, rows: &[String], threads: usize) -> Result<Group> {
    let named = Set::named(set).ok_or_else(|| format!("no set {set}"))?;
    let setup = named.bootstrapping()?;
    let params = setup.params();
    let mut group = Group::default();
    let primes = params.cipher_moduli().iter();
    let bits: f64 = primes.map(|&q| (q as f64).log2()).sum();
    group.fact(
        "set",
        json!({
            "log_n": params.log_n(),
            "prime": named.prime,
            "exponents": named.exponents,
            "bits": bits.floor(),
            "slots": setup.structure().slots(),
            "weight": named.weight,
            "bound": setup.bound(),
            "primes": params.cipher_count(),
            "digits": params.dnum(),
        }),
    );
    group.fact("summary", format!("{}; {setup}", params.summary()));
    let cpu = Arc::new(Cpu::new(threads)?);
    if rows.iter().any(|row| row != BOOTSTRAP) {
        operations(&mut group, &setup, rows, &cpu)?;
    }
    if rows.iter().any(|row| row == BOOTSTRAP) {
        bootstrap(&mut group, setup, cpu)?;
    }
    Ok(group)
}

/// Returns integers modulo t, one for each of `count` slots: 7919 i + `shift` for slot i.
fn slots(count: usize, t: u64, shift: u64) -> Vec<u64> {
    let slots = 0..count as u64;
    slots.map(|i| (i * 7919 + shift) % t).collect()
}

/// An operation with its operands and its key, the correction factor of its result, and the plaintext that the result
/// must have.
struct Operation<'a> {
    name: &'static str,
    operation: OpKey,
    operands: Vec<&'a dyn Limbed>,
    key: Option<&'a KSwitchKey>,
    factor: Factor,
    expected: Vec<u64>,
}

fn operations(
    group: &mut Group,
    setup: &Bootstrapping,
    rows: &[String],
    cpu: &Arc<Cpu>,
) -> Result<()> {
    let params = setup.params();
    let power = params.prime_power()?;
    let (t, level) = (params.plain_modulus().reducer(), params.max_level());
    let encoder = SlotEncoder::new(setup.structure().clone(), power.exponent())?;
    let count = setup.structure().slots();
    let [x, y] = [0, SHIFT].map(|shift| slots(count, t.value(), shift));
    let product: Vec<u64> = x.iter().zip(&y).map(|(&x, &y)| t.mul(x, y)).collect();
    let keygen = KeyGenerator::new(params.clone())?;
    let encryptor = Encryptor::with_secret_key(params.clone(), keygen.secret_key().clone())?;
    let plain = |slots: &[u64]| -> Result<Plaintext> {
        Ok(Plaintext::new(&**params, encoder.encode(slots)?)?)
    };
    // Ciphertexts live as long as the process, since bound programs borrow them.
    let cipher = |slots: &[u64]| -> Result<&'static Ciphertext> {
        let cipher = encryptor.encrypt_at(&plain(slots)?, level)?;
        Ok(Box::leak(Box::new(cipher)))
    };
    let (a, b) = (cipher(&x)?, cipher(&y)?);
    let evaluator = Evaluator::new(params.clone());
    let three: &'static Ciphertext = Box::leak(Box::new(evaluator.mul(a, b)?));
    let lifted: &'static Lifted = Box::leak(Box::new(Lifted::new(params, &encoder.encode(&y)?)?));
    let element = Galois(3);
    let relin: &'static KSwitchKey = Box::leak(Box::new(keygen.relin_key(KeyForm::Stored)?.0));
    let galois = keygen.galois_keys(&[element], KeyForm::Stored)?;
    let galois: &'static KSwitchKey = Box::leak(Box::new(galois)).get(element)?;
    let (one, both) = (*a.annotation(), a.annotation().times(*b.annotation(), t));
    let last = params.moduli().get(level.index()).copied().unwrap_or(1);
    let encoded = |slots: &[u64]| -> Result<Vec<u64>> { Ok(encoder.encode(slots)?) };
    let all = [
        Operation {
            name: "key_switch",
            operation: OpKey::relin(level, false),
            operands: vec![three],
            key: Some(relin),
            factor: both,
            expected: encoded(&product)?,
        },
        Operation {
            name: "multiply_relinearise",
            operation: OpKey::mul_relin(level, false),
            operands: vec![a, b],
            key: Some(relin),
            factor: both,
            expected: encoded(&product)?,
        },
        Operation {
            name: "permute",
            operation: OpKey::rotate(level, element, false),
            operands: vec![a],
            key: Some(galois),
            factor: one,
            expected: turned(&encoded(&x)?, element, t.value()),
        },
        Operation {
            name: "multiply_plain",
            operation: OpKey::mul_lifted(level, 2),
            operands: vec![a, lifted],
            key: None,
            factor: one,
            expected: encoded(&product)?,
        },
        Operation {
            name: "mod_switch",
            operation: OpKey::mod_switch(level, 2),
            operands: vec![a],
            key: None,
            factor: one.over(last, t)?,
            expected: encoded(&x)?,
        },
    ];
    let decryptor = Decryptor::new(params.clone(), keygen.secret_key().clone())?;
    let cache = ProcCache::<Bgv>::new(params.clone());
    for operation in all {
        let name = operation.name;
        if !rows.iter().any(|row| row == name) {
            continue;
        }
        let program = chain::program(&cache, std::slice::from_ref(&operation.operation))?;
        let bindings = chain::bind(&program, &operation.operands, &[operation.key])?;
        let (limbs, _) = cpu.execute(&program, &bindings, &Silent, None)?;
        let to = match name {
            "mod_switch" => level.below().unwrap_or(Level::LOWEST),
            _ => level,
        };
        let ring = params.ring_params();
        let cipher: Ciphertext = chain::ciphertext(ring, to, operation.factor, &limbs)?;
        let opened = decryptor.decrypt(&cipher)?;
        group.equal(name, opened.residues() == operation.expected);
        let cpu = cpu.clone();
        group.row(name, move || {
            cpu.execute(&program, &bindings, &Silent, None)?;
            Ok(())
        });
    }
    Ok(())
}

/// A plaintext in evaluation form modulo all ciphertext primes, on words of 32 bits, as a program keeps its constants.
/// All primes are below 2^32.
struct Lifted {
    params_id: ParamsId,
    limbs: Vec<Vec<u32>>,
}

impl Lifted {
    fn new(params: &Params, m: &[u64]) -> Result<Self> {
        let t = params.plain_modulus();
        let limb = |&q: &u64| -> Result<Vec<u32>> {
            let q = Modulus::new(q)?;
            let residue = |&c: &u64| {
                let c = t.centred(c);
                let size = q.reduce(c.unsigned_abs());
                if c < 0 { q.neg(size) } else { size }
            };
            let mut limb: Vec<u64> = m.iter().map(residue).collect();
            NttPlan::shared(q, Ring::full(params.log_n()))?.forward(&mut limb)?;
            let short = limb.into_iter().map(u32::try_from);
            Ok(short.collect::<std::result::Result<_, _>>()?)
        };
        let limbs = params.cipher_moduli().iter().map(limb);
        Ok(Self {
            params_id: *params.id(),
            limbs: limbs.collect::<Result<_>>()?,
        })
    }
}

impl Limbed for Lifted {
    fn params_id(&self) -> &ParamsId {
        &self.params_id
    }

    fn polys(&self) -> usize {
        1
    }

    fn limb(&self, poly: Poly, modulus: usize) -> Option<Residues<'_>> {
        let limb = self.limbs.get(modulus).filter(|_| poly == Poly::FIRST)?;
        Some(Residues::Short(limb))
    }
}

/// Returns the coefficients of m(x^g) modulo x^N + 1 and t.
fn turned(m: &[u64], g: Galois, t: u64) -> Vec<u64> {
    let n = m.len();
    let mut out = vec![0; n];
    for (i, &c) in m.iter().enumerate() {
        let at = i * g.0 as usize % (2 * n);
        out[at % n] = match at < n {
            true => c,
            false => (t - c) % t,
        };
    }
    out
}

fn bootstrap(group: &mut Group, setup: Bootstrapping, cpu: Arc<Cpu>) -> Result<()> {
    let params: Arc<Params> = setup.params().clone();
    let power = params.prime_power()?;
    let encoder = SlotEncoder::new(setup.structure().clone(), power.exponent())?;
    let expected = slots(
        setup.structure().slots(),
        params.plain_modulus().value(),
        SHIFT,
    );
    let maps = Maps::new(&setup, setup.shape())?;
    let keygen = KeyGenerator::new(params.clone())?;
    let keys = BootstrapKeys::generate(&setup, &maps, &keygen, KeyForm::Stored)?;
    let secret = keygen.secret_key().clone();
    let encryptor = Encryptor::with_secret_key(params.clone(), secret.clone())?;
    let bootstrapper = Bootstrapper::on(setup, maps, cpu)?;
    let plain = Plaintext::new(&*params, encoder.encode(&expected)?)?;
    let model = NoiseModel::new(&params);
    let value = Value {
        cipher: encryptor.encrypt_at(&plain, bootstrapper.start())?,
        noise: model.fresh_symmetric(),
    };
    let fresh = bootstrapper.bootstrap(&value, &keys)?;
    let decryptor = Decryptor::new(params.clone(), secret)?;
    let opened = decryptor.decrypt(&fresh.cipher)?;
    let right = encoder.decode(opened.residues())? == expected;
    group.equal(BOOTSTRAP, right);
    group.fact("bits_left", decryptor.noise_budget(&fresh.cipher)?);
    group.fact("key_mib", keys.bytes() >> 20);
    group.row(BOOTSTRAP, move || {
        drop(bootstrapper.bootstrap(&value, &keys)?);
        Ok(())
    });
    Ok(())
}
