// SPDX-License-Identifier: Apache-2.0
//! Draws the comparison of several runs as an HTML page: a plot of their times and a table, without scripts.

use ringmill_device::report::seconds;

use super::page::{Cell, Piece, Table, bare, escaped, framed, written};
use crate::report::compared::Comparison;

/// A bar of the plot in a page about a comparison: a label, a length and the text of the value.
struct Bar {
    label: String,
    value: f64,
    /// The value of the bar as text, with its unit.
    text: String,
}

/// The sizes of the comparison's plot in pixels: the widths of the labels, of the longest bar and of the values
/// beside the bars, and the height of a bar's row.
const LABELS: f64 = 260.0;
const LONGEST: f64 = 480.0;
const VALUES: f64 = 120.0;
const ROW: f64 = 26.0;

/// Returns an HTML page with the comparison's table, a plot of its times and its notes. The page needs no other file.
pub fn of_comparison(comparison: &Comparison) -> String {
    let bars = comparison.rows().iter().filter_map(|row| {
        let taken = row.figures.as_ref()?.seconds?;
        Some(Bar {
            label: row.which.case.clone(),
            value: taken,
            text: seconds(taken),
        })
    });
    drawn(
        &comparison.title(),
        ("total time", &bars.collect::<Vec<_>>()),
        &table(comparison),
        comparison.notes(),
    )
}

/// Returns the comparison's table as HTML, without a page around it.
pub fn table_of(comparison: &Comparison) -> String {
    let mut out = String::new();
    bare(&mut out, &table(comparison));
    out
}

fn table(comparison: &Comparison) -> Table {
    let (titles, rows) = comparison.shown();
    let row = |(case, cells): (String, Result<Vec<String>, &str>)| {
        let mut row = vec![Cell::Text(case)];
        match cells {
            Ok(cells) => row.extend(cells.into_iter().map(Cell::Text)),
            Err(why) => row.push(Cell::Refused(why.to_owned())),
        }
        row
    };
    let head = std::iter::once("").chain(titles);
    Table {
        head: head.map(str::to_owned).collect(),
        rows: rows.into_iter().map(row).collect(),
    }
}

/// Returns an HTML page with a plot, a table and notes below them. `bars` is the title of the plot and its bars.
fn drawn(title: &str, bars: (&str, &[Bar]), table: &Table, notes: Vec<String>) -> String {
    let mut body = svg(bars);
    body += "<div class=\"wide compared\">";
    bare(&mut body, table);
    body += "</div>\n";
    for note in notes {
        written(&mut body, &Piece::Text(note));
    }
    framed(&escaped(title), &body, "")
}

/// Returns an SVG image of horizontal bars that begin at zero, for the plot of a comparison.
fn svg((plot, bars): (&str, &[Bar])) -> String {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let (width, height) = (LABELS + LONGEST + VALUES, ROW * bars.len() as f64);
    let mut out = format!(
        "<svg role=\"img\" aria-label=\"{}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-size=\"14\" fill=\"currentColor\">\n",
        escaped(plot)
    );
    for (at, bar) in bars.iter().enumerate() {
        let top = ROW * at as f64;
        let share = if most > 0.0 { bar.value / most } else { 0.0 };
        let (long, line) = (LONGEST * share, top + 0.7 * ROW);
        out += &format!(
            "<text x=\"{}\" y=\"{line}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LABELS}\" y=\"{}\" width=\"{long:.1}\" height=\"{}\" fill=\"#4a78b0\"/>\
             <text x=\"{:.1}\" y=\"{line}\">{}</text>\n",
            LABELS - 8.0,
            escaped(&bar.label),
            top + 0.15 * ROW,
            0.7 * ROW,
            LABELS + long + 6.0,
            escaped(&bar.text),
        );
    }
    out + "</svg>\n"
}
