// SPDX-License-Identifier: Apache-2.0
//! When a run is saved, and what follows where it cannot be: a path that cannot be written is refused before the run; a
//! save that fails later is told and tried again, and the run goes on.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::whole_file::{Contents, probe};

use crate::CheckpointError;
use crate::progress::Progress;

/// Where and how often a run is saved. It is saved too when it is interrupted.
#[derive(Clone, Debug)]
pub struct Saving {
    pub path: PathBuf,
    /// At least so long between two savings; the next call's end is waited for.
    pub every: Duration,
}

/// After a save that failed the next is tried this soon, or as soon as any is due.
const AGAIN: Duration = Duration::from_secs(5);
/// A run that ends tries so often, with a pause between two.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// The next save of a run.
pub struct Schedule<'a> {
    saving: &'a Saving,
    progress: &'a dyn Progress,
    last: Instant,
    wait: Duration,
}

impl<'a> Schedule<'a> {
    /// # Errors
    /// [`CheckpointError::File`] where nothing can be written at the path.
    pub fn new(saving: &'a Saving, progress: &'a dyn Progress) -> Result<Self, CheckpointError> {
        probe(&saving.path, Contents::Secret).map_err(|source| CheckpointError::File {
            what: "write",
            path: saving.path.clone(),
            source,
        })?;
        Ok(Self {
            saving,
            progress,
            last: Instant::now(),
            wait: saving.every,
        })
    }

    pub fn saving(&self) -> &'a Saving {
        self.saving
    }

    pub fn is_due(&self) -> bool {
        self.last.elapsed() >= self.wait
    }

    /// Saves a run that goes on.
    ///
    /// # Errors
    /// What `save` gives, but for [`CheckpointError::File`], which is told.
    pub fn save(
        &mut self,
        save: impl FnOnce() -> Result<(), CheckpointError>,
    ) -> Result<(), CheckpointError> {
        let saved = save();
        self.last = Instant::now();
        self.wait = self.saving.every;
        match saved {
            Err(error @ CheckpointError::File { .. }) => {
                self.wait = AGAIN.min(self.saving.every);
                let again = format!("tried again in {:.0} s", self.wait.as_secs_f64());
                self.progress
                    .told(&format!("{error}; the run goes on, and saving is {again}"));
                Ok(())
            }
            other => other,
        }
    }
}

/// Saves a run that ends: what fails is tried again for a second.
///
/// # Errors
/// What `save` gave the last time.
pub fn save_at_last(
    mut save: impl FnMut() -> Result<(), CheckpointError>,
) -> Result<(), CheckpointError> {
    for _ in 1..TRIES {
        match save() {
            Err(CheckpointError::File { .. }) => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
    save()
}
