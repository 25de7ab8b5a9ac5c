//! The command scheduler: jobs onto the array and the two streams, with the cycle of every command.
//!
//! Jobs alternate between the two sets of polynomials, so that one loads and one unloads while one computes. A command is
//! sent in the first cycle in which its unit and its memory are free and no other command is sent. The tables of another
//! modulus wait until all is idle.

use std::collections::BTreeSet;

use ringmill_isa::mid::{ModulusId, ValueId};

use super::jobs::Job;
use super::model::{cycles, load_cycles, table_cycles, unload_cycles};
use super::{ArrayOp, Degree, SETS, Shape};

/// A command to the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    Tables(ModulusId),
    /// A limb to polynomial `buf` of `set`; `eval` says its form.
    Load {
        set: usize,
        buf: usize,
        eval: bool,
        limb: ValueId,
    },
    Run {
        set: usize,
        op: ArrayOp,
    },
    /// Polynomial 0 of `set`.
    Unload {
        set: usize,
        eval: bool,
        limb: ValueId,
    },
}

impl Command {
    /// For reports.
    pub fn name(self) -> &'static str {
        match self {
            Command::Tables(_) => "TABLES",
            Command::Load { .. } => "LOAD",
            Command::Unload { .. } => "UNLOAD",
            Command::Run { op, .. } => op.name(),
        }
    }

    /// Cycles from its acceptance to its done bit.
    pub fn cycles(self, shape: Shape, degree: Degree) -> u64 {
        match self {
            Command::Tables(_) => table_cycles(degree),
            Command::Load { .. } => load_cycles(shape, degree),
            Command::Unload { .. } => unload_cycles(shape, degree),
            Command::Run { op, .. } => cycles(shape, degree, op),
        }
    }
}

/// A command with the cycle in which it is accepted and the one in which its done bit is up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timed {
    pub command: Command,
    pub begin: u64,
    pub end: u64,
}

/// Jobs with the command port, the units and the sets they hold.
struct Board {
    shape: Shape,
    degree: Degree,
    timeline: Vec<Timed>,
    /// Cycles in which a command is sent.
    port: BTreeSet<u64>,
    array: u64,
    load: u64,
    unload: u64,
    sets: [u64; SETS],
}

impl Board {
    /// Sends a command at `earliest` or the first cycle after it with the port free; its end.
    fn send(&mut self, command: Command, earliest: u64) -> u64 {
        let mut begin = earliest;
        while !self.port.insert(begin) {
            begin += 1;
        }
        let end = begin + command.cycles(self.shape, self.degree);
        self.timeline.push(Timed {
            command,
            begin,
            end,
        });
        end
    }

    fn idle(&self) -> u64 {
        let streams = self.load.max(self.unload);
        self.sets
            .iter()
            .fold(streams.max(self.array), |a, &b| a.max(b))
    }
}

/// Commands of the jobs of a stage, tables included, in the order of their cycles; the machine starts and ends idle, with
/// the tables of `loaded` at the start. Jobs of that modulus come first, then modulus after modulus.
pub fn timeline(
    shape: Shape,
    degree: Degree,
    jobs: &[Job],
    loaded: Option<ModulusId>,
) -> Vec<Timed> {
    let mut board = Board {
        shape,
        degree,
        timeline: Vec::new(),
        port: BTreeSet::new(),
        array: 0,
        load: 0,
        unload: 0,
        sets: [0; SETS],
    };
    let mut jobs = jobs.to_vec();
    jobs.sort_by_key(|job| (Some(job.modulus) != loaded, job.modulus));
    let mut tables = loaded;
    for (number, job) in jobs.iter().enumerate() {
        if tables != Some(job.modulus) {
            let end = board.send(Command::Tables(job.modulus), board.idle());
            (board.load, board.array, board.unload) = (end, end, end);
            tables = Some(job.modulus);
        }
        let set = number % SETS;
        let forms = job.op.forms();
        let operands = [
            (0, forms.a, Some(job.a)),
            (1, forms.b.unwrap_or_default(), job.b),
        ];
        for (buf, eval, limb) in operands {
            let Some(limb) = limb else { continue };
            let load = Command::Load {
                set,
                buf,
                eval,
                limb,
            };
            board.load = board.send(load, board.load.max(board.sets[set]));
        }
        let run = Command::Run { set, op: job.op };
        board.array = board.send(run, board.load.max(board.array));
        let unload = Command::Unload {
            set,
            eval: forms.out,
            limb: job.out,
        };
        board.unload = board.send(unload, board.array.max(board.unload));
        board.sets[set] = board.unload;
    }
    board.timeline.sort_by_key(|timed| timed.begin);
    board.timeline
}

/// The modulus whose tables are loaded after some commands, `before` being loaded before.
pub fn loaded_after(commands: &[Timed], before: Option<ModulusId>) -> Option<ModulusId> {
    let last = commands.iter().rev().find_map(|t| match t.command {
        Command::Tables(modulus) => Some(modulus),
        _ => None,
    });
    last.or(before)
}
