// SPDX-License-Identifier: Apache-2.0
//! Describes what the compiler decided about a program, as sections of an HTML page.

use ringmill_compiler::explain::{Explanation, MOST_LISTED};
use ringmill_device::report::{bytes, grouped};

use super::page::{Cell, Piece, Section, Table};

/// Describes the levels, digits, keys and costs of a program, and the compiler's advice, as
/// sections of a page.
pub fn of_explanation(explanation: &Explanation) -> Vec<Section> {
    vec![
        levels(explanation),
        keys(explanation),
        costs(explanation),
        advice(explanation),
    ]
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<Cell>>) -> Piece {
    Piece::Table(Table {
        head: head.iter().map(|&name| name.to_owned()).collect(),
        rows: rows.collect(),
    })
}

fn number(n: u64) -> Cell {
    Cell::Number(grouped(n))
}

fn levels(explanation: &Explanation) -> Section {
    let levels = &explanation.levels;
    let needed = levels.needed.map_or_else(
        || "none goes down".to_owned(),
        |needed| format!("{needed} of {}", levels.available),
    );
    let facts = [
        ("levels", needed),
        ("products in sequence", grouped(levels.products)),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let rows = explanation.chain.steps.iter().map(|step| {
        vec![
            Cell::Text(step.line.to_string()),
            Cell::Code(step.operation.to_owned()),
            Cell::Text(step.taken.name().to_owned()),
            number(step.level_before.into()),
            number(step.level_after.into()),
            number(step.times),
        ]
    });
    let head = [
        "line",
        "operation",
        "takes",
        "level before",
        "after",
        "times",
    ];
    let section = Section::new("Levels").with(Piece::Facts(facts));
    let section = section.with(table(&head, rows));
    match explanation.chain.cut {
        true => section.saying("The chain has more steps than are listed."),
        false => section,
    }
}

fn keys(explanation: &Explanation) -> Section {
    let digits = &explanation.digits;
    let facts = [
        (
            "digits",
            format!(
                "dnum {}, {} ciphertext primes, {} special",
                digits.dnum, digits.ciphertext_primes, digits.special_primes
            ),
        ),
        ("all keys", bytes(explanation.key_bytes)),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let rows = explanation.keys.iter().map(|key| {
        let which = match (key.steps, key.element) {
            (Some(steps), _) => format!("by {steps}"),
            (None, Some(element)) => format!("element {element}"),
            (None, None) => String::new(),
        };
        vec![
            Cell::Text(key.kind.name().to_owned()),
            Cell::Text(which),
            Cell::Number(bytes(key.bytes)),
        ]
    });
    Section::new("Digits and keys")
        .with(Piece::Facts(facts))
        .with(table(&["key", "", "size"], rows))
}

fn costs(explanation: &Explanation) -> Section {
    let costs = &explanation.costs;
    let rows = costs.decisions().map(|(name, count)| {
        let lines = count
            .places
            .iter()
            .take(MOST_LISTED)
            .map(|place| place.line.to_string());
        let lines: Vec<String> = lines.collect();
        vec![
            Cell::Text(name.to_owned()),
            number(count.count),
            Cell::Text(lines.join(", ")),
        ]
    });
    let work = costs.work.iter().map(|work| {
        vec![
            Cell::Code(work.operations.clone()),
            number(work.calls),
            number(work.limb_instructions),
            Cell::Share(work.share),
        ]
    });
    Section::new("Costs")
        .with(table(&["decision", "count", "lines"], rows.into_iter()))
        .with(table(
            &["operations", "calls", "limb instructions", "share"],
            work,
        ))
}

fn advice(explanation: &Explanation) -> Section {
    let section = Section::new("What would make it cheaper");
    let said = explanation.advice.iter().map(ToString::to_string);
    let section = said.fold(section, Section::saying);
    match (explanation.advice_left_out, explanation.advice.is_empty()) {
        (Some(why), _) => section.saying(why),
        (None, true) => section.saying("No change that the compiler tried saves levels or keys."),
        (None, false) => section,
    }
}
