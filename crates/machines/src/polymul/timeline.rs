// SPDX-License-Identifier: Apache-2.0
//! Schedules the multiplier's commands. It assigns jobs to the array of butterflies and to the two streams, and
//! computes the cycle of every command.
//!
//! Jobs alternate between the two sets of polynomials, so that one set is loaded and unloaded while the butterflies
//! work on the other. A command is sent in the first cycle in which its unit and its memory are free. This is at
//! least two cycles after the previous command, when its answer is there. The tables of another modulus go to the
//! table slot whose jobs are over, while the butterflies work with the other slot. Data that the multiplier holds
//! already ([`Resident`]) is not sent again.

use std::collections::BTreeSet;

use ringmill_isa::mid::{ModulusId, ValueId};

use super::isa::Opcode;
use super::jobs::Job;
use super::model::{cycles, load_cycles, table_cycles, unload_cycles};
use super::resident::{apply, holds, slot_for, slot_of};
use super::{Degree, SETS, SLOTS, Shape};
use crate::coprocessor::Resident;

/// A command to the polynomial multiplier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    Tables {
        slot: usize,
        modulus: ModulusId,
    },
    /// Loads a limb into buffer `buf` of set `set`, where each of a set's two buffers holds one polynomial. The
    /// limb is modulo the prime whose tables are in table slot `slot`. `eval` tells whether the limb is in
    /// evaluation form.
    Load {
        set: usize,
        buf: usize,
        eval: bool,
        limb: ValueId,
        slot: usize,
    },
    /// Runs a job's command to the butterflies on the polynomials of set `set`, with the tables in table slot
    /// `slot`.
    Run {
        set: usize,
        slot: usize,
        job: Job,
    },
    /// Unloads the result of a job, polynomial 0 of set `set`. `eval` tells whether it is in evaluation form.
    Unload {
        set: usize,
        eval: bool,
        limb: ValueId,
    },
}

impl Command {
    /// Returns the name of the multiplier's command in reports.
    pub fn name(self) -> &'static str {
        match self {
            Command::Tables { .. } => Opcode::Tables.text(),
            Command::Load { .. } => Opcode::Load.text(),
            Command::Unload { .. } => Opcode::Unload.text(),
            Command::Run { job, .. } => job.op.name(),
        }
    }

    /// Returns the cycles of the command, from its acceptance to its done bit.
    pub fn cycles(self, shape: Shape, degree: Degree) -> u64 {
        match self {
            Command::Tables { .. } => table_cycles(degree),
            Command::Load { .. } => load_cycles(shape, degree),
            Command::Unload { .. } => unload_cycles(shape, degree),
            Command::Run { job, .. } => cycles(shape, degree, job.op),
        }
    }
}

/// A command with the cycle in which the multiplier accepts it, and the cycle of its done bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timed {
    pub command: Command,
    pub begin: u64,
    pub end: u64,
}

/// For each resource of the multiplier the first cycle in which it is free. The resources are the command port, the
/// butterflies, the streams, the sets of polynomials and the table slots.
struct Board {
    shape: Shape,
    degree: Degree,
    timeline: Vec<Timed>,
    /// The cycles in which the command port sends a command. No other command can be sent in such a cycle, in the one
    /// before or in the one after.
    port: BTreeSet<u64>,
    array: u64,
    load: u64,
    unload: u64,
    sets: [u64; SETS],
    slots: [u64; SLOTS],
    resident: Resident,
}

impl Board {
    /// Sends a command in the first cycle from `earliest` on in which the command port is free. Returns the cycle of
    /// the command's end.
    fn send(&mut self, command: Command, earliest: u64) -> u64 {
        let mut begin = earliest;
        while let Some(near) = self.port.range(begin.saturating_sub(1)..=begin + 1).max() {
            begin = near + 2;
        }
        self.port.insert(begin);
        let end = begin + command.cycles(self.shape, self.degree);
        self.timeline.push(Timed {
            command,
            begin,
            end,
        });
        apply(&mut self.resident, command);
        end
    }
}

/// Schedules the jobs of a stage with the loads of operands and tables and the unloads of results, in the order of
/// their cycles. The multiplier is idle before and after; `resident` is the data in it before. Jobs of moduli whose
/// tables are loaded come first, then the others. Both groups are sorted by modulus.
pub fn timeline(shape: Shape, degree: Degree, jobs: &[Job], resident: &Resident) -> Vec<Timed> {
    let mut board = Board {
        shape,
        degree,
        timeline: Vec::new(),
        port: BTreeSet::new(),
        array: 0,
        load: 0,
        unload: 0,
        sets: [0; SETS],
        slots: [0; SLOTS],
        resident: resident.clone(),
    };
    let mut jobs = jobs.to_vec();
    jobs.sort_by_key(|job| (slot_of(resident, job.modulus).is_none(), job.modulus));
    for (number, job) in jobs.iter().enumerate() {
        let slot = slot_for(&board.resident, job.modulus);
        if slot_of(&board.resident, job.modulus).is_none() {
            let modulus = job.modulus;
            let tables = Command::Tables { slot, modulus };
            board.load = board.send(tables, board.load.max(board.slots[slot]));
        }
        let set = number % SETS;
        let forms = job.op.forms();
        let operands = [
            (0, forms.a, Some(job.a)),
            (1, forms.b.unwrap_or_default(), job.b),
        ];
        for (buf, eval, limb) in operands {
            let Some(limb) = limb else { continue };
            if holds(&board.resident, set, buf, limb, eval) {
                continue;
            }
            let load = Command::Load {
                set,
                buf,
                eval,
                limb,
                slot,
            };
            board.load = board.send(load, board.load.max(board.sets[set]));
        }
        let job = *job;
        let run = Command::Run { set, slot, job };
        let operands = board.load.max(board.sets[set]);
        board.array = board.send(run, operands.max(board.array));
        let unload = Command::Unload {
            set,
            eval: forms.out,
            limb: job.out,
        };
        board.unload = board.send(unload, board.array.max(board.unload));
        board.sets[set] = board.unload;
        board.slots[slot] = board.unload;
    }
    board.timeline.sort_by_key(|timed| timed.begin);
    board.timeline
}
