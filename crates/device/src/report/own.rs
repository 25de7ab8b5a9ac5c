// SPDX-License-Identifier: Apache-2.0
//! What one kind of machine tells of its runs beside what every machine tells.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::how::How;
use super::rows::Rows;

/// Figures of one kind of machine: an entry of the report's JSON, and rows of the report for people.
pub trait OwnReport: PartialEq + fmt::Debug + Serialize + Send + Sync + 'static {
    /// The key of the figures in the report's JSON.
    const KEY: &'static str;

    /// Writes its rows below those that every machine has; `how` the cycles were obtained.
    ///
    /// # Errors
    /// Those of the formatter.
    fn rows(&self, rows: &mut Rows<'_, '_>, how: How) -> fmt::Result;

    /// What it adds to rows that every machine has.
    fn remarks(&self) -> Remarks {
        Remarks::default()
    }

    /// What programs take that the machine interleaves, where it does.
    fn interleaved(&self) -> Option<Interleaved> {
        None
    }
}

/// What a machine adds to rows that every machine has.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Remarks {
    /// What it multiplies with, where that is worth a row.
    pub multipliers: Option<String>,
    /// A host beside it runs a part of the program.
    pub hosted: bool,
    /// How many times as fast as the host alone it is, where both were measured.
    pub speedup: Option<f64>,
    /// Which keys came over the link, where the machine keeps some.
    pub keys: Option<String>,
    /// What went over the link and back for want of room, where something did.
    pub spills: Option<String>,
}

/// Runs of one program that a machine does together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interleaved {
    /// How many it does together.
    pub places: usize,
    /// Each one's share of the cycles of them all.
    pub cycles: u64,
}

/// The own report of some kind of machine. As JSON it is one entry: its key and its figures.
#[derive(Clone)]
pub struct Own(Arc<dyn Erased>);

impl Own {
    pub fn new(own: impl OwnReport) -> Self {
        Self(Arc::new(own))
    }

    /// The figures, where they are of that kind of machine.
    pub fn get<T: OwnReport>(&self) -> Option<&T> {
        self.0.any().downcast_ref()
    }

    /// Writes its rows; `how` the cycles were obtained.
    ///
    /// # Errors
    /// Those of the formatter.
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

/// [`OwnReport`] without its type.
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
