// SPDX-License-Identifier: Apache-2.0
//! The columns of a comparison's table, with their values as text for people and as numbers for programs.

use ringmill_device::report::{Resource, bytes, grouped, pieces_text, seconds};

use super::rows::Figures;

/// A value in a cell of a comparison's table, which knows its unit.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Cell {
    Text(String),
    Count(u64),
    Number(f64),
    Pieces(f64),
    Seconds(f64),
    Bytes(u64),
    Times(f64),
    Share(f64),
}

impl Cell {
    /// Returns the cell's value as text for people, with a suitable unit.
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) => grouped(*n),
            Self::Number(x) => x.to_string(),
            Self::Pieces(n) => pieces_text(*n),
            Self::Seconds(s) => seconds(*s),
            Self::Bytes(n) => bytes(*n),
            Self::Times(x) if *x >= 100.0 => format!("{x:.0}"),
            Self::Times(x) => format!("{x:.2}"),
            Self::Share(x) => format!("{:.0} %", 100.0 * x),
        }
    }

    /// Returns the cell's value as text for programs: seconds, bytes or a plain number.
    pub fn raw(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(n) | Self::Bytes(n) => n.to_string(),
            Self::Number(x)
            | Self::Pieces(x)
            | Self::Seconds(x)
            | Self::Times(x)
            | Self::Share(x) => x.to_string(),
        }
    }
}

/// A column of a comparison's table: its key for programs, its title for people, and its value in a row.
pub(super) struct Column {
    pub key: &'static str,
    pub title: &'static str,
    pub cell: fn(&Figures) -> Option<Cell>,
}

const fn column(
    key: &'static str,
    title: &'static str,
    cell: fn(&Figures) -> Option<Cell>,
) -> Column {
    Column { key, title, cell }
}

fn need(figures: &Figures, of: Resource) -> Option<Cell> {
    figures.needs.get(of.name()).copied().map(Cell::Pieces)
}

/// The columns of a comparison's table that hold figures of a run.
pub(super) const COLUMNS: [Column; 25] = [
    column("seconds", "total", |f| f.seconds.map(Cell::Seconds)),
    column("cold_seconds", "cold", |f| {
        f.cold_seconds.map(Cell::Seconds)
    }),
    column("keys", "keys", |f| {
        f.keys.map(|keys| Cell::Text(keys.name().to_owned()))
    }),
    column("speedup", "speed-up", |f| f.speedup.map(Cell::Times)),
    column("bound_by", "bound by", |f| {
        let bound = f.bound.as_ref().map(|bound| bound.by.short());
        bound.map(|by| Cell::Text(by.to_owned()))
    }),
    column("bound_share", "of it", |f| {
        f.bound.as_ref().map(|bound| Cell::Share(bound.share))
    }),
    column("host_seconds", "host", |f| {
        f.host_seconds.map(Cell::Seconds)
    }),
    column("link_seconds", "link", |f| {
        f.link_seconds.map(Cell::Seconds)
    }),
    column("compute_seconds", "machine", |f| {
        f.compute_seconds.map(Cell::Seconds)
    }),
    column("waits_seconds", "waits", |f| {
        f.waits_seconds.map(Cell::Seconds)
    }),
    column("overlap_seconds", "overlap", |f| {
        f.overlap_seconds.map(Cell::Seconds)
    }),
    column("cycles", "cycles", |f| f.cycles.map(Cell::Count)),
    column("clock_mhz", "MHz", |f| f.clock_mhz.map(Cell::Number)),
    column("threads", "threads", |f| {
        f.threads.map(|threads| Cell::Count(threads as u64))
    }),
    column("multipliers", "multipliers", |f| {
        f.multipliers.map(Cell::Count)
    }),
    column("memory_bytes", "memory", |f| {
        f.memory_bytes.map(Cell::Bytes)
    }),
    column("memory_used_bytes", "in use", |f| {
        f.memory_used_bytes.map(Cell::Bytes)
    }),
    column("part", "part", |f| {
        f.part.map(|part| Cell::Text(part.to_owned()))
    }),
    column("dsp", "DSP", |f| need(f, Resource::Dsp)),
    column("block_ram", "block RAM", |f| need(f, Resource::BlockRam)),
    column("ultra_ram", "ultra RAM", |f| need(f, Resource::UltraRam)),
    column("lut_memory", "LUT as memory", |f| {
        need(f, Resource::LutMemory)
    }),
    column("sram_kbit", "SRAM, Kbit", |f| need(f, Resource::Sram)),
    column("how", "how", |f| Some(Cell::Text(f.how.to_string()))),
    column("predicted_bits", "bits", |f| {
        f.predicted_bits.map(Cell::Number)
    }),
];

/// The keys of columns that the table for programs has and the table for people does not.
pub(super) const FOR_PROGRAMS: [&str; 4] = ["overlap_seconds", "cycles", "how", "predicted_bits"];
