// SPDX-License-Identifier: Apache-2.0
//! The figures of co-processors and of their host in the report of a run.

use std::fmt;

use serde::Serialize;

use super::shelf::CardUse;
use ringmill_device::report::{How, MachineReport, OwnReport, Remarks, Rows, grouped, seconds};

/// The instructions of a program that the co-processors of a card and the host run, and the time that this division
/// saves.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct OffloadUse {
    /// The number of limb instructions that the host runs; `machine_instructions` is the number that the machine runs.
    pub host_instructions: u64,
    pub machine_instructions: u64,
    /// For each co-processor of the card, the instructions that it runs and its cycles.
    pub coprocessors: Vec<CoprocessorUse>,
    /// The transfers of the card's memory, which replace transfers over the link; `None` for a card without memory.
    pub card: Option<CardUse>,
    /// The measured times of the program's run; `None` if the program was only timed, by models or RTL, and not run on
    /// data.
    pub measured: Option<OffloadTimes>,
}

/// One co-processor's part of a program: its instructions and cycles.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CoprocessorUse {
    pub name: String,
    /// The number of limb instructions that the co-processor runs.
    pub instructions: u64,
    pub cycles: u64,
}

/// The seconds of a run in which a machine, the co-processors of a card, runs a part of the program
/// for the host. The host's seconds are measured. Those of machine and link follow from the
/// description's clock and rate. Only one of host, link and machine works at a time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct OffloadTimes {
    /// The number of threads with which the host ran its instructions.
    pub threads: usize,
    /// The measured seconds of the instructions that the host runs.
    pub host_seconds: f64,
    /// The measured seconds that the host takes for the machine's instructions if it runs them itself.
    pub replaced_seconds: f64,
    pub machine_seconds: f64,
    pub link_seconds: f64,
    /// The measured seconds of the whole program on the host alone.
    pub alone_seconds: f64,
    /// The sum of the seconds of host, link and machine in a run with the machine.
    pub offloaded_seconds: f64,
    /// The speedup by the offload: `alone_seconds` divided by `offloaded_seconds`.
    pub speedup: f64,
    /// The speedup over the host alone that the program would have if machine and link took no
    /// time: Amdahl's bound.
    pub speedup_bound: f64,
}

/// The measured seconds of a program's parts on the host, from which [`OffloadTimes`] is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostTimes {
    pub threads: usize,
    pub host_seconds: f64,
    pub replaced_seconds: f64,
    pub alone_seconds: f64,
}

impl OffloadTimes {
    /// Computes the times of the offload from the host's measured times and the machine's report.
    pub fn new(host: HostTimes, report: &MachineReport) -> Self {
        let link = &report.link;
        let link = link.seconds_in + link.seconds_out + link.key_seconds + link.program_seconds;
        let offloaded = host.host_seconds + report.seconds + link;
        // Clocks have a resolution; a program of transforms alone has no bound.
        let over = |divisor: f64| host.alone_seconds / divisor.max(1e-12);
        Self {
            threads: host.threads,
            host_seconds: host.host_seconds,
            replaced_seconds: host.replaced_seconds,
            machine_seconds: report.seconds,
            link_seconds: link,
            alone_seconds: host.alone_seconds,
            offloaded_seconds: offloaded,
            speedup: over(offloaded),
            speedup_bound: over(host.host_seconds),
        }
    }
}

impl OwnReport for OffloadUse {
    const KEY: &'static str = "offload";

    /// Writes the rows of the offload: the numbers of instructions, the use of the card's memory, and the measured
    /// times with the speedup.
    fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result {
        let machine = Some(how);
        rows.section("Offload")?;
        let counts = format!(
            "{} on the machine, {} on the host",
            grouped(self.machine_instructions),
            grouped(self.host_instructions)
        );
        rows.row("limb instructions", counts, Some(How::Counted))?;
        // The row above already describes a single co-processor.
        let several = self
            .coprocessors
            .iter()
            .filter(|_| self.coprocessors.len() > 1);
        for unit in several {
            let share = format!(
                "{} instructions, {} cycles",
                grouped(unit.instructions),
                grouped(unit.cycles)
            );
            rows.row(&unit.name, share, machine)?;
        }
        if let Some(card) = &self.card {
            let text = format!(
                "{} limbs instead of the link, {} of them made there; {} left for want of room",
                grouped(card.taken_from_card),
                grouped(card.handed_on),
                grouped(card.made_room)
            );
            rows.row("from the card's memory", text, machine)?;
            let saved = format!(
                "{} of {} bytes",
                seconds(card.link_seconds_saved),
                grouped(card.link_bytes_saved)
            );
            rows.row("link time saved by it", saved, Some(How::Model))?;
        }
        let Some(t) = &self.measured else {
            return Ok(());
        };
        let measured = Some(How::Measured);
        let threads = match t.threads {
            1 => "1 thread".to_owned(),
            n => format!("{n} threads"),
        };
        rows.row(
            "host's part",
            format!("{}, {threads}", seconds(t.host_seconds)),
            measured,
        )?;
        let rest = format!("{}, {threads}", seconds(t.replaced_seconds));
        rows.row("machine's part on the host", rest, measured)?;
        rows.row("machine", seconds(t.machine_seconds), machine)?;
        rows.row("host link", seconds(t.link_seconds), Some(How::Model))?;
        rows.row("all on the host", seconds(t.alone_seconds), None)?;
        let whole = format!(
            "{}: {:.2} times as fast",
            seconds(t.offloaded_seconds),
            t.speedup
        );
        rows.row("host, link, machine in turn", whole, None)?;
        let bound = format!("{:.2} times as fast at most", t.speedup_bound);
        rows.row("were machine and link free", bound, None)
    }

    fn remarks(&self) -> Remarks {
        Remarks {
            hosted: true,
            speedup: self.measured.map(|times| times.speedup),
            ..Remarks::default()
        }
    }
}
