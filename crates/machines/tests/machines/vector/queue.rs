// SPDX-License-Identifier: Apache-2.0
//! Writes of the host into the queue: at the predicted times nothing waits, early ones overrun it, and late ones let it
//! run dry.

use ringmill_machines::MachineError;
use ringmill_machines::vector::queue::{Write, fed, predicted};
use ringmill_machines::vector::{Counting, alone, time};
use ringmill_schemes::ckks::{OpKey, ProcCache};

use super::check::{bound, params, scaled};

#[test]
fn predicted_writes_never_overrun_and_keep_nothing_waiting() {
    let params = params(8, 3, 1);
    let cache = ProcCache::new(params.clone());
    let procedure = bound(&cache.get(&OpKey::relin(params.max_level(), false)).unwrap());
    for (queue, batch) in [(128, 64), (128, 128), (256, 7)] {
        let mut d = scaled(64);
        d.queue = queue;
        let made = alone(&d, &procedure, &|_| true, Counting::PAPER).unwrap();
        let (micro, _) = time(&d, &made.program, Counting::PAPER).unwrap();
        let writes = predicted(&d, &made.program, batch).unwrap();
        let ran = fed(&d, &made.program, &writes).unwrap();
        assert_eq!(ran.micro, micro, "{queue} {batch}");
        // One micro-cycle earlier, a write finds no room.
        let late = writes.iter().position(|w| w.at > 0).unwrap();
        let mut early = writes.clone();
        early[late].at -= 1;
        let first: usize = writes[..=late].iter().map(|w| w.instructions).sum();
        let error = fed(&d, &made.program, &early).unwrap_err();
        match &error {
            MachineError::Overrun {
                instruction,
                queue: of,
                ..
            } => {
                assert_eq!((*instruction, *of), (first, queue));
            }
            other => panic!("{other}"),
        }
        let said = error.to_string();
        assert!(
            said.contains(&format!("instruction {first} finds no room")),
            "{said}"
        );
        // The machine waits for late writes.
        let mut slow: Vec<Write> = writes.clone();
        slow.iter_mut().skip(late).for_each(|w| w.at += 10_000);
        let ran = fed(&d, &made.program, &slow).unwrap();
        assert!(ran.dry > 0 && ran.micro > micro, "{ran:?}");
        let said = fed(&d, &made.program, &writes[..1]).map_err(|e| e.to_string());
        assert!(said.unwrap_err().contains("of which the host writes"));
    }
}
