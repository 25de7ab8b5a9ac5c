// SPDX-License-Identifier: Apache-2.0
//! Makes a limb program of a chain of homomorphic operations, for measurements. The first operation takes the inputs,
//! each further one the result of the operation before.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use ringmill_device::Limbed;
use ringmill_device::{Bindings, Limb, OutputLimb, SeedExpansion};
use ringmill_isa::mid::{Call, Input, InputRole, LimbId, Output, ParamRole, Unrolled, Verified};
use ringmill_isa::{Level, Poly};
use ringmill_math::Residues;
use ringmill_schemes::rlwe::{Annotation, Ciphertext, KSwitchKey, Params};
use ringmill_schemes::{ParameterSet, ProcCache, Scheme};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Returns the program of the operations `ops`. Key number i is the key of operation i.
pub fn program<S: Scheme>(cache: &ProcCache<S>, ops: &[S::Operation]) -> Result<Verified> {
    let params = cache.params();
    let mut p = Unrolled::empty(params.log_n(), params.table());
    // For each polynomial and modulus of the last result, its limb.
    let mut last: HashMap<(Poly, u16), LimbId> = HashMap::new();
    for (number, op) in ops.iter().enumerate() {
        let proc = cache.get(op)?;
        let mut args = Vec::new();
        for param in &proc.params {
            let ty = *proc
                .types
                .get(param.value.0 as usize)
                .ok_or("a parameter without a type")?;
            let role = match param.role {
                ParamRole::Cipher { poly, .. } if number > 0 => {
                    args.push(
                        *last
                            .get(&(poly, ty.modulus().map_or(0, |id| id.0)))
                            .ok_or("the operations do not fit each other")?,
                    );
                    continue;
                }
                ParamRole::Cipher { arg, poly } => InputRole::Cipher {
                    input: arg.into(),
                    poly,
                },
                ParamRole::Plain { arg } => InputRole::Plain { input: arg.into() },
                ParamRole::Key { digit, part, .. } => InputRole::Key {
                    key: number as u32,
                    digit,
                    part,
                },
                ParamRole::Exponent { .. } => return Err("an exponent".into()),
            };
            let limb = LimbId(p.limbs.len() as u64);
            p.limbs.push(ty);
            p.inputs.push(Input {
                limb,
                name: format!("{}.{}", number, param.name),
                role,
            });
            args.push(limb);
        }
        let mut seeds = Vec::new();
        for _ in &proc.seeds {
            seeds.push(p.seeds.len() as u32);
            p.seeds.push(number as u32);
        }
        last.clear();
        let mut results = Vec::new();
        for r in &proc.results {
            let ty = *proc
                .types
                .get(r.value.0 as usize)
                .ok_or("a result without a type")?;
            let limb = LimbId(p.limbs.len() as u64);
            p.limbs.push(ty);
            last.insert((r.poly, ty.modulus().map_or(0, |id| id.0)), limb);
            results.push(limb);
        }
        p.calls.push(Call {
            proc: number as u32,
            args,
            seeds,
            results,
            loc: None,
        });
        p.procs.push(proc);
    }
    let mut outputs: Vec<_> = last.into_iter().collect();
    outputs.sort();
    for ((poly, modulus), limb) in outputs {
        p.outputs.push(Output {
            limb,
            name: format!("c{poly}.q{modulus}"),
            output: 0,
            poly,
        });
    }
    Ok(p.try_into()?)
}

/// Binds the operands and the keys to the program's inputs. `ciphers` has the ciphertexts, then the plaintexts, and
/// `keys` has the key of each operation that takes one.
pub fn bind<'a>(
    program: &Verified,
    ciphers: &[&'a dyn Limbed],
    keys: &[Option<&'a KSwitchKey>],
) -> Result<Bindings<'a>> {
    let key = |k: u32| {
        keys.get(k as usize)
            .copied()
            .flatten()
            .ok_or("an operation's key is missing")
    };
    let mut limbs = Vec::new();
    for input in &program.inputs {
        let ty = input.ty.limb().ok_or("an input that is no limb")?;
        let modulus = usize::from(ty.modulus.0);
        let data = match input.role {
            InputRole::Cipher { input, poly } => ciphers
                .get(input as usize)
                .and_then(|c| c.limb(poly, modulus)),
            InputRole::Plain { input } => ciphers
                .get(input as usize)
                .and_then(|plain| plain.limb(Poly::FIRST, modulus)),
            InputRole::Exponent { .. } => None,
            InputRole::Key {
                key: k,
                digit,
                part,
            } => key(k)?.limb(digit.into(), part.into(), modulus),
        };
        let data: Residues<'_> = data.ok_or_else(|| format!("no limb for input {}", input.name))?;
        limbs.push(Limb::held(data, program.moduli[modulus])?);
    }
    let mut seeds = Vec::new();
    for &k in &program.seeds {
        let seed = key(k)?.seed().ok_or("a key with a seed is needed")?;
        seeds.push(Arc::new(SeedExpansion::new(*seed)));
    }
    Ok(Bindings { limbs, seeds })
}

/// Returns the output limbs as a ciphertext.
#[allow(dead_code)] // `relin_speed` times only; `benches/ours` compares
pub fn ciphertext<A: Annotation>(
    params: &Params,
    level: Level,
    annotation: impl Into<A>,
    limbs: &[OutputLimb],
) -> Result<Ciphertext<A>>
where
    A::Error: Error + 'static,
{
    let per_poly = level.primes();
    let polys = limbs
        .chunks(per_poly)
        .map(|poly| {
            poly.iter()
                .flat_map(|limb| limb.wide().into_owned())
                .collect()
        })
        .collect();
    Ok(Ciphertext::new(params, level, annotation, polys)?)
}
