//! Writing a file whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes `bytes` to `path` atomically: to a temporary file beside it, flushed to the disk, then renamed over it. A
/// failure leaves `path` as it was.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let invalid = || {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} names no file", path.display()),
        )
    };
    let name = path.file_name().ok_or_else(invalid)?;
    let mut temporary = name.to_os_string();
    temporary.push(format!(
        ".{}.{}.tmp",
        process::id(),
        COUNTER.fetch_add(1, Ordering::Relaxed)
    ));
    let temporary = path.with_file_name(temporary);
    let written = create_and_fill(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The error that matters is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn create_and_fill(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
