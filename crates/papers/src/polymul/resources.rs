// SPDX-License-Identifier: Apache-2.0
//! Synthesises the whole polymul machine. It also compares the modular reductions of section 3.1 of the paper of Mert,
//! Öztürk and Savaş with Montgomery's and Barrett's, which take any modulus.

use std::path::Path;

use ringmill_hdl::polymul::top;
use ringmill_hdl::{Family, Hdl, Resources, Top};
use ringmill_machines::polymul::{Shape, WIDTH};

use crate::area::area;
use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value::synthesised;

/// Returns the name of the tool that synthesises for an FPGA family, with its version.
fn tool(hdl: &Hdl, family: Family) -> String {
    let version = &hdl.tools().versions().pyosys;
    format!("Yosys (pyosys {version}), synth_xilinx -family {family}")
}

/// Returns the resources and longest paths of the whole machine on a 7-series FPGA as one record, or an empty list
/// without synthesis.
pub(super) fn whole(hdl: Option<&Hdl>, shape: Shape) -> Result<Vec<Record>, PaperError> {
    let Some(hdl) = hdl else {
        return Ok(Vec::new());
    };
    let top = top(shape);
    let made = hdl.synthesise(&top)?;
    let paths = hdl.levels(&top, Family::Xc7)?.paths;
    let mut found = area(Some(&made.resources));
    found.extend(record([
        ("tool", tool(hdl, made.family).into()),
        ("levels", synthesised(paths.levels())),
        ("carry", synthesised(paths.carry())),
        ("endpoints", synthesised(paths.endpoints)),
        ("beyond", synthesised(paths.beyond)),
    ]));
    Ok(vec![found])
}

/// Returns the resources on a 7-series FPGA of three modular multipliers of 32 bits, which differ in their reduction.
/// Returns an empty list without synthesis. `reduction_dsp` leaves out the DSP blocks of the integer product, and
/// `own_dsp` is that number for our multiplier.
pub(super) fn reductions(hdl: Option<&Hdl>) -> Result<Vec<Record>, PaperError> {
    let Some(hdl) = hdl else {
        return Ok(Vec::new());
    };
    let hdl = hdl.with_peers(Path::new("."))?;
    let taken = |top: Top| -> Result<Resources, PaperError> {
        let top = top.int("Width", u64::from(WIDTH));
        Ok(hdl.synthesise(&top)?.resources)
    };
    let product = taken(Top::new("rm_mul_tiled"))?.dsp;
    let flavour = ringmill_hdl::leaves::flavour::NTT_FRIENDLY;
    let ours = taken(Top::new("rm_mod_mul").int("Flavour", flavour))?;
    let all = [
        ("word_level", ours.clone()),
        ("montgomery", taken(Top::new("peer_montgomery"))?),
        ("barrett", taken(Top::new("peer_barrett"))?),
    ];
    let found = all.map(|(key, reduction)| {
        let mut found = area(Some(&reduction));
        let dsp = |of: &Resources| synthesised(of.dsp.saturating_sub(product));
        found.extend(record([
            ("tool", tool(&hdl, Family::Xc7).into()),
            ("key", key.into()),
            ("own_dsp", dsp(&ours)),
            ("reduction_dsp", dsp(&reduction)),
        ]));
        found
    });
    Ok(found.into())
}
