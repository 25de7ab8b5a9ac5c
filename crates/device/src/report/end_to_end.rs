// SPDX-License-Identifier: Apache-2.0
//! The time that a user waits for, and what it is made of.

use serde::Serialize;

use super::machine::LinkUse;

/// Seconds from the first input limb on the host link to the last output limb. Link and units work in turn, but for what
/// a program moves inside its procedures: `seconds` is the sum of the parts less `overlap_seconds`.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct EndToEnd {
    pub seconds: f64,
    /// Measured, of what the machine leaves to its host; `None` where nothing is left or it was not run.
    pub host_seconds: Option<f64>,
    pub inputs_seconds: f64,
    /// Key limbs over the link during the run.
    pub keys_seconds: f64,
    /// Words and tables of procedures over the link, and what each call is told.
    pub programs_seconds: f64,
    /// The machine's units at work.
    pub compute_seconds: f64,
    /// Limbs that leave the machine for want of room and come back.
    pub spills_seconds: f64,
    pub outputs_seconds: f64,
    /// Of the link's time, how much hides behind the units'.
    pub overlap_seconds: f64,
    /// Key limbs that are taken to be on the machine before the run, and what it would take to bring them.
    pub resident_key_limbs: u64,
    pub resident_key_seconds: f64,
    pub bound: Bound,
}

/// What most of the time goes to, and what would make it less.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Bound {
    pub by: TimePart,
    /// Its share of the parts' sum, 0 to 1.
    pub share: f64,
    /// What would help, in words; fields of the description by their names.
    pub help: String,
}

/// A part of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimePart {
    Host,
    /// The link, by inputs and outputs.
    LinkData,
    /// The link, by words and tables.
    LinkPrograms,
    /// The link, by keys.
    LinkKeys,
    /// The link, by spills.
    LinkSpills,
    #[default]
    Compute,
}

impl TimePart {
    /// As a sentence has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "the host",
            Self::LinkData => "the host link, by inputs and outputs",
            Self::LinkPrograms => "the host link, by programs",
            Self::LinkKeys => "the host link, by keys",
            Self::LinkSpills => "the host link, by spills",
            Self::Compute => "compute",
        }
    }
}

impl TimePart {
    /// As a column has it.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::LinkData => "link, data",
            Self::LinkPrograms => "link, programs",
            Self::LinkKeys => "link, keys",
            Self::LinkSpills => "link, spills",
            Self::Compute => "compute",
        }
    }
}

impl EndToEnd {
    /// The time as the sum of the parts that are there, and the largest of them; `help` says what would shorten it.
    #[must_use]
    pub fn summed(self, help: impl FnOnce(TimePart) -> String) -> Self {
        let data = self.inputs_seconds + self.outputs_seconds;
        let parts = [
            (TimePart::Compute, self.compute_seconds),
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

    /// Of a machine that takes a part of the instructions only: host, link and machine in turn.
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
            };
            help.to_owned()
        })
    }
}
