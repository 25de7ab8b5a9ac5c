// SPDX-License-Identifier: Apache-2.0
//! Divides the time of a run among the lines of the user's program and the procedures that they call.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::Procedure;
use ringmill_isa::source::SourceLoc;

/// The time of all calls of one procedure from one line of the user's program: a row of the report's table of time by
/// line. No other row counts this time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineUse {
    /// The line of the user's program. It is `None` for calls without a known line, and for time outside of calls.
    pub line: Option<SourceLoc>,
    /// The procedure that the line calls. It is `None` for time outside of calls: before the first, between calls, and
    /// after the last.
    pub called: Option<CalledUse>,
    /// The time of all calls of this row: cycles of a machine, or nanoseconds of this computer.
    pub spent: u64,
}

/// A procedure that a line of the user's program calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CalledUse {
    /// The name of the procedure that the line calls.
    pub procedure: String,
    /// The level of the ciphertexts that the procedure takes ([`Procedure::level`]).
    pub level: Option<u32>,
    /// The number of calls of the procedure from this line.
    pub calls: u64,
}

/// A table that adds up the time of a run's calls by line and procedure. A call costs one look-up in a table, and
/// allocates only if the line and procedure are new.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    rows: Vec<Row>,
    at: HashMap<Key, Entry>,
    last: usize,
}

/// The key of a row of a [`Ledger`]: a line of the user's program, and the number of a procedure.
type Key = (Option<SourceLoc>, u32);

/// The index of a row of a [`Ledger`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry(usize);

#[derive(Clone, Debug)]
struct Row {
    key: Key,
    calls: u64,
    spent: u64,
}

/// Returns whether two lines of the user's source are surely equal: their numbers are, and their file names lie at
/// one address. Two unknown lines are equal, too. Comparing addresses is quick; equal names at two addresses count
/// as different.
fn same(a: Option<&SourceLoc>, b: Option<&SourceLoc>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.line == b.line && Arc::ptr_eq(&a.file, &b.file),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

impl Ledger {
    /// Counts one more call of procedure number `proc` at a line and returns the row. [`Ledger::spend`] adds the
    /// call's time to it.
    pub fn call(&mut self, line: Option<&SourceLoc>, proc: u32) -> Entry {
        let last = self.rows.get(self.last);
        let again = last.is_some_and(|row| row.key.1 == proc && same(row.key.0.as_ref(), line));
        if !again {
            let key = (line.cloned(), proc);
            self.last = match self.at.get(&key) {
                Some(known) => known.0,
                None => {
                    let new = self.rows.len();
                    self.rows.push(Row {
                        key: key.clone(),
                        calls: 0,
                        spent: 0,
                    });
                    self.at.insert(key, Entry(new));
                    new
                }
            };
        }
        if let Some(row) = self.rows.get_mut(self.last) {
            row.calls += 1;
        }
        Entry(self.last)
    }

    /// Adds an amount of time to a row of the ledger, which has the time of all calls of one
    /// procedure from one line.
    pub fn spend(&mut self, entry: Entry, amount: u64) {
        if let Some(row) = self.rows.get_mut(entry.0) {
            row.spent += amount;
        }
    }

    /// Returns all rows in the order in which they were added. The ledger's unit of time is the
    /// caller's choice; `per` such units make one cycle or nanosecond, the unit of the returned
    /// rows and of `total`. The last row is the time outside of calls: the rest of `total`. `procs`
    /// are the procedures, in the order of the numbers with which [`Ledger::call`] was called.
    pub fn lines(&self, procs: &[Arc<Procedure>], per: u64, total: u64) -> Vec<LineUse> {
        let per = per.max(1);
        let (mut before, mut lines) = (0u64, Vec::with_capacity(self.rows.len() + 1));
        for row in &self.rows {
            let procedure = procs.get(row.key.1 as usize);
            // Rounds running sums, so that the rows add up to the total exactly.
            let spent = (before + row.spent) / per - before / per;
            before += row.spent;
            lines.push(LineUse {
                line: row.key.0.clone(),
                called: Some(CalledUse {
                    procedure: procedure.map_or_else(String::new, |p| p.name.clone()),
                    level: procedure.and_then(|p| p.level()),
                    calls: row.calls,
                }),
                spent,
            });
        }
        lines.push(LineUse {
            line: None,
            called: None,
            spent: total.saturating_sub(before / per),
        });
        lines
    }
}
