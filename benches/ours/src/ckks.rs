// SPDX-License-Identifier: Apache-2.0
//! Times CKKS operations on ciphertexts, with the keys and operands of SEAL if its files are at hand.

use std::path::Path;
use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::Limbed;
use ringmill_device::OutputLimb;
use ringmill_device::progress::Silent;
use ringmill_schemes::ckks::{
    Ciphertext, Decryptor, Encoder, Encryptor, Evaluator, GaloisKeys, KSwitchKey, KeyForm,
    KeyGenerator, Op, OpKey, Params, ProcCache, PublicKey, RelinKey, SecretKey,
};
use ringmill_schemes::seal::{self, SealContext};

use crate::group::Group;
use crate::{Result, chain, client};

/// The largest error of a decrypted result that counts as right, for values up to 1. It is far above CKKS noise at
/// these scales, and far below the error of a wrong result.
pub const TOLERANCE: f64 = 1e-6;

/// Keys and two operands. They live as long as the process, since bound programs borrow them.
pub struct Material {
    pub params: Arc<Params>,
    pub secret: SecretKey,
    pub public: PublicKey,
    relin: RelinKey,
    galois: GaloisKeys,
    a: Ciphertext,
    b: Ciphertext,
}

/// A row: a chain of operations. Key number i is the key of operation number i, if that needs one.
struct Operation<'a> {
    name: &'static str,
    chain: Vec<OpKey>,
    keys: Vec<Option<&'a KSwitchKey>>,
    /// The function that computes the chain on the operands' values in the clear.
    clear: fn(&[f64], &[f64]) -> Vec<f64>,
}

/// Makes the rows of a parameter set ready: operations on ciphertexts, and with one thread the client's operations.
/// `folder` has SEAL's files. Without it the keys are ours.
///
/// # Errors
/// Fails if there is no such set, if a file of SEAL's is missing or refused, or if a computation fails.
pub fn open(set: &str, folder: Option<&Path>, threads: usize) -> Result<Group> {
    let params = Params::named(set)?;
    let material: &'static Material = Box::leak(Box::new(match folder {
        Some(folder) => read(&params, folder)?,
        None => make(&params)?,
    }));
    let mut group = Group::default();
    let cpu = Arc::new(Cpu::new(threads)?);
    let cache = ProcCache::new(params.clone());
    let operands: [&dyn Limbed; 2] = [&material.a, &material.b];
    for operation in operations(material)? {
        let name = operation.name;
        let program = chain::program(&cache, &operation.chain)?;
        let bindings = chain::bind(&program, &operands, &operation.keys)?;
        let (limbs, stats) = cpu.execute(&program, &bindings, &Silent, None)?;
        group.equal(name, matches(material, folder, &operation, &limbs)?);
        if name == "multiply_relinearise" {
            group.fact("pool_peak_bytes", stats.pool_peak_bytes);
        }
        let cpu = cpu.clone();
        group.row(name, move || {
            cpu.execute(&program, &bindings, &Silent, None)?;
            Ok(())
        });
    }
    if threads == 1 {
        client::rows(&mut group, material, folder)?;
    }
    Ok(group)
}

fn operations(material: &Material) -> Result<Vec<Operation<'_>>> {
    let params = &material.params;
    let level = params.max_level();
    let galois = params.galois_element(1)?;
    let relin = Some(&material.relin.0);
    let rotation = Some(material.galois.get(galois)?);
    let add = OpKey::add(level, 2, 2);
    let relinearised = OpKey::mul_relin(level, false);
    let rescale = OpKey::rescale(level, 2);
    let rotate = OpKey::rotate(level, galois, false);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).collect();
    let operation = |name, chain, keys, clear| Operation {
        name,
        chain,
        keys,
        clear,
    };
    Ok(vec![
        operation("add", vec![add], vec![None], |a, b| {
            a.iter().zip(b).map(|(x, y)| x + y).collect()
        }),
        operation("multiply", vec![OpKey::mul(level)], vec![None], product),
        operation(
            "multiply_relinearise",
            vec![relinearised.clone()],
            vec![relin],
            product,
        ),
        operation("rescale", vec![rescale.clone()], vec![None], |a, _| {
            a.to_vec()
        }),
        operation(
            "multiply_relinearise_rescale",
            vec![relinearised, rescale],
            vec![relin, None],
            product,
        ),
        operation("rotate", vec![rotate], vec![rotation], |a, _| {
            a.iter().cycle().skip(1).take(a.len()).copied().collect()
        }),
    ])
}

/// Returns whether a result is SEAL's bit for bit, or without SEAL decrypts to the operation's result in the clear. A
/// fresh ciphertext that is rescaled has no precision left to compare, so its bits are compared with the reference
/// evaluator's.
fn matches(
    material: &Material,
    folder: Option<&Path>,
    operation: &Operation<'_>,
    limbs: &[OutputLimb],
) -> Result<bool> {
    let params = &material.params;
    if let Some(folder) = folder {
        let context = SealContext::new(params.clone())?;
        let theirs = seal::read_ciphertext(&context, &file(folder, operation.name)?)?;
        let ours: Ciphertext = chain::ciphertext(params, theirs.level(), theirs.scale(), limbs)?;
        return Ok(ours == theirs);
    }
    let (mut level, mut scale) = (params.max_level(), params.default_scale());
    for step in &operation.chain {
        match step.op() {
            Op::Mul | Op::MulRelin => scale *= scale,
            Op::Rescale => {
                scale /= params.moduli()[level.index()] as f64;
                level = level.below().ok_or("a rescale at level 0")?;
            }
            _ => {}
        }
    }
    let cipher: Ciphertext = chain::ciphertext(params, level, scale, limbs)?;
    if operation.name == "rescale" {
        return Ok(cipher == Evaluator::new(params.clone()).rescale(&material.a)?);
    }
    let plain = Decryptor::new(params.clone(), material.secret.clone())?.decrypt(&cipher)?;
    let found = Encoder::new(params.clone()).decode_real(&plain, params.slots())?;
    let (a, b) = values(params);
    Ok(close(&found, &(operation.clear)(&a, &b), TOLERANCE))
}

/// Returns whether two vectors have one length, and all differences are below the tolerance.
pub fn close(found: &[f64], expected: &[f64], tolerance: f64) -> bool {
    found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(x, y)| (x - y).abs() < tolerance)
}

/// Returns the values of both operands, for a run without SEAL's files.
fn values(params: &Params) -> (Vec<f64>, Vec<f64>) {
    let slots = || 0..params.slots();
    (
        slots().map(|i| (i % 17) as f64 / 17.0 - 0.5).collect(),
        slots().map(|i| (i % 23) as f64 / 23.0).collect(),
    )
}

/// Returns the bytes of one of SEAL's files.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn file(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(format!("{name}.seal"));
    std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()).into())
}

fn read(params: &Arc<Params>, folder: &Path) -> Result<Material> {
    let context = SealContext::new(params.clone())?;
    Ok(Material {
        params: params.clone(),
        secret: seal::read_secret_key(&context, &file(folder, "secret")?)?,
        public: seal::read_public_key(&context, &file(folder, "public")?)?,
        relin: seal::read_relin_keys(&context, &file(folder, "relin")?)?,
        galois: seal::read_galois_keys(&context, &file(folder, "galois")?)?,
        a: seal::read_ciphertext(&context, &file(folder, "a")?)?,
        b: seal::read_ciphertext(&context, &file(folder, "b")?)?,
    })
}

fn make(params: &Arc<Params>) -> Result<Material> {
    let keygen = KeyGenerator::new(params.clone())?;
    let public = keygen.public_key()?;
    let encryptor = Encryptor::with_public_key(params.clone(), &public)?;
    let encoder = Encoder::new(params.clone());
    let (a, b) = values(params);
    let encrypt = |values: &[f64]| -> Result<_> {
        let plain = encoder.encode_real(values, params.max_level(), params.default_scale())?;
        Ok(encryptor.encrypt(&plain)?)
    };
    let (a, b) = (encrypt(&a)?, encrypt(&b)?);
    Ok(Material {
        secret: keygen.secret_key().clone(),
        relin: keygen.relin_key(KeyForm::Stored)?,
        galois: keygen.rotation_keys(&[1], KeyForm::Stored)?,
        params: params.clone(),
        public,
        a,
        b,
    })
}
