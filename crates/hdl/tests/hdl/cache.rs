// SPDX-License-Identifier: Apache-2.0
//! Tests of the cache, which keeps results of tools under a hash of their inputs.

use std::sync::atomic::{AtomicU64, Ordering};

use ringmill_hdl::internals::{Key, Lock, remembered};

use crate::common::folder;

#[test]
fn keys_tell_lists_apart() {
    let key = |lists: &[&[&str]]| {
        let mut key = Key::new("test");
        lists.iter().for_each(|list| key.texts(*list));
        key.hex()
    };
    assert_eq!(key(&[&["a", "b"]]), key(&[&["a", "b"]]));
    assert_ne!(key(&[&["a", "b"]]), key(&[&["ab"]]));
    assert_ne!(key(&[&["a"], &["b"]]), key(&[&["a", "b"], &[]]));
}

#[test]
fn a_lock_has_one_holder() {
    let path = folder("a_lock").join("x.lock");
    let held = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let _lock = Lock::hold(&path).unwrap();
                assert_eq!(held.fetch_add(1, Ordering::SeqCst), 0);
                std::thread::yield_now();
                assert_eq!(held.fetch_sub(1, Ordering::SeqCst), 1);
            });
        }
    });
}

#[test]
fn answers_are_made_once_and_damage_is_repaired() {
    let cache = folder("answers");
    let ask = |answer: u32| remembered(&cache, Key::new("x"), || Ok(answer)).unwrap();
    assert_eq!(ask(1), 1);
    assert_eq!(ask(2), 1, "kept");
    let file = cache.join(format!("{}.json", Key::new("x").hex()));
    std::fs::write(file, "{").unwrap();
    assert_eq!(ask(3), 3);
}
