// SPDX-License-Identifier: Apache-2.0
//! Tests where the allocator's blocks start, and that they keep their content.
//!
//! This is a binary of its own, so that the limbs of all other tests start where the system's allocator puts them, even
//! in the middle of a cache line.

#![allow(unsafe_code)] // blocks are asked for as a program does

use std::alloc::{GlobalAlloc, Layout};

use ringmill_math::{LineAllocator, Prng};

/// The bytes of a cache line.
const LINE: usize = 64;
/// The length in bytes from which on blocks start at a cache line.
const LONG: usize = 4096;

#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

#[test]
fn long_vectors_start_at_a_line() {
    for len in (512..4096).step_by(7) {
        let (mut limb, zeros) = (Vec::with_capacity(len), vec![0u64; len]);
        assert!(zeros.iter().all(|&x| x == 0));
        limb.extend(0..len as u64);
        for limb in [&limb, &zeros] {
            assert_eq!(limb.as_ptr().addr() % LINE, 0);
        }
        while limb.len() < 20_000 {
            limb.extend(limb.len() as u64..limb.len() as u64 + 999);
            assert_eq!(limb.as_ptr().addr() % LINE, 0);
        }
        limb.truncate(len);
        limb.shrink_to_fit();
        assert!(limb.iter().copied().eq(0..len as u64));
    }
}

/// Random blocks live together, grow and shrink across the bound between short and long, and keep their content.
#[test]
fn blocks_keep_their_content() {
    struct Block(*mut u8, Layout, u8);
    let mut prng = Prng::from_seed_for_reproducible_tests_only([41; 32]);
    let mut draw = |below: usize| prng.next_u64() as usize % below;
    let mut blocks = Vec::new();
    // SAFETY: every block is used within its layout and given back once, with the layout it has then.
    let filled = |Block(at, layout, with): &Block| unsafe {
        let bytes = std::slice::from_raw_parts(*at, layout.size());
        bytes.iter().all(|x| x == with)
    };
    for round in 0..20_000 {
        let size = [1 + draw(5000), 4090 + draw(12), 1 + draw(300_000)][draw(3)];
        let layout = Layout::from_size_align(size, 1 << draw(9)).unwrap();
        let fill = round as u8;
        match draw(if blocks.len() < 200 { 4 } else { 3 }) {
            0 if !blocks.is_empty() => {
                let block: Block = blocks.swap_remove(draw(blocks.len()));
                assert!(filled(&block));
                // SAFETY: as above.
                unsafe { LineAllocator.dealloc(block.0, block.1) };
            }
            1 if !blocks.is_empty() => {
                let Block(at, old, with) = blocks.swap_remove(draw(blocks.len()));
                let layout = Layout::from_size_align(size, old.align()).unwrap();
                // SAFETY: as above; what is new is written before it is read.
                let at = unsafe {
                    let at = LineAllocator.realloc(at, old, size);
                    at.add(old.size().min(size))
                        .write_bytes(with, size.saturating_sub(old.size()));
                    at
                };
                let block = Block(at, layout, with);
                assert!(filled(&block));
                blocks.push(block);
            }
            _ => {
                // SAFETY: as above.
                let at = unsafe {
                    let zeros = LineAllocator.alloc_zeroed(layout);
                    assert!(filled(&Block(zeros, layout, 0)));
                    LineAllocator.dealloc(zeros, layout);
                    let at = LineAllocator.alloc(layout);
                    at.write_bytes(fill, size);
                    at
                };
                blocks.push(Block(at, layout, fill));
            }
        }
        if let Some(Block(at, layout, _)) = blocks.last() {
            assert_eq!(at.addr() % layout.align(), 0);
            assert!(layout.size() < LONG || at.addr() % LINE == 0);
        }
    }
    for block in blocks {
        assert!(filled(&block));
        // SAFETY: as above.
        unsafe { LineAllocator.dealloc(block.0, block.1) };
    }
}

#[test]
fn what_cannot_be_had_is_null() {
    let mut vector = vec![1u8; 5000];
    assert!(vector.try_reserve(isize::MAX as usize - 6000).is_err());
    assert!(vector.iter().all(|&x| x == 1));
    assert!(Vec::<u8>::new().try_reserve(isize::MAX as usize).is_err());
}
