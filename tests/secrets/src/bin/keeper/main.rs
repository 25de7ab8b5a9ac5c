//! A process that makes, uses, saves, loads and drops secrets, and says when its memory is to be searched for them.

mod generator;
mod ring;
mod seal;
mod tfhe;

use ringmill_math::LineAllocator;
use ringmill_secrets::telling::{Kept, Stage, Teller};
use zeroize::Zeroizing;

/// The one of the command and of the Python package.
#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

/// One way to keep secrets.
type Scenario = fn(&mut Teller);

const SCENARIOS: [(&str, Scenario); 10] = [
    ("generator", generator::draw),
    ("ckks", |to| ring::ckks(to, ring::WIDE)),
    ("ckks, words of 32 bits", |to| ring::ckks(to, ring::SHORT)),
    ("bfv", ring::bfv),
    ("bgv", ring::bgv),
    ("bgv bootstrapping", ring::sparse),
    ("tfhe", tfhe::all),
    ("seal", seal::all),
    ("a planted copy", planted),
    ("a panic", ring::panicking),
];

/// Copies that a search must find: on the heap, freed there, and on the stack.
fn planted(to: &mut Teller) {
    let mut secret = Zeroizing::new([0u8; 96]);
    let mut prng = ringmill_math::Prng::from_os().expect("randomness");
    prng.fill_bytes(secret.as_mut());
    to.tell("held", Kept::WithItsHolder, &secret[..]);
    to.search(Stage::Held);
    let (heap, stack) = (secret[..64].to_vec(), <[u8; 32]>::try_from(&secret[64..]));
    drop(secret);
    std::hint::black_box((&heap, &stack));
    to.search(Stage::Dropped);
    std::hint::black_box((heap, stack)).0.clear();
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let scenario = SCENARIOS.iter().find(|(known, _)| *known == name);
    match scenario {
        Some((_, scenario)) => scenario(&mut Teller::default()),
        None => SCENARIOS.iter().for_each(|(known, _)| println!("{known}")),
    }
}
