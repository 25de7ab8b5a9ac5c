// SPDX-License-Identifier: Apache-2.0
//! Tests the macro procedure of a BGV bootstrap: it passes the verifier, can be written as text and read back, and
//! names its keys and constants.

use ringmill_isa::macros::text::{parse, print};
use ringmill_isa::macros::{MacroImm, MacroOp, verify_with_primes};
use ringmill_schemes::bgv::bootstrap::{Maps, Procedure, Set};
use ringmill_schemes::bgv::{Factor, Op};
use ringmill_schemes::rlwe::KeyRequest;

fn small() -> Procedure {
    let setup = Set::SMALL.bootstrapping().unwrap();
    let maps = Maps::new(&setup, setup.shape()).unwrap();
    Procedure::new(setup, maps, true).unwrap()
}

#[test]
fn the_verifier_takes_a_bootstrap_and_its_text() {
    let procedure = small();
    let program = procedure.program();
    let primes = procedure.params().cipher_moduli();
    verify_with_primes(program, primes).unwrap();
    verify_with_primes(program, &primes[1..]).unwrap_err();
    assert_eq!(&parse(&print(program)).unwrap(), program);
    let [proc] = program.procs.as_slice() else {
        panic!("{} procedures", program.procs.len());
    };
    let (&operand, &result) = (proc.params.first().unwrap(), proc.results.first().unwrap());
    let level = |value: ringmill_isa::macros::MacroValue| {
        let at = proc.types[value.0 as usize].at().unwrap();
        (at.level, at.note)
    };
    assert_eq!(level(operand).0, procedure.start());
    assert_eq!(level(result).0, procedure.end().0);
    // The type of the result has the correction factor that belongs to an operand of factor 1.
    let ratio = procedure.factor(Factor::ONE).value();
    let note = ringmill_isa::macros::Note::Factor(ratio);
    assert_eq!(level(result).1, note);
}

#[test]
fn steps_are_operations_and_name_their_keys_and_constants() {
    let procedure = small();
    let steps = &procedure.program().procs[0].instrs;
    let lifted: Vec<u32> = steps
        .iter()
        .filter_map(|instr| match instr.imm {
            MacroImm::Lifted(number) => Some(number),
            _ => None,
        })
        .collect();
    let constants = procedure.constants().len() as u32;
    assert_eq!(lifted, (0..constants).collect::<Vec<_>>());
    let computed = steps.iter();
    let computed = computed.filter(|i| !matches!(i.op, MacroOp::Key | MacroOp::Lift));
    let operations = procedure.operations();
    assert_eq!(computed.clone().count(), operations.len());
    for (instr, (operation, results)) in computed.zip(operations) {
        assert_eq!(instr.dst.len(), *results);
        let raise = operation.op() == Op::Raise;
        assert_eq!(instr.op == MacroOp::Raise, raise);
    }
    let keys = procedure.key_names();
    for key in [
        KeyRequest::Relin,
        KeyRequest::Encapsulation,
        KeyRequest::SparseSecret,
    ] {
        assert!(keys.contains(&key), "{key}");
    }
    let low = keys
        .iter()
        .filter(|key| matches!(key, KeyRequest::LowGalois(_)));
    let high = keys
        .iter()
        .filter(|key| matches!(key, KeyRequest::Galois(_)));
    assert!(low.count() > 0 && high.count() > 0);
}
