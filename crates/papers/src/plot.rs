// SPDX-License-Identifier: Apache-2.0
//! Draws curves as scalable vector graphics (SVG), over a linear horizontal axis of whole numbers and a logarithmic
//! vertical axis.

use std::fmt::Write as _;

/// A curve of a drawing: its name, and its points from left to right.
pub struct Curve {
    pub name: String,
    pub dashed: bool,
    pub points: Vec<(f64, f64)>,
}

/// A drawing of several curves over one pair of axes.
pub struct Panel {
    pub title: String,
    pub curves: Vec<Curve>,
}

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 360.0;
/// The left, right, top and bottom margins of a drawing in pixels. The names of solid curves stand in the right margin.
const MARGINS: (f64, f64, f64, f64) = (60.0, 100.0, 30.0, 30.0);
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

/// Draws panels side by side and returns the drawing as SVG. The first two curves of a panel have one colour, the next
/// two another, and so on. So a dashed curve and its solid curve have one colour if they are such a pair. Titles and
/// names go into the SVG as they are, so they must not have `<` or `&`.
pub fn svg(panels: &[Panel]) -> String {
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        WIDTH * panels.len() as f64
    );
    for (at, panel) in panels.iter().enumerate() {
        let _ = writeln!(text, "<g transform=\"translate({} 0)\">", WIDTH * at as f64);
        draw(&mut text, panel);
        text += "</g>\n";
    }
    text + "</svg>\n"
}

/// Returns the smallest and the largest of the values.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    })
}

fn draw(text: &mut String, panel: &Panel) {
    let points = || panel.curves.iter().flat_map(|c| &c.points);
    let (left, right) = range(points().map(|p| p.0));
    let (low, high) = range(points().map(|p| p.1.log10()));
    let (low, high) = (low.floor(), high.ceil());
    let (from_left, from_right, from_top, from_bottom) = MARGINS;
    let across = |x: f64| {
        from_left + (x - left) / (right - left).max(1e-9) * (WIDTH - from_left - from_right)
    };
    let up = |y: f64| {
        let part = (y.log10() - low) / (high - low).max(1e-9);
        HEIGHT - from_bottom - part * (HEIGHT - from_top - from_bottom)
    };
    let _ = writeln!(
        text,
        "<text x=\"{from_left}\" y=\"18\">{}</text>",
        panel.title
    );
    for decade in low as i32..=high as i32 {
        let (y, value) = (up(10f64.powi(decade)), 10f64.powi(decade));
        let _ = writeln!(
            text,
            "<path d=\"M{from_left} {y:.1}H{}\" stroke=\"#ccc\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            WIDTH - from_right,
            from_left - 6.0,
            y + 4.0
        );
    }
    for x in left as i32..=right as i32 {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{x}</text>",
            across(f64::from(x)),
            HEIGHT - 10.0
        );
    }
    for (at, curve) in panel.curves.iter().enumerate() {
        let colour = COLOURS[at / 2 % COLOURS.len()];
        let dashes = if curve.dashed {
            " stroke-dasharray=\"4 3\""
        } else {
            ""
        };
        let line: Vec<String> = curve
            .points
            .iter()
            .map(|&(x, y)| format!("{:.1},{:.1}", across(x), up(y)))
            .collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"{dashes}><title>{}</title></polyline>",
            line.join(" "),
            curve.name
        );
        if let Some(&(x, y)) = curve.points.last().filter(|_| !curve.dashed) {
            let _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
                across(x) + 6.0,
                up(y) + 4.0,
                curve.name
            );
        }
    }
}
