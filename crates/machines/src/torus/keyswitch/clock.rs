// SPDX-License-Identifier: Apache-2.0
//! A cycle-by-cycle model of the TFHE key-switching unit, without data: `rm_torus_ks_job`, the registers around it
//! and `rm_torus_ks_give`.
//!
//! The model equals the RTL in every cycle, for all stalls of the streams.

use super::skid::Skid;
use super::{Code, Shape};

/// A command to the key-switching unit: the dimension N of the old key (`large`), the dimension n of the new key
/// (`small`), and the number of ciphertexts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Command {
    pub large: u16,
    pub small: u16,
    pub count: u8,
}

/// The position of a result's word at the unit's output: its ciphertext, its column (for n mask words, column n is
/// the body), and whether it is the command's last word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Word {
    pub ciphertext: u8,
    pub column: u16,
    pub last: bool,
}

/// The key-switching unit's inputs in one cycle: a command, the body of a row of the switching key (and whether it is
/// marked as the last), and whether the output word is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Inputs {
    pub command: Option<Command>,
    pub body: Option<bool>,
    pub take: bool,
}

/// The key-switching unit's outputs in one cycle, which depend only on earlier cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown {
    pub ready: bool,
    pub body_ready: bool,
    /// The index of the word that the unit reads of each ciphertext in this cycle; in a ciphertext of N mask words,
    /// index N is the body.
    pub read: Option<u16>,
    pub word: Option<Word>,
    pub done: Option<Code>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    Begin,
    Run,
    Give,
    Swallow,
}

/// The key-switching unit's position in the rows of the key, and in the passes over the columns of the new mask.
#[derive(Clone, Copy, Debug)]
struct Rows {
    word: u16,
    digit: usize,
    left: usize,
    first: bool,
    gap: bool,
    owed: bool,
}

/// The words that the key-switching unit still sends to its output after a pass over the switching key. A pass
/// computes some columns of the new ciphertexts.
#[derive(Clone, Copy, Debug)]
struct Give {
    full: bool,
    lane: usize,
    turn: u8,
    base: usize,
    left: usize,
}

/// The state of one key-switching unit, which starts from a reset.
#[derive(Clone, Debug)]
pub struct Clock {
    shape: Shape,
    cycle: u64,
    state: State,
    code: Code,
    done: bool,
    command: Command,
    rows: Rows,
    /// Whether a stream of the key has too many bodies and its last body has not come yet. `drain` is the number of
    /// cycles until the rows in the pipeline have ended.
    long: bool,
    drain: u64,
    bodies: Skid<bool>,
    /// For each stage of a generator's ring of pipeline stages, the cycle until which the ChaCha20 block that comes
    /// round there is in use.
    taken: Vec<u64>,
    /// The cycle in which the sums of a pass over the switching key are complete, or `None` if no pass is about to
    /// end.
    capture: Option<u64>,
    give: Give,
    out: Skid<Word>,
}

/// The decisions of the unit in one cycle: whether a row of the switching key may begin (`may`) and
/// does (`issue`), and the error of a wrong mark of the last body. `at_end` marks the key's last
/// row.
struct Moves {
    may: bool,
    issue: bool,
    wrong: Option<Code>,
    at_end: bool,
}

impl Clock {
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            cycle: 0,
            state: State::Idle,
            code: Code::Ok,
            done: false,
            command: Command {
                large: 0,
                small: 0,
                count: 0,
            },
            rows: Rows {
                word: 0,
                digit: 0,
                left: 0,
                first: true,
                gap: false,
                owed: false,
            },
            long: false,
            drain: 0,
            bodies: Skid::new(),
            taken: vec![0; shape.ring() as usize],
            capture: None,
            give: Give {
                full: false,
                lane: 0,
                turn: 0,
                base: 0,
                left: 0,
            },
            out: Skid::new(),
        }
    }

    /// Returns the key-switching unit's outputs in this cycle.
    pub fn shown(&self) -> Shown {
        Shown {
            ready: self.state == State::Idle,
            body_ready: self.bodies.ready(),
            read: match self.state {
                State::Begin => Some(self.command.large),
                State::Run if self.moves().issue && self.rows.digit == 0 => Some(self.rows.word),
                State::Run | State::Idle | State::Give | State::Swallow => None,
            },
            word: self.out.shown(),
            done: self.done.then_some(self.code),
        }
    }

    fn moves(&self) -> Moves {
        let rows = &self.rows;
        let at_end =
            rows.word + 1 == self.command.large && rows.digit + 1 == self.shape.digits().levels;
        let place = self.taken[(self.cycle % self.shape.ring()) as usize] <= self.cycle;
        let may = self.state == State::Run && place && !rows.gap && !(at_end && rows.owed);
        let body = self.bodies.shown();
        let wrong = match body {
            Some(last) if may && rows.first && last != at_end => {
                Some(if last { Code::CutShort } else { Code::TooLong })
            }
            _ => None,
        };
        Moves {
            may,
            issue: may && (body.is_some() || !rows.first) && wrong.is_none(),
            wrong,
            at_end,
        }
    }

    fn fits(&self, command: Command) -> bool {
        let shape = self.shape;
        (1..=shape.max_large()).contains(&command.large.into())
            && (1..=shape.max_small()).contains(&command.small.into())
            && (1..=shape.batch()).contains(&command.count.into())
    }

    /// Advances the key-switching unit by one cycle with these inputs.
    pub fn step(&mut self, inputs: Inputs) {
        let moves = self.moves();
        let given = self.step_give(inputs.take);
        let shows = self.bodies.shown();
        let takes = match self.state {
            State::Run => moves.may && self.rows.first,
            State::Swallow => self.long,
            State::Idle | State::Begin | State::Give => false,
        };
        self.bodies.clock(inputs.body, takes);
        self.done = false;
        self.rows.gap = false;
        self.rows.owed &= !given;
        match self.state {
            State::Idle => {
                if let Some(command) = inputs.command {
                    self.command = command;
                    if self.fits(command) {
                        self.code = Code::Ok;
                        self.state = State::Begin;
                    } else {
                        self.code = Code::TooLarge;
                        self.done = true;
                    }
                }
            }
            State::Begin => {
                let left = self.command.small.into();
                self.rows = Rows {
                    word: 0,
                    digit: 0,
                    left,
                    first: true,
                    gap: false,
                    owed: false,
                };
                self.give = Give {
                    full: false,
                    lane: 0,
                    turn: 0,
                    base: 0,
                    left,
                };
                self.state = State::Run;
            }
            State::Run => {
                if moves.issue {
                    self.issue(moves.at_end);
                }
                if let Some(code) = moves.wrong {
                    self.code = code;
                    self.long = code == Code::TooLong;
                    self.drain = self.shape.latency();
                    self.state = State::Swallow;
                }
            }
            State::Give => {
                if given {
                    self.end();
                }
            }
            State::Swallow => {
                if !self.long && self.drain == 0 {
                    self.end();
                }
                self.long &= shows != Some(true);
                self.drain = self.drain.saturating_sub(1);
            }
        }
        self.cycle += 1;
    }

    fn end(&mut self) {
        self.state = State::Idle;
        self.done = true;
    }

    fn issue(&mut self, at_end: bool) {
        let (ring, turns) = (self.shape.ring(), self.shape.turns());
        self.taken[(self.cycle % ring) as usize] = self.cycle + ring * turns;
        let rows = &mut self.rows;
        rows.digit += 1;
        if rows.digit == self.shape.digits().levels {
            rows.digit = 0;
            rows.word += 1;
        }
        if at_end {
            let last = rows.left <= self.shape.lanes();
            *rows = Rows {
                word: 0,
                digit: 0,
                left: rows.left.saturating_sub(self.shape.lanes()),
                first: false,
                gap: true,
                owed: true,
            };
            self.capture = Some(self.cycle + self.shape.latency() + 1);
            if last {
                self.state = State::Give;
            }
        }
    }

    /// Advances the key-switching unit's output by one cycle. Returns whether the last word of a pass over the
    /// switching key goes into the output register.
    fn step_give(&mut self, take: bool) -> bool {
        let lanes = self.shape.lanes();
        let give = &mut self.give;
        let last = give.left <= lanes;
        let top = if last { give.left } else { lanes - 1 };
        let push = give.full && self.out.ready();
        let given = push && give.lane == top && give.turn + 1 == self.command.count;
        let word = give.full.then_some(Word {
            ciphertext: give.turn,
            column: (give.base + give.lane) as u16,
            last: last && given,
        });
        self.out.clock(word, take);
        if push && give.lane == top {
            give.lane = 0;
            give.turn += 1;
        } else if push {
            give.lane += 1;
        }
        if given {
            give.full = false;
            give.base += lanes;
            give.left = give.left.saturating_sub(lanes);
        }
        if self.capture == Some(self.cycle) {
            self.capture = None;
            give.full = true;
            give.lane = 0;
            give.turn = 0;
        }
        given
    }
}
