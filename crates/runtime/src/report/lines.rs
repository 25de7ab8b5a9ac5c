// SPDX-License-Identifier: Apache-2.0
//! The cost of a run by the source lines of the user's program. Each operation at a line has its share of the run's
//! time, and the shares of all lines add up to the whole.

use std::collections::BTreeMap;
use std::fmt;

use ringmill_compiler::{Compiled, Compiles};
use ringmill_device::Outcome;
use ringmill_device::report::{LineUse, grouped, seconds};
use ringmill_device::trace::Operations;
use serde::Serialize;

use super::RunReport;

/// The cost of one operation at one line of the user's program. The costs of all operations of a run add up to the
/// time of the run on this computer, or to the machine's cycles.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LineReport {
    /// The source file, as the program names it. `None` if the program has no line numbers, or if the time belongs to
    /// no line.
    pub file: Option<String>,
    pub line: Option<u32>,
    /// The mnemonics of the macro instructions, joined with `+` if one procedure computes several, or the name of the
    /// procedure if these are not known. `None` for time that belongs to no operation: planning, waits and outputs on
    /// this computer, or the transfer of a machine's last results.
    pub operation: Option<String>,
    /// The level of the operation's ciphertexts, if it is known.
    pub level: Option<u32>,
    pub procedure: Option<String>,
    /// The number of calls, at this line, of the procedure that computes the operation.
    pub calls: u64,
    /// The cycles on the machine, or `None` for a run on this computer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// The seconds that the operation took on this computer, or the seconds that the machine's cycles for it take.
    pub seconds: f64,
    /// The operation's share of the time or cycles of the whole run, from 0 to 1.
    pub share: f64,
}

/// Returns for each procedure of a program, by name, the macro instructions that it computes, joined with `+`.
pub fn operations<S: Compiles>(compiled: &Compiled<S>) -> Operations {
    let named = compiled.macros_of_procedures().into_iter();
    let joined = named.map(|(name, ops)| {
        let ops: Vec<&str> = ops.iter().map(|op| op.mnemonic()).collect();
        (name.to_owned(), ops.join("+"))
    });
    joined.collect()
}

/// Returns the cost of each operation of a run at each source line, the most expensive first. The costs are in
/// machine cycles if a machine ran the program, otherwise in seconds of this computer.
pub(super) fn by_line(outcome: &Outcome, operations: &Operations) -> Vec<LineReport> {
    let machine = outcome.machine.as_ref();
    let (lines, clock_hz): (&[LineUse], _) = match (machine, &outcome.statistics) {
        (Some(machine), _) => (&machine.lines, Some(machine.clock_mhz * 1e6)),
        (None, Some(statistics)) => (statistics.lines(), None),
        (None, None) => return Vec::new(),
    };
    let all: u64 = lines.iter().map(|line| line.spent).sum();
    let mut sorted: Vec<&LineUse> = lines.iter().collect();
    sorted.sort_by_key(|line| std::cmp::Reverse(line.spent));
    let record = |line: &LineUse| {
        let called = line.called.as_ref();
        let procedure = called.map(|called| called.procedure.clone());
        LineReport {
            file: line.line.as_ref().map(|at| at.file.to_string()),
            line: line.line.as_ref().map(|at| at.line),
            operation: procedure.as_ref().map(|name| {
                let known = operations.get(name);
                known.unwrap_or(name).clone()
            }),
            level: called.and_then(|called| called.level),
            procedure,
            calls: called.map_or(0, |called| called.calls),
            cycles: clock_hz.map(|_| line.spent),
            seconds: line.spent as f64 / clock_hz.unwrap_or(1e9),
            share: line.spent as f64 / all.max(1) as f64,
        }
    };
    sorted.into_iter().map(record).collect()
}

/// The text of source lines of the user's program, by file and line number, as far as the files were found.
#[derive(Clone, Debug, Default)]
pub struct Sources(BTreeMap<(String, u32), String>);

impl Sources {
    /// Adds the text of one source line, without the white space at its ends.
    pub fn add(&mut self, file: &str, line: u32, text: &str) {
        let key = (file.to_owned(), line);
        self.0.insert(key, text.trim().to_owned());
    }

    /// Adds all lines of a source file from its text.
    pub fn of_file(&mut self, file: &str, text: &str) {
        for (line, text) in (1..).zip(text.lines()) {
            self.add(file, line, text);
        }
    }

    pub fn get(&self, file: Option<&str>, line: Option<u32>) -> Option<&str> {
        let key = (file?.to_owned(), line?);
        self.0.get(&key).map(String::as_str)
    }
}

/// The cost of a run at one line of the user's program: the cost of each operation at the line, and their sums.
#[derive(Clone, PartialEq, Debug)]
pub struct LineTotal<'r> {
    /// The costs of the line's operations, the most expensive first.
    pub records: Vec<&'r LineReport>,
    pub cycles: Option<u64>,
    pub seconds: f64,
    pub share: f64,
    pub calls: u64,
}

impl<'r> LineTotal<'r> {
    /// Adds up the costs of operations for each source line, and returns the lines with the most expensive one first.
    /// Operations without a line form one entry, and time outside of operations forms another.
    pub fn of(records: &'r [LineReport]) -> Vec<Self> {
        let mut lines: BTreeMap<(bool, Option<&str>, Option<u32>), Self> = BTreeMap::new();
        for record in records {
            let key = (
                record.operation.is_none(),
                record.file.as_deref(),
                record.line,
            );
            let line = lines.entry(key).or_insert_with(|| Self {
                records: Vec::new(),
                cycles: None,
                seconds: 0.0,
                share: 0.0,
                calls: 0,
            });
            line.records.push(record);
            if let Some(cycles) = record.cycles {
                *line.cycles.get_or_insert(0) += cycles;
            }
            line.seconds += record.seconds;
            line.share += record.share;
            line.calls += record.calls;
        }
        let mut lines: Vec<Self> = lines.into_values().collect();
        lines.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        lines
    }

    /// Returns the cost of the line's most expensive operation.
    fn first(&self) -> Option<&'r LineReport> {
        self.records.first().copied()
    }

    /// Returns the place of the line as text, such as `model.py:7`: the file without its folders, and the line's
    /// number.
    pub fn place(&self) -> String {
        let first = self.first();
        match first.and_then(|record| Some((record.file.as_deref()?, record.line?))) {
            Some((file, line)) => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
            None if first.is_some_and(|record| record.operation.is_some()) => "no line".to_owned(),
            None => "beside calls".to_owned(),
        }
    }

    /// Returns the names of the line's operations as text, the most expensive first.
    pub fn operations(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for record in &self.records {
            let name = record.operation.as_deref().unwrap_or("-");
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }

    /// Returns the highest and the lowest level of the line's ciphertexts, as text.
    pub fn levels(&self) -> String {
        let levels = || self.records.iter().filter_map(|record| record.level);
        match (levels().max(), levels().min()) {
            (Some(high), Some(low)) if high > low => format!("{high}-{low}"),
            (Some(level), _) => level.to_string(),
            (None, _) => "-".to_owned(),
        }
    }

    /// Returns the most expensive procedure of the line, and the number of its other procedures, as text.
    pub fn procedures(&self) -> String {
        let first = self
            .first()
            .and_then(|record| record.procedure.as_deref())
            .unwrap_or("-");
        match self.records.len() {
            0 | 1 => first.to_owned(),
            count => format!("{first} and {} more", count - 1),
        }
    }

    /// Returns the cost of the line as text: cycles if a machine ran the program, else seconds.
    pub fn took(&self) -> String {
        match self.cycles {
            Some(cycles) => grouped(cycles),
            None => seconds(self.seconds),
        }
    }
}

/// The most lines that a profile shows.
const MOST_LINES: usize = 20;
/// The most characters of a source line, and of a procedure's name, that a profile shows.
const MOST_TEXT: usize = 60;
const MOST_NAME: usize = 34;

/// The most expensive source lines of a run, as a table. [`RunReport::profile`] makes it.
pub struct Profile<'r> {
    report: &'r RunReport,
    sources: &'r Sources,
}

impl RunReport {
    /// Returns a table of the program's most expensive lines, with their texts as far as `sources` has them.
    pub fn profile<'r>(&'r self, sources: &'r Sources) -> Profile<'r> {
        Profile {
            report: self,
            sources,
        }
    }
}

fn shortened(text: &str, most: usize) -> String {
    // The text of a line comes from the user, so control characters, which could move the cursor, become spaces.
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let shown: String = shown.collect();
    match shown.char_indices().nth(most) {
        Some(_) => {
            let kept: String = shown.chars().take(most.saturating_sub(3)).collect();
            format!("{kept}...")
        }
        None => shown,
    }
}

impl fmt::Display for Profile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        let totals = LineTotal::of(&report.by_line);
        let unit = match report.machine {
            Some(_) => "cycles",
            None => "time",
        };
        let place = |total: &LineTotal<'_>| shortened(&total.place(), MOST_NAME);
        let width = totals
            .iter()
            .take(MOST_LINES)
            .map(|t| place(t).chars().count());
        let width = width.max().unwrap_or(0).max("line".len());
        writeln!(
            f,
            "{} of `{}` on {} by line",
            if report.machine.is_some() {
                "Cycles"
            } else {
                "Time"
            },
            report.program,
            report.device
        )?;
        writeln!(
            f,
            "  {:>7} {unit:>13} {:>7}  {:<width$}  {:>5}  {:<16}  {:<MOST_NAME$}  source",
            "share", "calls", "line", "level", "operation", "procedure"
        )?;
        for total in totals.iter().take(MOST_LINES) {
            let first = total.records.first();
            let text = first.and_then(|r| self.sources.get(r.file.as_deref(), r.line));
            let row = format!(
                "  {:>5.1} % {:>13} {:>7}  {:<width$}  {:>5}  {:<16}  {:<MOST_NAME$}  {}",
                100.0 * total.share,
                total.took(),
                grouped(total.calls),
                place(total),
                total.levels(),
                shortened(&total.operations(), 16),
                shortened(&total.procedures(), MOST_NAME),
                shortened(text.unwrap_or_default(), MOST_TEXT)
            );
            writeln!(f, "{}", row.trim_end())?;
        }
        let left = totals.get(MOST_LINES..).unwrap_or_default();
        if !left.is_empty() {
            let share: f64 = left.iter().map(|total| total.share).sum();
            writeln!(f, "  {:>5.1} % in {} more lines", 100.0 * share, left.len())?;
        }
        Ok(())
    }
}
