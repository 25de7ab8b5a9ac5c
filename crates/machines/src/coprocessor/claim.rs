// SPDX-License-Identifier: Apache-2.0
//! Partitions a procedure into stages: the jobs of co-processors, and the instructions that the host runs.

use std::collections::{BTreeMap, HashMap, HashSet};

use ringmill_isa::mid::{Imm, Op, Procedure, ValueId};

use super::Accepted;

/// Instructions of a procedure that a co-processor runs together as one job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The indices of the job's instructions in the procedure, in order. The last instruction makes all results of the
    /// job; only the job reads the results of the others.
    pub instrs: Vec<usize>,
    /// The operands of the job: the values that its instructions read and do not compute, in the order of the reads.
    pub takes: Vec<ValueId>,
    pub gives: Vec<ValueId>,
}

impl Claim {
    /// Makes a job of the instructions with these indices. The caller must make sure that only these instructions read
    /// the results of any but the last, and that none of these results is one of the procedure.
    pub fn new(procedure: &Procedure, mut instrs: Vec<usize>) -> Self {
        instrs.sort_unstable();
        instrs.dedup();
        let (mut made, mut takes, mut gives) = (HashSet::new(), Vec::new(), Vec::new());
        for instr in instrs.iter().filter_map(|&at| procedure.instrs.get(at)) {
            for src in &instr.src {
                if !made.contains(src) && !takes.contains(src) {
                    takes.push(*src);
                }
            }
            made.extend(instr.dst.iter().copied());
            gives.clone_from(&instr.dst);
        }
        Self {
            instrs,
            takes,
            gives,
        }
    }

    /// Returns the index of the job's last instruction, which fixes the job's position in the procedure.
    fn last(&self) -> Option<usize> {
        self.instrs.last().copied()
    }
}

/// One stage of a procedure: instructions of the host, then the co-processors' jobs on their results. No job needs the
/// result of another job of the same stage.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stage {
    /// The indices of the instructions that the host runs in this stage, in order.
    pub host: Vec<usize>,
    /// The values that the host's instructions of this stage read, except its loads and stores. Each value is listed
    /// once.
    pub(super) host_reads: Vec<ValueId>,
    /// For each co-processor its jobs in this stage, in the order of their last instructions.
    pub jobs: Vec<Vec<Claim>>,
}

impl Stage {
    /// Returns the indices of all instructions in the stage's jobs, in order.
    pub fn offloaded(&self) -> Vec<usize> {
        let jobs = self.jobs.iter().flatten();
        let mut all: Vec<usize> = jobs.flat_map(|job| job.instrs.iter().copied()).collect();
        all.sort_unstable();
        all
    }
}

/// The half stage of a value that is read after the procedure's end, because it is a result. Stage s of a procedure
/// has two half stages: 2s for the host's instructions, and 2s + 1 for the co-processors' jobs.
const AFTER_ALL: usize = usize::MAX;

/// A procedure cut into stages, which run one after another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partition {
    pub stages: Vec<Stage>,
    /// The stored value for each value that a `LOAD` of the procedure defines. The host itself has the memory between
    /// `STORE` and `LOAD`, so no data move.
    aliases: HashMap<ValueId, ValueId>,
    /// The half stage in which each value is read last: 2s for the host's instructions of stage s, 2s + 1 for its
    /// jobs. The procedure's results are read in [`AFTER_ALL`].
    last_read: HashMap<ValueId, usize>,
}

impl Partition {
    /// Cuts a procedure into stages. Each co-processor in turn claims jobs among the instructions that no earlier
    /// co-processor claimed. A co-processor that is `None` claims nothing, and a job with an instruction of another job
    /// is dropped. Every instruction is in the earliest stage that its operands allow.
    pub fn new(procedure: &Procedure, units: &[Option<Box<dyn Accepted>>]) -> Self {
        let mut free = vec![true; procedure.instrs.len()];
        let mut claims: Vec<Vec<Claim>> = Vec::with_capacity(units.len());
        for unit in units {
            let mut of_unit = unit
                .as_ref()
                .map_or_else(Vec::new, |unit| unit.claims(procedure, &free));
            // Instructions that are not free belong to another co-processor.
            of_unit.retain(|claim| {
                let all_free = |&at: &usize| free.get(at) == Some(&true);
                let kept = !claim.instrs.is_empty() && claim.instrs.iter().all(all_free);
                for &at in claim.instrs.iter().filter(|_| kept) {
                    free[at] = false;
                }
                kept
            });
            claims.push(of_unit);
        }
        in_stages(procedure, claims)
    }

    /// Returns the stored value if `value` comes from a `LOAD`, otherwise `value` itself.
    pub fn real(&self, value: ValueId) -> ValueId {
        self.aliases.get(&value).copied().unwrap_or(value)
    }

    /// Returns the jobs of all co-processors in all stages of the procedure.
    pub fn jobs(&self) -> impl Iterator<Item = &Claim> {
        self.stages.iter().flat_map(|s| s.jobs.iter().flatten())
    }

    /// Counts the instructions that the host runs, by operation.
    pub fn host(&self, procedure: &Procedure) -> BTreeMap<Op, u64> {
        let mut counts = BTreeMap::new();
        for &at in self.stages.iter().flat_map(|stage| &stage.host) {
            if let Some(instr) = procedure.instrs.get(at) {
                *counts.entry(instr.op).or_default() += 1;
            }
        }
        counts
    }

    /// Returns whether any instruction after the jobs of stage `stage`, or the procedure's end, reads `value`.
    pub(super) fn lives_after(&self, value: ValueId, stage: usize) -> bool {
        self.last_read
            .get(&value)
            .is_some_and(|&last| last > 2 * stage + 1)
    }
}

/// Returns the map from each value that a `LOAD` defines to the value that was stored.
fn aliases(procedure: &Procedure) -> HashMap<ValueId, ValueId> {
    let mut slots = HashMap::new();
    let mut aliases = HashMap::new();
    for instr in &procedure.instrs {
        let Imm::Slot(slot) = instr.imm else { continue };
        match (instr.op, instr.src.first(), instr.dst.first()) {
            (Op::Store, Some(&value), _) => {
                let value = aliases.get(&value).copied().unwrap_or(value);
                slots.insert(slot, value);
            }
            (Op::Load, _, Some(&value)) => {
                aliases.extend(slots.get(&slot).map(|&stored| (value, stored)));
            }
            _ => {}
        }
    }
    aliases
}

/// Assigns each instruction and each job to the earliest stage that its operands allow. Results of a job of stage s are
/// available from stage s + 1 on.
fn in_stages(procedure: &Procedure, claims: Vec<Vec<Claim>>) -> Partition {
    let aliases = aliases(procedure);
    let real = |value: ValueId| aliases.get(&value).copied().unwrap_or(value);
    let units = claims.len();
    let inside: HashSet<usize> = claims
        .iter()
        .flatten()
        .flat_map(|claim| claim.instrs.iter().copied())
        .collect();
    let mut at_last: HashMap<usize, (usize, Claim)> = HashMap::new();
    for (unit, claims) in claims.into_iter().enumerate() {
        for mut claim in claims {
            for value in &mut claim.takes {
                *value = real(*value);
            }
            if let Some(last) = claim.last() {
                at_last.insert(last, (unit, claim));
            }
        }
    }
    // The first stage in which each value is available.
    let mut known: HashMap<ValueId, usize> = HashMap::new();
    let mut last_read: HashMap<ValueId, usize> = HashMap::new();
    let mut stages: Vec<Stage> = Vec::new();
    for (at, instr) in procedure.instrs.iter().enumerate() {
        let job = at_last.remove(&at);
        if job.is_none() && inside.contains(&at) {
            // Instructions that a job absorbs make nothing that others read.
            continue;
        }
        let stored = instr.dst.iter().filter_map(|dst| aliases.get(dst).copied());
        let reads: Vec<ValueId> = match &job {
            Some((_, claim)) => claim.takes.clone(),
            None => instr.src.iter().map(|&v| real(v)).chain(stored).collect(),
        };
        let stage = reads.iter().filter_map(|value| known.get(value)).max();
        let stage = stage.copied().unwrap_or(0);
        if stages.len() <= stage {
            stages.resize_with(stage + 1, || Stage {
                host: Vec::new(),
                host_reads: Vec::new(),
                jobs: vec![Vec::new(); units],
            });
        }
        let half = 2 * stage + usize::from(job.is_some());
        for &value in &reads {
            let last = last_read.entry(value).or_default();
            *last = half.max(*last);
        }
        for dst in &instr.dst {
            known.insert(*dst, stage + usize::from(job.is_some()));
        }
        match job {
            Some((unit, claim)) => stages[stage].jobs[unit].push(claim),
            None => {
                let Stage {
                    host, host_reads, ..
                } = &mut stages[stage];
                host.push(at);
                // Memory outside is the host's: nobody reads a value that is only moved there and back.
                if !matches!(instr.op, Op::Load | Op::Store) {
                    host_reads.extend(reads);
                }
            }
        }
    }
    for stage in &mut stages {
        let mut seen = HashSet::new();
        stage.host_reads.retain(|&value| seen.insert(value));
    }
    for result in &procedure.results {
        last_read.insert(real(result.value), AFTER_ALL);
    }
    Partition {
        stages,
        aliases,
        last_read,
    }
}
