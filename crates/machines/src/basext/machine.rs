// SPDX-License-Identifier: Apache-2.0
//! The base-extension unit as a co-processor: which instructions it claims, and which commands run them.

use ringmill_isa::mid::{Head, ModulusId, Procedure, TableModulus};
use ringmill_isa::{Limit, Target};

use super::constants::check;
use super::jobs::{Job, claims};
use super::needs::word_bytes;
use super::timeline::{CONSTANTS, Command, Timed, held, loaded_after, serves, timeline};
use super::{BasextError, Description, MachineUnit, Rate};
use crate::coprocessor::{
    Accepted, Claim, Coprocessor, Crosses, Keep, Resident, Schedule, Step, Stream,
};
use crate::fpga::{Needs, Part};
use crate::{HostLink, MachineError};

/// A base-extension unit as a machine, with its description and the rate of its memory's port.
#[derive(Clone, Debug)]
pub struct BasextMachine {
    description: Description,
    unit: MachineUnit,
    rate: Rate,
}

/// The state of a base-extension unit that was opened on a program: the program's ring degree, and for each
/// of its moduli whether the unit supports it.
#[derive(Clone, Debug)]
struct Opened {
    unit: MachineUnit,
    rate: Rate,
    log_n: u32,
    moduli: Vec<bool>,
}

impl BasextMachine {
    /// Makes the machine from its description, without a check that the machine fits its FPGA.
    ///
    /// # Errors
    /// The errors of [`Description::unit`] and [`Description::rate`].
    pub fn new(description: Description) -> Result<Self, MachineError> {
        Ok(Self {
            unit: description.unit()?,
            rate: description.rate()?,
            description,
        })
    }

    /// Makes the machine from the TOML text of its description. It does not check that the machine fits its
    /// FPGA: the card does that.
    ///
    /// # Errors
    /// The errors of [`Description::read`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        Self::new(Description::read(text)?)
    }

    pub fn unit(&self) -> MachineUnit {
        self.unit
    }

    /// Returns how much data the memory's port transfers in one cycle of the unit.
    pub fn rate(&self) -> Rate {
        self.rate
    }
}

impl Coprocessor for BasextMachine {
    fn kind(&self) -> &'static str {
        super::KIND
    }

    fn name(&self) -> &str {
        &self.description.name
    }

    fn clock_mhz(&self) -> f64 {
        self.description.clock_mhz
    }

    fn link(&self) -> &HostLink {
        &self.description.link
    }

    fn stream(&self) -> Stream {
        Stream {
            residue_bits: self.unit.shape().word().bits(),
            beat: self.unit.shape().lanes(),
        }
    }

    fn needs(&self) -> Result<Needs, MachineError> {
        let part = Part::named(&self.description.part)?;
        Ok(self.unit.needs(&self.description.name, part))
    }

    fn allowed(&self) -> Option<&str> {
        self.description.allow_more_than_the_part_has.as_deref()
    }

    fn lanes(&self) -> &'static [&'static str] {
        &["extension"]
    }

    fn target(&self) -> Target {
        let limit = |field, is| Limit { field, is };
        Target {
            machine: self.description.name.clone(),
            log_n: Limit {
                field: "max_log_n",
                is: self.unit.shape().min_log_n() as u8..=self.unit.shape().max_log_n() as u8,
            },
            modulus_bits: limit("word_bits", self.unit.shape().word().modulus_bits()),
            friendly_bits: limit("min_log_n", 0),
            // Each extension brings its own moduli; the host runs an extension with too many of them.
            moduli: Limit {
                field: "max_l",
                is: usize::MAX,
            },
            extends_modulo_primes: true,
            primes_alone: Limit {
                field: "kind",
                is: false,
            },
            runs_whole: Limit {
                field: "kind",
                is: false,
            },
            expands_seeds: true,
            explicit: false,
            engine: None,
        }
    }

    fn accept(&self, head: &Head<'_>) -> Result<Box<dyn Accepted>, MachineError> {
        let shape = self.unit.shape();
        let log_n = u32::from(head.log_n);
        if !(shape.min_log_n()..=shape.max_log_n()).contains(&log_n) {
            return Err(BasextError::Shape {
                what: "log N",
                expected: format!(
                    "{} to {} (`min_log_n` and `max_log_n` of its description)",
                    shape.min_log_n(),
                    shape.max_log_n()
                ),
                got: log_n.into(),
            }
            .into());
        }
        let checked = head.moduli.iter().map(|&modulus| match modulus {
            TableModulus::Prime(q) => check(shape, q),
            TableModulus::Plain(_) | TableModulus::PowerOfTwo(_) => {
                Err(BasextError::Kind { modulus })
            }
        });
        let refused: Vec<_> = checked.map(Result::err).collect();
        let moduli: Vec<bool> = refused.iter().map(Option::is_none).collect();
        match refused.into_iter().next() {
            Some(Some(first)) if !moduli.contains(&true) => Err(first.into()),
            _ => Ok(Box::new(Opened {
                unit: self.unit,
                rate: self.rate,
                log_n,
                moduli,
            })),
        }
    }
}

impl Opened {
    fn accepts(&self, modulus: ModulusId) -> bool {
        self.moduli.get(usize::from(modulus.0)) == Some(&true)
    }

    fn commands(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Vec<Timed> {
        stage_commands(self.unit, self.rate, procedure, jobs, holds)
    }
}

impl Accepted for Opened {
    fn claims(&self, procedure: &Procedure, free: &[bool]) -> Vec<Claim> {
        claims(procedure, free, self.unit.shape(), |modulus| {
            self.accepts(modulus)
        })
    }

    fn schedule(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Schedule {
        let commands = self.commands(procedure, jobs, holds);
        as_schedule(self.unit, &commands, holds, self.log_n)
    }

    fn text(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Vec<String> {
        let commands = self.commands(procedure, jobs, holds);
        commands.iter().map(|timed| text(&timed.command)).collect()
    }

    fn keeps(&self) -> Vec<Keep> {
        let shape = self.unit.shape();
        let most = self.unit.words(shape.max_l(), shape.max_k()) as u64;
        vec![Keep {
            memory: "constants",
            places: CONSTANTS..=CONSTANTS,
            bytes: most * word_bytes(shape.word()),
        }]
    }
}

/// Returns the commands with which the cycle model runs the base extensions `jobs` of one stage of
/// a procedure. `holds` is the data in the unit before the first command.
pub fn stage_commands(
    unit: MachineUnit,
    rate: Rate,
    procedure: &Procedure,
    jobs: &[&Claim],
    holds: &Resident,
) -> Vec<Timed> {
    let jobs = jobs.iter().filter_map(|claim| Job::of(procedure, claim));
    let log_n = u32::from(procedure.log_n);
    timeline(unit, rate, log_n, jobs.collect(), holds)
}

/// Converts commands with their cycles, which come from the model or the RTL, to a schedule for a
/// card. `holds` is the data in the unit before the first command; the schedule also has the data
/// after the last.
pub fn as_schedule(
    unit: MachineUnit,
    commands: &[Timed],
    holds: &Resident,
    log_n: u32,
) -> Schedule {
    let word = word_bytes(unit.shape().word());
    let bytes = word << log_n;
    let step = |timed: &Timed| {
        let crosses = match &timed.command {
            Command::Constants(bases) => vec![Crosses::Tables {
                bytes: word * unit.words(bases.sources.len(), bases.targets.len()) as u64,
            }],
            Command::Extend(job) => {
                let taken = job.takes().map(|limb| Crosses::In { limb, bytes });
                let given = job.targets.iter();
                let given = given.map(|&limb| Crosses::Out { limb, bytes });
                taken.chain(given).collect()
            }
        };
        Step {
            name: timed.command.name(),
            lane: 0,
            begin: timed.begin,
            end: timed.end,
            crosses,
        }
    };
    Schedule {
        steps: commands.iter().map(step).collect(),
        after: loaded_after(commands, holds.clone()),
    }
}

/// Returns whether the unit must load constants before the extension `job`. `holds` is the data in the unit: it
/// may have no constants, or those of other bases.
pub fn needs_constants(holds: &Resident, job: &Job) -> bool {
    held(holds).is_none_or(|there| !serves(&there, &job.bases))
}

/// Writes a command as a line of text: its name, and its moduli or limbs.
fn text(command: &Command) -> String {
    let moduli = |ids: &[ModulusId]| {
        let names = ids.iter().map(|id| format!("q{}", id.0));
        names.collect::<Vec<_>>().join(" ")
    };
    match command {
        Command::Constants(bases) => {
            let redundant = bases
                .redundant
                .map_or(String::new(), |m| format!(" / q{}", m.0));
            format!(
                "{} {}{redundant} -> {}",
                command.name(),
                moduli(&bases.sources),
                moduli(&bases.targets)
            )
        }
        Command::Extend(job) => {
            let limbs =
                |values: &mut dyn Iterator<Item = String>| values.collect::<Vec<_>>().join(" ");
            let taken = limbs(&mut job.takes().map(|v| format!("%{}", v.0)));
            let given = limbs(&mut job.targets.iter().map(|v| format!("%{}", v.0)));
            format!("{:<9} {taken} -> {given}", command.name())
        }
    }
}
