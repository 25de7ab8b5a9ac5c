// SPDX-License-Identifier: Apache-2.0
//! Machines of descriptions of a test's own.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use ringmill_device::{Device, DeviceError};
use ringmill_sim::open;

/// A description file that is gone when the test is.
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

    /// The machine as a device of this kind: `sim` or `rtl`.
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
