// SPDX-License-Identifier: Apache-2.0
//! Computes the time for which a user waits, and its parts: link, host, machine, spills.

use serde::Serialize;

use super::machine::LinkUse;

/// The time in seconds from the first input limb on the host link to the last output limb. The link and the machine's
/// units work in turn, except for transfers inside of procedures. So `seconds` is the sum of the parts minus
/// `overlap_seconds`.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct EndToEnd {
    pub seconds: f64,
    /// The measured time of the host's part of the program. It is `None` if the host has no part or did not run.
    pub host_seconds: Option<f64>,
    pub inputs_seconds: f64,
    /// The time in seconds in which key limbs cross the host link during the run.
    pub keys_seconds: f64,
    /// The time in seconds in which the link transfers the binary instructions and tables of procedures, and the data
    /// of each call.
    pub programs_seconds: f64,
    /// The time in seconds in which the machine's units compute.
    pub compute_seconds: f64,
    /// The time in seconds in which the machine's units wait for distant memory or for instructions.
    pub waits_seconds: f64,
    /// The time in seconds in which the link transfers limbs that leave the machine for lack of room, and later return.
    pub spills_seconds: f64,
    pub outputs_seconds: f64,
    /// The seconds in which the link transfers data while the machine's units compute.
    pub overlap_seconds: f64,
    /// The number of key limbs that count as on the machine before the run. `resident_key_seconds` is the time in which
    /// the link would transfer them.
    pub resident_key_limbs: u64,
    pub resident_key_seconds: f64,
    pub bound: Bound,
}

/// The part of a run's time that is the largest, and advice on how to shorten it.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Bound {
    pub by: TimePart,
    /// The largest part's share of the sum of all parts of the run's time, from 0 to 1.
    pub share: f64,
    /// Advice on how to shorten this part, in words that name fields of the machine's description.
    pub help: String,
}

/// A part of the time from a run's first input to its last output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimePart {
    Host,
    /// The transfer of input and output limbs on the host link.
    LinkData,
    /// The transfer of procedures' binary instructions and tables, and of the data of each call, on the host link.
    LinkPrograms,
    /// The transfer of evaluation keys on the host link.
    LinkKeys,
    /// The transfer of spilled limbs on the host link.
    LinkSpills,
    #[default]
    Compute,
    /// The waits of the machine's units for distant memory and for instructions.
    Waits,
}

impl TimePart {
    /// Returns the name of the part of the time for use in a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "the host",
            Self::LinkData => "the host link, by inputs and outputs",
            Self::LinkPrograms => "the host link, by programs",
            Self::LinkKeys => "the host link, by keys",
            Self::LinkSpills => "the host link, by spills",
            Self::Compute => "compute",
            Self::Waits => "waiting for distant memory and instructions",
        }
    }
}

impl TimePart {
    /// Returns a short name of the part of the time, for the head of a column of a table.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::LinkData => "link, data",
            Self::LinkPrograms => "link, programs",
            Self::LinkKeys => "link, keys",
            Self::LinkSpills => "link, spills",
            Self::Compute => "compute",
            Self::Waits => "distant memory",
        }
    }
}

impl EndToEnd {
    /// Returns the time in seconds of a run that begins without evaluation keys on the machine. The keys then cross the
    /// link first.
    pub fn cold_seconds(&self) -> f64 {
        self.seconds + self.resident_key_seconds
    }

    /// Sets `seconds` to the sum of all parts of the time minus `overlap_seconds`, and finds the largest part.
    /// The function `help` returns the advice on how to shorten that part.
    #[must_use]
    pub fn summed(self, help: impl FnOnce(TimePart) -> String) -> Self {
        let data = self.inputs_seconds + self.outputs_seconds;
        let parts = [
            (TimePart::Compute, self.compute_seconds),
            (TimePart::Waits, self.waits_seconds),
            (TimePart::LinkKeys, self.keys_seconds),
            (TimePart::LinkSpills, self.spills_seconds),
            (TimePart::LinkData, data),
            (TimePart::LinkPrograms, self.programs_seconds),
            (TimePart::Host, self.host_seconds.unwrap_or(0.0)),
        ];
        let sum: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
        let largest = parts
            .into_iter()
            .fold(parts[0], |a, b| if b.1 > a.1 { b } else { a });
        let (by, seconds) = largest;
        let share = if sum > 0.0 { seconds / sum } else { 0.0 };
        Self {
            seconds: sum - self.overlap_seconds,
            bound: Bound {
                by,
                share,
                help: help(by),
            },
            ..self
        }
    }

    /// Returns the time of a run on a machine that executes only some of the instructions, in `compute_seconds`. Host,
    /// link and machine work in turn, so their times add up.
    pub fn offload(host_seconds: Option<f64>, link: &LinkUse, compute_seconds: f64) -> Self {
        let parts = Self {
            host_seconds,
            inputs_seconds: link.seconds_in,
            keys_seconds: link.key_seconds,
            programs_seconds: link.program_seconds,
            compute_seconds,
            outputs_seconds: link.seconds_out,
            ..Self::default()
        };
        parts.summed(|by| {
            let help = match by {
                TimePart::Host => "a machine that has more of the instructions",
                TimePart::LinkData
                | TimePart::LinkPrograms
                | TimePart::LinkKeys
                | TimePart::LinkSpills => {
                    "a faster link (`link.gbit_per_second`), or more work on the machine for each limb sent"
                }
                TimePart::Compute => "more processing units (`units`) or a faster clock (`clock_mhz`)",
                // A machine that executes only some of the instructions has no distant memory of its own.
                TimePart::Waits => "faster distant memory",
            };
            help.to_owned()
        })
    }
}
