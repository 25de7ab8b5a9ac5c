// SPDX-License-Identifier: Apache-2.0
//! A timeline of the units of a run's machine, or of the CPU's threads. It stays small for a run of any length, because
//! it joins neighbouring events.

use std::collections::HashMap;
use std::time::Duration;

use ringmill_isa::source::SourceLoc;
use serde::Serialize;

use crate::trace::{Context, SpanSink, TraceSink};

/// The most events of a timeline: as many as a browser draws at once without delay.
const MOST_EVENTS: usize = 3000;
/// The most moments at which a timeline keeps the fill of one memory.
const MOST_MOMENTS: usize = 1500;
/// The most memories, and the most lanes, of a timeline. Further ones are left out; [`Timeline::events`] still counts
/// the events of such lanes.
const MOST_NAMES: usize = 256;
/// The longest joined event, as a multiple of the gap up to which neighbouring events are joined.
const LONGEST: f64 = 16.0;

/// The events of a run's units, and the fill of its memories. Times are in seconds from the start of the run.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// The number of events of the run, before neighbours were joined.
    pub events: u64,
    /// The gap in seconds up to which neighbouring events of a lane are joined; 0 if none are joined.
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

/// A row of a timeline: the events of one unit of the machine, or of one thread.
#[derive(Clone, Debug, Serialize)]
pub struct Lane {
    pub name: String,
    pub events: Vec<Event>,
}

/// An interval of a unit's work on the timeline: one event of the run, or several joined events.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Event {
    pub start: f64,
    pub end: f64,
    /// The time in seconds of the interval in which the unit was busy.
    pub busy: f64,
    /// The number of the run's events that this interval joins.
    pub count: u64,
    /// The name of the longest joined event. The fields `procedure`, `level`, `file` and `line` describe the
    /// call to which that event belongs.
    pub name: String,
    #[serde(skip)]
    longest: f64,
    pub procedure: Option<String>,
    pub level: Option<u32>,
    /// The name of the user's source file, without its folders.
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

/// The fill of a memory over time, in bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    pub name: String,
    pub seconds: Vec<f64>,
    pub bytes: Vec<u64>,
}

impl Memory {
    /// Halves the number of moments at which the memory's fill is known. Of every two neighbouring
    /// moments, the one with more bytes stays.
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
    /// Makes an empty timeline for a machine with this clock in MHz. CPU events carry their own times.
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

    /// Returns the number of events of the timeline after joining.
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

    /// Joins neighbouring events of the timeline until at most half of [`MOST_EVENTS`] are left, or one event in each
    /// lane.
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

/// Adds an event after the others of its lane. If at most `gap` seconds lie between it and the
/// lane's last event, these two are joined instead. Returns whether the lane has one event more.
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
