// SPDX-License-Identifier: Apache-2.0
//! The bootstrap of CKKS programs in the compiler: a procedure of the scheme layer, and its fields in files of
//! programs.

use std::sync::Arc;

use ringmill_isa::macros::MacroProgram;
use ringmill_schemes::ckks::bootstrap::{Bootstrapping, Layout, Procedure, Wanted};
use ringmill_schemes::ckks::{Ckks, CkksError, Params};
use serde::Deserialize;

use crate::kept::{Exact, KeptBootstrapping};
use crate::scheme::{Bootstraps, Lifted};

pub(super) const BY_PROCEDURE: Bootstraps<Ckks> = Bootstraps {
    keeps_procedures: false,
    program,
    lifted,
    limbs,
    keep,
    made_again,
};

fn program(procedure: &Arc<Procedure>) -> &MacroProgram {
    procedure.program()
}

fn lifted(
    procedure: &Arc<Procedure>,
    _: &Params,
    number: u32,
) -> Option<Result<Lifted, CkksError>> {
    Some(match procedure.encoded(number)? {
        Ok(plain) => Ok(Box::new(plain)),
        Err(error) => Err(error),
    })
}

fn limbs(procedure: &Arc<Procedure>, params: &Params, number: u32) -> [usize; 2] {
    let constant = procedure.constants().get(number as usize);
    constant.map_or([0, 1], |constant| constant.limbs(params))
}

/// The values, beside the parameters, from which a bootstrap's procedure is made. Files of programs hold these fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    /// The number of coefficients of the bootstrap's sparse secret that are not 0.
    weight: u32,
    /// The number of sparse matrices into which the bootstrap's map from slots to coefficients is
    /// split, and that of its map back.
    stages: [u32; 2],
    /// The number of levels that a bootstrapped value has for the program, until the next
    /// bootstrap.
    free: u32,
    /// The base-2 logarithm of the length of the Chebyshev series that the bootstrap evaluates.
    log_length: u32,
    /// The base-2 logarithm of the lowest modulus q_0 over the largest coefficient of the message.
    ratio_bits: u32,
    /// The number of rounds of one bootstrap. Each round after the first bootstraps the error of the round before.
    iterations: u32,
    /// Whether all bootstrapped values are real.
    real: bool,
    /// A bound on the absolute values that are bootstrapped.
    magnitude: Exact,
    /// The scale of a bootstrap's operand and that of its result.
    scales: [Exact; 2],
    /// Whether key-switching keys take half of their polynomials from seeds.
    seeded: bool,
}

fn keep(procedure: &Arc<Procedure>) -> KeptBootstrapping {
    let (setup, wanted) = (procedure.setup(), procedure.wanted());
    let layout = setup.layout();
    let exact = |x: f64| String::from(Exact(x));
    KeptBootstrapping::new([
        ("weight", setup.weight().into()),
        (
            "stages",
            vec![layout.to_coefficients, layout.to_slots].into(),
        ),
        ("free", layout.free.into()),
        ("log_length", layout.log_length.into()),
        ("ratio_bits", layout.ratio_bits.into()),
        ("iterations", layout.iterations.into()),
        ("real", wanted.real.into()),
        ("magnitude", exact(wanted.magnitude).into()),
        ("scales", wanted.scales.map(exact).to_vec().into()),
        ("seeded", procedure.seeded().into()),
    ])
}

fn made_again(kept: KeptBootstrapping, params: &Arc<Params>) -> Result<Arc<Procedure>, String> {
    let kept: Fields = kept.read()?;
    let [to_coefficients, to_slots] = kept.stages;
    let layout = Layout {
        to_coefficients,
        free: kept.free,
        log_length: kept.log_length,
        to_slots,
        ratio_bits: kept.ratio_bits,
        iterations: kept.iterations,
    };
    let wanted = Wanted {
        real: kept.real,
        magnitude: kept.magnitude.0,
        scales: kept.scales.map(|Exact(scale)| scale),
    };
    let setup = Bootstrapping::new(Arc::clone(params), layout, kept.weight);
    let made = setup.and_then(|setup| Procedure::new(setup, wanted, kept.seeded));
    made.map(Arc::new).map_err(|e| e.to_string())
}
