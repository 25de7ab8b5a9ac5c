// SPDX-License-Identifier: Apache-2.0
//! A line for work that lasts.

use std::time::{Duration, Instant};

use ringmill_runtime::shown::Waiting;

#[test]
fn what_is_done_soon_is_not_waited_for() {
    let begin = Instant::now();
    drop(Waiting::told("compiling".to_owned(), true));
    assert!(begin.elapsed() < Duration::from_secs(1));
    assert!(Waiting::told(String::new(), false).shown.is_none());
}
