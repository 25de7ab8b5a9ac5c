// SPDX-License-Identifier: Apache-2.0
//! A process that makes, uses, saves, loads and drops secrets. It tells its parent when to search its memory for them.

mod generator;
mod ring;
mod seal;
mod tfhe;

use std::hint::black_box;

use ringmill_math::{LineAllocator, Prng};
use ringmill_secrets::telling::{Keeper, Kept, Stage, TWIN};
use zeroize::Zeroizing;

/// The allocator of the command and of the Python package.
#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

/// A scenario: a way to make, hold and drop secrets.
type Scenario = fn(&mut Keeper);

const SCENARIOS: [(&str, Scenario); 12] = [
    ("generator", generator::drawing),
    ("generator, held", generator::holding),
    ("ckks", |to| ring::ckks(to, ring::WIDE)),
    ("ckks, words of 32 bits", |to| ring::ckks(to, ring::SHORT)),
    ("bfv", ring::bfv),
    ("bgv", ring::bgv),
    ("bgv bootstrapping", ring::sparse),
    ("tfhe", tfhe::booleans),
    ("tfhe circuits", tfhe::circuits),
    ("seal", seal::all),
    ("a planted copy", planted),
    ("a panic", ring::panicking),
];

/// Leaves copies that a search must find: on the heap, freed on the heap, and on the stack.
fn planted(keeper: &mut Keeper) {
    let mut secret = Zeroizing::new(vec![0u8; 96]);
    let mut prng = Prng::from_seed_for_reproducible_tests_only([3; 32]);
    prng.fill_bytes(&mut secret);
    keeper.tells(|to| to.tell("held", Kept::WithItsHolder, &secret));
    keeper.search(Stage::Held);
    let (heap, stack) = (secret[..64].to_vec(), <[u8; 32]>::try_from(&secret[64..]));
    drop(secret);
    black_box((&heap, &stack));
    keeper.search(Stage::Dropped);
    black_box((&heap, &stack));
    drop(heap);
    keeper.search(Stage::Dropped);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("", String::as_str);
    let twin = arguments.get(1).is_some_and(|argument| argument == TWIN);
    let scenario = SCENARIOS.iter().find(|(known, _)| *known == name);
    match scenario {
        Some((_, scenario)) => scenario(&mut Keeper::new(twin)),
        None => SCENARIOS.iter().for_each(|(known, _)| println!("{known}")),
    }
}
