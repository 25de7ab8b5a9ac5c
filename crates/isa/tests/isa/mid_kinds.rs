// SPDX-License-Identifier: Apache-2.0
//! Moduli of every kind: their text, and refusals with the line of uses that a kind does not have.

use ringmill_isa::mid::text::{parse_procedure, print_procedure};
use ringmill_isa::mid::{Op, TableModulus, verify_procedure};

/// Head of a procedure whose operands %0 to %8 have the moduli q0 to q8, in coefficient form.
const HEAD: &str = "proc p ring 2^5 moduli q0=193 q1=257 q2=449 q3=plain 6 q4=2^64 q5=plain 3 q6=2^2 q7=plain 579 q8=plain 1152921504606846976\n";

fn text(instr: &str) -> String {
    let params = (0..9).map(|i| format!("  in %{i} : q{i} coeff = plain {i} \"x{i}\"\n"));
    format!("{HEAD}{}  {instr}\nend\n", params.collect::<String>())
}

#[test]
fn what_every_kind_can() {
    for instr in [
        "%9 = ADD %4, %4 : q4 coeff",
        "%9 = MULI %4, 18446744073709551615 : q4 coeff",
        "%9 = ADDI %3, 5 : q3 coeff",
        "%9 = AUTO %6, galois 63 : q6 coeff",
        "%9 = CONV %4 : q0 coeff",
        "%9 = CONV %0 : q4 coeff",
        "%9, %10 = BEXT %0, %3, %1 : q4 coeff, q0 coeff",
        "%9, %10 = BEXTX %0, %3, %1, nonnegative : q4 coeff, q7 coeff",
        "%9 = BEXTX %6, centred : q4 coeff",
        "%9 = BEXTR %0, %1, %5, %6 : q4 coeff",
        "%9 = BEXTR %0, %8 : q1 coeff",
    ] {
        let p = parse_procedure(&text(instr)).expect(instr);
        verify_procedure(&p).expect(instr);
        let printed = print_procedure(&p);
        assert!(
            printed.starts_with(HEAD) && printed.contains(instr),
            "{printed}"
        );
        assert_eq!(parse_procedure(&printed).as_ref(), Ok(&p));
    }
}

#[test]
fn what_a_kind_lacks_is_refused_with_the_line() {
    for (instr, message) in [
        (
            "%9 = NTT %3 : q3 eval",
            "%9: evaluation form needs a modulus that is an NTT-friendly prime, found q3 = plain 6",
        ),
        (
            "%9 = PRNG seed 0 stream 0 : q4 eval",
            "%9: evaluation form needs a modulus that is an NTT-friendly prime, found q4 = 2^64",
        ),
        (
            "%9, %10 = SPLIT %6 : q6 half+ coeff, q6 half- coeff",
            "%9: a half ring needs a modulus that is an NTT-friendly prime, found q6 = 2^2",
        ),
        (
            "%9 = MUL %3, %3 : q3 coeff",
            "%3: expected evaluation form, found coefficient form",
        ),
        (
            "%9 = MULI %3, 6 : q3 coeff",
            "expected immediate a residue below q3 = plain 6, found scalar 6",
        ),
        (
            "%9 = BEXT %0, %4 : q1 coeff",
            "modulus of an operand: expected one below 2^61, found q4 = 2^64",
        ),
        (
            "%9 = BEXT %0, %0 : q1 coeff",
            "modulus q0 = 193 occurs twice; expected each once",
        ),
        (
            "%9 = BEXT %0, %7 : q1 coeff",
            "moduli q7 = plain 579 and q0 = 193 share a factor; expected the operands' moduli pairwise coprime",
        ),
        (
            "%9 = BEXTX %3, %1, %5, centred : q4 coeff",
            "moduli q3 = plain 6 and q5 = plain 3 share a factor; expected the operands' moduli pairwise coprime",
        ),
        (
            "%9, %10 = BEXTX %0, %1, centred : q4 coeff, q4 coeff",
            "modulus q4 = 2^64 occurs twice; expected each once",
        ),
        (
            "%9 = BEXTX %0, %1, centred : q0 eval",
            "%9: expected coefficient form, found evaluation form",
        ),
        (
            "%9 = BEXTR %0 : q4 coeff",
            "expected at least 2 operands, found 1",
        ),
        (
            "%9 = BEXTR %0, %0 : q4 coeff",
            "modulus q0 = 193 occurs twice; expected each once",
        ),
        (
            "%9 = BEXTR %0, %1, %7 : q4 coeff",
            "moduli q7 = plain 579 and q0 = 193 share a factor; expected the operands' moduli pairwise coprime",
        ),
        (
            "%9 = BEXTR %0, %1, %2, %5 : q4 coeff",
            "redundant modulus: expected one above 3, the number of the other operands, found q5 = plain 3",
        ),
        (
            "%9 = BEXTR %0, %4 : q1 coeff",
            "modulus of an operand: expected one below 2^61, found q4 = 2^64",
        ),
    ] {
        let p = parse_procedure(&text(instr)).expect(instr);
        let error = verify_procedure(&p).expect_err(instr);
        assert_eq!(error.fault.to_string(), message);
        let place = error.place.instruction.expect(instr);
        assert_eq!((place.number, place.text.as_str()), (0, instr));
    }
    // A parameter in a form that its modulus does not have is refused without an instruction.
    let p = parse_procedure(
        "proc p ring 2^5 moduli q0=plain 65537\n  in %0 : q0 eval = plain 0 \"x\"\nend\n",
    );
    let error = verify_procedure(&p.expect("well-formed text")).expect_err("no evaluation form");
    assert_eq!(
        error.to_string(),
        "p: %0: evaluation form needs a modulus that is an NTT-friendly prime, found q0 = plain 65537"
    );
}

/// Checks that exact extensions take at most 64 operands besides a redundant one, and that a fast extension takes more.
#[test]
fn at_most_sixty_four_operands() {
    let primes = ringmill_math::primes::ntt_primes(30, 5, 66).expect("enough primes");
    let table: String = (0..66).map(|i| format!(" q{i}={}", primes[i])).collect();
    let params: String = (0..65)
        .map(|i| format!("  in %{i} : q{i} coeff = plain {i} \"x\"\n"))
        .collect();
    let list = |n: usize| {
        (0..n)
            .map(|i| format!("%{i}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let verify = |instr: String| {
        let text =
            format!("proc p ring 2^5 moduli{table}\n{params}  %65 = {instr} : q65 coeff\nend\n");
        verify_procedure(&parse_procedure(&text).expect("well-formed text"))
            .map_err(|error| error.fault.to_string())
    };
    assert_eq!(verify(format!("BEXT {}", list(65))), Ok(()));
    assert_eq!(verify(format!("BEXTX {}, centred", list(64))), Ok(()));
    assert_eq!(verify(format!("BEXTR {}", list(65))), Ok(()));
    let most = "too many operands of an exact base extension: expected at most 64, found 65";
    assert_eq!(
        verify(format!("BEXTX {}, centred", list(65))),
        Err(most.to_owned())
    );
    assert!(Op::Bextx.is_composite() && Op::Bextr.is_composite());
}

#[test]
fn tables_know_their_values() {
    for (modulus, value, top, prime) in [
        (TableModulus::from(97), 97, 96, Some(97)),
        (TableModulus::Plain(6), 6, 5, None),
        (TableModulus::PowerOfTwo(64), 1 << 64, u64::MAX, None),
        (TableModulus::PowerOfTwo(1), 2, 1, None),
    ] {
        assert_eq!(
            (modulus.value(), modulus.top(), modulus.prime()),
            (value, top, prime)
        );
        assert!(modulus.arithmetic().is_ok());
    }
    for bad in [
        TableModulus::Prime(1 << 61),
        TableModulus::Plain(1),
        TableModulus::PowerOfTwo(0),
        TableModulus::PowerOfTwo(65),
        TableModulus::PowerOfTwo(255),
    ] {
        assert!(bad.arithmetic().is_err(), "{bad}");
    }
}
