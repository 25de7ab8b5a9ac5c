// SPDX-License-Identifier: Apache-2.0
//! Describes runs of programs as sections of an HTML page: the time of each by part, by unit, by moment and by
//! source line.

use ringmill_device::report::{MachineReport, bytes, grouped, seconds};
use ringmill_device::timeline::{Event, Lane, Timeline};

use super::figures::{self, Bars, Curve, Kind, Lanes, Series, Span, Stack};
use super::page::{Cell, Figure, Piece, Section, Table};
use super::program::{Along, parameters};
use crate::report::{LineTotal, RunReport, Sources};

/// The most source lines that a page's table of costs lists. [`MOST_PARTS`] is the most operations that have a part of
/// their own in the bar of a run's time.
const MOST_LINES: usize = 40;
const MOST_PARTS: usize = 7;

/// Describes runs of one program on one or more devices as sections of an HTML page. `along` has the size in bits
/// of the modulus and of the scale after each operation of the program.
pub fn of_runs(reports: &[&RunReport], along: Option<&Along>, sources: &Sources) -> Vec<Section> {
    let mut sections = vec![time(reports)];
    for report in reports {
        let of = |what: &str| match reports.len() {
            1 => what.to_owned(),
            _ => format!("{what}, {}", report.device),
        };
        sections.push(lines(report, of("Lines of the program"), sources));
        match &report.timeline {
            Some(timeline) => {
                sections.push(units(timeline, of("Units over time"), report, sources));
                sections.extend(memory(timeline, of("Memory over time")));
            }
            None => sections.push(
                Section::new(of("Units over time"))
                    .saying("Nothing was told of units: the run was not asked for a timeline."),
            ),
        }
        if let Some(machine) = &report.machine {
            sections.push(busy(machine, of("Units")));
            sections.extend(roofline(machine, report, of("Roofline")));
        }
    }
    let first = reports.first();
    sections.extend(first.and_then(|report| outputs(report)));
    sections.extend(along.and_then(|along| along.section(sources)));
    sections.extend(first.map(|report| parameters(&report.parameters)));
    sections
}

/// Draws for each run a bar of its time, divided into parts, in a section.
fn time(reports: &[&RunReport]) -> Section {
    let wholes = reports
        .iter()
        .map(|report| (report.device.clone(), parts(report)));
    let mut section = Section::new("Time").with(Piece::Figure(Figure::Stack(Stack {
        title: "What the time of the run is made of, device by device.".to_owned(),
        axis: "time".to_owned(),
        wholes: wholes.collect(),
    })));
    for report in reports {
        let text = report.to_string();
        let mut rows = text.lines();
        section = section.saying(rows.next().unwrap_or_default().trim());
        if let Some(warning) = report.machine.as_ref().and_then(|m| m.fit.warning()) {
            section = section.with(Piece::Warning(warning.to_string()));
        }
    }
    section
}

/// Returns the parts of a run's time, each with its name and seconds. If a machine ran the program, they come from
/// the machine's report. Otherwise they are the operations, and the smallest operations form one part.
fn parts(report: &RunReport) -> Vec<(String, f64)> {
    if let Some(machine) = &report.machine {
        let time = &machine.end_to_end;
        let parts = [
            ("host", time.host_seconds.unwrap_or(0.0)),
            ("inputs over the link", time.inputs_seconds),
            ("keys over the link", time.keys_seconds),
            ("programs over the link", time.programs_seconds),
            ("compute", time.compute_seconds),
            ("waiting for distant memory", time.waits_seconds),
            ("spills over the link", time.spills_seconds),
            ("outputs over the link", time.outputs_seconds),
        ];
        let there = parts.into_iter().filter(|(_, seconds)| *seconds > 0.0);
        return there
            .map(|(name, seconds)| (name.to_owned(), seconds))
            .collect();
    }
    let mut parts: Vec<(String, f64)> = Vec::new();
    for line in &report.by_line {
        let name = line.operation.as_deref().unwrap_or("beside calls");
        match parts.iter_mut().find(|(known, _)| known == name) {
            Some((_, seconds)) => *seconds += line.seconds,
            None => parts.push((name.to_owned(), line.seconds)),
        }
    }
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let others: f64 = parts
        .iter()
        .skip(MOST_PARTS)
        .map(|(_, seconds)| seconds)
        .sum();
    parts.truncate(MOST_PARTS);
    if others > 0.0 {
        parts.push(("other operations".to_owned(), others));
    }
    parts
}

fn lines(report: &RunReport, title: String, sources: &Sources) -> Section {
    let totals = LineTotal::of(&report.by_line);
    let row = |total: &LineTotal<'_>| {
        let first = total.records.first();
        let text = first.and_then(|r| sources.get(r.file.as_deref(), r.line));
        vec![
            Cell::Share(total.share),
            Cell::Text(total.place()),
            Cell::Code(text.unwrap_or_default().to_owned()),
            Cell::Text(total.operations()),
            Cell::Number(total.levels()),
            Cell::Number(total.took()),
            Cell::Number(grouped(total.calls)),
            Cell::Text(total.procedures()),
        ]
    };
    let unit = match report.machine {
        Some(_) => "cycles",
        None => "time",
    };
    let head = [
        "share",
        "line",
        "source",
        "operations",
        "level",
        unit,
        "calls",
        "procedure",
    ];
    let table = Table {
        head: head.map(str::to_owned).to_vec(),
        rows: totals.iter().take(MOST_LINES).map(row).collect(),
    };
    let section = Section::new(title).with(Piece::Table(table));
    let left = totals.get(MOST_LINES..).unwrap_or_default();
    match left.len() {
        0 => section,
        more => {
            let share: f64 = left.iter().map(|total| total.share).sum();
            section.saying(format!("{more} more lines took {:.1} %.", 100.0 * share))
        }
    }
}

fn units(timeline: &Timeline, title: String, report: &RunReport, sources: &Sources) -> Section {
    let mut spans = Vec::with_capacity(timeline.kept());
    let mut lanes: Vec<&Lane> = timeline.lanes.iter().collect();
    lanes.sort_by_key(|lane| natural(&lane.name));
    for (lane, of) in lanes.iter().enumerate() {
        let says = |event: &Event| {
            let mut says = vec![match event.count {
                1 => event.name.clone(),
                count => format!("{} and {} more", event.name, count - 1),
            }];
            says.push(format!(
                "{} from {}",
                seconds(event.end - event.start),
                seconds(event.start)
            ));
            if event.count > 1 {
                says.push(format!("busy {}", seconds(event.busy)));
            }
            if let (Some(file), Some(line)) = (&event.file, event.line) {
                // Files in reports have no folders, but the program's sources do.
                let full = report.by_line.iter().filter_map(|l| l.file.as_deref());
                let full = full
                    .clone()
                    .find(|f| f.rsplit('/').next() == Some(file.as_str()));
                let text = sources
                    .get(full, Some(line))
                    .map_or_else(String::new, |t| format!("  {t}"));
                says.push(format!("{file}:{line}{text}"));
            }
            says.extend(event.procedure.clone());
            says
        };
        spans.extend(of.events.iter().map(|event| Span {
            lane,
            start: event.start,
            end: event.end,
            kind: event.name.clone(),
            says: says(event),
        }));
    }
    let section = Section::new(title).with(Piece::Figure(Figure::Lanes(Lanes {
        title: "What each unit did when. Drag over a part to look closer, double-click to see all."
            .to_owned(),
        names: lanes.iter().map(|lane| lane.name.clone()).collect(),
        spans,
    })));
    match timeline.joined_seconds > 0.0 {
        false => section,
        true => section.saying(format!(
            "The timeline is thinned: {} events are drawn as {}, as neighbours that are no further than {} apart are joined. \
             A trace file (--trace) has them all.",
            grouped(timeline.events),
            grouped(timeline.kept() as u64),
            seconds(timeline.joined_seconds)
        )),
    }
}

/// Splits a name into its texts and the numbers behind them, so that "unit 10" is sorted after "unit 9".
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts: Vec<(String, u64)> = vec![(String::new(), 0)];
    let mut number = false;
    for c in name.chars() {
        if number && !c.is_ascii_digit() {
            parts.push((String::new(), 0));
        }
        number = c.is_ascii_digit();
        if let Some((text, value)) = parts.last_mut() {
            match c.to_digit(10) {
                Some(digit) => *value = value.saturating_mul(10).saturating_add(digit.into()),
                None => text.push(c),
            }
        }
    }
    parts
}

fn memory(timeline: &Timeline, title: String) -> Option<Section> {
    if timeline.memories.is_empty() {
        return None;
    }
    let most = timeline
        .memories
        .iter()
        .flat_map(|memory| &memory.bytes)
        .max();
    let (per, unit) = match most.copied().unwrap_or(0) {
        most if most >= 1 << 30 => (f64::from(1 << 30), "GiB"),
        most if most >= 1 << 20 => (f64::from(1 << 20), "MiB"),
        _ => (1024.0, "KiB"),
    };
    let ends = timeline
        .memories
        .iter()
        .filter_map(|memory| memory.seconds.last());
    let (scale, time) = figures::unit(ends.copied().fold(0.0, f64::max));
    let series = timeline.memories.iter().map(|memory| Series {
        name: memory.name.clone(),
        x: memory
            .seconds
            .iter()
            .map(|seconds| seconds * scale)
            .collect(),
        y: memory.bytes.iter().map(|&n| n as f64 / per).collect(),
        says: memory.bytes.iter().map(|&n| bytes(n)).collect(),
        kind: Kind::Steps,
    });
    Some(Section::new(title).with(Piece::Figure(Figure::Curve(Curve {
        title: "Bytes that hold limbs, after each call.".to_owned(),
        x: format!("time ({time})"),
        y: format!("memory ({unit})"),
        log: false,
        series: series.collect(),
    }))))
}

/// Describes how busy a machine's units were and how full its memories, as a section.
fn busy(machine: &MachineReport, title: String) -> Section {
    let busy: Vec<_> = machine
        .utilisation
        .iter()
        .filter(|unit| unit.busy_cycles > 0)
        .collect();
    let idle = machine.utilisation.len() - busy.len();
    let memories = machine.memories.iter().map(|memory| {
        let whole = memory.available_bytes.max(1) as f64;
        vec![
            Cell::Text(memory.name.clone()),
            Cell::Number(bytes(memory.used_bytes)),
            Cell::Number(bytes(memory.available_bytes)),
            Cell::Share(memory.used_bytes as f64 / whole),
        ]
    });
    let head = ["memory", "used at most", "there is", "share"];
    let section = Section::new(title).with(Piece::Figure(Figure::Bars(Bars {
        title: "The share of the machine's cycles in which each unit worked.".to_owned(),
        axis: "busy (%)".to_owned(),
        names: busy.iter().map(|unit| unit.unit.clone()).collect(),
        values: busy.iter().map(|unit| 100.0 * unit.utilisation).collect(),
        most: Some(100.0),
    })));
    let section = match idle {
        0 => section,
        idle => section.saying(format!("{idle} more units did nothing.")),
    };
    section.with(Piece::Table(Table {
        head: head.map(str::to_owned).to_vec(),
        rows: memories.collect(),
    }))
}

/// Draws where a run lies under the two limits of a machine, the rate of the host link and the rate of the units (a
/// roofline). One axis has the limb instructions for each byte over the link, the other the limb instructions a second.
/// Returns `None` if a figure that the drawing needs is 0.
fn roofline(machine: &MachineReport, report: &RunReport, title: String) -> Option<Section> {
    let work: u64 = report.instructions.mid_level.values().sum();
    let link = &machine.link;
    let moved = link.bytes_in + link.bytes_out + link.key_bytes + link.program_bytes;
    let moving = link.seconds_in + link.seconds_out + link.key_seconds + link.program_seconds;
    let busiest = machine
        .utilisation
        .iter()
        .map(|unit| unit.utilisation)
        .fold(0.0, f64::max);
    let whole = machine.end_to_end.seconds;
    let there = [
        work as f64,
        moved as f64,
        moving,
        busiest,
        machine.seconds,
        whole,
    ];
    if there.iter().any(|figure| *figure <= 0.0) {
        return None;
    }
    let intensity = work as f64 / moved as f64;
    let bandwidth = moved as f64 / moving;
    // The rate of the units if the busiest never waited.
    let flat = work as f64 / machine.seconds / busiest.min(1.0);
    let ridge = flat / bandwidth;
    let (low, high) = (intensity.min(ridge) / 10.0, intensity.max(ridge) * 10.0);
    let reached = work as f64 / whole;
    let point = format!(
        "{}: {:.3e} limb instructions a second",
        report.program, reached
    );
    let line = |name: &str, x: Vec<f64>, y: Vec<f64>, kind| Series {
        name: name.to_owned(),
        x,
        y,
        says: Vec::new(),
        kind,
    };
    let mut this = line(
        &report.program,
        vec![intensity],
        vec![reached],
        Kind::Points,
    );
    this.says = vec![point];
    let figure = Curve {
        title: "The program (a point) under what the host link and the busiest unit allow: below the slope the link bounds it, \
                below the level line the units do."
            .to_owned(),
        x: "limb instructions for each byte over the link".to_owned(),
        y: "limb instructions a second".to_owned(),
        log: true,
        series: vec![
            line("host link", vec![low, ridge], vec![low * bandwidth, flat], Kind::Line),
            line("units", vec![ridge, high], vec![flat, flat], Kind::Line),
            this,
        ],
    };
    let share = 100.0 * reached / (intensity * bandwidth).min(flat);
    Some(
        Section::new(title)
            .with(Piece::Figure(Figure::Curve(figure)))
            .saying(format!(
                "It reaches {share:.0} % of the lower roof; {} ({:.0} % of the parts) bound it. {}",
                machine.end_to_end.bound.by.name(),
                100.0 * machine.end_to_end.bound.share,
                machine.end_to_end.bound.help
            )),
    )
}

/// Describes the predicted and the measured precision, or noise budget, of the run's outputs as a section.
fn outputs(report: &RunReport) -> Option<Section> {
    let number = |bits: Option<f64>| {
        Cell::Number(bits.map_or_else(|| "-".to_owned(), |bits| format!("{bits:.1}")))
    };
    let precision = report.precision.iter().map(|row| {
        let condition = match row.conditional {
            true => " (conditional, by rm.bounded)",
            false => "",
        };
        let name = Cell::Text(format!("{}{condition}", row.output));
        vec![
            name,
            number(Some(row.predicted_bits)),
            number(row.predicted_bits_like_sample),
            number(row.measured_bits),
        ]
    });
    let noise = report.noise.iter().map(|row| {
        let name = Cell::Text(row.output.clone());
        let measured = row.measured_bits.map(f64::from);
        vec![name, number(Some(row.predicted_bits)), number(measured)]
    });
    let (title, head, rows): (_, &[&str], Vec<_>) = match (&report.precision[..], &report.noise[..])
    {
        ([], []) => return None,
        ([_, ..], _) => (
            "Precision of outputs (bits after the binary point, of the worst slot)",
            &[
                "output",
                "predicted, at least",
                "for inputs like the sample",
                "measured",
            ],
            precision.collect(),
        ),
        ([], [_, ..]) => (
            "Noise budget of outputs (bits left; values are exact)",
            &["output", "predicted, at least", "measured"],
            noise.collect(),
        ),
    };
    let head = head.iter().map(|name| (*name).to_owned()).collect();
    Some(Section::new(title).with(Piece::Table(Table { head, rows })))
}
