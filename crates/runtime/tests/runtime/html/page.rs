// SPDX-License-Identifier: Apache-2.0
//! Tests HTML pages of any sections: no text from outside becomes markup.

use ringmill_runtime::html::{
    Cell, Curve, Figure, Kind, Piece, Section, Series, Table, fragment, page,
};

const HOSTILE: &str =
    "</script><script>alert('x')</script><img src=http://evil onerror=alert(1)> & \"q\"";

fn sections() -> Vec<Section> {
    let curve = Curve {
        title: HOSTILE.to_owned(),
        x: HOSTILE.to_owned(),
        y: HOSTILE.to_owned(),
        log: false,
        series: vec![Series {
            name: HOSTILE.to_owned(),
            x: vec![0.0, 1.0],
            y: vec![1.0, 2.0],
            says: vec![HOSTILE.to_owned(); 2],
            kind: Kind::Line,
        }],
    };
    let table = Table {
        head: vec![HOSTILE.to_owned()],
        rows: vec![vec![
            Cell::Text(HOSTILE.to_owned()),
            Cell::Code(HOSTILE.to_owned()),
            Cell::Number(HOSTILE.to_owned()),
            Cell::Share(0.5),
        ]],
    };
    vec![
        Section::new(HOSTILE)
            .saying(HOSTILE)
            .with(Piece::Warning(HOSTILE.to_owned()))
            .with(Piece::Facts(vec![(HOSTILE.to_owned(), HOSTILE.to_owned())]))
            .with(Piece::Table(table))
            .with(Piece::Figure(Figure::Curve(curve))),
    ]
}

/// Returns the first script of a page with figures, which is the plotting library.
fn library(page: &str) -> &str {
    let scripts = page.split_once("<script>").unwrap().1;
    scripts.split_once("</script>").unwrap().0
}

#[test]
fn no_text_of_the_user_is_markup() {
    let text = page(HOSTILE, &sections());
    // The page has three scripts of its own: the library, the script that draws, and the numbers of its figure.
    assert_eq!(text.matches("<script").count(), 3);
    let without = text.replace(library(&text), "");
    assert!(!without.contains("<script>alert"));
    assert!(!without.contains("<img"));
    assert!(without.contains("&lt;/script&gt;"));
    let part = fragment(HOSTILE, &sections());
    assert!(!part.contains("<script") && !part.contains("<img"));
    assert!(
        part.contains("save_html"),
        "a curve is left out, and said so"
    );
}

/// Tests that labels in figures stay text, although the plotting library reads some tags in them.
#[test]
fn labels_have_no_tags() {
    let text = page("t", &sections());
    let begin = text.find("data-plot=\"f0\">").unwrap();
    let json = text[begin + 15..].split("</script>").next().unwrap();
    let plot: serde_json::Value = serde_json::from_str(json).unwrap();
    let name = plot["data"][0]["name"].as_str().unwrap();
    assert!(!name.contains('<'), "{name}");
}

#[test]
fn the_library_is_there_and_the_one_for_formulas_is_not() {
    let text = page("t", &sections());
    let library = library(&text);
    assert!(library.contains("plotly.js v3"));
    assert!(!library.contains("MathJax.loader"));
    assert!(
        (1 << 20..6 << 20).contains(&library.len()),
        "{}",
        library.len()
    );
}

#[test]
fn a_page_without_figures_is_small() {
    let text = page("t", &[Section::new("s").saying("A sentence.")]);
    assert!(text.len() < 16 << 10 && !text.contains("<script"));
}
