// SPDX-License-Identifier: Apache-2.0
//! Instructions of the torus extension and inputs of a repeat's turns: which are accepted, and which refused.

use ringmill_isa::Fault;
use ringmill_isa::mid::text::{parse_procedure, parse_program, print_program};
use ringmill_isa::mid::{Unrolled, Verified, verify_procedure, verify_program};

/// Returns the text of a procedure of degree 2^4 with one instruction. Its moduli are two primes, 2^32, a plain modulus
/// and 2^33.
fn procedure(params: &[&str], instr: &str) -> String {
    let mut text =
        "proc p ring 2^4 moduli q0=97 q1=193 q2=2^32 q3=plain 12289 q4=2^33\n".to_owned();
    for (n, ty) in params.iter().enumerate() {
        text += &format!("  in %{n} : {ty} = plain {n} \"\"\n");
    }
    text + "  " + instr + "\nend\n"
}

fn fault(params: &[&str], instr: &str) -> Option<Fault> {
    let parsed = parse_procedure(&procedure(params, instr)).unwrap();
    verify_procedure(&parsed).err().map(|e| *e.fault)
}

macro_rules! refused {
    ($params:expr, $instr:expr, $kind:pat) => {{
        let fault = fault(&$params, $instr);
        assert!(matches!(fault, Some($kind)), "{}: {fault:?}", $instr);
    }};
}

const E: &str = "exponent";
const X: &str = "q2 coeff";

#[test]
fn what_fits_is_accepted() {
    for (params, instr) in [
        (vec![E, X], "%2 = ROTDIFF %0, %1 : q2 coeff"),
        (vec![E, E, "q0 eval"], "%3 = ROTDIFF %0, %1, %2 : q0 eval"),
        (vec![E, "q3 coeff"], "%2 = ROTDIFF %0, %1 : q3 coeff"),
        (vec![X], "%1, %2 = DECOMP %0, base 2^7 : q1 coeff, q1 coeff"),
        (vec!["q0 coeff"], "%1 = DECOMP %0, base 2^7 : q1 coeff"),
        (vec![X], "%1 = DECOMP %0, base 2^5 : q2 coeff"),
        (vec![X, X, X], "%3 = EXTRACT %0, %1, %2 : lwe 32 q2"),
        (
            vec!["lwe 5 q2", "rows 10 lwe 3 q2"],
            "%2 = LWEKS %0, %1, base 2^16 : lwe 3 q2",
        ),
        (vec!["lwe 5 q2", "lwe 5 q2"], "%2 = ADD %0, %1 : lwe 5 q2"),
        (vec!["lwe 5 q2"], "%1 = MULI %0, 4294967295 : lwe 5 q2"),
        (
            vec!["lwe 5 q2"],
            "STORE %0, slot 1\n  %1 = LOAD slot 1 : lwe 5 q2",
        ),
    ] {
        assert_eq!(fault(&params, instr), None, "{instr}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    refused!([X, X], "%2 = ROTDIFF %0, %1 : q2 coeff", Fault::Kind { .. });
    refused!([E, E], "%2 = ROTDIFF %0, %1 : exponent", Fault::Kind { .. });
    refused!([E], "%1 = ROTDIFF %0 : q2 coeff", Fault::Count { .. });
    refused!(
        [E, X],
        "%2 = ROTDIFF %0, %1 : q0 coeff",
        Fault::Modulus { .. }
    );
    refused!(
        [E, "q0 half+ eval"],
        "%2 = ROTDIFF %0, %1 : q0 half+ eval",
        Fault::Ring { .. }
    );
    refused!(
        [X],
        "%1 = DECOMP %0, base 2^8 : q1 coeff",
        Fault::Illegal {
            what: "modulus of digits",
            ..
        }
    );
    refused!(
        [X],
        "%1, %2 = DECOMP %0, base 2^5 : q1 coeff, q0 coeff",
        Fault::Modulus { .. }
    );
    refused!(
        ["q0 eval"],
        "%1 = DECOMP %0, base 2^5 : q1 coeff",
        Fault::Form { .. }
    );
    refused!(
        ["q0 coeff"],
        "%1, %2 = DECOMP %0, base 2^5 : q1 coeff, q1 coeff",
        Fault::Illegal { what: "digits", .. }
    );
    for ty in ["q3 coeff", "q4 coeff"] {
        refused!(
            [ty],
            "%1 = DECOMP %0, base 2^5 : q1 coeff",
            Fault::Illegal { .. }
        );
    }
    for base in ["base 2^0", "base 2^32", "base 2^255"] {
        let instr = format!("%1 = DECOMP %0, {base} : q2 coeff");
        assert!(fault(&[X], &instr).is_some(), "{instr}");
    }
    refused!(
        [X, X],
        "%2 = EXTRACT %0, %1 : lwe 15 q2",
        Fault::Dimension { .. }
    );
    refused!(
        [X, "q0 coeff"],
        "%2 = EXTRACT %0, %1 : lwe 16 q2",
        Fault::Modulus { .. }
    );
    refused!(
        ["q0 eval", "q0 eval"],
        "%2 = EXTRACT %0, %1 : lwe 16 q0",
        Fault::Form { .. }
    );
    let x = "lwe 5 q2";
    refused!(
        [x, "rows 9 lwe 3 q2"],
        "%2 = LWEKS %0, %1, base 2^8 : lwe 3 q2",
        Fault::Illegal { .. }
    );
    refused!(
        [x, "rows 10 lwe 3 q0"],
        "%2 = LWEKS %0, %1, base 2^8 : lwe 3 q2",
        Fault::Modulus { .. }
    );
    refused!(
        [x, "rows 10 lwe 3 q2"],
        "%2 = LWEKS %0, %1, base 2^17 : lwe 3 q2",
        Fault::Illegal { .. }
    );
    refused!(
        [x, "rows 10 lwe 3 q2"],
        "%2 = LWEKS %0, %1, base 2^8 : lwe 4 q2",
        Fault::Dimension { .. }
    );
    refused!(
        [x, x],
        "%2 = LWEKS %0, %1, base 2^8 : lwe 5 q2",
        Fault::Kind { .. }
    );
    refused!(
        ["lwe 5 q3", "rows 5 lwe 3 q3"],
        "%2 = LWEKS %0, %1, base 2^8 : lwe 3 q3",
        Fault::Illegal { .. }
    );
    // NTT and ADDI take limbs alone; ADD and NEG take limbs or vectors, and nothing else.
    refused!([x], "%1 = NTT %0 : lwe 5 q2", Fault::Kind { .. });
    refused!([x], "%1 = ADDI %0, 1 : lwe 5 q2", Fault::Kind { .. });
    refused!([E, E], "%2 = ADD %0, %1 : exponent", Fault::Kind { .. });
    refused!(
        ["rows 10 lwe 3 q2"],
        "%1 = NEG %0 : rows 10 lwe 3 q2",
        Fault::Kind { .. }
    );
    refused!(
        [x, "lwe 6 q2"],
        "%2 = ADD %0, %1 : lwe 5 q2",
        Fault::Dimension { .. }
    );
    refused!([E], "STORE %0, slot 1", Fault::Kind { .. });
    refused!(
        ["rows 0 lwe 3 q2"],
        "%1 = NEG %0 : lwe 3 q2",
        Fault::Illegal { .. }
    );
    refused!(
        ["rows 4294967295 lwe 3 q2"],
        "%1 = NEG %0 : lwe 3 q2",
        Fault::Illegal { .. }
    );
}

/// Returns the text of a program with one step, which may repeat a block on exponents of each turn's own.
fn turns(step: &str, output: &str) -> String {
    format!(
        r#"
program ring 2^4 moduli q0=97 q1=193

proc grow
  in %0 : q0 coeff = cipher 0 poly 0 ""
  in %1 : exponent = exponent 1 index 0 ""
  %2 = ROTDIFF %1, %0 : q0 coeff
  out %2 = cipher 0 poly 0 ""
end

block once (q0 coeff, exponent)
  call grow (@0, @1) dies (@0, @1) -> (@0)
  give (@0)
end

input $0 : q0 coeff = plain 0 "x"
input $1 : exponent = exponent 0 index 0 "a"
input $2 : q1 coeff = plain 1 "y"
input $3 : exponent = exponent 0 index 1 "b"
input $4 : q1 coeff = plain 2 "z"
input $5 : exponent = exponent 0 index 2 "c"
{step}
output {output} = cipher 0 poly 0 "out"
end
"#
    )
}

#[test]
fn turns_take_their_inputs() {
    let text = turns("repeat 3 once ($0, $1 step 2) -> (@0)", "@0");
    let program = parse_program(&text).unwrap();
    verify_program(&program).unwrap();
    assert_eq!(parse_program(&print_program(&program)).unwrap(), program);
    let unrolled = Unrolled::of(&Verified::new(program).unwrap(), 10).unwrap();
    let exponents: Vec<u64> = unrolled.calls.iter().map(|call| call.args[1].0).collect();
    assert_eq!(exponents, [1, 3, 5]);
    // With step 0 all turns take one input; a single turn takes no step.
    for step in [
        "repeat 9 once ($0, $3 step 0) -> (@0)",
        "repeat 1 once ($0, $5 step 99) -> (@0)",
    ] {
        let program = parse_program(&turns(step, "@0")).unwrap();
        verify_program(&program).unwrap();
    }
}

#[test]
fn turns_without_an_input_are_refused() {
    let fault = |step: &str, output: &str| {
        let program = parse_program(&turns(step, output)).unwrap();
        *verify_program(&program).unwrap_err().fault
    };
    let beyond = fault("repeat 4 once ($0, $1 step 2) -> (@0)", "@0");
    assert!(
        matches!(beyond, Fault::Range { found: 7, .. }),
        "{beyond:?}"
    );
    let far = fault(
        "repeat 4294967296 once ($0, $1 step 4294967295) -> (@0)",
        "@0",
    );
    assert!(matches!(far, Fault::Range { .. }), "{far:?}");
    let other = fault("repeat 2 once ($0, $1 step 1) -> (@0)", "@0");
    assert!(matches!(other, Fault::Kind { .. }), "{other:?}");
    let carried = fault("repeat 2 once ($0 step 2, $1) -> (@0)", "@0");
    assert!(matches!(carried, Fault::Illegal { .. }), "{carried:?}");
    let once = fault("run once ($0, $1 step 2) -> (@0)", "@0");
    assert!(matches!(once, Fault::Illegal { .. }), "{once:?}");
    let call = fault("call grow ($0, $1 step 2) -> (@0)", "@0");
    assert!(matches!(call, Fault::Illegal { .. }), "{call:?}");
    let output = fault("repeat 2 once ($0, $1) -> (@0)", "$0 step 1");
    assert!(matches!(output, Fault::Illegal { .. }), "{output:?}");
}
