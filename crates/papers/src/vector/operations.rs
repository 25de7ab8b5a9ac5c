// SPDX-License-Identifier: Apache-2.0
//! Table 8 of the BASALISC paper: HElib's times beside those of our CPU kernels on this computer, on one thread, at the
//! highest level.

use std::sync::Arc;
use std::time::Instant;

use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_device::{Bindings, Limb};
use ringmill_isa::mid::{
    Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, Program, TableModulus, ValueId,
    Verified,
};
use ringmill_isa::{Galois, Poly};
use ringmill_math::{Prng, Ring};
use ringmill_schemes::ParameterSet;
use ringmill_schemes::bgv::{OpKey, Params, ProcCache};

use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value;

/// The number of measured runs of each operation, of which the shortest counts.
const RUNS: usize = 3;

/// Returns the operations of Table 8 of the BASALISC paper at the highest level as procedures, with the paper's names.
pub fn procedures(params: &Arc<Params>) -> Result<[(&'static str, Arc<Procedure>); 6], PaperError> {
    let cache = ProcCache::new(Arc::clone(params));
    let top = params.max_level();
    let of = |op: OpKey| -> Result<Arc<Procedure>, PaperError> { Ok(cache.get(&op)?) };
    Ok([
        ("ntt", limb_by_limb(params, ProcBuilder::ntt, Form::Coeff)?),
        ("add", of(OpKey::add(top, 2, 2))?),
        ("plaintext_mul", of(OpKey::mul_lifted(top, 2))?),
        ("mul_no_keyswitch", of(OpKey::mul(top))?),
        (
            "permutation_no_keyswitch",
            limb_by_limb(params, |b, v| b.auto(v, Galois(5)), Form::Eval)?,
        ),
        ("keyswitch", of(OpKey::relin(top, false))?),
    ])
}

/// Returns the milliseconds of each operation of Table 8 of the BASALISC paper on this computer.
pub fn measured(params: &Arc<Params>) -> Result<Vec<Record>, PaperError> {
    let cpu = Cpu::new(1)?;
    let found = procedures(params)?.into_iter().map(|(name, procedure)| {
        let ms = milliseconds(&cpu, procedure)?;
        Ok(record([
            ("operation", name.into()),
            ("ms", value::measured(ms)),
        ]))
    });
    found.collect()
}

/// Makes a procedure that executes one instruction on each limb of a ciphertext.
fn limb_by_limb(
    params: &Params,
    instr: impl Fn(&mut ProcBuilder, ValueId) -> Result<ValueId, ringmill_isa::VerifyError>,
    form: Form,
) -> Result<Arc<Procedure>, PaperError> {
    let table = params.table();
    let mut builder = ProcBuilder::new("limbs", params.log_n(), &table)?;
    let ring = Ring::full(params.log_n());
    let mut made = Vec::new();
    for poly in Poly::of(2) {
        for i in params.max_level().moduli() {
            let ty = LimbType {
                ring,
                modulus: ModulusId(i as u16),
                form,
            };
            let role = ParamRole::Cipher { arg: 0, poly };
            let limb = builder.param(format!("c{poly}.q{i}"), ty, role)?;
            made.push((instr(&mut builder, limb)?, poly, i));
        }
    }
    for (limb, poly, i) in made {
        builder.result(limb, format!("d{poly}.q{i}"), 0, poly)?;
    }
    Ok(Arc::new(builder.finish()?))
}

/// Returns the milliseconds of one call of a procedure on random limbs.
fn milliseconds(cpu: &Cpu, procedure: Arc<Procedure>) -> Result<f64, PaperError> {
    let program = Verified::new(Program::calling(procedure, Vec::new()))?;
    let mut prng = Prng::from_seed_for_reproducible_tests_only([7; 32]);
    let mut limbs = Vec::with_capacity(program.inputs.len());
    for input in &program.inputs {
        let modulus = input
            .ty
            .modulus()
            .and_then(|id| program.moduli.get(usize::from(id.0)));
        let modulus: TableModulus = *modulus
            .ok_or_else(|| PaperError::Internal(format!("input {} has no modulus", input.name)))?;
        let q = modulus.value() as u64;
        let mut bytes = vec![0; 8 * input.ty.words()];
        prng.fill_bytes(&mut bytes);
        let words = bytes.as_chunks::<8>().0.iter();
        let residues: Arc<[u64]> = words.map(|w| u64::from_le_bytes(*w) % q).collect();
        limbs.push(Limb::shared(residues, modulus)?);
    }
    let bindings = Bindings {
        limbs,
        seeds: Vec::new(),
    };
    let mut least = f64::INFINITY;
    for _ in 0..=RUNS {
        let begin = Instant::now();
        cpu.execute(&program, &bindings, &Silent, None)?;
        least = least.min(begin.elapsed().as_secs_f64());
    }
    Ok(1e3 * least)
}
