// SPDX-License-Identifier: Apache-2.0
//! What a run's units did, kept small however long the run is: neighbours are joined until few enough are left.

use std::collections::HashMap;
use std::time::Duration;

use ringmill_isa::source::SourceLoc;
use serde::Serialize;

use crate::trace::{Context, SpanSink, TraceSink};

/// Events kept at most: as many as a browser draws at once without delay.
const MOST_EVENTS: usize = 3000;
/// Moments kept at most of each memory.
const MOST_MOMENTS: usize = 1500;
/// Memories and lanes kept at most; what comes beyond is left out, and counted.
const MOST_NAMES: usize = 256;
/// An event of joined ones lasts at most so many times the gap over which they were joined.
const LONGEST: f64 = 16.0;

/// The units of a run, and its memories. All times are in seconds from the beginning of the run.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// Events that there were.
    pub events: u64,
    /// Neighbours in a lane no further apart than this are joined; 0 where none are.
    pub joined_seconds: f64,
    pub lanes: Vec<Lane>,
    pub memories: Vec<Memory>,
    #[serde(skip)]
    clock_hz: f64,
    #[serde(skip)]
    lane_of: HashMap<String, usize>,
    #[serde(skip)]
    drawn: usize,
}

/// A unit of the machine, or a thread.
#[derive(Clone, Debug, Serialize)]
pub struct Lane {
    pub name: String,
    pub events: Vec<Event>,
}

/// What a unit did, or several things one after another.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Event {
    pub start: f64,
    pub end: f64,
    /// How much of that time the unit was busy.
    pub busy: f64,
    /// How many were joined.
    pub count: u64,
    /// The longest of them, and what it was a part of.
    pub name: String,
    #[serde(skip)]
    longest: f64,
    pub procedure: Option<String>,
    pub level: Option<u32>,
    /// The file's name without its folders.
    pub file: Option<String>,
    pub line: Option<u32>,
}

impl Event {
    fn join(&mut self, next: Self) {
        self.count += next.count;
        self.busy += next.busy;
        let end = self.end.max(next.end);
        if next.longest > self.longest {
            let (start, count, busy) = (self.start, self.count, self.busy);
            *self = Self {
                start,
                count,
                busy,
                ..next
            };
        }
        self.end = end;
    }
}

/// How full a memory was.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    pub name: String,
    pub seconds: Vec<f64>,
    pub bytes: Vec<u64>,
}

impl Memory {
    /// Of each two moments, the fuller one stands for both.
    fn halve(&mut self) {
        let all: Vec<(f64, u64)> = self
            .seconds
            .iter()
            .copied()
            .zip(self.bytes.iter().copied())
            .collect();
        let fuller = |pair: &[(f64, u64)]| {
            let first = pair.first().copied()?;
            let rest = pair.iter().copied();
            Some(rest.fold(first, |a, b| if b.1 > a.1 { b } else { a }))
        };
        (self.seconds, self.bytes) = all.chunks(2).filter_map(fuller).unzip();
    }
}

impl Timeline {
    /// Of a machine at so many megahertz; what a CPU tells has its own times.
    pub fn new(clock_mhz: f64) -> Self {
        Self {
            events: 0,
            joined_seconds: 0.0,
            lanes: Vec::new(),
            memories: Vec::new(),
            clock_hz: clock_mhz * 1e6,
            lane_of: HashMap::new(),
            drawn: 0,
        }
    }

    /// Events that are kept, after joining.
    pub fn kept(&self) -> usize {
        self.drawn
    }

    fn add(&mut self, lane: &str, name: &str, start: f64, took: f64, of: &Context<'_>) {
        self.events += 1;
        let at = match self.lane_of.get(lane) {
            Some(&at) => at,
            None if self.lanes.len() >= MOST_NAMES => return,
            None => {
                let at = self.lanes.len();
                self.lane_of.insert(lane.to_owned(), at);
                self.lanes.push(Lane {
                    name: lane.to_owned(),
                    events: Vec::new(),
                });
                at
            }
        };
        let event = Event {
            start,
            end: start + took,
            busy: took,
            count: 1,
            name: name.to_owned(),
            longest: took,
            procedure: of.procedure.map(str::to_owned),
            level: of.level,
            file: of.line.map(|at| at.file_name().to_owned()),
            line: of.line.map(|at: &SourceLoc| at.line),
        };
        let gap = self.joined_seconds;
        let Some(lane) = self.lanes.get_mut(at) else {
            return;
        };
        self.drawn += usize::from(push(&mut lane.events, event, gap));
        if self.drawn > MOST_EVENTS {
            self.thin();
        }
    }

    /// Joins neighbours until half of what is kept at most is left, or the run is one event in each lane.
    fn thin(&mut self) {
        let ends = self.lanes.iter().filter_map(|lane| lane.events.last());
        let whole = ends.map(|event| event.end).fold(0.0, f64::max);
        while self.drawn > MOST_EVENTS / 2 && self.joined_seconds <= whole {
            self.joined_seconds = match self.joined_seconds {
                0.0 => (whole / (4 * MOST_EVENTS) as f64).max(f64::MIN_POSITIVE),
                gap => 2.0 * gap,
            };
            for lane in &mut self.lanes {
                let events = std::mem::take(&mut lane.events);
                for event in events {
                    push(&mut lane.events, event, self.joined_seconds);
                }
            }
            self.drawn = self.lanes.iter().map(|lane| lane.events.len()).sum();
        }
    }

    fn fill(&mut self, memory: &str, seconds: f64, bytes: u64) {
        let known = self.memories.iter().position(|m| m.name == memory);
        let at = match known {
            Some(at) => at,
            None if self.memories.len() >= MOST_NAMES => return,
            None => {
                self.memories.push(Memory {
                    name: memory.to_owned(),
                    seconds: Vec::new(),
                    bytes: Vec::new(),
                });
                self.memories.len() - 1
            }
        };
        let Some(memory) = self.memories.get_mut(at) else {
            return;
        };
        memory.seconds.push(seconds);
        memory.bytes.push(bytes);
        if memory.seconds.len() > MOST_MOMENTS {
            memory.halve();
        }
    }
}

/// Adds an event behind the others, or joins it with the last; whether there is one more.
fn push(events: &mut Vec<Event>, event: Event, gap: f64) -> bool {
    match events.last_mut() {
        Some(last)
            if gap > 0.0
                && event.start - last.end <= gap
                && event.end - last.start <= LONGEST * gap =>
        {
            last.join(event);
            false
        }
        Some(_) | None => {
            events.push(event);
            true
        }
    }
}

impl TraceSink for Timeline {
    fn event(&mut self, lane: &str, name: &str, start: u64, cycles: u64, of: &Context<'_>) {
        let hz = self.clock_hz;
        self.add(lane, name, start as f64 / hz, cycles as f64 / hz, of);
    }

    fn memory(&mut self, memory: &str, at: u64, bytes: u64) {
        self.fill(memory, at as f64 / self.clock_hz, bytes);
    }
}

impl SpanSink for Timeline {
    fn span(&mut self, lane: &str, name: &str, start: Duration, took: Duration, of: &Context<'_>) {
        self.add(lane, name, start.as_secs_f64(), took.as_secs_f64(), of);
    }

    fn memory(&mut self, memory: &str, at: Duration, bytes: u64) {
        self.fill(memory, at.as_secs_f64(), bytes);
    }
}
