// SPDX-License-Identifier: Apache-2.0
//! Table 8 of the BASALISC paper: HElib's times beside those of our CPU kernels on this computer, on one thread, at the
//! highest level.

use std::sync::Arc;

use ringmill_cpu::Cpu;
use ringmill_isa::mid::{Form, LimbType, ModulusId, ParamRole, ProcBuilder, Procedure, ValueId};
use ringmill_isa::{Galois, Poly};
use ringmill_math::Ring;
use ringmill_schemes::ParameterSet;
use ringmill_schemes::bgv::{OpKey, Params, ProcCache};

use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::single;
use crate::value::measured;

/// Returns the operations of Table 8 of the BASALISC paper at the highest level as procedures, with the paper's names.
///
/// # Errors
/// Fails if a procedure cannot be made.
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
///
/// # Errors
/// Fails if a procedure cannot be made or does not run.
pub fn measured_operations(params: &Arc<Params>) -> Result<Vec<Record>, PaperError> {
    let cpu = Cpu::new(1)?;
    let found = procedures(params)?.into_iter().map(|(name, procedure)| {
        let seconds = single::measure(&cpu, &single::program(procedure)?)?;
        Ok(record([
            ("operation", name.into()),
            ("ms", measured(1e3 * seconds)),
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
