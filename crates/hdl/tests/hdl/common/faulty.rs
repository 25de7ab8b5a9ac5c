// SPDX-License-Identifier: Apache-2.0
//! Copies of the RTL with one piece of text changed: a fault that checks must notice.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A copy of the folder `rtl`, removed when dropped.
pub struct Faulty(PathBuf);

impl Faulty {
    /// Copies `rtl` and replaces `from` by `to` in `file`, a file name or a path below `rtl`. Panics unless `from`
    /// occurs exactly once in it.
    pub fn copy(file: &str, from: &str, to: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("fault-{}-{number}", std::process::id());
        let copy = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
        let mut changed = 0;
        for room in std::fs::read_dir(rtl).unwrap() {
            let room = room.unwrap();
            if !room.file_type().unwrap().is_dir() {
                continue;
            }
            let to_room = copy.0.join(room.file_name());
            std::fs::create_dir_all(&to_room).unwrap();
            for module in std::fs::read_dir(room.path()).unwrap() {
                let path = module.unwrap().path();
                let mut text = std::fs::read_to_string(&path).unwrap();
                if path.ends_with(file) {
                    changed += text.matches(from).count();
                    text = text.replace(from, to);
                }
                std::fs::write(to_room.join(path.file_name().unwrap()), text).unwrap();
            }
        }
        assert_eq!(changed, 1, "{file} has `{from}` once");
        copy
    }

    /// Returns the folder of the copy.
    pub fn root(&self) -> &Path {
        &self.0
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        // A folder left over below `target` does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
