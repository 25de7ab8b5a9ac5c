// SPDX-License-Identifier: Apache-2.0
//! Parameters of a comparison's rows as text, and the fields in which they differ.

use crate::report::ParameterReport;

/// Returns the letter that names a set of parameters: a, b, ... z, and then numbers.
pub(super) fn letter(at: usize) -> String {
    let letter = u8::try_from(at).ok().filter(|at| *at < 26);
    letter.map_or_else(
        || at.to_string(),
        |at| char::from(b'a'.saturating_add(at)).to_string(),
    )
}

fn primes(bits: &[u32]) -> String {
    let bits: Vec<String> = bits.iter().map(u32::to_string).collect();
    bits.join(" ")
}

/// Returns a parameter set as one line of text, for tables.
pub(super) fn described(p: &ParameterReport) -> String {
    let scale = p.log2_scale.map(|scale| format!(", scale 2^{scale:.1}"));
    let modulus = p.plain_modulus.map(|t| format!(", plaintext modulus {t}"));
    let insecure = p
        .insecure
        .as_ref()
        .map(|why| format!(", NOT SECURE: {why}"));
    format!(
        "ring degree 2^{}, primes of {} and {} bits{}{}{}",
        p.log_n,
        primes(&p.cipher_prime_bits),
        primes(&p.special_prime_bits),
        scale.unwrap_or_default(),
        modulus.unwrap_or_default(),
        insecure.unwrap_or_default(),
    )
}

/// Returns the names of the fields in which the parameter sets `all` differ.
pub(super) fn differing(all: &[ParameterReport]) -> Vec<&'static str> {
    /// A function that tells whether two parameter sets have the same value of one field.
    type Same = fn(&ParameterReport, &ParameterReport) -> bool;
    let fields: [(&'static str, Same); 8] = [
        ("ring degree", |a, b| a.log_n == b.log_n),
        ("ciphertext primes", |a, b| {
            a.cipher_prime_bits == b.cipher_prime_bits
        }),
        ("special primes", |a, b| {
            a.special_prime_bits == b.special_prime_bits
        }),
        ("digits", |a, b| a.dnum == b.dnum),
        ("scale", |a, b| a.log2_scale == b.log2_scale),
        ("plaintext modulus", |a, b| {
            a.plain_modulus == b.plain_modulus
        }),
        ("modulus in all", |a, b| a.log_qp == b.log_qp),
        ("security", |a, b| {
            (&a.security_table, a.security_bits, &a.insecure)
                == (&b.security_table, b.security_bits, &b.insecure)
        }),
    ];
    let pairs = || all.iter().zip(all.iter().skip(1));
    let differ = |same: Same| pairs().any(|(a, b)| !same(a, b));
    let found = fields.into_iter().filter(|&(_, same)| differ(same));
    found.map(|(name, _)| name).collect()
}
