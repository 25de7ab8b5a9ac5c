//! The multiplier behind the [`Machine`] trait: limb programs partitioned between it and the host.

use std::collections::HashSet;
use std::io::Write;

use ringmill_compiler::{Limit, Target};
use ringmill_isa::mid::{Head, Procedure, TableModulus, Verified};

use super::description::Description;
use super::jobs::{Partition, Stage, partition};
use super::shape::{MIN_LOG_N, TOP_LOG_N, WIDTH};
use super::tally::Tally;
use super::timeline::{Command, Timed, loaded_after, timeline};
use super::timing::{RunStage, Timing};
use super::{Degree, PolymulError, Resident, Shape, check_modulus};
use crate::fpga::Fit;
use crate::{Machine, MachineError, Session, SimOptions};

/// A polynomial multiplier made from a description.
#[derive(Clone, Debug)]
pub struct PolymulMachine {
    description: Description,
    shape: Shape,
    fit: Fit,
}

/// What of a program the machine can take: its degree, and which of its moduli.
#[derive(Clone, Debug)]
pub struct Accepted {
    degree: Degree,
    moduli: Vec<bool>,
}

impl Accepted {
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// A procedure of the program in stages.
    pub fn partition(&self, procedure: &Procedure) -> Partition {
        partition(procedure, |modulus| {
            self.moduli.get(usize::from(modulus.0)) == Some(&true)
        })
    }
}

impl PolymulMachine {
    /// # Errors
    /// Those of [`Description::fit`].
    pub fn new(description: Description) -> Result<Self, MachineError> {
        let shape = description.shape()?;
        Ok(Self {
            fit: description.fit()?,
            description,
            shape,
        })
    }

    /// The machine that a text describes.
    ///
    /// # Errors
    /// Those of [`Description::parse`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        Self::new(Description::parse(text)?)
    }

    pub fn details(&self) -> &Description {
        &self.description
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// What of a program runs here.
    ///
    /// # Errors
    /// A degree that is not the machine's, or not one modulus that is.
    pub fn accept(&self, head: &Head<'_>) -> Result<Accepted, MachineError> {
        self.check_values(head)?;
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
            _ => Ok(Accepted { degree, moduli }),
        }
    }

    /// Adds up what runs.
    pub fn tally(&self, degree: Degree) -> Tally {
        Tally::new(
            self.description.clone(),
            self.fit.clone(),
            self.shape,
            degree,
        )
    }

    /// The model's commands of a stage.
    pub fn commands(&self, stage: &Stage, degree: Degree, loaded: Resident) -> Vec<Timed> {
        timeline(self.shape, degree, &stage.jobs, &loaded)
    }

    /// Adds up a program whose stages `run` carries out. A procedure's stages are asked for once for each
    /// state of what is resident.
    ///
    /// # Errors
    /// Those of [`Self::accept`] and of `run`.
    pub fn tally_with<E: From<MachineError>>(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
        run: &mut RunStage<'_, E>,
    ) -> Result<Tally, E> {
        let mut timing = Timing::new(self, program.head(), options.for_now(), run)?;
        let mut stream = program.stream();
        while let Some(called) = stream.next_call().map_err(MachineError::from)? {
            timing.feed(called)?;
        }
        Ok(timing.tally)
    }
}

impl Machine for PolymulMachine {
    fn name(&self) -> &str {
        &self.description.name
    }

    fn clock_mhz(&self) -> f64 {
        self.description.clock_mhz
    }

    fn fit(&self) -> &Fit {
        &self.fit
    }

    /// Transforms and products of the full ring run here; `instructions_by_kind` counts what the host does as
    /// "host ...". Every operand and result crosses the link, whose time is apart from the machine's.
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
            // Each call brings its own modulus.
            moduli: Limit {
                field: "kind",
                is: usize::MAX,
            },
        }
    }

    fn takes(&self, head: &Head<'_>, procedure: &Procedure) -> Result<Vec<bool>, MachineError> {
        let partition = self.accept(head)?.partition(procedure);
        let mut taken = vec![false; procedure.instrs.len()];
        for &at in partition.stages.iter().flat_map(|stage| &stage.offloaded) {
            if let Some(taken) = taken.get_mut(at) {
                *taken = true;
            }
        }
        Ok(taken)
    }

    fn open<'m>(
        &'m self,
        head: Head<'m>,
        options: SimOptions<'m>,
    ) -> Result<Box<dyn Session + 'm>, MachineError> {
        let modelled = |_: &Procedure, _: &Stage, commands| Ok::<_, MachineError>(commands);
        Ok(Box::new(Timing::new(self, head, options, modelled)?))
    }

    fn micro_text(
        &self,
        program: &Verified,
        _options: SimOptions<'_>,
        out: &mut dyn Write,
    ) -> Result<(), MachineError> {
        let accepted = self.accept(&program.head())?;
        let degree = accepted.degree();
        let mut seen = HashSet::new();
        for procedure in program
            .bound_procs()
            .iter()
            .filter(|p| seen.insert(&p.name))
        {
            let partition = accepted.partition(procedure);
            writeln!(out, "proc {} n {}", procedure.name, degree.n())?;
            let mut loaded = Resident::default();
            for (number, stage) in partition.stages.iter().enumerate() {
                writeln!(out, "  stage {number}")?;
                for &at in &stage.host {
                    let op = procedure.instrs.get(at).map_or("", |i| i.op.mnemonic());
                    writeln!(out, "    host {op} #{at}")?;
                }
                let commands = self.commands(stage, degree, loaded);
                loaded = loaded_after(&commands, loaded);
                for t in &commands {
                    writeln!(
                        out,
                        "    {:>8} .. {:>8}  {}",
                        t.begin,
                        t.end,
                        text(t.command)
                    )?;
                }
            }
        }
        Ok(())
    }
}

/// A command as text.
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
