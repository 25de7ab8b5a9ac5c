// SPDX-License-Identifier: Apache-2.0
//! Tests of the unified butterfly, with every flavour of multiplier and in every mode.

use ringmill_hdl::leaves::{MULTIPLIERS, Multiplier};
use ringmill_hdl::{BuildOptions, Hdl};

use crate::common::failure::Check;
use crate::rtl::arith::configs;
use crate::rtl::support::{Case, Pipeline, Rng, hdl, residues, seed};

/// Modes of the butterfly, as numbered in `rm_ntt_pkg::bf_mode_e`.
const MODES: [u64; 4] = [CT, GS, MUL, SUM];
const CT: u64 = 0;
const GS: u64 = 1;
const MUL: u64 = 2;
const SUM: u64 = 3;

pub fn check_butterfly(hdl: &Hdl, multiplier: &Multiplier, seed: u64) -> Check {
    let mut rng = Rng::new(seed);
    let model = hdl.model(&multiplier.top("rm_butterfly"), BuildOptions::default())?;
    let ports = ["u_i", "v_i", "w_i"].map(|name| (name, multiplier.width));
    let mut pipeline = Pipeline::new(model, &ports, &["out0_o", "out1_o"])?;
    for config in configs(multiplier, &mut rng) {
        let q = config.modulus;
        for mode in MODES {
            for half in [0, 1] {
                pipeline.model.restart(rng.bits() as u32)?;
                config.apply(&mut pipeline)?;
                pipeline.set("one_i", config.r)?;
                pipeline.set("mode_i", mode)?;
                pipeline.set("half_i", half)?;
                let us = residues(q.value(), 60, &mut rng);
                let h = if half == 1 { q.value().div_ceil(2) } else { 1 };
                let cases: Vec<Case> = us
                    .into_iter()
                    .map(|u| {
                        let pick = residues(q.value(), 4, &mut rng);
                        let (v, w) = (
                            pick[rng.below(pick.len() as u64) as usize],
                            pick[rng.below(pick.len() as u64) as usize],
                        );
                        let outputs = match mode {
                            CT => {
                                let t = config.product(v, w);
                                vec![q.add(u, t), q.sub(u, t)]
                            }
                            GS => vec![
                                q.mul(q.add(u, v), h),
                                config.product(q.mul(q.sub(u, v), h), w),
                            ],
                            MUL => vec![u, config.product(v, w)],
                            _ => vec![q.add(u, v), q.sub(u, v)],
                        };
                        Case {
                            inputs: vec![u, v, w],
                            outputs,
                        }
                    })
                    .collect();
                pipeline.run(&cases, multiplier.latency + 1, &mut rng)?;
            }
        }
    }
    Ok(())
}

#[test]
#[ignore = "many small models; `make full` runs it"]
fn every_mode_and_flavour() {
    // One 54-bit prime is enough here: the multiplier tests have the other.
    for multiplier in MULTIPLIERS
        .iter()
        .filter(|m| m.q != MULTIPLIERS[4].q || m.q.is_none())
    {
        check_butterfly(hdl(), multiplier, seed())
            .unwrap_or_else(|e| panic!("{}: {e:?}", multiplier.name));
    }
}
