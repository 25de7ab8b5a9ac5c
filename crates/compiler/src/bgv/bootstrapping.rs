// SPDX-License-Identifier: Apache-2.0
//! The bootstrap of BGV programs in the compiler: a procedure of the scheme layer, and its fields in files of programs.

use std::sync::Arc;

use ringmill_isa::macros::MacroProgram;
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure};
use ringmill_schemes::bgv::{Bgv, BgvError, Params};
use serde::Deserialize;

use crate::kept::{Exact, KeptBootstrapping};
use crate::scheme::{Bootstraps, Lifted};

pub(super) const BY_PROCEDURE: Bootstraps<Bgv> = Bootstraps {
    keeps_procedures: true,
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
    params: &Params,
    number: u32,
) -> Option<Result<Lifted, BgvError>> {
    let constant = procedure.constants().get(number as usize)?;
    let encoded = constant.encoded(params);
    Some(match encoded {
        Ok(plain) => Ok(Box::new(plain)),
        Err(error) => Err(error.into()),
    })
}

fn limbs(procedure: &Arc<Procedure>, params: &Params, number: u32) -> [usize; 2] {
    let constant = procedure.constants().get(number as usize);
    constant.map_or([0, 1], |constant| constant.limbs(params))
}

/// The values, beside the parameters, from which a bootstrap's procedure is made. Files of programs hold these fields.
/// The method that removes digits is not among them: a procedure that is made again has the default one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    /// The number of coefficients of the bootstrap's sparse secret that are not 0.
    weight: u32,
    /// The number of stages, each a sparse matrix, of each of the bootstrap's two linear maps.
    stages: usize,
    /// log2 of the probability that a bootstrap fails; minus infinity for a bootstrap that never
    /// fails.
    log2_chance: Exact,
    /// Whether key-switching keys take half of their polynomials from seeds.
    seeded: bool,
}

fn keep(procedure: &Arc<Procedure>) -> KeptBootstrapping {
    let setup = procedure.setup();
    KeptBootstrapping::new([
        ("weight", setup.weight().into()),
        ("stages", setup.shape().depth.into()),
        (
            "log2_chance",
            String::from(Exact(setup.log2_chance())).into(),
        ),
        ("seeded", procedure.seeded().into()),
    ])
}

fn made_again(kept: KeptBootstrapping, params: &Arc<Params>) -> Result<Arc<Procedure>, String> {
    let kept: Fields = kept.read()?;
    let (params, weight) = (Arc::clone(params), kept.weight);
    let Exact(chance) = kept.log2_chance;
    // The bootstrap is made again for the probability of failure that was accepted when it was made.
    let setup = Bootstrapping::accepting(params, weight, chance);
    let made = || -> Result<Procedure, BootstrapError> {
        let setup = setup?.with_map_depth(kept.stages);
        let maps = Maps::new(&setup, setup.shape())?;
        Procedure::new(setup, maps, kept.seeded)
    };
    made().map(Arc::new).map_err(|e| e.to_string())
}
