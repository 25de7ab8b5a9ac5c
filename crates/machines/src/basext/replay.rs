// SPDX-License-Identifier: Apache-2.0
//! A cycle-by-cycle model of a command of the folded base-extension unit whose streams stall at the memory's port. It
//! models `rm_basext_job` with its register stage and output queue, without data.

use std::collections::VecDeque;

use super::model::{cycles, folded_delay, load_cycles};
use super::port::{Port, Rate};
use super::{Extension, Shape};

/// Returns the cycles from the command of a base extension until its last beat is in memory. The unit's streams go
/// through a memory port of rate `rate`. The result equals [`cycles`] if the port stalls no stream. `l` and `k` must be
/// at least 1.
pub fn extend_cycles(
    shape: Shape,
    rate: Rate,
    extension: Extension,
    (l, k): (usize, usize),
    log_n: u32,
) -> u64 {
    // An exact extension reads in one process and writes in the other.
    if rate.never_stalls() || (rate.carries_one() && extension == Extension::Exact) {
        return cycles(shape, extension, l, k, log_n);
    }
    replay(shape, rate, extension, (l, k), log_n)
}

/// Returns the cycles in which the unit loads `words` constants through the port, one beat for each constant.
pub fn load_cycles_through(rate: Rate, words: usize) -> u64 {
    if rate.carries_one() {
        return load_cycles(words);
    }
    let (mut port, mut cycle, mut read) = (Port::new(rate), 0, 0);
    while read < words {
        read += usize::from(port.cycle(true, false).read);
        cycle += 1;
    }
    // The unit takes each constant in the cycle after its read. The last constant was read in the cycle before
    // this one.
    cycle + load_cycles(words) - words as u64
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Command,
    Next,
    Rows,
    Turn,
    Post,
    Give,
    Done,
}

/// The two registers of the stream buffer `rm_skid`: the beat at the buffer's output, and a spare beat behind it.
#[derive(Default)]
pub(super) struct Skid {
    shown: bool,
    spare: bool,
}

impl Skid {
    /// Returns whether the stream buffer has a beat at its output.
    pub(super) fn shown(&self) -> bool {
        self.shown
    }

    /// Returns whether the stream buffer is full, with a beat in each of its two registers.
    pub(super) fn spare(&self) -> bool {
        self.spare
    }

    /// Runs one cycle of the stream buffer: `push` brings a beat, and `ready` takes the beat at the output.
    pub(super) fn clock(&mut self, push: bool, ready: bool) {
        let moves = !self.shown || ready;
        let next = self.spare || push;
        self.spare = !moves && next;
        self.shown = !moves || next;
    }
}

/// The state of the unit's pipeline in the cycle model. `puts` has the cycles in which beats of
/// results leave the pipeline, `summed` the cycle in which a target's sums are complete, and
/// `given` the cycle in which the target's last residues leave.
#[derive(Default)]
struct Pipeline {
    puts: VecDeque<u64>,
    summed: Option<u64>,
    given: Option<u64>,
}

pub fn replay(
    shape: Shape,
    rate: Rate,
    extension: Extension,
    (l, k): (usize, usize),
    log_n: u32,
) -> u64 {
    let (exact, beats, delay) = (
        extension == Extension::Exact,
        shape.beats(log_n),
        folded_delay(shape),
    );
    let rows = l as u64 + u64::from(exact);
    let depth = (delay + 5).next_power_of_two();
    let mut port = Port::new(rate);
    let mut left = k as u64 * rows * beats;
    let (mut skid, mut pipeline) = (Skid::default(), Pipeline::default());
    let mut state = State::Command;
    let (mut row, mut at, mut target) = (0u64, 0u64, 0u64);
    let (mut room, mut queued, mut done, mut last) = (depth, 0u64, 0u64, 0u64);
    let mut cycle = 0u64;
    loop {
        let granted = port.cycle(left > 0 && !skid.spare(), queued > 0);
        let gives = state == State::Post || (state == State::Rows && !exact && row + 1 == rows);
        let ready = state == State::Rows && (!gives || room > 0);
        let take = ready && skid.shown();
        let issue = (take && !(exact && row == 0)) || (state == State::Post && room > 0);
        let ends = at + 1 == beats;
        let gives_now = issue && gives;
        if gives_now {
            pipeline.puts.push_back(cycle + delay + 2);
        }
        if issue && ends {
            match state {
                State::Post => pipeline.given = Some(cycle + delay + 2),
                State::Rows if row + 1 == rows && exact => pipeline.summed = Some(cycle + delay),
                State::Rows if row + 1 == rows => pipeline.given = Some(cycle + delay + 2),
                _ => {}
            }
        }
        let next = match state {
            State::Command => State::Next,
            State::Next => State::Rows,
            State::Rows if take && ends && row + 1 == rows => {
                row = 0;
                if exact { State::Turn } else { State::Give }
            }
            State::Rows if take && ends => {
                row += 1;
                state
            }
            State::Turn if pipeline.summed == Some(cycle) => State::Post,
            State::Post if issue && ends => State::Give,
            State::Give if pipeline.given == Some(cycle) => {
                target += 1;
                if target == k as u64 {
                    done = cycle + 1;
                    State::Done
                } else {
                    State::Next
                }
            }
            State::Rows | State::Turn | State::Post | State::Give | State::Done => state,
        };
        if take || (state == State::Post && issue) {
            at = if ends { 0 } else { at + 1 };
        }
        room = room + u64::from(granted.write) - u64::from(gives_now);
        queued -= u64::from(granted.write);
        if granted.write {
            last = cycle;
        }
        if pipeline.puts.front() == Some(&cycle) {
            pipeline.puts.pop_front();
            queued += 1;
        }
        left -= u64::from(granted.read);
        skid.clock(granted.read, ready);
        state = next;
        if state == State::Done && queued == 0 && pipeline.puts.is_empty() {
            return done.max(last);
        }
        cycle += 1;
    }
}
