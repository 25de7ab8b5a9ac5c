// SPDX-License-Identifier: Apache-2.0
//! Runs of whole programs on the vector machine: the period from one run to the next (BASALISC paper, section 6.5.2),
//! and the use of the cycles of the buffer's ports.

use ringmill_device::report::MachineReport;
use ringmill_machines::vector::sides::{Period, Placement};
use ringmill_machines::vector::{Description, Tally, VectorUse};

use crate::scope::{Record, record};
use crate::value::{Value, model};

/// A run of a program on the vector machine: the common part of its report, and the part that only vector machines
/// have.
pub struct Run {
    pub report: MachineReport,
    pub own: VectorUse,
}

impl Run {
    /// Converts cycles of the machine's clock to milliseconds.
    pub fn ms(&self, cycles: u64) -> f64 {
        cycles as f64 / (self.report.clock_mhz * 1e3)
    }

    /// Converts cycles of the machine's clock to seconds.
    pub fn seconds(&self, cycles: u64) -> f64 {
        cycles as f64 / (self.report.clock_mhz * 1e6)
    }

    /// Returns a lower bound on the cycles that any schedule of the program takes.
    pub fn floor(&self) -> u64 {
        self.own.port_floor.max(self.own.mac_floor)
    }

    /// Returns the period from one run to the next, for both placements of the program's limbs in distant memory: in
    /// turn over all channels, or apart on one half of them. During a run the host brings the data of the next run and
    /// takes the results of the last.
    pub fn periods(&self) -> Vec<Record> {
        let host = &self.own.host;
        let limbs = host.limbs_in + host.limbs_out;
        let period = |placement, of: Option<Period>| {
            let (metric, beside) = match placement {
                Placement::InTurn => ("in turn, on all channels", "then the host"),
                Placement::Apart => ("apart, on half of them each", "beside it the host"),
            };
            let taken = match host.placement == placement {
                true => "; what the compiler takes",
                false => "",
            };
            let said = of.map_or_else(
                || "a side has no room for it".to_owned(),
                |of| {
                    let (machine, host) = (self.ms(of.machine), self.ms(of.host));
                    format!(
                        "machine {machine:.1} ms, {beside} {host:.1} ms of {limbs} limbs{taken}"
                    )
                },
            );
            record([
                ("placement", metric.into()),
                (
                    "period",
                    of.map_or(Value::None, |of| model(self.ms(of.period))),
                ),
                ("said", said.into()),
            ])
        };
        vec![
            period(Placement::InTurn, Some(host.in_turn)),
            period(Placement::Apart, host.apart),
        ]
    }

    /// Returns the cycles of the buffer's ports, and the chunks through each unit, once as the BASALISC paper counts
    /// time, and once with distant memory and instructions counted too.
    pub fn splits(&self) -> Vec<Record> {
        let busy = |unit: &str| {
            let found = self.report.utilisation.iter().find(|of| of.unit == unit);
            found.map_or(0.0, |of| of.busy_cycles as f64)
        };
        let own = &self.own;
        let split = |name: &str, cycles: u64, stalls: u64| {
            record([
                ("split", name.into()),
                ("cycles", (cycles as f64).into()),
                ("reads", (own.port_reads as f64).into()),
                ("writes", (own.port_writes as f64).into()),
                ("stalls", (stalls as f64).into()),
                ("mac", busy("multiply-accumulate").into()),
                ("transform", busy("transform").into()),
            ])
        };
        let by_papers = own.port_stalls_by_papers_counting;
        vec![
            split("paper's counting", own.cycles_by_papers_counting, by_papers),
            split("with distant memory", self.report.cycles, own.port_stalls),
        ]
    }
}

/// Returns how a procedure that runs alone used the cycles of the buffer's ports. It took `micro` micro-cycles
/// (`micro.buffer` of them make one cycle of the ciphertext buffer).
pub fn split(name: &str, d: &Description, micro: u64, tally: &Tally) -> Record {
    let m = d.micro;
    let in_cycles = |micro: u64| Value::number(micro as f64 / m.buffer as f64);
    record([
        ("split", name.into()),
        ("cycles", (micro.div_ceil(m.buffer) as f64).into()),
        ("reads", (tally.reads as f64).into()),
        ("writes", (tally.writes as f64).into()),
        ("stalls", ((tally.stalled / m.buffer) as f64).into()),
        ("mac", in_cycles(tally.mac * m.mac)),
        ("transform", in_cycles(tally.transform * 2 * m.transform)),
    ])
}
