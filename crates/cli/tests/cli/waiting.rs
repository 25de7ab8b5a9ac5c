// SPDX-License-Identifier: Apache-2.0
//! Tests of the line that is shown while long work goes on.

use std::time::{Duration, Instant};

use ringmill_cli::internals::{Going, Waiting};
use ringmill_device::progress::{Progress, Step};

#[test]
fn what_is_done_soon_is_not_waited_for() {
    let begin = Instant::now();
    drop(Waiting::told("compiling".to_owned(), true));
    assert!(begin.elapsed() < Duration::from_secs(1));
    assert!(Waiting::told(String::new(), false).shown.is_none());
}

#[test]
fn the_line_ends_where_a_bar_begins() {
    let going = Going::new(String::new());
    let step = |seconds| Step {
        stage: "running",
        done: 1,
        total: 2,
        elapsed: Duration::from_secs(seconds),
        remaining: None,
    };
    let waits = || going.waiting.lock().unwrap().is_some();
    going.step(step(0));
    assert!(waits());
    going.step(step(2));
    assert!(!waits());
}
