// SPDX-License-Identifier: Apache-2.0
//! How BGV's programs bootstrap: by a procedure of the scheme layer.

use std::sync::Arc;

use ringmill_schemes::At;
use ringmill_schemes::bgv::bootstrap::{BootstrapError, Bootstrapping, Maps, Procedure, Read};
use ringmill_schemes::bgv::{Bgv, BgvError, Factor, Params};

use crate::kept::{Exact, KeptBootstrapping};
use crate::scheme::{Bootstraps, Lifted, Sequence, SequenceRead, SequenceStep};

pub(super) const BY_PROCEDURE: Bootstraps<Bgv> = Bootstraps {
    sequence,
    lifted,
    keep,
    made_again,
};

fn sequence(procedure: &Arc<Procedure>) -> Sequence<Bgv> {
    let steps = procedure.steps().iter().map(|step| {
        let (operation, immediates) = step.operation.opened();
        let read = |read: &Read| match *read {
            Read::Value(number) => SequenceRead::Value(number),
            Read::Key(name) => SequenceRead::Key(name),
        };
        SequenceStep {
            operation,
            immediates,
            ciphers: step.ciphers.iter().map(read).collect(),
            constants: step.constants.clone(),
            keys: step.keys.clone(),
            results: step.results.clone(),
        }
    });
    let at = |level| At {
        level,
        annotation: Factor::ONE,
    };
    Sequence {
        name: "bgv.bootstrap".to_owned(),
        start: procedure.start(),
        steps: steps.collect(),
        constants: procedure.constants().iter().map(|c| at(c.level)).collect(),
        output: procedure.output(),
    }
}

fn lifted(
    procedure: &Arc<Procedure>,
    params: &Params,
    number: u32,
) -> Option<Result<Lifted, BgvError>> {
    let constant = procedure.constants().get(number as usize)?;
    let encoded = constant.encoded(params, Factor::ONE);
    Some(match encoded {
        Ok(plain) => Ok(Box::new(plain)),
        Err(error) => Err(error.into()),
    })
}

fn keep(procedure: &Arc<Procedure>) -> KeptBootstrapping {
    let setup = procedure.setup();
    KeptBootstrapping {
        weight: setup.weight(),
        stages: setup.shape().depth,
        log2_chance: Exact(setup.log2_chance()),
        seeded: procedure.seeded(),
    }
}

fn made_again(kept: KeptBootstrapping, params: &Arc<Params>) -> Result<Arc<Procedure>, String> {
    let (params, weight) = (Arc::clone(params), kept.weight);
    let Exact(chance) = kept.log2_chance;
    // What was accepted when it was made; what is no number is accepted as little as there.
    let setup = if chance == f64::NEG_INFINITY {
        Bootstrapping::rigorous(params, weight)
    } else if chance.is_nan() || chance <= Bootstrapping::LOG2_CHANCE {
        Bootstrapping::new(params, weight)
    } else {
        Bootstrapping::with_chance(params, weight, chance.min(0.0))
    };
    let made = || -> Result<Procedure, BootstrapError> {
        let setup = setup?.with_map_depth(kept.stages);
        let maps = Maps::new(&setup, setup.shape())?;
        Procedure::new(setup, maps, kept.seeded)
    };
    made().map(Arc::new).map_err(|e| e.to_string())
}
