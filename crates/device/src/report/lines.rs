// SPDX-License-Identifier: Apache-2.0
//! What a run took, by the line of the user's program and the procedure that is called there.

use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::Procedure;
use ringmill_isa::source::SourceLoc;

/// The calls of one procedure at one line, and what they took that nothing else took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineUse {
    /// `None` of calls whose program carries no lines, and of what is no call's.
    pub line: Option<SourceLoc>,
    /// `None` of what is no call's: what comes before the first, between calls, and after the last.
    pub called: Option<CalledUse>,
    /// Cycles of a machine, or nanoseconds of this computer.
    pub spent: u64,
}

/// A procedure that is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CalledUse {
    /// The procedure's name.
    pub procedure: String,
    /// The level of its ciphertexts ([`Procedure::level`]).
    pub level: Option<u32>,
    /// How often it is called.
    pub calls: u64,
}

/// Adds up what calls take. A call costs a look-up, and nothing is allocated for a line and procedure that were met before.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    rows: Vec<Row>,
    at: HashMap<Key, Entry>,
    last: usize,
}

/// A line and a procedure by its number.
type Key = (Option<SourceLoc>, u32);

/// A row of a [`Ledger`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry(usize);

#[derive(Clone, Debug)]
struct Row {
    key: Key,
    calls: u64,
    spent: u64,
}

/// Whether two places in the source are one, at once where they are of one program.
fn same(a: Option<&SourceLoc>, b: Option<&SourceLoc>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.line == b.line && Arc::ptr_eq(&a.file, &b.file),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

impl Ledger {
    /// One more call of a procedure at a line; what it takes is added with [`Ledger::spend`].
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

    /// The calls of an entry took so much more.
    pub fn spend(&mut self, entry: Entry, amount: u64) {
        if let Some(row) = self.rows.get_mut(entry.0) {
            row.spent += amount;
        }
    }

    /// All lines in the order in which they were met. `per` of the ledger's units make one of theirs. Last comes what is no call's:
    /// the rest of `total`, which counts these larger units. `procs` are those that calls were numbered by.
    pub fn lines(&self, procs: &[Arc<Procedure>], per: u64, total: u64) -> Vec<LineUse> {
        let per = per.max(1);
        let (mut before, mut lines) = (0u64, Vec::with_capacity(self.rows.len() + 1));
        for row in &self.rows {
            let procedure = procs.get(row.key.1 as usize);
            // Rounded together, so that the sum is as exact as the total.
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
