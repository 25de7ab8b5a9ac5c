// SPDX-License-Identifier: Apache-2.0
//! A table of the tasks of a vector machine's procedure that read each of its values.

use std::collections::HashMap;

use super::graph::Value;
use super::order::Task;

/// For each value of a procedure's graph the indices of the tasks that read it, ascending. All are in one list, value
/// after value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Readers {
    tasks: Vec<u32>,
    /// For each value the position where its tasks begin in the list, and the list's end.
    begin: Vec<u32>,
    /// The parameters that are passed the same limb as an earlier parameter, each with that parameter.
    same: HashMap<Value, Value>,
}

impl Readers {
    /// Makes the table for `tasks` on values with numbers below `values`. `same` maps a parameter
    /// to an earlier parameter that is passed the same limb.
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

    /// Returns the number of values in the table, which is that of the procedure's graph.
    pub fn values(&self) -> usize {
        self.begin.len() - 1
    }

    /// Returns the first parameter that is passed the same limb as `value`, or `value` itself.
    #[inline]
    pub fn of(&self, value: Value) -> Value {
        match self.same.is_empty() {
            true => value,
            false => self.same.get(&value).copied().unwrap_or(value),
        }
    }

    /// Returns the indices of the tasks that read a value, ascending. A task that reads the value twice is there twice.
    /// A parameter that is passed the same limb as an earlier one has an empty list, since its readers are in the list
    /// of [`Self::of`].
    #[inline]
    pub fn tasks(&self, value: Value) -> &[u32] {
        let at = |number: usize| self.begin.get(number).copied().unwrap_or(0) as usize;
        self.tasks.get(at(value)..at(value + 1)).unwrap_or_default()
    }
}
