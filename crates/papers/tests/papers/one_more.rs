// SPDX-License-Identifier: Apache-2.0
//! Tests that a paper can be added from outside the crate, with its own text of printed figures.

use std::path::Path;

use ringmill_device::progress::{Progress, Silent};
use ringmill_machines::Registry;
use ringmill_machines::fpga::{Printed, PrintedUse, Resource};
use ringmill_papers::{
    Asked, How, Ours, Paper, PaperError, Papers, Reproduced, Row, Sources, Wish, tables,
};
use serde::Deserialize;

const TEXT: &str = "[abacus]\nrods = 13\nadditions_a_minute = [12, 30]\n";

#[derive(Deserialize)]
struct Abacus {
    rods: f64,
    additions_a_minute: Vec<f64>,
}

/// A paper whose printed figures are read from this text.
struct Toy(&'static str);

impl Paper for Toy {
    fn name(&self) -> &'static str {
        "abacus"
    }

    fn title(&self) -> &'static str {
        "On beads"
    }

    fn machine(&self) -> &'static str {
        "frame"
    }

    fn takes(&self) -> &'static [Wish] {
        &[Wish::Runs]
    }

    fn printed(&self) -> Result<Printed, PaperError> {
        let paper: Abacus = tables::read(self.0, "abacus")?;
        Ok(Printed {
            uses: vec![PrintedUse::of_the_machine(Resource::Dsp, paper.rods)],
            units_in_a_region: None,
        })
    }

    fn tables(&self, asked: &Asked, _: &dyn Progress) -> Result<Reproduced, PaperError> {
        let paper: Abacus = tables::read(self.0, "abacus")?;
        let runs = f64::from(asked.runs.unwrap_or(1));
        let row = |(rod, &printed): (usize, &f64)| {
            let case = format!("rod {rod}");
            let ours = Ours::Is(runs, How::Counted);
            Row::new("Table 1", case, "additions", "", Some(printed), ours)
        };
        Ok(Reproduced {
            rows: paper
                .additions_a_minute
                .iter()
                .enumerate()
                .map(row)
                .collect(),
            notes: "\nBeads are wooden.\n".to_owned(),
            ..Reproduced::default()
        })
    }
}

/// A request for the tables alone.
const PLAIN: Asked = Asked {
    sources: Sources {
        model: false,
        synthesis: false,
    },
    picture: false,
    runs: None,
};

#[test]
fn a_paper_is_added_from_outside() {
    let papers = Papers::standard().with(Toy(TEXT));
    let standard: Vec<_> = Papers::standard().names().collect();
    let names: Vec<_> = papers.names().collect();
    assert_eq!(names, [&standard[..], &["abacus"]].concat());
    let asked = Asked {
        runs: Some(24),
        ..PLAIN
    };
    let found = papers.reproduce("abacus", &asked, &Silent).unwrap();
    assert_eq!(found.rows.len(), 2);
    let line = found.rows[0].json("abacus");
    assert_eq!(
        (&line["paper"], &line["ours"]),
        (&12.0.into(), &24.0.into())
    );
    let text = found.text();
    for said in ["Table 1\n", "rod 1", "2.000", "0.800", "Beads are wooden."] {
        assert!(text.contains(said), "{said}: {text}");
    }
    // The printed needs of its machine are found by the machine's name, which differs from the paper's.
    assert!(papers.of_machine("abacus").is_none());
    let printed = papers.of_machine("frame").unwrap().printed().unwrap();
    assert_eq!(printed.uses[0].used, 13.0);
    // Another paper of the same name replaces it.
    let papers = papers.with(Toy("[soroban]\n"));
    assert_eq!(papers.names().count(), names.len());
    let fault = papers.reproduce("abacus", &PLAIN, &Silent).unwrap_err();
    assert!(fault.to_string().contains("no table `abacus`"), "{fault}");
}

#[test]
fn what_a_paper_has_no_use_for_is_refused_with_those_that_take_it() {
    let papers = Papers::standard().with(Toy(TEXT));
    let models = Sources {
        model: true,
        synthesis: false,
    };
    for (name, asked, said) in [
        (
            "abacus",
            Asked {
                sources: models,
                ..PLAIN
            },
            &["`abacus`", "--model", "`polymul` and `basext`"][..],
        ),
        (
            "ring",
            Asked {
                picture: true,
                ..PLAIN
            },
            &["`ring`", "--plot", "`polymul`"],
        ),
        (
            "torus",
            Asked {
                runs: Some(2),
                ..PLAIN
            },
            &["`torus`", "--runs", "`polymul` and `abacus`"],
        ),
        ("slate", PLAIN, &["`slate`", "vector, abacus"]),
    ] {
        let fault = papers.reproduce(name, &asked, &Silent).unwrap_err();
        let fault = fault.to_string();
        for part in said {
            assert!(fault.contains(part), "{part}: {fault}");
        }
    }
}

#[test]
fn every_standard_paper_is_of_a_machine_that_there_is_and_has_its_figures() {
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data/paper_tables.toml"),
    );
    let figures: toml::Table = toml::from_str(&text.unwrap()).unwrap();
    let papers = Papers::standard();
    for paper in papers.all() {
        let kind = paper.machine();
        assert!(
            Registry::standard()
                .kinds()
                .iter()
                .any(|known| known.name == kind),
            "{kind}"
        );
        assert!(figures.contains_key(paper.name()), "{}", paper.name());
        assert!(!paper.title().is_empty());
        // If a paper prints what its machine used, that is more than 0.
        for part in paper.printed().unwrap().uses {
            assert!(part.used > 0.0, "{part:?}");
        }
    }
    let unprinted: Vec<_> = figures
        .keys()
        .filter(|name| papers.get(name).is_err())
        .collect();
    assert!(unprinted.is_empty(), "{unprinted:?}");
}
