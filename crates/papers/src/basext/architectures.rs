// SPDX-License-Identifier: Apache-2.0
//! Maps the architecture names of the tables of Kırbıyık's thesis to this project's base-extension units.

use ringmill_hdl::Hdl;
use ringmill_hdl::basext::top_of;
use ringmill_machines::basext::rowers::Algorithm;
use ringmill_machines::basext::{Arithmetic, Radix, Shape, Unit};

use crate::error::PaperError;
use crate::figure::How;

/// Returns our base-extension unit that does the work of a named architecture in the tables of Kırbıyık's thesis.
/// Returns `None` if we have no such unit, or none for so many moduli.
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

/// Counts the multipliers, modular adders and adders of a base-extension unit. With the hardware's tools it counts
/// instances in the elaborated RTL, otherwise in the model. A test holds both equal.
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
