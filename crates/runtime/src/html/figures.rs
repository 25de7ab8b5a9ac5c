// SPDX-License-Identifier: Apache-2.0
//! Converts the figures of run reports to the form of the plotting library that HTML pages use.
//!
//! The first colours are those of Okabe and Ito, which people who are blind to red or green can distinguish. They suit
//! a light and a dark page.

use plotly::common::{Anchor, DashType, Line, LineShape, Marker, Mode, Orientation, Title};
use plotly::layout::{Axis, AxisRange, AxisType, BarMode, HoverMode, Legend, Margin, TraceOrder};
use plotly::{Bar, Layout, Plot, Scatter};
use ringmill_device::report::seconds;

use super::page::{Cell, Table};

/// The colours of figures: Okabe and Ito's palette without black and yellow, which are hard to see on a dark or on a
/// light page, with a grey and a violet in their place. Other shades of these eight follow.
const COLOURS: [&str; 16] = [
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C8C8C", "#7A5195",
    "#004C77", "#996A00", "#00694D", "#8A4A6C", "#2F7FAE", "#8F3F00", "#5A5A5A", "#B39BC8",
];
/// The most kinds of activity that have a colour of their own in a figure of units over time. All other kinds share
/// one colour.
const MOST_KINDS: usize = 7;

/// A figure with one bar for each time, such as that of a run. The bar is divided into the parts of the time.
#[derive(Clone, Debug)]
pub struct Stack {
    pub title: String,
    /// The label of the figure's axis of values: its quantity and unit.
    pub axis: String,
    /// The name of each bar of the figure, and the bar's parts, each with its name and its seconds. Parts with one name
    /// have one colour in all bars.
    pub wholes: Vec<(String, Vec<(String, f64)>)>,
}

impl Stack {
    /// Returns the names of all bars' parts in the order of their first appearance.
    fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for (name, _) in self.wholes.iter().flat_map(|(_, parts)| parts) {
            if !names.contains(&name.as_str()) {
                names.push(name.as_str());
            }
        }
        names
    }

    pub(super) fn table(&self) -> Table {
        let mut rows = Vec::new();
        for (whole, parts) in &self.wholes {
            let sum: f64 = parts.iter().map(|(_, value)| value).sum();
            for (part, value) in parts {
                rows.push(vec![
                    Cell::Text(whole.clone()),
                    Cell::Text(part.clone()),
                    Cell::Number(seconds(*value)),
                    Cell::Share(if sum > 0.0 { value / sum } else { 0.0 }),
                ]);
            }
        }
        let head = ["device", "part", "time", "share"];
        Table {
            head: head.map(str::to_owned).to_vec(),
            rows,
        }
    }
}

/// A figure of the activity of units over time, one horizontal lane for each unit, in seconds.
#[derive(Clone, Debug)]
pub struct Lanes {
    pub title: String,
    /// The names of the figure's lanes, one for each unit, from top to bottom.
    pub names: Vec<String>,
    pub spans: Vec<Span>,
}

/// A time in which the unit of one lane was busy.
#[derive(Clone, Debug)]
pub struct Span {
    /// The lane of the figure to which the span belongs, an index into [`Lanes::names`].
    pub lane: usize,
    pub start: f64,
    pub end: f64,
    /// The kind of activity in the span. Spans of one kind have one colour.
    pub kind: String,
    /// Lines of text that the figure shows beside the span when the reader points at it.
    pub says: Vec<String>,
}

/// The way in which a figure joins the points of a curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The points of the curve are joined by straight lines.
    Line,
    /// The points of the curve are joined by steps: each value holds up to the next point.
    Steps,
    /// The points of the curve are joined by dashed steps.
    Dashed,
    /// The points of the curve are drawn and not joined.
    Points,
}

/// A figure of several curves over a common axis.
#[derive(Clone, Debug)]
pub struct Curve {
    pub title: String,
    /// The label of the horizontal axis: its quantity and unit.
    pub x: String,
    pub y: String,
    /// Whether both axes of the figure are logarithmic.
    pub log: bool,
    pub series: Vec<Series>,
}

#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// A text for each point of the curve, which the figure shows beside the point, or an empty list.
    pub says: Vec<String>,
    pub kind: Kind,
}

/// A figure with one bar for each name.
#[derive(Clone, Debug)]
pub struct Bars {
    pub title: String,
    /// The label of the figure's axis of values: its quantity and unit.
    pub axis: String,
    pub names: Vec<String>,
    pub values: Vec<f64>,
    /// The value at the end of the figure's axis of values, or `None` if the longest bar determines where the axis
    /// ends.
    pub most: Option<f64>,
}

impl Bars {
    pub(super) fn table(&self) -> Table {
        let largest = self.values.iter().copied().fold(0.0, f64::max);
        let whole = self.most.unwrap_or(largest);
        let row = |(name, value): (&String, &f64)| {
            vec![
                Cell::Text(name.clone()),
                Cell::Number(short(*value)),
                Cell::Share(if whole > 0.0 { value / whole } else { 0.0 }),
            ]
        };
        let share = match self.most {
            Some(most) => format!("of {}", short(most)),
            None => "of the largest".to_owned(),
        };
        Table {
            head: vec![String::new(), self.axis.clone(), share],
            rows: self.names.iter().zip(&self.values).map(row).collect(),
        }
    }
}

fn short(value: f64) -> String {
    match value.fract() == 0.0 && value.abs() < 1e15 {
        true => format!("{value:.0}"),
        false => format!("{value:.2}"),
    }
}

/// Escapes the text of a label, in which the plotting library reads tags and entities.
fn label(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Joins the lines of text that a figure shows beside a point.
fn lines(says: &[String]) -> String {
    let says: Vec<String> = says.iter().map(|line| label(line)).collect();
    says.join("<br>")
}

/// Returns the colour of part or curve number `number` of a figure. If there are more parts than colours, the
/// colours begin again with the first.
fn colour(number: usize) -> &'static str {
    COLOURS[number % COLOURS.len()]
}

/// Returns the unit of time (s, ms or us) in which a time of `most` seconds is a readable number. The pair has the
/// number of such units in a second, and the unit's name.
pub(super) fn unit(most: f64) -> (f64, &'static str) {
    match most {
        most if most >= 1.0 => (1.0, "s"),
        most if most >= 1e-3 => (1e3, "ms"),
        _ => (1e6, "us"),
    }
}

fn axis(title: &str) -> Axis {
    Axis::new()
        .title(Title::with_text(label(title)))
        .auto_margin(true)
        .zero_line(false)
}

fn layout() -> Layout {
    // The legend stands above the figure and grows upwards, so that a narrow page has its whole width for the figure.
    let legend = Legend::new()
        .orientation(Orientation::Horizontal)
        .trace_order(TraceOrder::Normal)
        .x(0.0)
        .y(1.02)
        .y_anchor(Anchor::Bottom);
    let margin = Margin::new().left(20).right(20).top(20).bottom(40);
    Layout::new()
        .auto_size(true)
        .margin(margin.auto_expand(true))
        .legend(legend)
        .hover_mode(HoverMode::Closest)
}

fn plotted(traces: Vec<Box<dyn plotly::Trace>>, layout: Layout) -> Plot {
    let mut plot = Plot::new();
    plot.add_traces(traces);
    plot.set_layout(layout);
    plot
}

pub(super) fn stack(stack: &Stack) -> Plot {
    let sums = stack.wholes.iter();
    let sums = sums.map(|(_, parts)| parts.iter().map(|(_, value)| value).sum::<f64>());
    let (per, name) = unit(sums.fold(0.0, f64::max));
    // The axis counts from below, so the first bar comes last.
    let wholes = || stack.wholes.iter().rev();
    let places: Vec<String> = wholes().map(|(name, _)| label(name)).collect();
    let mut traces: Vec<Box<dyn plotly::Trace>> = Vec::new();
    for (number, part) in stack.names().into_iter().enumerate() {
        let of = |parts: &Vec<(String, f64)>| {
            let mine = parts.iter().filter(|(name, _)| name == part);
            mine.map(|(_, value)| value * per).sum::<f64>()
        };
        let values: Vec<f64> = wholes().map(|(_, parts)| of(parts)).collect();
        let says = values.iter().map(|value| {
            let part = part.to_owned();
            lines(&[part, seconds(value / per)])
        });
        traces.push(
            Bar::new(values.clone(), places.clone())
                .name(label(part))
                .orientation(Orientation::Horizontal)
                .marker(Marker::new().color(colour(number)))
                .hover_text_array(says.collect::<Vec<_>>())
                .hover_template("%{hovertext}<extra></extra>"),
        );
    }
    let layout = layout()
        .bar_mode(BarMode::Stack)
        .x_axis(axis(&format!("{} ({name})", stack.axis)))
        .y_axis(axis("").type_(AxisType::Category).fixed_range(true));
    plotted(traces, layout)
}

pub(super) fn lanes(lanes: &Lanes) -> Plot {
    let ends = lanes.spans.iter().map(|span| span.end);
    let (per, name) = unit(ends.fold(0.0, f64::max));
    // The kinds that last longest have colours of their own.
    let mut kinds: Vec<(&str, f64)> = Vec::new();
    for span in &lanes.spans {
        let took = span.end - span.start;
        match kinds.iter_mut().find(|(kind, _)| *kind == span.kind) {
            Some((_, all)) => *all += took,
            None => kinds.push((&span.kind, took)),
        }
    }
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
    let own = MOST_KINDS;
    let named = kinds.iter().take(own).map(|(kind, _)| *kind);
    let others = (kinds.len() > own).then_some("others");
    let mut traces: Vec<Box<dyn plotly::Trace>> = Vec::new();
    for (number, kind) in named.clone().chain(others).enumerate() {
        let mine = |span: &&Span| match number < own {
            true => span.kind == kind,
            false => !named.clone().any(|name| name == span.kind),
        };
        let (mut x, mut y, mut says) = (Vec::new(), Vec::new(), Vec::new());
        for span in lanes.spans.iter().filter(mine) {
            let text = lines(&span.says);
            x.extend([Some(span.start * per), Some(span.end * per), None]);
            y.extend([Some(span.lane as f64), Some(span.lane as f64), None]);
            says.extend([text.clone(), text, String::new()]);
        }
        traces.push(
            Scatter::new(x, y)
                .name(label(kind))
                .mode(Mode::Lines)
                .line(Line::new().color(colour(number)).width(13.0))
                .hover_text_array(says)
                .hover_template("%{hovertext}<extra></extra>"),
        );
    }
    let names: Vec<String> = lanes.names.iter().map(|name| label(name)).collect();
    let places: Vec<f64> = (0..names.len()).map(|at| at as f64).collect();
    let layout = layout().x_axis(axis(&format!("time ({name})"))).y_axis(
        axis("")
            .tick_values(places)
            .tick_text(names.clone())
            .fixed_range(true)
            .range(AxisRange::new(names.len() as f64 - 0.4, -0.6)),
    );
    plotted(traces, layout)
}

pub(super) fn curve(curve: &Curve) -> Plot {
    let mut traces: Vec<Box<dyn plotly::Trace>> = Vec::new();
    for (number, series) in curve.series.iter().enumerate() {
        let line = Line::new().color(colour(number)).width(2.5);
        let (mode, line) = match series.kind {
            Kind::Line => (Mode::Lines, line),
            Kind::Steps => (Mode::Lines, line.shape(LineShape::Hv)),
            Kind::Dashed => (Mode::Lines, line.shape(LineShape::Hv).dash(DashType::Dash)),
            Kind::Points => (Mode::Markers, line),
        };
        let trace = Scatter::new(series.x.clone(), series.y.clone())
            .name(label(&series.name))
            .mode(mode)
            .line(line)
            .marker(Marker::new().color(colour(number)).size(11));
        let says: Vec<String> = series.says.iter().map(|text| label(text)).collect();
        traces.push(match says.is_empty() {
            true => trace,
            false => trace
                .hover_text_array(says)
                .hover_template("%{hovertext}<extra></extra>"),
        });
    }
    let scaled = |axis: Axis| match curve.log {
        true => axis.type_(AxisType::Log),
        false => axis,
    };
    let vertical = scaled(axis(&curve.y));
    let vertical = match curve.log {
        true => vertical,
        false => vertical.range_mode(plotly::layout::RangeMode::ToZero),
    };
    let layout = layout().x_axis(scaled(axis(&curve.x))).y_axis(vertical);
    plotted(traces, layout.show_legend(true))
}

pub(super) fn bars(bars: &Bars) -> Plot {
    let names: Vec<String> = bars.names.iter().rev().map(|name| label(name)).collect();
    let values: Vec<f64> = bars.values.iter().rev().copied().collect();
    let trace = Bar::new(values, names)
        .orientation(Orientation::Horizontal)
        .marker(Marker::new().color(colour(0)));
    let across = axis(&bars.axis);
    let across = match bars.most {
        Some(most) => across.range(AxisRange::new(0.0, most)),
        None => across,
    };
    let layout = layout()
        .show_legend(false)
        .x_axis(across)
        .y_axis(axis("").type_(AxisType::Category).fixed_range(true));
    plotted(vec![trace], layout)
}
