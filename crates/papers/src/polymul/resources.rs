// SPDX-License-Identifier: Apache-2.0
//! Synthesises the whole polymul machine. It also compares the modular reductions of section 3.1 of the paper of Mert,
//! Öztürk and Savaş with Montgomery's and Barrett's, which take any modulus.

use std::path::Path;

use ringmill_hdl::polymul::top;
use ringmill_hdl::{Family, Hdl, Resources, Top};
use ringmill_machines::polymul::{Shape, WIDTH};

use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value::synthesised;

/// Returns the name of the tool that synthesises for an FPGA family, with its version.
fn tool(hdl: &Hdl, family: Family) -> String {
    let version = &hdl.tools().versions().pyosys;
    format!("Yosys (pyosys {version}), synth_xilinx -family {family}")
}

/// Returns the FPGA resources and longest paths of the whole machine in each family, or an empty list without
/// synthesis.
pub(super) fn whole(hdl: Option<&Hdl>, shape: Shape) -> Result<Vec<Record>, PaperError> {
    let Some(hdl) = hdl else {
        return Ok(Vec::new());
    };
    let top = top(shape);
    let made = hdl.synthesise(&top)?;
    let (r, paths) = (&made.resources, hdl.levels(&top, Family::Xc7)?.paths);
    Ok(vec![record([
        ("tool", tool(hdl, made.family).into()),
        ("area.lut", synthesised(r.lut + r.lut_memory)),
        ("area.ff", synthesised(r.ff)),
        ("area.bram", synthesised(r.bram18 as f64 / 2.0)),
        ("area.dsp", synthesised(r.dsp)),
        ("levels", synthesised(paths.levels())),
        ("carry", synthesised(paths.carry())),
        ("endpoints", synthesised(paths.endpoints as f64)),
        ("beyond", synthesised(paths.beyond as f64)),
    ])])
}

/// Returns the FPGA resources of each modular reduction of a 32-bit product, or an empty list without synthesis.
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
    let own = ours.dsp.saturating_sub(product);
    let all = [
        ("special moduli, words of 11 bits", "word_level", ours),
        (
            "Montgomery, any odd modulus",
            "montgomery",
            taken(Top::new("peer_montgomery"))?,
        ),
        (
            "Barrett, any modulus",
            "barrett",
            taken(Top::new("peer_barrett"))?,
        ),
    ];
    let found = all.into_iter().map(|(name, key, peer)| {
        record([
            ("tool", tool(&hdl, Family::Xc7).into()),
            ("reduction", name.into()),
            ("key", key.into()),
            ("own_dsp", synthesised(own)),
            (
                "reduction_dsp",
                synthesised(peer.dsp.saturating_sub(product)),
            ),
            ("dsp", synthesised(peer.dsp)),
            ("lut", synthesised(peer.lut + peer.lut_memory)),
            ("ff", synthesised(peer.ff)),
        ])
    });
    Ok(found.collect())
}
