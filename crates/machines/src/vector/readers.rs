// SPDX-License-Identifier: Apache-2.0
//! A table of the tasks of a procedure that read each of its values.

use std::collections::HashMap;

use super::graph::Value;
use super::order::Task;

/// For each value the numbers of the tasks that read it, ascending: all of them in one list, value after value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Readers {
    tasks: Vec<u32>,
    /// For each value, where its tasks begin; and the end.
    begin: Vec<u32>,
    /// The parameters that are the same limb as another, with that other.
    same: HashMap<Value, Value>,
}

impl Readers {
    /// Makes the table of tasks on `values` values, of which some are the same as others.
    pub fn new(values: usize, tasks: &[Task], same: HashMap<Value, Value>) -> Self {
        let mut found = Self {
            tasks: Vec::new(),
            begin: vec![0; values + 1],
            same,
        };
        let reads = || {
            (0u32..)
                .zip(tasks)
                .flat_map(|(at, task)| task.reads.iter().map(move |&v| (at, v)))
        };
        for (_, value) in reads() {
            let value = found.of(value);
            if let Some(count) = found.begin.get_mut(value + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for begin in &mut found.begin {
            sum += *begin;
            *begin = sum;
        }
        found.tasks = vec![0; sum as usize];
        let mut next = found.begin.clone();
        for (at, value) in reads() {
            if let Some(next) = next.get_mut(found.of(value))
                && let Some(place) = found.tasks.get_mut(*next as usize)
            {
                *place = at;
                *next += 1;
            }
        }
        found
    }

    /// Returns the number of values.
    pub fn values(&self) -> usize {
        self.begin.len() - 1
    }

    /// Returns the value as which a value is counted.
    #[inline]
    pub fn of(&self, value: Value) -> Value {
        match self.same.is_empty() {
            true => value,
            false => self.same.get(&value).copied().unwrap_or(value),
        }
    }

    /// Returns the tasks that read a value.
    #[inline]
    pub fn tasks(&self, value: Value) -> &[u32] {
        let at = |number: usize| self.begin.get(number).copied().unwrap_or(0) as usize;
        self.tasks.get(at(value)..at(value + 1)).unwrap_or_default()
    }
}
