// SPDX-License-Identifier: Apache-2.0
//! Tests the cache of expanded limbs: which limbs threads compute, share, hold and drop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use ringmill_device::Expanded;
use ringmill_device::expanded::{Form, Item, Usage};
use ringmill_limits::Halt;

const ITEM: Item = Item::Constant(7);

fn usage(expanded: &Arc<Expanded>, budget: Option<u64>) -> Usage {
    Usage::begin(vec![Arc::clone(expanded)], budget, 0).unwrap()
}

fn form() -> Form {
    Form::Limb(vec![3; 8].into())
}

#[test]
fn what_two_threads_want_is_made_once_whatever_the_budget() {
    for budget in [None, Some(64), Some(0)] {
        let expanded = Arc::default();
        let usage = usage(&expanded, budget);
        let both = Barrier::new(2);
        let want = || {
            both.wait();
            let make = || {
                // The pause gives the other thread time to ask for the same limb.
                thread::sleep(Duration::from_millis(50));
                Ok(form())
            };
            let made = expanded.get(ITEM, 64, &usage, make).unwrap();
            // Neither thread drops the limb before both have it.
            both.wait();
            made.limb(0).wide().into_owned()
        };
        thread::scope(|scope| {
            let other = scope.spawn(want);
            assert_eq!(want(), other.join().unwrap());
        });
        let stats = usage.stats();
        assert_eq!((stats.constants, stats.peak_bytes), (1, 64), "{budget:?}");
        let kept = if budget == Some(0) { 0 } else { 64 };
        assert_eq!(expanded.bytes(), kept, "{budget:?}");
    }
}

#[test]
fn who_waits_for_one_that_fails_tries_itself() {
    let expanded = Arc::default();
    let usage = usage(&expanded, None);
    let begun = Barrier::new(2);
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let fails = || {
                begun.wait();
                thread::sleep(Duration::from_millis(50));
                failed.store(true, Ordering::SeqCst);
                Err(Halt::Interrupted.into())
            };
            assert!(expanded.get(ITEM, 64, &usage, fails).is_err());
        });
        begun.wait();
        let make = || {
            assert!(failed.load(Ordering::SeqCst), "it waited");
            Ok(form())
        };
        assert!(expanded.get(ITEM, 64, &usage, make).is_ok());
    });
    assert_eq!(expanded.bytes(), 64, "what failed is not counted");
    assert_eq!(usage.stats().constants_again, 0);
}

#[test]
fn what_is_held_stays_and_the_least_recently_wanted_goes() {
    let expanded = Arc::default();
    let usage = usage(&expanded, Some(128));
    let get = |number| {
        let made = expanded.get(Item::Constant(number), 64, &usage, || Ok(form()));
        made.unwrap()
    };
    let count = || usage.stats().constants;
    let held = get(0);
    get(1);
    get(2);
    assert_eq!(count(), 3);
    get(0);
    get(2);
    assert_eq!(
        count(),
        3,
        "0 was wanted least recently, and is held: 1 went"
    );
    drop(held);
    get(1);
    get(2);
    assert_eq!(count(), 4, "0 went");
    let all = [get(0), get(1), get(2)];
    // Item 1 was dropped for item 0, and item 2 for item 1. No item can be dropped for item 2.
    assert_eq!((count(), expanded.bytes()), (7, 192), "all are held");
    let again = get(2);
    assert_eq!(count(), 7, "what is held beyond the budget is shared");
    drop((all, again));
    assert_eq!((expanded.bytes(), usage.stats().peak_bytes), (128, 192));
    // A second run with a smaller budget bounds the cache until it ends.
    let smaller = self::usage(&expanded, Some(64));
    assert_eq!(expanded.bytes(), 64);
    get(0);
    get(1);
    assert_eq!(expanded.bytes(), 64);
    drop(smaller);
    get(0);
    assert_eq!(expanded.bytes(), 128);
}
