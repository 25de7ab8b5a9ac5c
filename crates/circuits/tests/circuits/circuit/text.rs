// SPDX-License-Identifier: Apache-2.0
//! Tests the text form of a circuit.

use ringmill_limits::Watch;

use ringmill_circuits::circuit::small::Lookups;

#[test]
fn lookups_and_sums_are_lines() {
    let mut l = Lookups::new(2000, &Watch::default());
    let (x, y) = (l.input(3), l.input(3));
    let product = l
        .lookup(&[(4, &x), (1, &y)], |u| (u >> 2) * (u & 3))
        .unwrap();
    let more = l
        .lookup(&[(1, &product), (-1, &x)], |u| i64::from(u > 0))
        .unwrap();
    let known = x.plus(-1, &x);
    let sums = [&more, &product, &known].map(|x| x.sum().clone());
    let text = l.finish(sums.to_vec()).unwrap().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "circuit of digits, inputs %0 to %1");
    assert_eq!(
        lines[1],
        "%2 = LOOKUP 4 %0 + %1, [0, 0, 0, 0, 0, 2, 4, 6, 0, 4, 8, 12, 0, 6, 12, 18]"
    );
    assert!(
        lines[2].starts_with("%3 = LOOKUP -%0 + %2 + 6, ["),
        "{text}"
    );
    assert_eq!(lines[3..], ["output %3", "output %2", "output 0"]);
}
