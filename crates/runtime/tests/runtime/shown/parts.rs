// SPDX-License-Identifier: Apache-2.0
//! Tests the progress of work that consists of parts.

use std::sync::Mutex;
use std::time::Duration;

use ringmill_device::progress::{Progress, Step};
use ringmill_runtime::shown::Parts;

#[test]
fn parts_end_with_nothing_left() {
    struct Kept(Mutex<Vec<Step>>);
    impl Progress for Kept {
        fn told(&self, _: &str) {}

        fn step(&self, step: Step) {
            self.0.lock().unwrap().push(step);
        }
    }
    let kept = Kept(Mutex::default());
    let mut parts = Parts::new(&kept, "reproducing", 3);
    (0..3).for_each(|_| parts.done());
    let steps = kept.0.into_inner().unwrap();
    let counts: Vec<_> = steps.iter().map(|s| (s.done, s.total)).collect();
    assert_eq!(counts, [(1, 3), (2, 3), (3, 3)]);
    assert_eq!(steps[2].remaining, Some(Duration::ZERO));
}
