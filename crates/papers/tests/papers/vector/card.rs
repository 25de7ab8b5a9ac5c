// SPDX-License-Identifier: Apache-2.0
//! Tests of Table 8 on a machine that fits a card.

use std::collections::HashMap;
use std::path::Path;

use ringmill_hdl::vector::{Host, Machine, Trace, Writer, lockstep, moved};
use ringmill_hdl::{BuildOptions, Hdl};
use ringmill_isa::vector::{MicroOp, MicroProgram};
use ringmill_machines::vector::Description;
use ringmill_papers::internals::vector::{Operation, operations, params};
use ringmill_schemes::bgv::{Params, PrimePower};

/// A distant memory that answers at once: chunks by address, and the words of a chunk.
struct Prompt(HashMap<u32, Vec<u32>>, usize);

impl Host for Prompt {
    fn give(&mut self, address: u32) -> Vec<u32> {
        let chunk = self.0.get(&address).cloned();
        chunk.unwrap_or_else(|| vec![0; self.1])
    }

    fn take(&mut self, address: u32, chunk: Vec<u32>) {
        self.0.insert(address, chunk);
    }
}

/// Returns the micro-cycles from when the first instruction could be sent to the end of the last write.
fn taken(d: &Description, trace: &Trace) -> u64 {
    let &(last, _) = trace.wrote.last().unwrap();
    last + d.micro.buffer - trace.there[0]
}

/// Each program of a row with the source `rtl` runs in lockstep on the RTL of the description, in as many micro-cycles
/// as the row says.
#[test]
#[ignore = "builds a machine of 512 lanes, minutes; `make full` runs it"]
fn the_rtl_has_run_what_is_said_to_be_its() {
    let t = PrimePower::new(127, 3).unwrap().modulus().unwrap();
    let set = Params::builder(10, t)
        .friendly_primes(42, 14)
        .unwrap()
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let params = params(&set).unwrap();
    let d = Description::read(Description::U250).unwrap();
    let hdl = Hdl::find(Path::new(".")).unwrap();
    let begin = std::time::Instant::now();
    let mut machine = Machine::new(&hdl, &d, params.moduli(), BuildOptions::default(), 1).unwrap();
    println!("built in {:.0?}", begin.elapsed());
    let shape = machine.shape();
    let mut host = Prompt(HashMap::new(), 1 << shape.log_lanes);
    // The buffer is filled first, so that its content does not depend on the operations.
    let fill = MicroProgram {
        shape,
        moduli: params.moduli().to_vec(),
        masks: Vec::new(),
        holds: Vec::new(),
        instrs: moved(MicroOp::Load, shape, shape.slots(), 0),
    };
    machine.run(&fill, &mut host).unwrap();
    for Operation { name, made, .. } in operations(&d, &params).unwrap() {
        assert_eq!(made.loads, 0, "{name}: all of it is in the buffer");
        machine.load(&made.program.moduli).unwrap();
        let begin = std::time::Instant::now();
        let ended = machine.run(&made.program, &mut host).unwrap();
        println!(
            "{name}: {} micro-cycles, {:.1?}",
            made.micro,
            begin.elapsed()
        );
        assert!(ended.fault.is_none(), "{name}");
        lockstep(&d, shape, &made.program.instrs, &ended.trace).unwrap();
        let loads = ended.trace.wrote.iter().filter(|w| w.1 == Writer::Load);
        assert_eq!(loads.count(), 0, "{name}");
        assert_eq!(taken(&d, &ended.trace), made.micro, "{name}");
    }
}
