// SPDX-License-Identifier: Apache-2.0
//! Puts each fault of a list into a copy of the RTL, of which the fault's check must then complain.

use std::collections::BTreeSet;

use crate::common::failure::{Check, Failure};
use crate::common::faulty::Faulty;
use crate::common::setup::{hdl, seed};
use crate::faults::list::{Fault, List, When};

impl List {
    /// Tries the faults that this command looks for. With `$RINGMILL_FAULTS`, tries those whose module, name or check has that text.
    ///
    /// # Panics
    ///
    /// If a check lets a fault pass, complains of sound RTL, or cannot be built.
    pub fn all_are_noticed(&self, when: When) {
        let some = std::env::var("RINGMILL_FAULTS").unwrap_or_default();
        let mut faults = self.faults();
        faults.retain(|fault| fault.when == when && fault.to_string().contains(&some));
        // A check that always complains notices nothing. `make test` has the machines' own tests for that.
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
