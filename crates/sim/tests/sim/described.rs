// SPDX-License-Identifier: Apache-2.0
//! A helper for tests of machines whose descriptions the tests write themselves.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use ringmill_device::{Device, DeviceError};
use ringmill_sim::open;

/// A description file in the folder for temporary files. It is removed when the value is dropped.
pub struct Described(PathBuf);

impl Described {
    pub fn new(text: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ringmill-described-{}-{number}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    /// Opens the machine as a device of the kind `kind`: `sim` or `rtl`.
    pub fn open(&self, kind: &str) -> Result<Box<dyn Device>, DeviceError> {
        open(&format!("{kind}:{}", self.0.display()))
    }

    pub fn device(&self, kind: &str) -> Box<dyn Device> {
        self.open(kind).unwrap()
    }
}

impl Drop for Described {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
