// SPDX-License-Identifier: Apache-2.0
//! The paper's architectures, by the names of its tables, and our units of them.

use ringmill_hdl::Hdl;
use ringmill_hdl::basext::top_of;
use ringmill_machines::basext::rowers::Algorithm;
use ringmill_machines::basext::{Arithmetic, Radix, Shape, Unit};

use crate::error::PaperError;
use crate::figure::How;

/// Our unit of an architecture; `None` for one that is not built, or not for so many moduli.
pub fn unit(architecture: &str, shape: Shape) -> Option<Unit> {
    match architecture {
        "shenoy_kumaresan" | "shenoy_kumaresan_folded" => Some(Unit::Folded(shape)),
        "shenoy_kumaresan_pipelined" => Some(Unit::Pipelined(shape)),
        "cox_rower" => Some(Unit::Rowers(Algorithm::CoxRower, shape)),
        "mixed_radix" | "mixed_radix_iterative" => Some(Unit::Rowers(Algorithm::MixedRadix, shape)),
        "mixed_radix_pipelined" => Radix::new(shape).ok().map(Unit::Radix),
        _ => None,
    }
}

/// What computes in a unit: counted in the elaborated RTL where its tools are, as the model has it otherwise (a test holds
/// both equal).
pub fn arithmetic(unit: Unit, hdl: Option<&Hdl>) -> Result<(Arithmetic, How), PaperError> {
    let Some(hdl) = hdl else {
        return Ok((unit.arithmetic(), How::Model));
    };
    let found = hdl.instances(&top_of(unit))?;
    let of = |module: &str| found.get(module).copied().unwrap_or(0);
    let counted = Arithmetic {
        multipliers: of("rm_wide_mul"),
        modular_adders: of("rm_mod_add") + of("rm_mod_sub"),
        adders: of("rm_basext_cox"),
    };
    Ok((counted, How::Rtl))
}
