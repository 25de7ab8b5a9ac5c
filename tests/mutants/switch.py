# SPDX-License-Identifier: Apache-2.0
"""The Rust module, added to each crate, by which a program with faults knows which one to take.

It reads the environment once, before `main`.
"""

CHOSEN = "RINGMILL_MUTANT"
REACHED = "RINGMILL_MUTANTS_REACHED"
NAME = "__mutant"

# Each switch is a plain load and a comparison. A check whether the variable was read would take too long in hot loops.
_MODULE = """
#[allow(unsafe_code, non_snake_case, clippy::all)]
mod __mutant {
    use std::sync::atomic::{AtomicBool, Ordering};
    static mut CHOSEN: u32 = 0;
    static SEEN: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];
    #[used]
    #[unsafe(link_section = ".init_array")]
    static INIT: extern "C" fn() = {
        extern "C" fn read() {
            let number = std::env::var("RINGMILL_MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
            let all = std::env::var_os("RINGMILL_MUTANTS_REACHED").is_some();
            // Nothing else runs before `main`.
            unsafe { CHOSEN = if all { u32::MAX } else { number } }
        }
        read
    };
    #[inline(always)]
    pub fn is(number: u32) -> bool {
        // After the start nobody writes.
        let chosen = unsafe { CHOSEN };
        chosen == number || (chosen == u32::MAX && reach(number))
    }
    #[cold]
    #[inline(never)]
    fn reach(number: u32) -> bool {
        if !SEEN[number as usize].load(Ordering::Relaxed) && !SEEN[number as usize].swap(true, Ordering::Relaxed) {
            if let Some(path) = std::env::var_os("RINGMILL_MUTANTS_REACHED") {
                if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
                    let _ = std::io::Write::write_all(&mut file, format!("{number}\\n").as_bytes());
                }
            }
        }
        false
    }
}
"""


def module(most: int) -> bytes:
    """Returns the source of the module for faults with numbers up to `most`."""
    count = 1 << most.bit_length()  # a power of two: a few faults more or less change no crate's source
    return _MODULE.replace("COUNT]", f"{count}]").replace("; COUNT", f"; {count}").encode()
