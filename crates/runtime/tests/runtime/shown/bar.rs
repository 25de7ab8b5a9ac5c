// SPDX-License-Identifier: Apache-2.0
//! Tests that a progress bar is drawn for long work only.

use std::time::Duration;

use ringmill_device::progress::{Progress, Step};
use ringmill_runtime::shown::{Bar, is_long};

fn at(elapsed: u64, remaining: Option<u64>) -> Step {
    Step {
        stage: "running",
        done: 1,
        total: 2,
        elapsed: Duration::from_millis(elapsed),
        remaining: remaining.map(Duration::from_millis),
    }
}

#[test]
fn only_long_work_is_shown() {
    assert!(!is_long(&at(10, Some(60_000))), "too early to tell");
    assert!(!is_long(&at(300, Some(300))));
    assert!(!is_long(&at(300, None)));
    assert!(is_long(&at(300, Some(800))));
    assert!(is_long(&at(1_000, None)));
}

#[test]
fn nothing_is_drawn_unasked() {
    let bar = Bar::none();
    bar.step(at(5_000, Some(5_000)));
    assert!(bar.bar.get().is_none());
}
