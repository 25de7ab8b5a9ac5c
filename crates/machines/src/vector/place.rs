// SPDX-License-Identifier: Apache-2.0
//! Assigns limbs to places in the vector machine's ciphertext buffer at compile time, and decides which limbs are
//! loaded and stored when.

use std::collections::BTreeMap;

use super::buffer::{Buffer, Content, Held};
use super::description::Replacement;
use super::graph::Value;
use super::order::Task;
use super::readers::Readers;
use crate::MachineError;

/// A step of a procedure: a task, a load or a store. The places of the buffer that it uses begin at
/// index `first` of [`Placed::places`], those that it reads before those that it writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    pub kind: StepKind,
    first: u32,
    reads: u32,
    writes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// The step runs the procedure's task with this index.
    Task(usize),
    /// The step loads the limb at this address of distant memory, counted in limbs, into the
    /// buffer.
    Load(u32),
    /// The step stores a limb of the buffer at this address of distant memory, counted in limbs.
    Store(u32),
}

/// A parameter of a procedure in one call: its value, and the limb of the program that is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    pub value: Value,
    pub limb: Held,
    /// The limb's place in the buffer, or `None` if it is not there.
    pub place: Option<u32>,
    /// The limb's address in distant memory, counted in limbs, or `None` if the limb has no copy there.
    pub distant: Option<u32>,
    /// Whether a later call needs the parameter's limb.
    pub later: bool,
}

/// The parameters, results and masks of one call, from which places are assigned.
pub struct Request<'r> {
    pub procedure: &'r str,
    pub params: Vec<Param>,
    /// For each result of the procedure its value, and the limb of the program that it becomes.
    pub results: Vec<(Value, Held)>,
    /// For each value that is a generated mask, the address from which `LOAD` takes the mask, counted in limbs.
    pub masks: Vec<(Value, u32)>,
    pub replacement: Replacement,
}

/// The steps of a call with the places in the buffer that they use, and the places of limbs after the call.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placed {
    pub steps: Vec<Step>,
    /// The places of the buffer that all steps read and write, in one list.
    places: Vec<u32>,
    /// The program's limbs that were stored to distant memory for lack of room, with their addresses there, in limbs.
    /// They are parameters, results, or limbs of other calls that lay in the buffer.
    pub distant: BTreeMap<Held, u32>,
    /// The most places of the ciphertext buffer, each for one limb, that are in use at once.
    pub peak: usize,
    /// The number of loads of parameters, also of those that were stored before. `spilled` is the number of stores of
    /// limbs for lack of room, and `reloaded` the number of loads of stored limbs that are no parameters.
    pub loads: u64,
    pub spilled: u64,
    pub reloaded: u64,
    /// The number of masks that the generator expanded. A mask that is expanded again counts again.
    pub made: u64,
}

impl Placed {
    /// Returns the places of the buffer that a step reads, and those that it writes.
    pub fn of(&self, step: &Step) -> (&[u32], &[u32]) {
        let all = self.all(step);
        all.split_at(all.len().min(step.reads as usize))
    }

    /// Returns the places of the buffer that a step reads, then those that it writes.
    pub fn all(&self, step: &Step) -> &[u32] {
        let end = step.first + step.reads + step.writes;
        self.places
            .get(step.first as usize..end as usize)
            .unwrap_or_default()
    }

    fn push(&mut self, kind: StepKind, reads: &[u32], writes: &[u32]) {
        let first = self.places.len() as u32;
        self.places.extend(reads);
        self.places.extend(writes);
        self.steps.push(Step {
            kind,
            first,
            reads: reads.len() as u32,
            writes: writes.len() as u32,
        });
    }
}

/// The state of one value of a procedure while the procedure's steps get places in the buffer.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    place: Option<u32>,
    distant: Option<u32>,
    /// Whether the value's copy in distant memory is the same as that in the buffer.
    clean: bool,
    param: bool,
    mask: bool,
    result: bool,
    /// Whether the value is kept after the call. Results are kept, and so are parameters that a later call needs.
    stays: bool,
    /// The last task that needed the value in the buffer, as the task's index plus one.
    needed: u32,
    /// The number of tasks that read the value and are done.
    read: u32,
    used: u64,
}

struct Placing<'b, 'r> {
    buffer: &'b mut Buffer,
    request: &'r Request<'r>,
    readers: &'r Readers,
    values: Vec<State>,
    /// For each place of the buffer, the procedure's value in it.
    by_place: Vec<Option<Value>>,
    out: Placed,
    /// The places of the buffer that the current task reads; `writes` has those that it writes.
    reads: Vec<u32>,
    writes: Vec<u32>,
}

/// Assigns places in the buffer to the values of tasks, in the order of the tasks, and adds the loads and stores that
/// are needed for that. `readers` has the tasks that read each value.
///
/// # Errors
/// [`MachineError::Memory`] if the operands and results of one task do not fit the buffer. [`MachineError::Program`]
/// if distant memory is full, or if a task reads a value that no earlier task computes. [`MachineError::Unsupported`]
/// if a result is a parameter, a mask or another result as well.
pub fn place(
    buffer: &mut Buffer,
    tasks: &[Task],
    readers: &Readers,
    request: &Request<'_>,
) -> Result<Placed, MachineError> {
    let mut placing = Placing {
        values: vec![State::default(); readers.values()],
        by_place: vec![None; buffer.places.len()],
        out: Placed::default(),
        reads: Vec::new(),
        writes: Vec::new(),
        buffer,
        request,
        readers,
    };
    for param in &request.params {
        let content = param.place.and_then(|at| placing.buffer.content(at));
        let distant = content.and_then(|c| c.distant).or(param.distant);
        if let Some(place) = param.place {
            placing.hold(place, Some(param.value));
        }
        *placing.state(param.value)? = State {
            place: param.place,
            distant,
            clean: distant.is_some(),
            param: true,
            stays: param.later,
            used: content.map_or(0, |c| c.used),
            ..State::default()
        };
    }
    for &(value, at) in &request.masks {
        // The mask can be expanded at any time, so it needs no copy.
        *placing.state(value)? = State {
            distant: Some(at),
            clean: true,
            mask: true,
            ..State::default()
        };
    }
    for &(value, _) in &request.results {
        let state = placing.state(value)?;
        if state.param || state.mask || state.result {
            return Err(MachineError::Unsupported {
                procedure: request.procedure.to_owned(),
                what: "one limb as several results, or a parameter or a mask as a result"
                    .to_owned(),
            });
        }
        (state.stays, state.result) = (true, true);
    }
    for (at, task) in tasks.iter().enumerate() {
        placing.task(at, task)?;
    }
    placing.finish()
}

impl Placing<'_, '_> {
    fn state(&mut self, value: Value) -> Result<&mut State, MachineError> {
        let procedure = self.request.procedure;
        self.values.get_mut(value).ok_or_else(|| {
            MachineError::Program(format!("procedure {procedure}: no value %{value}"))
        })
    }

    /// Notes which value of the procedure lies at a place of the buffer.
    fn hold(&mut self, place: u32, value: Option<Value>) {
        if let Some(of) = self.by_place.get_mut(place as usize) {
            *of = value;
        }
    }

    fn task(&mut self, at: usize, task: &Task) -> Result<(), MachineError> {
        let needs = task.reads.len() + task.writes.len();
        let number = at as u32 + 1;
        let readers = self.readers;
        let held =
            (task.reads.iter().map(|&value| readers.of(value))).chain(task.writes.iter().copied());
        for value in held.clone() {
            self.state(value)?.needed = number;
        }
        let (mut reads, mut writes) = (
            std::mem::take(&mut self.reads),
            std::mem::take(&mut self.writes),
        );
        reads.clear();
        writes.clear();
        for &value in &task.reads {
            reads.push(self.resident(readers.of(value), number, needs)?);
        }
        // A result never takes the place of an operand, even of one that is read here for the last time. A unit may write
        // a chunk before it has read the operand's chunk at that place.
        for &value in &task.writes {
            let place = self.free(number, needs)?;
            self.hold(place, Some(value));
            let state = self.state(value)?;
            state.place = Some(place);
            state.clean = false;
            writes.push(place);
        }
        self.out.peak = self.out.peak.max(self.buffer.live());
        self.out.push(StepKind::Task(at), &reads, &writes);
        (self.reads, self.writes) = (reads, writes);
        for value in held {
            let used = self.buffer.tick();
            let tasks = readers.tasks(value);
            let state = self.state(value)?;
            state.used = used;
            while tasks.get(state.read as usize) == Some(&(at as u32)) {
                state.read += 1;
            }
            if state.read as usize == tasks.len()
                && !state.stays
                && let Some(place) = state.place.take()
            {
                self.release(place);
            }
        }
        Ok(())
    }

    fn release(&mut self, place: u32) {
        self.hold(place, None);
        self.buffer.release(place);
    }

    /// Returns the place of a value that a task reads, and adds a load if the value is not in the buffer.
    fn resident(&mut self, value: Value, number: u32, needs: usize) -> Result<u32, MachineError> {
        let state = *self.state(value)?;
        if let Some(place) = state.place {
            return Ok(place);
        }
        let Some(from) = state.distant else {
            return Err(MachineError::Program(format!(
                "procedure {}: %{value} is read before it is made",
                self.request.procedure
            )));
        };
        let place = self.free(number, needs)?;
        self.hold(place, Some(value));
        match (state.param, state.mask) {
            (true, _) => self.out.loads += 1,
            (false, true) => self.out.made += 1,
            (false, false) => self.out.reloaded += 1,
        }
        let state = self.state(value)?;
        state.place = Some(place);
        state.clean = true;
        self.out.push(StepKind::Load(from), &[], &[place]);
        Ok(place)
    }

    /// Returns a free place of the buffer. If there is none, it empties one.
    fn free(&mut self, number: u32, needs: usize) -> Result<u32, MachineError> {
        let full = |buffer: &Buffer| MachineError::Memory {
            procedure: self.request.procedure.to_owned(),
            needs,
            live: 0,
            slots: buffer.places.len(),
        };
        if !self.buffer.has_room() {
            let victim = self.victim(number);
            let victim = victim.ok_or_else(|| full(self.buffer))?;
            self.evict(victim)?;
        }
        self.buffer.take().ok_or_else(|| full(self.buffer))
    }

    /// Chooses the place of the buffer whose limb is replaced, by the description's rule `replacement`. Returns
    /// `None` if the current task needs the limbs in all places.
    fn victim(&self, number: u32) -> Option<u32> {
        let all = (0..).zip(self.buffer.places.iter().zip(&self.by_place));
        let all = all.filter_map(|(at, (content, value))| {
            let content = (*content)?;
            let (next, used, clean) = match value.map(|value| (value, self.values.get(value))) {
                Some((_, None)) => return None,
                Some((_, Some(state))) if state.needed == number => return None,
                Some((value, Some(state))) => {
                    let tasks = self.readers.tasks(value);
                    let next = tasks.get(state.read as usize);
                    let next = next.map_or(u32::MAX - 1, |&at| at);
                    (next, state.used, state.clean)
                }
                // The procedure does not read the limb at this place.
                None => (u32::MAX, content.used, content.distant.is_some()),
            };
            let rank = match self.request.replacement {
                Replacement::Lru => (0, std::cmp::Reverse(used), clean),
                // Among limbs whose next reads are equally far away, the least recently used one.
                Replacement::Furthest => (next, std::cmp::Reverse(used), clean),
            };
            Some((rank, at))
        });
        all.max().map(|(_, at)| at)
    }

    fn evict(&mut self, place: u32) -> Result<(), MachineError> {
        let content = self.buffer.content(place);
        let value = self.by_place.get(place as usize).copied().flatten();
        let (clean, distant, wanted) = match value {
            Some(value) => {
                let tasks = self.readers.tasks(value).len();
                let state = self.state(value)?;
                let wanted = (state.read as usize) < tasks || state.stays;
                (state.clean, state.distant, wanted)
            }
            None => {
                let distant = content.and_then(|c| c.distant);
                (distant.is_some(), distant, true)
            }
        };
        let mut at = distant;
        if !clean && wanted {
            let to = match distant {
                Some(at) => at,
                // The channel follows from the place alone, so that equal states of the buffer give equal steps.
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
            self.out.push(StepKind::Store(to), &[place], &[]);
        }
        match value {
            Some(value) => {
                let state = self.state(value)?;
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

    /// Notes the places of all limbs after the procedure, and returns the placed steps.
    fn finish(mut self) -> Result<Placed, MachineError> {
        for param in &self.request.params {
            let state = *self.state(param.value)?;
            match (state.place, param.later) {
                (Some(place), true) => self.stays(place, param.limb, &state),
                (Some(place), false) => self.release(place),
                (None, _) => {}
            }
            let moved = param.later && param.distant != state.distant;
            if let Some(at) = state.distant.filter(|_| moved) {
                self.out.distant.insert(param.limb, at);
            }
        }
        for &(value, limb) in &self.request.results {
            let state = *self.state(value)?;
            if let Some(place) = state.place {
                self.stays(place, limb, &state);
            }
            if let Some(at) = state.distant.filter(|_| state.clean) {
                self.out.distant.insert(limb, at);
            }
        }
        Ok(self.out)
    }

    fn stays(&mut self, place: u32, limb: Held, state: &State) {
        let content = Content {
            limb,
            distant: state.distant.filter(|_| state.clean),
            used: state.used,
        };
        self.buffer.set_content(place, content);
    }
}
