//! Places of limbs in the ciphertext buffer, bound at compile time: which limb lies where, what is loaded and stored when.

use std::collections::HashMap;

use super::description::Replacement;
use super::graph::Value;
use super::order::{Task, Work};
use crate::MachineError;

/// A limb of a program, whatever it is called in a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Held(pub u64);

/// What a place of the buffer holds between procedures.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Content {
    pub limb: Held,
    /// Distant memory has it, too: where, in limbs.
    pub distant: Option<u32>,
    /// When it was used last, counted in uses.
    pub used: u64,
}

/// The buffer's places, and distant memory's that are free.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub places: Vec<Option<Content>>,
    /// Free places, the one that has been free longest first.
    free: std::collections::VecDeque<u32>,
    /// Of each channel of distant memory: limbs that are free again, and the next one that never held anything.
    distant_free: Vec<(Vec<u32>, u32)>,
    distant_limbs: u32,
    clock: u64,
}

/// A step of a procedure's run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub kind: StepKind,
    /// Places read and written.
    pub reads: Vec<(Value, u32)>,
    pub writes: Vec<(Value, u32)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StepKind {
    Task {
        work: Work,
        modulus: u16,
    },
    /// From a limb of distant memory.
    Load(u32),
    /// To a limb of distant memory.
    Store(u32),
}

/// What becomes of a procedure's values.
pub struct Request<'r> {
    pub procedure: &'r str,
    /// For each parameter's value: the limb, where it is in distant memory if it is there, and whether it is needed later.
    pub params: Vec<(Value, Held, Option<u32>, bool)>,
    /// Parameters that are the same limb as another: which one.
    pub same: HashMap<Value, Value>,
    /// For each result's value: the limb.
    pub results: Vec<(Value, Held)>,
    pub replacement: Replacement,
}

/// Where limbs are after a procedure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placed {
    pub steps: Vec<Step>,
    /// Limbs that are in distant memory, as far as that changed: parameters and results that had to leave.
    pub distant: HashMap<Held, u32>,
    /// Most places in use at once.
    pub peak: usize,
    /// Limbs loaded of parameters, and spilled: stored, and loaded again.
    pub loads: u64,
    pub spilled: u64,
    pub reloaded: u64,
}

impl Buffer {
    /// With distant memory of so many limbs, of which the first hold the program's inputs, on so many channels: limb after
    /// limb in the next channel.
    pub fn new(places: u32, distant_limbs: u32, inputs: u32, channels: usize) -> Self {
        let channels = channels as u32;
        let next = |channel| inputs.next_multiple_of(channels) + channel;
        Self {
            places: vec![None; places as usize],
            free: (0..places).collect(),
            distant_free: (0..channels).map(|c| (Vec::new(), next(c))).collect(),
            distant_limbs,
            clock: 0,
        }
    }

    /// The place of a limb.
    pub fn find(&self, limb: Held) -> Option<u32> {
        let found = self
            .places
            .iter()
            .position(|c| c.is_some_and(|c| c.limb == limb));
        found.map(|at| at as u32)
    }

    /// Puts a limb into a free place, as before the first procedure.
    pub fn put(&mut self, limb: Held, distant: Option<u32>) -> Option<u32> {
        let place = self.free.pop_front()?;
        self.clock += 1;
        *self.places.get_mut(place as usize)? = Some(Content {
            limb,
            distant,
            used: self.clock,
        });
        Some(place)
    }

    /// A limb died.
    pub fn drop_limb(&mut self, limb: Held) {
        if let Some(place) = self.find(limb) {
            if let Some(content) = self.places.get_mut(place as usize) {
                *content = None;
            }
            self.free.push_back(place);
        }
    }

    /// Renames places: those in use first, the one that was used longest ago leading, then the free ones in their order. The
    /// new number of each old place.
    pub fn rename(&mut self) -> Vec<u32> {
        let mut used: Vec<(u64, u32)> = Vec::new();
        for (at, content) in (0..).zip(&self.places) {
            if let Some(content) = content {
                used.push((content.used, at));
            }
        }
        used.sort_unstable();
        let order = used
            .iter()
            .map(|&(_, at)| at)
            .chain(self.free.iter().copied());
        let mut new = vec![0; self.places.len()];
        let mut places = vec![None; self.places.len()];
        for (to, from) in (0u32..).zip(order) {
            if let Some(new) = new.get_mut(from as usize) {
                *new = to;
            }
            let content = self.places.get(from as usize).copied().flatten();
            if let Some(place) = places.get_mut(to as usize) {
                *place = content.map(|content| Content {
                    used: u64::from(to),
                    ..content
                });
            }
        }
        self.places = places;
        let first = used.len() as u32;
        self.free = (first..self.places.len() as u32).collect();
        self.clock = self.places.len() as u64;
        new
    }

    fn channels(&self) -> u32 {
        self.distant_free.len().max(1) as u32
    }

    /// The free places, in the order in which they are taken.
    pub fn free_places(&self) -> Vec<u32> {
        self.free.iter().copied().collect()
    }

    /// Sets what all places hold.
    pub fn set(&mut self, places: Vec<Option<Content>>, free: &[u32]) {
        self.places = places;
        self.free = free.iter().copied().collect();
    }

    /// A limb of distant memory that nothing is in, on a channel; `None` where all are full.
    pub fn take_distant(&mut self, channel: u32) -> Option<u32> {
        let channels = self.distant_free.len() as u32;
        let (free, next) = self.distant_free.get_mut(channel as usize)?;
        if let Some(at) = free.pop() {
            return Some(at);
        }
        (*next < self.distant_limbs).then(|| {
            *next += channels;
            *next - channels
        })
    }

    /// A limb of distant memory that is free again.
    pub fn drop_distant(&mut self, at: u32) {
        let channels = self.distant_free.len() as u32;
        if let Some((free, _)) = self.distant_free.get_mut((at % channels.max(1)) as usize) {
            free.push(at);
        }
    }
}

/// A value of the procedure while it runs.
#[derive(Clone, Debug, Default)]
struct State {
    place: Option<u32>,
    distant: Option<u32>,
    /// Distant memory has what the place has.
    clean: bool,
    /// Steps of the tasks that read it, the next one last.
    reads: Vec<usize>,
    /// It is there after the procedure.
    stays: bool,
    used: u64,
}

struct Placing<'b, 'r> {
    buffer: &'b mut Buffer,
    request: &'r Request<'r>,
    values: HashMap<Value, State>,
    /// Of each place, the value of the procedure in it.
    by_place: HashMap<u32, Value>,
    out: Placed,
}

/// Binds places for tasks in their order.
///
/// # Errors
/// [`MachineError::Memory`] where what one task reads and writes does not fit the buffer, or distant memory is full.
pub fn place(
    buffer: &mut Buffer,
    tasks: Vec<Task>,
    request: &Request<'_>,
) -> Result<Placed, MachineError> {
    let mut placing = Placing {
        values: HashMap::new(),
        by_place: HashMap::new(),
        out: Placed::default(),
        buffer,
        request,
    };
    for &(value, limb, distant, later) in &request.params {
        let place = placing.buffer.find(limb);
        let content =
            place.and_then(|at| placing.buffer.places.get(at as usize).copied().flatten());
        let distant = content.and_then(|c| c.distant).or(distant);
        if let Some(place) = place {
            placing.by_place.insert(place, value);
        }
        placing.values.insert(
            value,
            State {
                place,
                distant,
                clean: distant.is_some(),
                stays: later,
                used: content.map_or(0, |c| c.used),
                reads: Vec::new(),
            },
        );
    }
    for &(value, _) in &request.results {
        placing.values.entry(value).or_default().stays = true;
    }
    for (at, task) in tasks.iter().enumerate().rev() {
        for value in &task.reads {
            let value = *request.same.get(value).unwrap_or(value);
            placing.values.entry(value).or_default().reads.push(at);
        }
    }
    for (at, task) in tasks.into_iter().enumerate() {
        placing.task(at, task)?;
    }
    placing.finish()
}

impl Placing<'_, '_> {
    fn task(&mut self, at: usize, task: Task) -> Result<(), MachineError> {
        let needs = task.reads.len() + task.writes.len();
        let same = |value: &Value| *self.request.same.get(value).unwrap_or(value);
        let mut held: Vec<Value> = task.reads.iter().map(same).collect();
        held.extend(&task.writes);
        let mut reads = Vec::with_capacity(task.reads.len());
        for &value in &task.reads {
            let of = *self.request.same.get(&value).unwrap_or(&value);
            reads.push((value, self.resident(of, &held, needs)?));
        }
        // What is read for the last time here may be overwritten only where the unit reads a chunk before it writes it, which
        // holds of transforms in place; kernels get places of their own.
        let mut writes = Vec::with_capacity(task.writes.len());
        for &value in &task.writes {
            let place = self.free(&held, needs)?;
            self.by_place.insert(place, value);
            let state = self.values.entry(value).or_default();
            state.place = Some(place);
            state.clean = false;
            writes.push((value, place));
        }
        let live = self.buffer.places.len() - self.buffer.free.len();
        self.out.peak = self.out.peak.max(live);
        self.out.steps.push(Step {
            kind: StepKind::Task {
                work: task.work,
                modulus: task.modulus,
            },
            reads,
            writes,
        });
        for value in held {
            self.buffer.clock += 1;
            let clock = self.buffer.clock;
            let Some(state) = self.values.get_mut(&value) else {
                continue;
            };
            state.used = clock;
            while state.reads.last() == Some(&at) {
                state.reads.pop();
            }
            if state.reads.is_empty()
                && !state.stays
                && let Some(place) = state.place.take()
            {
                self.release(place);
            }
        }
        Ok(())
    }

    fn release(&mut self, place: u32) {
        self.by_place.remove(&place);
        if let Some(content) = self.buffer.places.get_mut(place as usize) {
            *content = None;
        }
        self.buffer.free.push_back(place);
    }

    /// The place of a value that is read, loaded where it is not there.
    fn resident(
        &mut self,
        value: Value,
        held: &[Value],
        needs: usize,
    ) -> Result<u32, MachineError> {
        let state = self.values.entry(value).or_default();
        if let Some(place) = state.place {
            return Ok(place);
        }
        let Some(from) = state.distant else {
            return Err(MachineError::Program(format!(
                "procedure {}: %{value} is read before it is made",
                self.request.procedure
            )));
        };
        let place = self.free(held, needs)?;
        self.by_place.insert(place, value);
        let made_here = !self.request.params.iter().any(|p| p.0 == value);
        match made_here {
            true => self.out.reloaded += 1,
            false => self.out.loads += 1,
        }
        let state = self.values.entry(value).or_default();
        state.place = Some(place);
        state.clean = true;
        self.out.steps.push(Step {
            kind: StepKind::Load(from),
            reads: Vec::new(),
            writes: vec![(value, place)],
        });
        Ok(place)
    }

    /// A free place, made where there is none.
    fn free(&mut self, held: &[Value], needs: usize) -> Result<u32, MachineError> {
        let full = |buffer: &Buffer| MachineError::Memory {
            procedure: self.request.procedure.to_owned(),
            needs,
            live: 0,
            slots: buffer.places.len(),
        };
        if self.buffer.free.is_empty() {
            let victim = self.victim(held);
            let victim = victim.ok_or_else(|| full(self.buffer))?;
            self.evict(victim)?;
        }
        let place = self.buffer.free.pop_front();
        let place = place.ok_or_else(|| full(self.buffer))?;
        // It is taken, by whom is said between procedures.
        if let Some(content) = self.buffer.places.get_mut(place as usize) {
            *content = Some(Content {
                limb: Held(u64::MAX),
                distant: None,
                used: 0,
            });
        }
        Ok(place)
    }

    /// The place that is to be emptied.
    fn victim(&self, held: &[Value]) -> Option<u32> {
        let all = self.buffer.places.iter().enumerate();
        let all = all.filter_map(|(at, content)| {
            let at = at as u32;
            let content = (*content)?;
            let (next, used, clean) = match self.by_place.get(&at) {
                Some(value) if held.contains(value) => return None,
                Some(value) => {
                    let state = self.values.get(value)?;
                    let next = state.reads.last().copied().unwrap_or(usize::MAX - 1);
                    (next, state.used, state.clean)
                }
                // A limb that this procedure does not read.
                None => (usize::MAX, content.used, content.distant.is_some()),
            };
            let rank = match self.request.replacement {
                Replacement::Lru => (0, std::cmp::Reverse(used), clean),
                // Of what is read equally far from now, what was used longest ago.
                Replacement::Furthest => (next, std::cmp::Reverse(used), clean),
            };
            Some((rank, at))
        });
        all.max().map(|(_, at)| at)
    }

    fn evict(&mut self, place: u32) -> Result<(), MachineError> {
        let content = self.buffer.places.get(place as usize).copied().flatten();
        let value = self.by_place.get(&place).copied();
        let (clean, distant) = match value.and_then(|value| self.values.get(&value)) {
            Some(state) => (state.clean, state.distant),
            None => {
                let distant = content.and_then(|c| c.distant);
                (distant.is_some(), distant)
            }
        };
        let wanted = value.and_then(|value| self.values.get(&value));
        let wanted = wanted.is_none_or(|state| !state.reads.is_empty() || state.stays);
        let mut at = distant;
        if !clean && wanted {
            let to = match distant {
                Some(at) => at,
                // So that what comes after depends on places alone.
                None => self
                    .buffer
                    .take_distant(place % self.buffer.channels())
                    .ok_or_else(|| {
                        MachineError::Program(format!(
                            "procedure {}: distant memory is full (`distant.gbyte`)",
                            self.request.procedure
                        ))
                    })?,
            };
            at = Some(to);
            self.out.spilled += 1;
            self.out.steps.push(Step {
                kind: StepKind::Store(to),
                reads: vec![(value.unwrap_or(Value::MAX), place)],
                writes: Vec::new(),
            });
        }
        match value {
            Some(value) => {
                let state = self.values.entry(value).or_default();
                state.place = None;
                state.distant = at;
                state.clean = at.is_some();
            }
            None => {
                if let (Some(content), Some(at)) = (content, at) {
                    self.out.distant.insert(content.limb, at);
                }
            }
        }
        self.release(place);
        Ok(())
    }

    /// Says who is where after the procedure.
    fn finish(mut self) -> Result<Placed, MachineError> {
        for &(value, limb, before, later) in &self.request.params {
            let state = self.values.remove(&value).unwrap_or_default();
            match (state.place, later) {
                (Some(place), true) => {
                    if let Some(content) = self.buffer.places.get_mut(place as usize) {
                        *content = Some(Content {
                            limb,
                            distant: state.distant.filter(|_| state.clean),
                            used: state.used,
                        });
                    }
                }
                (Some(place), false) => self.release(place),
                (None, _) => {}
            }
            if let Some(at) = state.distant.filter(|_| later && before != state.distant) {
                self.out.distant.insert(limb, at);
            }
        }
        let mut done: HashMap<Value, Held> = HashMap::new();
        for &(value, limb) in &self.request.results {
            if done.insert(value, limb).is_some() {
                return Err(MachineError::Unsupported {
                    procedure: self.request.procedure.to_owned(),
                    what: "one limb as several results, or a parameter as a result".to_owned(),
                });
            }
            let Some(state) = self.values.remove(&value) else {
                return Err(MachineError::Unsupported {
                    procedure: self.request.procedure.to_owned(),
                    what: "one limb as several results, or a parameter as a result".to_owned(),
                });
            };
            if let Some(place) = state.place
                && let Some(content) = self.buffer.places.get_mut(place as usize)
            {
                *content = Some(Content {
                    limb,
                    distant: state.distant.filter(|_| state.clean),
                    used: state.used,
                });
            }
            if let Some(at) = state.distant.filter(|_| state.clean) {
                self.out.distant.insert(limb, at);
            }
        }
        Ok(self.out)
    }
}
