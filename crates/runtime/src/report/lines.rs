// SPDX-License-Identifier: Apache-2.0
//! What a run took, by the line of the user's program: each line's operations, and what they took that nothing else took.

use std::collections::BTreeMap;
use std::fmt;

use ringmill_compiler::{Compiled, Compiles};
use ringmill_device::Outcome;
use ringmill_device::report::{LineUse, grouped, seconds};
use ringmill_device::trace::Operations;
use serde::Serialize;

use super::RunReport;

/// One operation at one line. Records add up to the time of the run on this computer, or to the cycles of the machine.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LineReport {
    /// The file as the program names it; `None` where the program carries no lines, and of what is no line's.
    pub file: Option<String>,
    pub line: Option<u32>,
    /// Macro instructions, joined with `+` where one procedure is several. `None` of what no operation took: planning, waits and
    /// outputs on this computer, the last results' way out of a machine.
    pub operation: Option<String>,
    /// The level of the operation's ciphertexts.
    pub level: Option<u32>,
    pub procedure: Option<String>,
    /// How often the procedure is called there.
    pub calls: u64,
    /// Of a machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Seconds on this computer, or those that the machine's cycles take.
    pub seconds: f64,
    /// Of all, 0 to 1.
    pub share: f64,
}

/// The operation that each procedure of a program is.
pub fn operations<S: Compiles>(compiled: &Compiled<S>) -> Operations {
    let named = compiled.macros_of_procedures().into_iter();
    let joined = named.map(|(name, ops)| {
        let ops: Vec<&str> = ops.iter().map(|op| op.mnemonic()).collect();
        (name.to_owned(), ops.join("+"))
    });
    joined.collect()
}

/// The records of a run, what took most first: of the machine where there is one, else of this computer.
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

/// The text of lines of the user's program, by file and line, where the file is at hand.
#[derive(Clone, Debug, Default)]
pub struct Sources(BTreeMap<(String, u32), String>);

impl Sources {
    /// The line's text, without the space around it.
    pub fn add(&mut self, file: &str, line: u32, text: &str) {
        let key = (file.to_owned(), line);
        self.0.insert(key, text.trim().to_owned());
    }

    /// All lines of a file that records are about.
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

/// All that a run took at one line.
#[derive(Clone, PartialEq, Debug)]
pub struct LineTotal<'r> {
    /// Its records, what took most first.
    pub records: Vec<&'r LineReport>,
    pub cycles: Option<u64>,
    pub seconds: f64,
    pub share: f64,
    pub calls: u64,
}

impl<'r> LineTotal<'r> {
    /// Records by line, the line first that took most; what is no call's is a line of its own.
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

    /// The record that took most.
    fn first(&self) -> Option<&'r LineReport> {
        self.records.first().copied()
    }

    /// `model.py:7`, the file without its folders.
    pub fn place(&self) -> String {
        let first = self.first();
        match first.and_then(|record| Some((record.file.as_deref()?, record.line?))) {
            Some((file, line)) => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
            None if first.is_some_and(|record| record.operation.is_some()) => "no line".to_owned(),
            None => "beside calls".to_owned(),
        }
    }

    /// The operations there, what took most first.
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

    /// The highest and the lowest level there.
    pub fn levels(&self) -> String {
        let levels = || self.records.iter().filter_map(|record| record.level);
        match (levels().max(), levels().min()) {
            (Some(high), Some(low)) if high > low => format!("{high}-{low}"),
            (Some(level), _) => level.to_string(),
            (None, _) => "-".to_owned(),
        }
    }

    /// The procedure that took most, and how many others there are.
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

    /// Cycles where a machine took them, else seconds.
    pub fn took(&self) -> String {
        match self.cycles {
            Some(cycles) => grouped(cycles),
            None => seconds(self.seconds),
        }
    }
}

/// Lines that a profile has at most.
const MOST_LINES: usize = 20;
/// Characters of source text and of a procedure's name that a profile shows at most.
const MOST_TEXT: usize = 60;
const MOST_NAME: usize = 34;

/// The hottest lines of a run, as a table. Made by [`RunReport::profile`].
pub struct Profile<'r> {
    report: &'r RunReport,
    sources: &'r Sources,
}

impl RunReport {
    /// The lines of the program that took most, with their text where it is at hand.
    pub fn profile<'r>(&'r self, sources: &'r Sources) -> Profile<'r> {
        Profile {
            report: self,
            sources,
        }
    }
}

fn shortened(text: &str, most: usize) -> String {
    // A line's text is the user's: what would move the cursor is not shown.
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
