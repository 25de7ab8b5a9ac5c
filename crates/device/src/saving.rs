// SPDX-License-Identifier: Apache-2.0
//! Decides when a run writes its checkpoint file, and handles writes that fail.
//!
//! A path that cannot be written is refused before the run. A later write that fails is reported and tried again,
//! and the run goes on.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::whole_file::{Contents, probe};

use crate::CheckpointError;
use crate::progress::Progress;

/// The path of a run's checkpoint file, which each checkpoint replaces, and the interval between checkpoints. A run is
/// also saved when it is interrupted.
#[derive(Clone, Debug)]
pub struct Saving {
    pub path: PathBuf,
    /// The least time between two checkpoints, except after a failed write. A checkpoint waits until no call is in
    /// progress.
    pub every: Duration,
}

/// The time after which a failed write is tried again, unless a checkpoint is due before.
const AGAIN: Duration = Duration::from_secs(5);
/// The number of tries to write the checkpoint of a run that ends, with a pause between two tries.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// The schedule by which a run writes its checkpoint file: when the next write is due, and what happens after a failed
/// one.
pub struct Schedule<'a> {
    saving: &'a Saving,
    progress: &'a dyn Progress,
    last: Instant,
    wait: Duration,
}

impl<'a> Schedule<'a> {
    /// Makes the schedule of a run's checkpoints, after a check that the file of `saving` can be written.
    ///
    /// # Errors
    /// [`CheckpointError::File`] if nothing can be written at the path.
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

    /// Writes a checkpoint of a run that goes on, with the function `save`.
    ///
    /// # Errors
    /// The errors of `save`, except [`CheckpointError::File`]. Such a failure is reported to the progress, and a write
    /// is due again after at most 5 s.
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

/// Writes a checkpoint of a run that ends, with the function `save`. It tries up to five times in about a second if the
/// file cannot be written.
///
/// # Errors
/// The error of the last call of `save`.
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
