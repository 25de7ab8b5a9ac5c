//! The key-switching unit and its generator of masks: `rm_chacha20` against RFC 8439 and the `chacha20` crate, `rm_torus_ks`
//! against the software's key switch, bit for bit, and against its cycle model, cycle for cycle.

mod bench;
mod chacha;
#[path = "../common/faulty.rs"]
mod faulty;
mod mutants;
mod refusals;
#[path = "../common/setup.rs"]
mod setup;
mod switches;
mod synthesis;
