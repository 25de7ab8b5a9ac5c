// SPDX-License-Identifier: Apache-2.0
//! Reads and writes the file `RINGMILL_PLANS_FILE`, which keeps choices of kernels from one process to the next.
//!
//! The first line of the file has the format and this crate's version, the second the processor and the best
//! instruction set that kernels may use. Then comes a line for each shape of transform, `task word-bits bits log2-n:
//! kernel`. The file is not trusted: a kernel counts only if it is a candidate of the shape on this processor. A file
//! that is too long, of another version, processor or instruction set, or not of this form is ignored.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{FILE_VARIABLE, Shape, policy, processor};

/// The most bytes of the file of choices, which is more than all shapes of transforms need.
const LONGEST: u64 = 64 << 10;

/// The content of a file of choices: the name of the chosen kernel for each shape of transform, by
/// the shape's text.
pub type Kept = BTreeMap<String, String>;

static KEPT: RwLock<Kept> = RwLock::new(Kept::new());
static READ: AtomicBool = AtomicBool::new(false);

fn path() -> Option<PathBuf> {
    std::env::var_os(FILE_VARIABLE)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

/// Returns the first two lines of a file of choices that this process writes: the format with this crate's version,
/// then this processor and the best instruction set that kernels may use.
fn head() -> String {
    format!(
        "ringmill plans 1, {}\n{}, {}\n",
        env!("CARGO_PKG_VERSION"),
        processor(),
        policy().level.name()
    )
}

/// Returns the name of the kernel that the file of choices has for a shape of transforms, or `None` if there is no such
/// file or entry, or if another thread is just reading the file. The name is not checked. A process reads the file at
/// the first call.
pub(super) fn kept(shape: Shape) -> Option<String> {
    let path = path()?;
    if !READ.swap(true, Ordering::AcqRel) {
        let found = read(&path, &head()).unwrap_or_default();
        // A process that was forked while this lock was held must not wait for it. It times kernels again.
        if let Ok(mut kept) = KEPT.try_write() {
            kept.extend(found);
        }
    }
    KEPT.try_read().ok()?.get(&shape.to_string()).cloned()
}

/// Writes a choice of a kernel into the file of choices, beside those that it has by now. An error is not reported: the
/// choice serves this process, and the next process times again.
pub(super) fn keep(shape: Shape, kernel: &str) {
    let Some(path) = path() else { return };
    let mut all = read(&path, &head()).unwrap_or_default();
    all.insert(shape.to_string(), kernel.to_owned());
    let _ = write(&path, &text(&head(), &all));
}

/// Returns the text of a file of choices: the head, then a line for each choice of a kernel.
pub fn text(head: &str, kept: &Kept) -> String {
    kept.iter()
        .fold(head.to_owned(), |mut text, (shape, kernel)| {
            let _ = writeln!(text, "{shape}: {kernel}");
            text
        })
}

/// Reads the choices of kernels in a file. Returns `None` if the file cannot be read or is too long, or if it does not
/// begin with `head`, as a file of another version, processor or instruction set does not. Also returns `None` if a
/// later line has no `: ` between a shape and a kernel.
pub fn read(path: &Path, head: &str) -> Option<Kept> {
    // Asked before it is opened: opening a pipe would wait for its other end.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = std::fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > LONGEST {
        return None;
    }
    parse(std::str::from_utf8(&bytes).ok()?, head)
}

fn parse(text: &str, head: &str) -> Option<Kept> {
    let lines = text.strip_prefix(head)?.lines();
    lines
        .map(|line| {
            let (shape, kernel) = line.split_once(": ")?;
            Some((shape.to_owned(), kernel.to_owned()))
        })
        .collect()
}

/// Writes the file of choices, whole or not at all. A path that is no regular file (a device, a pipe, a folder) is left
/// as it is. A privileged process could otherwise replace `/dev/null` by a file.
///
/// # Errors
/// The errors of the file system, and `InvalidInput` for such a path.
pub fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    let mut beside = path.to_owned().into_os_string();
    beside.push(format!(".{}", std::process::id()));
    let written = std::fs::File::create(&beside)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}
