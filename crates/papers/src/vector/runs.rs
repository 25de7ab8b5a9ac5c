// SPDX-License-Identifier: Apache-2.0
//! Runs of a program, one after another, while the host brings the data of the next and takes the results of the last (section 6.5.2).

use ringmill_device::report::MachineReport;
use ringmill_machines::vector::VectorUse;
use ringmill_machines::vector::sides::{Period, Placement};

use crate::figure::How;
use crate::row::{Ours, Row};

const TABLE: &str =
    "Section 6.5.2: from one run of a program to the next, host and machine never on one channel";

/// By both placements of its limbs.
pub fn rows(case: &str, report: &MachineReport, own: &VectorUse) -> Vec<Row> {
    let ms = |cycles: u64| cycles as f64 / (report.clock_mhz * 1e3);
    let host = &own.host;
    let row = |placement, of: Option<Period>| {
        let (metric, beside) = match placement {
            Placement::InTurn => ("in turn, on all channels", "then the host"),
            Placement::Apart => ("apart, on half of them each", "beside it the host"),
        };
        let ours = of.map_or(Ours::None, |of| Ours::Is(ms(of.period), How::Model));
        let taken = match host.placement == placement {
            true => "; what the compiler takes",
            false => "",
        };
        let remark = of.map_or_else(
            || "a side has no room for it".to_owned(),
            |of| {
                format!(
                    "machine {:.1} ms, {beside} {:.1} ms of {} limbs{taken}",
                    ms(of.machine),
                    ms(of.host),
                    host.limbs_in + host.limbs_out
                )
            },
        );
        Row::new(TABLE, case, metric, "ms", None, ours).remarked(remark)
    };
    vec![
        row(Placement::InTurn, Some(host.in_turn)),
        row(Placement::Apart, host.apart),
    ]
}
