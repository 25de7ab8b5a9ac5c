// SPDX-License-Identifier: Apache-2.0
//! Reports the progress of a hardware tool.

use std::sync::Arc;

use serde::Deserialize;

/// A stage of a hardware tool's work, by name. `done` of the `total` stages have ended so far;
/// stages take unequal times.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Stage {
    #[serde(rename = "stage")]
    pub name: String,
    pub done: u64,
    pub total: u64,
}

type Callback = dyn Fn(&Stage) + Send + Sync;

/// The caller's function that receives the progress of hardware tools, or `None` if there is none.
#[derive(Clone, Default)]
pub(crate) struct Watch(Option<Arc<Callback>>);

impl Watch {
    pub fn new(watch: impl Fn(&Stage) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    pub fn tell(&self, stage: &Stage) {
        if let Some(watch) = &self.0 {
            watch(stage);
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() {
            "watched"
        } else {
            "unwatched"
        })
    }
}
