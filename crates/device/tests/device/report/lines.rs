// SPDX-License-Identifier: Apache-2.0
//! Tests the time of each line of a program.

use ringmill_device::report::Ledger;
use ringmill_isa::source::SourceLoc;

fn at(line: u32) -> Option<SourceLoc> {
    let file = "program.py".into();
    Some(SourceLoc { file, line })
}

#[test]
fn lines_add_up_to_the_total_in_every_unit() {
    let mut ledger = Ledger::default();
    let (first, second) = (at(3), at(4));
    for _ in 0..5 {
        for (line, proc, amount) in [(&first, 0, 7), (&second, 0, 5), (&first, 1, 3)] {
            let entry = ledger.call(line.as_ref(), proc);
            ledger.spend(entry, amount);
        }
    }
    for (per, total) in [(1, 80), (1, 75), (4, 20), (4, 19)] {
        let lines = ledger.lines(&[], per, total);
        assert_eq!(lines.iter().map(|line| line.spent).sum::<u64>(), total);
        let calls = lines.iter().filter_map(|line| line.called.as_ref());
        assert_eq!(calls.map(|called| called.calls).collect::<Vec<_>>(), [5; 3]);
    }
    let spent: Vec<u64> = ledger.lines(&[], 1, 80).iter().map(|l| l.spent).collect();
    assert_eq!(spent, [35, 25, 15, 5]);
}

/// Tests that equal lines count as one line even if their file names lie at two addresses, as after reading a program
/// twice.
#[test]
fn equal_lines_are_one() {
    let mut ledger = Ledger::default();
    for (line, amount) in [(at(1), 1), (at(1), 2), (None, 4), (at(2), 8), (at(1), 16)] {
        let entry = ledger.call(line.as_ref(), 0);
        ledger.spend(entry, amount);
    }
    let lines: Vec<_> = (ledger.lines(&[], 1, 40).into_iter())
        .map(|line| {
            (
                line.line,
                line.called.map(|called| called.calls),
                line.spent,
            )
        })
        .collect();
    let expected = [
        (at(1), Some(3), 19),
        (None, Some(1), 4),
        (at(2), Some(1), 8),
        (None, None, 9),
    ];
    assert_eq!(lines, expected);
}
