// SPDX-License-Identifier: Apache-2.0
//! Times BFV and BGV operations on ciphertexts, with the parameters, keys and operands of SEAL's files. Each result
//! must be SEAL's bit for bit.

use std::path::Path;
use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_device::Limbed;
use ringmill_device::progress::Silent;
use ringmill_schemes::exact::{ExactError, ExactParams, ExactScheme};
use ringmill_schemes::rlwe::{Annotation, Ciphertext, KSwitchKey, RlweError};
use ringmill_schemes::seal::{self, SealContext, SealError, SealParams, bfv, bgv};
use ringmill_schemes::{ProcCache, Scheme};
use ringmill_schemes::{bfv as bfv_scheme, bgv as bgv_scheme};

use crate::group::Group;
use crate::{Result, chain, integers_client};

/// The security table of SEAL's own bounds, since SEAL's default parameters exceed newer bounds.
const TABLE: bfv_scheme::SecurityTable = bfv_scheme::SecurityTable::Standard2018Ternary;
const LEVEL: bfv_scheme::SecurityLevel = bfv_scheme::SecurityLevel::Bits128;

/// The key that an operation takes.
#[derive(Clone, Copy)]
enum Key {
    None,
    Relin,
    Rotation,
}

/// Makes the rows of a scheme (`bfv` or `bgv`) ready, on one thread. `folder` has SEAL's files.
///
/// # Errors
/// Fails if the scheme has another name, if a file of SEAL's is missing or refused, or if a computation fails.
pub fn open(scheme: &str, folder: &Path) -> Result<Group> {
    let parameters = file(folder, "parms")?;
    match scheme {
        "bfv" => {
            let builder = bfv::read_parameters(&parameters)?;
            let params = builder.security(TABLE, LEVEL).build()?;
            let context = SealContext::new(params.clone())?.for_seal_of(&parameters)?;
            let (level, element) = (params.max_level(), params.galois_element(1)?);
            use bfv_scheme::OpKey;
            let rows = vec![
                ("add", vec![(OpKey::add(level, 2, 2), Key::None)]),
                (
                    "multiply_relinearise",
                    vec![(OpKey::mul_relin(level, false), Key::Relin)],
                ),
                (
                    "rotate",
                    vec![(OpKey::rotate(level, element, false), Key::Rotation)],
                ),
            ];
            let read = |bytes: &[u8]| bfv::read_ciphertext(&context, bytes);
            group::<bfv_scheme::Bfv, (), _>(&params, &context, folder, rows, read)
        }
        "bgv" => {
            let builder = bgv::read_parameters(&parameters)?;
            let params = builder.security(TABLE, LEVEL).build()?;
            let context = SealContext::new(params.clone())?.for_seal_of(&parameters)?;
            let (level, element) = (params.max_level(), params.galois_element(1)?);
            use bgv_scheme::OpKey;
            let rows = vec![
                ("add", vec![(OpKey::add(level, 2, 2), Key::None)]),
                (
                    "multiply_relinearise_mod_switch",
                    vec![
                        (OpKey::mul_relin(level, false), Key::Relin),
                        (OpKey::mod_switch(level, 2), Key::None),
                    ],
                ),
                (
                    "rotate",
                    vec![(OpKey::rotate(level, element, false), Key::Rotation)],
                ),
            ];
            let read = |bytes: &[u8]| bgv::read_ciphertext(&context, bytes);
            group::<bgv_scheme::Bgv, bgv_scheme::Factor, _>(&params, &context, folder, rows, read)
        }
        other => Err(format!("no scheme {other}; expected bfv or bgv").into()),
    }
}

/// The rows by name, each a chain of operations with the key of each.
type Rows<S> = Vec<(&'static str, Vec<(<S as Scheme>::Operation, Key)>)>;

fn group<S, A, P>(
    params: &Arc<P>,
    context: &SealContext<P>,
    folder: &Path,
    rows: Rows<S>,
    read: impl Fn(&[u8]) -> std::result::Result<Ciphertext<A>, SealError>,
) -> Result<Group>
where
    S: ExactScheme + Scheme<Params = P, Annotation = A, Ciphertext = Ciphertext<A>> + 'static,
    S::Error: From<RlweError> + From<ExactError> + std::error::Error + 'static,
    A: Annotation,
    A::Error: std::error::Error + 'static,
    P: ExactParams + SealParams + Send + Sync + 'static,
{
    let ring = params.ring_params();
    // Operands live as long as the process, since bound programs borrow them.
    let leaked = |name: &str| -> Result<&'static Ciphertext<A>> {
        Ok(Box::leak(Box::new(read(&file(folder, name)?)?)))
    };
    let (a, b) = (leaked("a")?, leaked("b")?);
    let relin = seal::read_relin_keys(context, &file(folder, "relin")?)?;
    let relin: &'static KSwitchKey = &Box::leak(Box::new(relin)).0;
    let galois = seal::read_galois_keys(context, &file(folder, "galois")?)?;
    let rotation: &'static KSwitchKey = Box::leak(Box::new(galois)).get(ring.galois_element(1)?)?;
    let cpu = Arc::new(Cpu::new(1)?);
    let cache = ProcCache::<S>::new(params.clone());
    let mut group = Group::default();
    for (name, chain) in rows {
        let (operations, keys): (Vec<_>, Vec<_>) = chain.into_iter().unzip();
        let keys: Vec<Option<&'static KSwitchKey>> = keys
            .into_iter()
            .map(|key| match key {
                Key::None => None,
                Key::Relin => Some(relin),
                Key::Rotation => Some(rotation),
            })
            .collect();
        let program = chain::program(&cache, &operations)?;
        let operands: [&'static dyn Limbed; 2] = [a, b];
        let bindings = chain::bind(&program, &operands, &keys)?;
        let (limbs, _) = cpu.execute(&program, &bindings, &Silent, None)?;
        let theirs = read(&file(folder, name)?)?;
        let annotation = theirs.annotation().clone();
        let ours: Ciphertext<A> = chain::ciphertext(ring, theirs.level(), annotation, &limbs)?;
        group.equal(name, ours == theirs);
        let cpu = cpu.clone();
        group.row(name, move || {
            cpu.execute(&program, &bindings, &Silent, None)?;
            Ok(())
        });
    }
    integers_client::rows::<S, A>(&mut group, context, a, folder)?;
    Ok(group)
}

pub fn file(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(format!("{name}.seal"));
    let read = std::fs::read(&path);
    Ok(read.map_err(|error| format!("{}: {error}", path.display()))?)
}
