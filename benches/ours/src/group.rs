// SPDX-License-Identifier: Apache-2.0
//! A group of rows that are ready to be timed, with the checks of their results.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};

use crate::Result;

/// A function that runs the timed work of a row once.
pub type Run = Box<dyn FnMut() -> Result<()>>;

#[derive(Default)]
pub struct Group {
    rows: Vec<(String, Run)>,
    /// For each row whether its result is right: SEAL's bits where SEAL saved a result, else the result in the clear,
    /// within a tolerance for CKKS. Without SEAL, a rescaled CKKS ciphertext must have the reference evaluator's bits.
    /// Transforms have no entry, since the peers compare digests.
    equal: Map<String, Value>,
    /// Further values for the record: moduli, digests, sizes.
    facts: Map<String, Value>,
}

impl Group {
    pub fn row(&mut self, name: impl Into<String>, run: impl FnMut() -> Result<()> + 'static) {
        self.rows.push((name.into(), Box::new(run)));
    }

    pub fn equal(&mut self, name: &str, equal: bool) {
        self.equal.insert(name.into(), equal.into());
    }

    pub fn fact(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.into(), value.into());
    }

    pub fn describe(&self) -> Value {
        let rows: Vec<&str> = self.rows.iter().map(|(name, _)| name.as_str()).collect();
        json!({ "rows": rows, "equal": self.equal, "facts": self.facts })
    }

    /// Measures `count` samples of a row. Returns for each the wall seconds and the processor seconds of a call, as the
    /// mean of `calls` calls. One call before is not timed, since other sides have used the caches since the last turn.
    ///
    /// # Errors
    /// Fails if the group has no such row, or if the row's computation fails.
    pub fn time(&mut self, name: &str, count: usize, calls: u32) -> Result<Vec<[f64; 2]>> {
        let (_, run) = self
            .rows
            .iter_mut()
            .find(|(row, _)| row == name)
            .ok_or_else(|| format!("no row {name} in the open group"))?;
        run()?;
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let (wall, processor) = (Instant::now(), processor_seconds());
            for _ in 0..calls {
                run()?;
            }
            let (processor, wall) = (processor_seconds() - processor, wall.elapsed());
            times.push([wall.as_secs_f64(), processor].map(|t| t / f64::from(calls)));
        }
        Ok(times)
    }
}

/// Returns the processor seconds that all threads of this process have used.
fn processor_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
