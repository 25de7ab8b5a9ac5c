// SPDX-License-Identifier: Apache-2.0
//! The runner, which puts each fault of a list into a copy of the RTL. The fault's check must then fail.

use std::collections::BTreeSet;

use crate::common::failure::{Check, Failure};
use crate::common::faulty::Faulty;
use crate::common::setup::{hdl, seed};
use crate::faults::list::{Fault, List, When};

impl List {
    /// Tries the faults that the command `when` looks for. If `$RINGMILL_FAULTS` is set, tries only those of them whose
    /// module, name or check contains its text.
    ///
    /// # Panics
    ///
    /// Panics if a check lets a fault pass or cannot be built, or, for [`When::Full`], fails on sound RTL.
    pub fn all_are_noticed(&self, when: When) {
        let some = std::env::var("RINGMILL_FAULTS").unwrap_or_default();
        let mut faults = self.faults();
        faults.retain(|fault| fault.when == when && fault.to_string().contains(&some));
        // A check that always fails would notice everything, so each must pass on sound RTL. In `make test` the
        // machines' own tests show that.
        let checks: BTreeSet<&str> = faults.iter().map(|fault| &*fault.check).collect();
        for check in checks.into_iter().filter(|_| when == When::Full) {
            let outcome = self.check(check)(hdl(), seed());
            outcome.unwrap_or_else(|e| panic!("`{check}` complains of sound RTL: {e:?}"));
        }
        let mut missed = Vec::new();
        for fault in &faults {
            println!("{fault}");
            let missing = match self.tried(fault) {
                Err(Failure::Mismatch(_)) => {
                    println!("  noticed");
                    continue;
                }
                Err(Failure::Tool(error)) => format!("{fault} says nothing: {error}"),
                Ok(()) => format!("{fault} passes"),
            };
            println!("  {missing}");
            missed.push(missing);
        }
        assert!(missed.is_empty(), "not noticed:\n{}", missed.join("\n"));
    }

    fn tried(&self, fault: &Fault) -> Check {
        let file = format!("{}.sv", fault.module);
        let copy = Faulty::copy(&file, &fault.from, &fault.to);
        self.check(&fault.check)(&hdl().with_sources(&[copy.root()])?, seed())
    }
}
