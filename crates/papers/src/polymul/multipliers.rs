// SPDX-License-Identifier: Apache-2.0
//! Section 3.1: reductions for special moduli beside Montgomery's and Barrett's for any, from synthesis.

use std::path::Path;

use ringmill_hdl::{Family, Hdl, Resources, Top};
use ringmill_machines::polymul::WIDTH;

use super::paper::Polymul;
use super::{Rows, resources};
use crate::error::PaperError;
use crate::figure::{Figure, How};

const TABLE: &str = "Section 3.1: modular multipliers of 32 bits";

pub(super) fn rows(rows: &Rows, paper: &Polymul, hdl: &Hdl) -> Result<Vec<Figure>, PaperError> {
    let hdl = hdl.with_peers(Path::new("."))?;
    let taken = |top: Top| -> Result<Resources, PaperError> {
        Ok(hdl
            .synthesise(&top.int("Width", u64::from(WIDTH)))?
            .resources)
    };
    let product = taken(Top::new("rm_mul_tiled"))?.dsp;
    let flavour = ringmill_hdl::leaves::flavour::NTT_FRIENDLY;
    let ours = taken(Top::new("rm_mod_mul").int("Flavour", flavour))?;
    let montgomery = taken(Top::new("peer_montgomery"))?;
    let barrett = taken(Top::new("peer_barrett"))?;
    let tool = resources::tool(&hdl, Family::Xc7);
    let mut found = Vec::new();
    let mut push = |case: &str, metric: &str, unit: &str, theirs, value| {
        let made = rows.of(How::Synthesis, TABLE, case, metric, unit, theirs, value);
        found.push(Figure {
            tool: Some(tool.clone()),
            ..made
        });
    };
    let own = ours.dsp.saturating_sub(product) as f64;
    for (case, peer, theirs, saving) in [
        (
            "special moduli, words of 11 bits",
            &ours,
            paper.reduction_dsp.word_level,
            None,
        ),
        (
            "Montgomery, any odd modulus",
            &montgomery,
            paper.reduction_dsp.montgomery,
            Some(paper.reduction_dsp_saving_percent.montgomery),
        ),
        (
            "Barrett, any modulus",
            &barrett,
            paper.reduction_dsp.barrett,
            Some(paper.reduction_dsp_saving_percent.barrett),
        ),
    ] {
        let reduction = peer.dsp.saturating_sub(product) as f64;
        push(case, "DSP of the reduction", "", Some(theirs), reduction);
        if let Some(saving) = saving {
            let saved = 100.0 * (1.0 - own / reduction);
            push(case, "DSP that ours saves of it", "%", Some(saving), saved);
        }
        push(case, "DSP, with the product", "", None, peer.dsp as f64);
        push(case, "LUT", "", None, (peer.lut + peer.lut_memory) as f64);
        push(case, "FF", "", None, peer.ff as f64);
    }
    Ok(found)
}
