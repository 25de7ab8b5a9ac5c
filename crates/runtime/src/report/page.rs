// SPDX-License-Identifier: Apache-2.0
//! A page of HTML with one table and one plot, which needs no other file.

/// A row's name, and its cells or why it has none.
pub type Line<'a> = (String, Result<Vec<String>, &'a str>);

/// A table whose rows begin with a name.
pub struct Table<'a> {
    pub titles: &'a [&'a str],
    pub rows: &'a [Line<'a>],
}

/// A bar of the plot.
pub struct Bar {
    pub label: String,
    pub value: f64,
    /// The value for people.
    pub text: String,
}

/// A page: a title, a plot, a table and notes below it.
pub struct Page<'a> {
    pub title: &'a str,
    /// What the plot shows.
    pub plot: &'a str,
    pub bars: &'a [Bar],
    pub table: Table<'a>,
    pub notes: &'a [String],
}

/// Pixels of the plot: the width of the labels, of the longest bar and of the values, and the height of a bar's row.
const LABELS: f64 = 260.0;
const LONGEST: f64 = 480.0;
const VALUES: f64 = 120.0;
const ROW: f64 = 26.0;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color:#222}h1{font-size:1.2rem}\
table{border-collapse:collapse}td,th{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}\
td:first-child,th:first-child,td.refused{text-align:left}td.refused{white-space:normal;color:#a33}svg{max-width:100%}";

/// Text as it stands between tags and in attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

impl Table<'_> {
    pub fn html(&self) -> String {
        let mut out = "<table>\n<tr><th></th>".to_owned();
        for title in self.titles {
            out += &format!("<th>{}</th>", escaped(title));
        }
        out += "</tr>\n";
        for (name, cells) in self.rows {
            out += &format!("<tr><td>{}</td>", escaped(name));
            match cells {
                Ok(cells) => {
                    for cell in cells {
                        out += &format!("<td>{}</td>", escaped(cell));
                    }
                }
                Err(why) => {
                    let (span, why) = (self.titles.len(), escaped(why));
                    out += &format!("<td class=\"refused\" colspan=\"{span}\">refused: {why}</td>");
                }
            }
            out += "</tr>\n";
        }
        out + "</table>\n"
    }
}

impl Page<'_> {
    pub fn html(&self) -> String {
        let title = escaped(self.title);
        let notes: String = self
            .notes
            .iter()
            .map(|note| format!("<p>{}</p>\n", escaped(note)))
            .collect();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title>\n\
             <style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n{}{}{notes}</body>\n</html>\n",
            self.svg(),
            self.table.html(),
        )
    }

    /// Horizontal bars from zero.
    fn svg(&self) -> String {
        let most = self.bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
        let (width, height) = (LABELS + LONGEST + VALUES, ROW * self.bars.len() as f64);
        let mut out = format!(
            "<svg role=\"img\" aria-label=\"{}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-size=\"14\">\n",
            escaped(self.plot)
        );
        for (at, bar) in self.bars.iter().enumerate() {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_its_texts_escaped_and_a_bar_a_value() {
        let bar = |value: f64| Bar {
            label: format!("<{value}>"),
            value,
            text: format!("{value} s"),
        };
        let rows = [
            ("a & b".to_owned(), Ok(vec!["1".to_owned(), "2".to_owned()])),
            ("c".to_owned(), Err("it's \"no\"")),
        ];
        let page = Page {
            title: "times",
            plot: "time",
            bars: &[bar(2.0), bar(0.5)],
            table: Table {
                titles: &["x", "y"],
                rows: &rows,
            },
            notes: &["a note".to_owned()],
        }
        .html();
        for part in [
            "<td>a &amp; b</td><td>1</td><td>2</td>",
            "colspan=\"2\">refused: it&#39;s &quot;no&quot;</td>",
            "width=\"480.0\"",
            "width=\"120.0\"",
            "&lt;0.5&gt;",
            "<p>a note</p>",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        for outside in ["http:", "https:", "<script", "src="] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
