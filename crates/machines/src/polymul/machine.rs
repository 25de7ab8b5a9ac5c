//! The multiplier behind the [`Machine`] trait: limb programs partitioned between it and the host.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::Write;

use ringmill_compiler::{Limit, Target};
use ringmill_isa::mid::{Called, Procedure, TableModulus, Verified};

use super::description::Description;
use super::jobs::{Partition, Stage, partition};
use super::shape::{MIN_LOG_N, TOP_LOG_N, WIDTH};
use super::tally::Tally;
use super::timeline::{Command, Timed, loaded_after, timeline};
use super::{Degree, PolymulError, Resident, Shape, check_modulus};
use crate::report::MachineReport;
use crate::{Machine, MachineError, SimOptions};

/// A polynomial multiplier made from a description.
#[derive(Clone, Debug)]
pub struct PolymulMachine {
    description: Description,
    shape: Shape,
    /// The description as it was written, comments and all.
    text: Option<String>,
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

/// Carries out a stage: given the procedure, the stage and the model's commands, the commands as they ran.
pub type RunStage<'a, E> = dyn FnMut(&Procedure, &Stage, Vec<Timed>) -> Result<Vec<Timed>, E> + 'a;

impl PolymulMachine {
    /// # Errors
    /// [`MachineError::Field`] for a description out of range.
    pub fn new(description: Description) -> Result<Self, MachineError> {
        let shape = description.shape()?;
        Ok(Self {
            description,
            shape,
            text: None,
        })
    }

    /// The machine that a text describes.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] and [`MachineError::Field`].
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        Ok(Self {
            text: Some(text.to_owned()),
            ..Self::new(Description::parse(text)?)?
        })
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
    pub fn accept(&self, program: &Verified) -> Result<Accepted, MachineError> {
        self.check_values(program)?;
        // A program's degree is at most 2^17.
        let degree = self.shape.degree(1 << program.log_n.min(31))?;
        let checked = program.moduli.iter().map(|&modulus| match modulus {
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
        Tally::new(self.description.clone(), self.shape, degree)
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
        let SimOptions {
            mut trace,
            mut progress,
            watch,
            ..
        } = options;
        let accepted = self.accept(program)?;
        let degree = accepted.degree();
        let procs = program.bound_procs();
        let partitions: Vec<_> = procs.iter().map(|p| accepted.partition(p)).collect();
        let mut plans: HashMap<(u32, Resident), Vec<Vec<Timed>>> = HashMap::new();
        let mut tally = self.tally(degree);
        let mut loaded = Resident::default();
        let mut stream = program.stream();
        while let Some(Called { number, call, .. }) =
            stream.next_call().map_err(MachineError::from)?
        {
            watch.check().map_err(MachineError::from)?;
            let at = call.proc as usize;
            let (Some(procedure), Some(partition)) = (procs.get(at), partitions.get(at)) else {
                return Err(MachineError::Program(format!("no procedure {at}")).into());
            };
            loaded = loaded.enter(procedure, &call);
            let key = (call.proc, loaded);
            let stages = match plans.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(slot) => {
                    let mut tables = loaded;
                    let mut stages = Vec::with_capacity(partition.stages.len());
                    for stage in &partition.stages {
                        let commands = self.commands(stage, degree, tables);
                        tables = loaded_after(&commands, tables);
                        stages.push(run(procedure, stage, commands)?);
                    }
                    slot.insert(stages)
                }
            };
            tally.call(procedure, partition);
            for commands in stages.iter() {
                // Not a `map`: a reborrow of the sink lives for one call.
                match &mut trace {
                    Some(sink) => tally.stage(commands, Some(&mut **sink)),
                    None => tally.stage(commands, None),
                }
                loaded = loaded_after(commands, loaded);
            }
            loaded = loaded.leave(procedure, &call);
            if let Some(tell) = &mut progress {
                tell(number + 1);
            }
        }
        Ok(tally)
    }
}

impl Machine for PolymulMachine {
    fn name(&self) -> &str {
        &self.description.name
    }

    fn description(&self) -> String {
        let made = || toml::to_string(&self.description).unwrap_or_default();
        self.text.clone().unwrap_or_else(made)
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

    fn simulate(
        &self,
        program: &Verified,
        options: SimOptions<'_>,
    ) -> Result<MachineReport, MachineError> {
        let modelled = &mut |_: &Procedure, _: &Stage, commands| Ok::<_, MachineError>(commands);
        Ok(self.tally_with(program, options, modelled)?.report("model"))
    }

    fn micro_text(
        &self,
        program: &Verified,
        _options: SimOptions<'_>,
        out: &mut dyn Write,
    ) -> Result<(), MachineError> {
        let accepted = self.accept(program)?;
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
