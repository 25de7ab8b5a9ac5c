// SPDX-License-Identifier: Apache-2.0
//! The polynomial multiplier as a co-processor: which instructions it claims, and which commands run them.

use ringmill_isa::mid::{Head, ModulusId, Procedure, TableModulus};
use ringmill_isa::{Limit, Target};

use super::description::Description;
use super::jobs::{Job, claims};
use super::resident::{LIMBS, TABLES, loaded_after};
use super::shape::{MIN_LOG_N, TOP_LOG_N, WIDTH};
use super::timeline::{Command, Timed, timeline};
use super::{Degree, PolymulError, Shape, Tables, check_modulus};
use crate::coprocessor::{
    Accepted, Claim, Coprocessor, Crosses, Keep, Partition, Resident, Schedule, Step, Stream,
};
use crate::fpga::{Needs, Part};
use crate::{HostLink, MachineError};

/// The bytes of one residue on the multiplier's streams.
const WORD_BYTES: u64 = WIDTH as u64 / 8;

/// A polynomial multiplier as a machine, with its description and the parameters of its RTL.
#[derive(Clone, Debug)]
pub struct PolymulMachine {
    description: Description,
    shape: Shape,
}

/// The state of a multiplier that was opened on a program: the program's ring degree, and for each of its
/// moduli whether the multiplier supports it.
#[derive(Clone, Debug)]
struct Opened {
    shape: Shape,
    degree: Degree,
    moduli: Vec<bool>,
}

impl PolymulMachine {
    /// Makes the machine from its description, without a check that the machine fits its FPGA.
    ///
    /// # Errors
    /// The errors of [`Description::shape`].
    pub fn new(description: Description) -> Result<Self, MachineError> {
        Ok(Self {
            shape: description.shape()?,
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

    pub fn shape(&self) -> Shape {
        self.shape
    }
}

impl Coprocessor for PolymulMachine {
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
            residue_bits: WIDTH,
            beat: self.shape.beat(),
        }
    }

    fn needs(&self) -> Result<Needs, MachineError> {
        let part = Part::named(&self.description.part)?;
        Ok(self.shape.needs(&self.description.name, part))
    }

    fn allowed(&self) -> Option<&str> {
        self.description.allow_more_than_the_part_has.as_deref()
    }

    fn lanes(&self) -> &'static [&'static str] {
        &["array", "load", "unload"]
    }

    fn target(&self) -> Target {
        let limit = |field, is| Limit { field, is };
        Target {
            machine: self.description.name.clone(),
            log_n: Limit {
                field: "max_log_n",
                is: MIN_LOG_N as u8..=self.description.max_log_n.min(TOP_LOG_N) as u8,
            },
            modulus_bits: limit("kind", WIDTH),
            friendly_bits: limit("kind", 0),
            // Each command brings its own modulus.
            moduli: Limit {
                field: "kind",
                is: usize::MAX,
            },
            extends_modulo_primes: false,
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
        // A program's degree is at most 2^17.
        let degree = self.shape.degree(1 << head.log_n.min(31))?;
        let checked = head.moduli.iter().map(|&modulus| match modulus {
            TableModulus::Prime(q) => check_modulus(degree, q),
            TableModulus::Plain(_) | TableModulus::PowerOfTwo(_) => {
                Err(PolymulError::Kind { modulus })
            }
        });
        let refused: Vec<_> = checked.map(Result::err).collect();
        let moduli: Vec<bool> = refused.iter().map(Option::is_none).collect();
        match refused.into_iter().next() {
            Some(Some(first)) if !moduli.contains(&true) => Err(first.into()),
            _ => Ok(Box::new(Opened {
                shape: self.shape,
                degree,
                moduli,
            })),
        }
    }
}

impl Opened {
    fn commands(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Vec<Timed> {
        stage_commands(self.shape, self.degree, procedure, jobs, holds)
    }

    fn accepts(&self, modulus: ModulusId) -> bool {
        self.moduli.get(usize::from(modulus.0)) == Some(&true)
    }
}

impl Accepted for Opened {
    fn claims(&self, procedure: &Procedure, free: &[bool]) -> Vec<Claim> {
        claims(procedure, free, |modulus| self.accepts(modulus))
    }

    fn schedule(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Schedule {
        as_schedule(
            self.shape,
            &self.commands(procedure, jobs, holds),
            holds,
            self.degree,
        )
    }

    fn text(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Vec<String> {
        let commands = self.commands(procedure, jobs, holds);
        commands.iter().map(|timed| text(timed.command)).collect()
    }

    fn keeps(&self) -> Vec<Keep> {
        let keep = |memory, places, bytes| Keep {
            memory,
            places,
            bytes,
        };
        vec![
            keep("polynomial memory", LIMBS, limb_bytes(self.degree)),
            keep("tables", TABLES, table_bytes(self.shape, self.degree)),
        ]
    }
}

fn limb_bytes(degree: Degree) -> u64 {
    WORD_BYTES * degree.n() as u64
}

/// Returns the commands with which the cycle model runs the jobs (`jobs`) of one stage of a
/// procedure. `holds` is the data in the multiplier before the first command.
pub fn stage_commands(
    shape: Shape,
    degree: Degree,
    procedure: &Procedure,
    jobs: &[&Claim],
    holds: &Resident,
) -> Vec<Timed> {
    let jobs = jobs.iter().filter_map(|claim| Job::of(procedure, claim));
    timeline(shape, degree, &jobs.collect::<Vec<_>>(), holds)
}

/// Converts commands with their cycles, which come from the model or the RTL, to a schedule for a
/// card. `holds` is the data in the multiplier before the first command; the schedule also has the
/// data after the last.
pub fn as_schedule(shape: Shape, commands: &[Timed], holds: &Resident, degree: Degree) -> Schedule {
    let bytes = limb_bytes(degree);
    let step = |timed: &Timed| {
        let (lane, crosses) = match timed.command {
            Command::Run { .. } => (0, None),
            Command::Tables { .. } => (
                1,
                Some(Crosses::Tables {
                    bytes: table_bytes(shape, degree),
                }),
            ),
            Command::Load { limb, .. } => (1, Some(Crosses::In { limb, bytes })),
            Command::Unload { limb, .. } => (2, Some(Crosses::Out { limb, bytes })),
        };
        Step {
            name: timed.command.name(),
            lane,
            begin: timed.begin,
            end: timed.end,
            crosses: crosses.into_iter().collect(),
        }
    };
    Schedule {
        steps: commands.iter().map(step).collect(),
        after: loaded_after(commands, holds.clone()),
    }
}

/// Returns the bytes that load the tables of one modulus: header and twiddles.
fn table_bytes(shape: Shape, degree: Degree) -> u64 {
    WORD_BYTES * (degree.n() + Tables::HEADER_BEATS * shape.beat()) as u64
}

/// Partitions a procedure into stages for one multiplier and a host. The multiplier supports the moduli for
/// which `accepts` is true.
pub fn partition(
    shape: Shape,
    degree: Degree,
    procedure: &Procedure,
    accepts: impl Fn(ModulusId) -> bool,
) -> Partition {
    let moduli = (0..procedure.moduli.len()).map(|at| accepts(ModulusId(at as u16)));
    let opened = Opened {
        shape,
        degree,
        moduli: moduli.collect(),
    };
    Partition::new(procedure, &[Some(Box::new(opened))])
}

/// Writes a command as a line of text, which begins with the command's name. Tables have their slot and modulus, a load
/// its set, buffer, slot, form and limb, an unload its set, form and limb, and a run only its set.
fn text(command: Command) -> String {
    let form = |eval: bool| if eval { "eval" } else { "coeff" };
    match command {
        Command::Tables { slot, modulus } => format!("TABLES t{slot} q{}", modulus.0),
        Command::Load {
            set,
            buf,
            eval,
            limb,
            slot,
        } => format!("LOAD   s{set}.{buf} t{slot} {} %{}", form(eval), limb.0),
        Command::Run { set, .. } => format!("{:<6} s{set}", command.name()),
        Command::Unload { set, eval, limb } => {
            format!("UNLOAD s{set}.0 {} %{}", form(eval), limb.0)
        }
    }
}
