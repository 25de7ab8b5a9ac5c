// SPDX-License-Identifier: Apache-2.0
//! The interface by which one kind of machine adds figures of its own to a report.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::how::How;
use super::rows::Rows;

/// The figures that one kind of machine adds to a report: an entry of the report's JSON, and rows of the
/// printed report.
pub trait OwnReport: PartialEq + fmt::Debug + Serialize + Send + Sync + 'static {
    /// The key in the report's JSON under which the figures of this kind of machine stand.
    const KEY: &'static str;

    /// Writes the figures of this kind of machine as rows of a printed report, below the rows that the reports of all
    /// machines have. `how` is the source of the cycles.
    ///
    /// # Errors
    /// The errors of the formatter.
    fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result;

    /// Returns the remarks of this kind of machine on those rows of a report that all kinds of
    /// machines have.
    fn remarks(&self) -> Remarks {
        Remarks::default()
    }

    /// Returns the number of runs of a program that the machine interleaves and each run's share of the cycles, or
    /// `None` if the machine interleaves none.
    fn interleaved(&self) -> Option<Interleaved> {
        None
    }
}

/// The remarks of one kind of machine on those rows of a run report's table that all machines have.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Remarks {
    /// A text that counts the machine's multipliers, if the report has a row for them.
    pub multipliers: Option<String>,
    /// Whether a host beside the machine runs a part of the program's instructions.
    pub hosted: bool,
    /// The speed-up by the machine: the time of the host alone divided by that of machine and host together. It is
    /// `None` unless both times are known.
    pub speedup: Option<f64>,
    /// A sentence about the evaluation keys that came over the link during the run, if the machine keeps some keys.
    pub keys: Option<String>,
    /// A sentence about the limbs that were spilled over the link, if there were any.
    pub spills: Option<String>,
}

/// The interleaving of several runs of one program on a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interleaved {
    /// The number of runs of one program that the machine executes together, interleaved.
    pub places: usize,
    /// The cycles of all interleaved runs divided by their number, rounded up: the share of one run.
    pub cycles: u64,
}

/// The figures that any one kind of machine adds to a report. In JSON they are one entry: a key and the
/// figures.
#[derive(Clone)]
pub struct Own(Arc<dyn Erased>);

impl Own {
    pub fn new(own: impl OwnReport) -> Self {
        Self(Arc::new(own))
    }

    /// Returns the figures if they have type `T`, the type of one kind of machine.
    pub fn get<T: OwnReport>(&self) -> Option<&T> {
        self.0.any().downcast_ref()
    }

    /// Writes the machine's own figures as rows of a printed report; `how` is the source of the cycles.
    ///
    /// # Errors
    /// The errors of the formatter.
    pub fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result {
        self.0.rows(rows, how)
    }

    pub fn remarks(&self) -> Remarks {
        self.0.remarks()
    }

    pub fn interleaved(&self) -> Option<Interleaved> {
        self.0.interleaved()
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        self.0.same(other.0.as_ref())
    }
}

impl Serialize for Own {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.0.key(), self.0.figures())?;
        map.end()
    }
}

/// The methods of [`OwnReport`] without its associated type, for a trait object.
trait Erased: fmt::Debug + Send + Sync {
    fn key(&self) -> &'static str;
    fn figures(&self) -> &dyn erased_serde::Serialize;
    fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result;
    fn remarks(&self) -> Remarks;
    fn interleaved(&self) -> Option<Interleaved>;
    fn any(&self) -> &dyn Any;
    fn same(&self, other: &dyn Erased) -> bool;
}

impl<T: OwnReport> Erased for T {
    fn key(&self) -> &'static str {
        T::KEY
    }

    fn figures(&self) -> &dyn erased_serde::Serialize {
        self
    }

    fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result {
        OwnReport::rows(self, rows, how)
    }

    fn remarks(&self) -> Remarks {
        OwnReport::remarks(self)
    }

    fn interleaved(&self) -> Option<Interleaved> {
        OwnReport::interleaved(self)
    }

    fn any(&self) -> &dyn Any {
        self
    }

    fn same(&self, other: &dyn Erased) -> bool {
        other.any().downcast_ref() == Some(self)
    }
}
