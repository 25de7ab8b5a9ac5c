// SPDX-License-Identifier: Apache-2.0
//! Writes sections as an HTML page, or as a fragment of a page.

use std::fmt::Write;

use plotly::Plot;

use super::figures::{self, Bars, Curve, Lanes, Stack};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A part of an HTML report under a heading, made of pieces.
#[derive(Clone, Debug)]
pub struct Section {
    pub title: String,
    pub pieces: Vec<Piece>,
}

impl Section {
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            pieces: Vec::new(),
        }
    }

    /// Returns the report's section with one more piece at its end.
    #[must_use]
    pub fn with(mut self, piece: Piece) -> Self {
        self.pieces.push(piece);
        self
    }

    /// Returns the report's section with one more paragraph at its end.
    #[must_use]
    pub fn saying(self, text: impl Into<String>) -> Self {
        self.with(Piece::Text(text.into()))
    }
}

/// A piece of a section of an HTML report: text, a list, a table or a figure. All text in it is plain text, which the
/// page escapes.
#[derive(Clone, Debug)]
pub enum Piece {
    /// The piece is a paragraph of text.
    Text(String),
    /// The piece is a paragraph that the page marks as a warning.
    Warning(String),
    /// The piece is a list of facts, each a name with its value.
    Facts(Vec<(String, String)>),
    Table(Table),
    Figure(Figure),
}

/// A table of a report: rows of cells under a head.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub head: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a report's table.
#[derive(Clone, Debug)]
pub enum Cell {
    Text(String),
    /// The cell has a text that the page sets as program code.
    Code(String),
    Number(String),
    /// The cell has a share of a whole, from 0 to 1, which the table draws as a bar.
    Share(f64),
    /// The cell has the reason why the rest of the table's row is empty.
    Refused(String),
}

/// A drawing of a report, with a sentence that describes it for people who cannot see it.
#[derive(Clone, Debug)]
pub enum Figure {
    /// A figure with a bar for each time, divided into the parts of the time.
    Stack(Stack),
    /// A figure of the activity of a machine's units, or of the CPU's threads, over time.
    Lanes(Lanes),
    /// A figure of curves over a common axis.
    Curve(Curve),
    /// A figure with one bar for each name.
    Bars(Bars),
}

impl Figure {
    fn title(&self) -> &str {
        match self {
            Self::Stack(stack) => &stack.title,
            Self::Lanes(lanes) => &lanes.title,
            Self::Curve(curve) => &curve.title,
            Self::Bars(bars) => &bars.title,
        }
    }

    fn plot(&self) -> Plot {
        match self {
            Self::Stack(stack) => figures::stack(stack),
            Self::Lanes(lanes) => figures::lanes(lanes),
            Self::Curve(curve) => figures::curve(curve),
            Self::Bars(bars) => figures::bars(bars),
        }
    }

    /// Returns the height of the figure on the page in pixels.
    fn height(&self) -> usize {
        match self {
            Self::Stack(stack) => 200 + 44 * stack.wholes.len(),
            Self::Lanes(lanes) => 190 + 24 * lanes.names.len(),
            Self::Curve(_) => 360,
            Self::Bars(bars) => 130 + 26 * bars.names.len(),
        }
    }

    /// Returns the values of a figure with bars as a table, for pages without scripts. Returns `None` for a figure
    /// of curves or of activity over time, which has too many values.
    fn table(&self) -> Option<Table> {
        match self {
            Self::Stack(stack) => Some(stack.table()),
            Self::Bars(bars) => Some(bars.table()),
            Self::Lanes(_) | Self::Curve(_) => None,
        }
    }
}

/// Escapes text for HTML, between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escapes JSON so that no text in it can end a script.
fn inert(json: &str) -> String {
    json.replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// Returns the script of the library that draws figures, without that part of it which sets formulas.
fn library() -> String {
    let scripts = Plot::offline_js_sources();
    let end = scripts.find("</script>").unwrap_or(scripts.len());
    let script = scripts.get(..end).unwrap_or_default();
    let begin = script.find('>').map_or(0, |tag| tag + 1);
    script.get(begin..).unwrap_or_default().to_owned()
}

/// Returns one HTML page with the sections `sections`. The page loads nothing: styles, figures and the scripts that
/// draw them are inside.
pub fn page(title: &str, sections: &[Section]) -> String {
    let title = escaped(title);
    let mut body = String::new();
    let mut figures = 0;
    let mut contents = String::new();
    for (number, section) in sections.iter().enumerate() {
        let name = escaped(&section.title);
        let _ = write!(contents, "<a href=\"#s{number}\">{name}</a> ");
        let _ = writeln!(body, "<section id=\"s{number}\"><h2>{name}</h2>");
        for piece in &section.pieces {
            match piece {
                Piece::Figure(figure) => {
                    drawn(&mut body, figure, figures);
                    figures += 1;
                }
                Piece::Text(_) | Piece::Warning(_) | Piece::Facts(_) | Piece::Table(_) => {
                    written(&mut body, piece);
                }
            }
        }
        body.push_str("</section>\n");
    }
    let scripts = match figures {
        0 => String::new(),
        _ => format!(
            "<script>{}</script>\n<script>{SCRIPT}</script>\n",
            library()
        ),
    };
    framed(&title, &format!("<nav>{contents}</nav>\n{body}"), &scripts)
}

/// Returns an HTML page around the markup `body`. The caller has escaped `title`.
pub(super) fn framed(title: &str, body: &str, scripts: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body class=\"ringmill\">\n<main>\n<h1>{title}</h1>\n\
         {body}</main>\n{scripts}</body>\n</html>\n"
    )
}

/// Returns the sections as a part of another page, without scripts. Figures of few numbers become tables with bars. The
/// others are left out, with sections that have nothing else, and a sentence says so. Each section can be folded to its
/// own title.
pub fn fragment(title: &str, sections: &[Section]) -> String {
    let mut body = String::new();
    let mut left = false;
    for section in sections {
        let mut inside = String::new();
        for piece in &section.pieces {
            match piece {
                Piece::Figure(figure) => match figure.table() {
                    Some(table) => {
                        let _ = writeln!(inside, "<p>{}</p>", escaped(figure.title()));
                        rows(&mut inside, &table);
                    }
                    None => left = true,
                },
                Piece::Text(_) | Piece::Warning(_) | Piece::Facts(_) | Piece::Table(_) => {
                    written(&mut inside, piece);
                }
            }
        }
        if !inside.is_empty() {
            let name = escaped(&section.title);
            let _ = writeln!(
                body,
                "<details open><summary>{name}</summary>\n{inside}</details>"
            );
        }
    }
    if left {
        body.push_str(
            "<p>A page written with <code>save_html</code> has the figures over time too.</p>\n",
        );
    }
    let title = escaped(title);
    format!("<div class=\"ringmill\"><style>{STYLE}</style>\n<p><b>{title}</b></p>\n{body}</div>\n")
}

fn drawn(out: &mut String, figure: &Figure, number: usize) {
    let (title, height) = (escaped(figure.title()), figure.height());
    let json = inert(&figure.plot().to_json());
    let _ = writeln!(
        out,
        "<figure><div class=\"plot\" id=\"f{number}\" role=\"img\" aria-label=\"{title}\" style=\"height:{height}px\"></div>\n\
         <script type=\"application/json\" data-plot=\"f{number}\">{json}</script>\n<figcaption>{title}</figcaption></figure>"
    );
}

pub(super) fn written(out: &mut String, piece: &Piece) {
    // Writing to text does not fail.
    let _ = match piece {
        Piece::Text(text) => writeln!(out, "<p>{}</p>", escaped(text)),
        Piece::Warning(text) => writeln!(out, "<p class=\"warning\">{}</p>", escaped(text)),
        Piece::Facts(facts) => {
            out.push_str("<dl>\n");
            for (name, value) in facts {
                let (name, value) = (escaped(name), escaped(value));
                let _ = writeln!(out, "<dt>{name}</dt><dd>{value}</dd>");
            }
            writeln!(out, "</dl>")
        }
        Piece::Table(table) => {
            rows(out, table);
            Ok(())
        }
        // Pages draw figures, and fragments have tables in their place.
        Piece::Figure(_) => Ok(()),
    };
}

fn rows(out: &mut String, table: &Table) {
    out.push_str("<div class=\"wide\">");
    bare(out, table);
    out.push_str("</div>\n");
}

/// Appends a table as HTML to `out`, without a section around it.
pub(super) fn bare(out: &mut String, table: &Table) {
    out.push_str("<table>\n<thead><tr>");
    for name in &table.head {
        let _ = write!(out, "<th>{}</th>", escaped(name));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            let _ = match cell {
                Cell::Text(text) => write!(out, "<td>{}</td>", escaped(text)),
                Cell::Code(text) => {
                    write!(
                        out,
                        "<td class=\"code\"><code>{}</code></td>",
                        escaped(text)
                    )
                }
                Cell::Number(text) => write!(out, "<td class=\"n\">{}</td>", escaped(text)),
                Cell::Share(share) => {
                    let percent = 100.0 * share.clamp(0.0, 1.0);
                    write!(
                        out,
                        "<td class=\"share\"><span style=\"width:{percent:.1}%\"></span><b>{percent:.1} %</b></td>"
                    )
                }
                Cell::Refused(why) => {
                    let (span, why) = (table.head.len().saturating_sub(at), escaped(why));
                    write!(
                        out,
                        "<td class=\"refused\" colspan=\"{span}\">refused: {why}</td>"
                    )
                }
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
}
