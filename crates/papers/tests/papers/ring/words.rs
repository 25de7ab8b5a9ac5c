// SPDX-License-Identifier: Apache-2.0
//! Tests of Table 2: the cycles of instructions.

use ringmill_machines::ring::OF_THE_PAPERS_SIZE;

use super::medha;

/// Each instruction of the paper takes at most a tenth more cycles on each machine, and the same holds for its
/// throughput.
#[test]
#[ignore = "Medha's tables, a minute; `make full` runs it"]
fn every_instruction_is_near_the_papers() {
    let figures = medha().reproduced.figures.iter();
    let figures: Vec<_> = figures.filter(|f| f.case == "instruction").collect();
    assert_eq!(figures.len(), OF_THE_PAPERS_SIZE.len() * 14 * 2);
    for f in &figures {
        let (paper, ours) = (f.printed.unwrap(), f.value().unwrap());
        let transform = f.metric.ends_with("NTT");
        let near = if f.unit == "cycles" {
            ours / paper
        } else {
            paper / ours
        };
        // Two stages in a pass halve the cycles of the second machine's transforms.
        let least = if transform { 0.5 } else { 1.0 };
        assert!(
            (least..1.1).contains(&near),
            "{} {}: {ours}",
            f.machine,
            f.metric
        );
    }
    let throughput = figures.iter().find(|f| f.unit == "a second").unwrap();
    assert_eq!(
        (throughput.metric.as_str(), throughput.printed),
        ("NTT", Some(27_777.0))
    );
}
