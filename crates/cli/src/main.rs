// SPDX-License-Identifier: Apache-2.0
//! The `ringmill` command: calls the library, which the Python package calls too, and stops it on Ctrl-C.

use std::process::{ExitCode, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ringmill_math::LineAllocator;
use signal_hook::consts::SIGINT;

/// The allocator of the command, which starts limbs at cache lines.
#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

/// The time between two checks of the flag that Ctrl-C sets.
const LOOK: Duration = Duration::from_millis(5);
/// The time after Ctrl-C in which the work can write finished results. After it the process ends; files appear whole or
/// not at all.
const GRACE: Duration = Duration::from_millis(120);
/// The stack size in bytes of the thread that checks the flag.
const STACK: usize = 128 << 10;

/// Runs the command on the main thread, whose heap grows in small steps. The heap of another thread would be reserved
/// at once, which an address-space limit may forbid.
fn main() -> ExitCode {
    let stop = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(SIGINT, Arc::clone(&stop)) {
        eprintln!("ringmill: Ctrl-C cannot be waited for: {error}");
    }
    let (flag, told) = (Arc::clone(&stop), Arc::new(AtomicBool::new(false)));
    let said = Arc::clone(&told);
    let look = move || {
        while !flag.load(Ordering::Relaxed) {
            thread::sleep(LOOK);
        }
        thread::sleep(GRACE);
        if !said.swap(true, Ordering::AcqRel) {
            eprintln!("ringmill: interrupted");
        }
        exit(ringmill_cli::INTERRUPTED.into());
    };
    // Without the thread the work still stops, when it looks at the flag itself.
    let looking = thread::Builder::new().stack_size(STACK).spawn(look);
    drop(looking);
    ExitCode::from(ringmill_cli::main(std::env::args_os(), None, stop, &told))
}
