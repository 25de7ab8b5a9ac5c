// SPDX-License-Identifier: Apache-2.0
//! The named parameter sets. Most sizes are rows of `security_tables.toml`; those of `gates` and of
//! `paper_110_bits_below_94_bits` are constants of this module.
//!
//! | name | messages | note |
//! | --- | --- | --- |
//! | `boolean_p64` | booleans | fails below 2^-64 |
//! | `boolean_p165` | booleans | fails below 2^-128 |
//! | `message_2_carry_2` | 2 + 2 bits on the 64-bit torus | fails below 2^-64 |
//! | `circuits` | 2 + 2 bits modulo 2^52 - 2^12 + 1, the mean subtracted before rounding | the sizes of `message_2_carry_2`; fails below 2^-128 |
//! | `circuit_bits` | booleans modulo a prime of 32 bits, the mean subtracted before rounding | the sizes of `boolean_p64`; fails below 2^-128 |
//! | `gates` | booleans modulo a prime of 30 bits, the mean subtracted before rounding | the fastest gate; fails below 2^-64 |
//! | `tfhe_library_2020_below_128_bits` | booleans | the set of Kong and Li's paper; 118 bits by our estimate |
//! | `paper_110_bits_below_94_bits` | booleans | set (2) of Kong and Li's paper, completed by the TFHE library's values for n = 500 |

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ringmill_schemes::rlwe::security::SECURITY_TABLES;
use serde::Deserialize;

use super::params::{
    CiphertextModulus, Decomposition, FailureRate, GlweRank, LweDimension, Messages, ModulusSwitch,
    Order, Sizes, Unrolling,
};
use super::{ParamsBuilder, TfheError};

/// A row of `security_tables.toml`: the sizes and noise of an LWE instance and of its bootstrap.
#[derive(Clone, Copy, Deserialize)]
struct Row {
    n: usize,
    k: usize,
    ring: usize,
    pbs_log_base: u32,
    pbs_levels: usize,
    ks_log_base: u32,
    ks_levels: usize,
    lwe_std: f64,
    glwe_std: f64,
}

#[derive(Deserialize)]
struct Tables {
    tfhe: BTreeMap<String, Row>,
}

static ROWS: LazyLock<Result<Tables, String>> =
    LazyLock::new(|| toml::from_str(SECURITY_TABLES).map_err(|e: toml::de::Error| e.to_string()));

/// The source of the sizes of a named parameter set.
enum From {
    /// The sizes are those of the row of this name in `security_tables.toml`.
    Table(&'static str),
    Here(Row),
}

/// A named parameter set: its name, the source of its sizes, and the fields that a row of `security_tables.toml` does
/// not have.
struct Set {
    name: &'static str,
    row: From,
    messages: Messages,
    modulus: CiphertextModulus,
    order: Order,
    switch: ModulusSwitch,
    rate: FailureRate,
    /// The bits of security that the builder demands of the set. A set whose name has `below` in it has fewer than 128.
    bits: u32,
}

const SETS: [Set; 8] = [
    Set {
        name: "boolean_p64",
        row: From::Table("boolean_p64"),
        messages: Messages::Booleans,
        modulus: CiphertextModulus::Torus32,
        order: Order::BootstrapFirst,
        switch: ModulusSwitch::Nearest,
        rate: FailureRate::Below2Minus64,
        bits: 128,
    },
    Set {
        name: "boolean_p165",
        row: From::Table("boolean_p165"),
        messages: Messages::Booleans,
        modulus: CiphertextModulus::Torus32,
        order: Order::BootstrapFirst,
        switch: ModulusSwitch::Nearest,
        rate: FailureRate::Below2Minus128,
        bits: 128,
    },
    Set {
        name: "message_2_carry_2",
        row: From::Table("message_2_carry_2_gaussian"),
        messages: Messages::CIRCUITS,
        modulus: CiphertextModulus::Torus64,
        order: Order::KeySwitchFirst,
        switch: ModulusSwitch::Nearest,
        rate: FailureRate::Below2Minus64,
        bits: 128,
    },
    Set {
        name: "circuits",
        row: From::Table("message_2_carry_2_gaussian"),
        messages: Messages::CIRCUITS,
        modulus: CiphertextModulus::Prime { bits: 52 },
        order: Order::KeySwitchFirst,
        switch: ModulusSwitch::CentredMean,
        rate: FailureRate::Below2Minus128,
        bits: 128,
    },
    Set {
        name: "circuit_bits",
        row: From::Table("boolean_p64"),
        messages: Messages::Booleans,
        modulus: CiphertextModulus::Prime { bits: 32 },
        order: Order::BootstrapFirst,
        switch: ModulusSwitch::CentredMean,
        rate: FailureRate::Below2Minus128,
        bits: 128,
    },
    Set {
        name: "gates",
        row: From::Here(GATES),
        messages: Messages::Booleans,
        modulus: CiphertextModulus::Prime { bits: 30 },
        order: Order::BootstrapFirst,
        switch: ModulusSwitch::CentredMean,
        rate: FailureRate::Below2Minus64,
        bits: 128,
    },
    Set {
        name: "tfhe_library_2020_below_128_bits",
        row: From::Table("tfhe_library_128"),
        messages: Messages::Booleans,
        modulus: CiphertextModulus::Torus32,
        order: Order::BootstrapFirst,
        switch: ModulusSwitch::Nearest,
        rate: FailureRate::Below2Minus128,
        bits: 118,
    },
    Set {
        name: "paper_110_bits_below_94_bits",
        row: From::Here(PAPER_110),
        messages: Messages::Booleans,
        modulus: CiphertextModulus::Torus32,
        order: Order::BootstrapFirst,
        switch: ModulusSwitch::Nearest,
        rate: FailureRate::Below2Minus40,
        bits: 93,
    },
];

/// Parameter set (2) of Kong and Li's paper, n = 500, N = 1024, with L = 2 digits in base Bg = 2^10. Key switch and
/// noise are those that the TFHE library had for n = 500.
const PAPER_110: Row = Row {
    n: 500,
    k: 1,
    ring: 1024,
    pbs_log_base: 10,
    pbs_levels: 2,
    ks_log_base: 2,
    ks_levels: 8,
    lwe_std: 2.44e-5,
    glwe_std: 7.18e-9,
};

/// The sizes of the fastest gate among parameter sets that have 128 bits by the curve of `security_tables.toml` and
/// fail below 2^-64. The search covered all k N from 1024 to 2048, levels, bases, n and unrollings. The noise is that
/// of the curve, rounded up. A smaller n such as 656 is faster, but sums of three bits, which full adders need, then
/// fail more often than 2^-64.
const GATES: Row = Row {
    n: 672,
    k: 2,
    ring: 512,
    pbs_log_base: 6,
    pbs_levels: 3,
    ks_log_base: 3,
    ks_levels: 4,
    lwe_std: 3.942e-5,
    glwe_std: 7.44e-8,
};

/// Returns the names of all parameter sets.
pub fn names() -> impl Iterator<Item = &'static str> {
    SETS.iter().map(|set| set.name)
}

/// Returns the names of the parameter sets whose messages satisfy a condition.
pub fn names_with(messages: impl Fn(Messages) -> bool) -> impl Iterator<Item = &'static str> {
    let those = SETS.iter().filter(move |set| messages(set.messages));
    those.map(|set| set.name)
}

impl ParamsBuilder {
    /// Starts from the sizes of a named set, and demands its failure rate and its bits of security. The caller may
    /// change all of them before the build.
    ///
    /// # Errors
    /// [`TfheError::UnknownSet`], [`TfheError::Tables`].
    pub fn named(name: &str) -> Result<Self, TfheError> {
        let found = SETS.iter().find(|set| set.name == name);
        let set = found.ok_or_else(|| TfheError::UnknownSet {
            got: name.to_owned(),
            known: names().collect::<Vec<_>>().join(", "),
        })?;
        let tables = ROWS.as_ref().map_err(|e| TfheError::Tables(e.clone()))?;
        let row = match set.row {
            From::Here(row) => row,
            From::Table(row) => {
                *(tables.tfhe.get(row)).ok_or_else(|| TfheError::Tables(format!("no row {row}")))?
            }
        };
        let sizes = Sizes {
            n: LweDimension(row.n),
            k: GlweRank(row.k),
            log_degree: row.ring.trailing_zeros() as u8,
            bootstrap: Decomposition {
                log_base: row.pbs_log_base,
                levels: row.pbs_levels,
            },
            key_switch: Decomposition {
                log_base: row.ks_log_base,
                levels: row.ks_levels,
            },
            lwe_std: row.lwe_std,
            glwe_std: row.glwe_std,
            modulus: set.modulus,
            unrolling: Unrolling::One,
            order: set.order,
            switch: set.switch,
            messages: set.messages,
        };
        Ok(Self::new(sizes)
            .called(set.name)
            .failing(set.rate)
            .secure(set.bits))
    }

    /// Starts from small sizes for booleans that keep nothing secret: rings of 2^8 coefficients, a small key of 16
    /// bits.
    pub fn toy_for_tests_only() -> Self {
        Self::new(Sizes {
            n: LweDimension(16),
            k: GlweRank(1),
            log_degree: 8,
            bootstrap: Decomposition {
                log_base: 7,
                levels: 3,
            },
            key_switch: Decomposition {
                log_base: 2,
                levels: 8,
            },
            lwe_std: 2f64.powi(-18),
            glwe_std: 2f64.powi(-26),
            modulus: CiphertextModulus::Torus32,
            unrolling: Unrolling::One,
            order: Order::BootstrapFirst,
            switch: ModulusSwitch::Nearest,
            messages: Messages::Booleans,
        })
        .allow_insecure_parameters_for_tests_only()
    }

    /// Starts from small sizes for circuits on messages of 2 bits with carries of 2 bits that keep nothing secret:
    /// rings of 2^9 coefficients, a small key of 16 bits.
    pub fn toy_circuits_for_tests_only() -> Self {
        Self::toy_for_tests_only()
            .messages(Messages::CIRCUITS)
            .sizes(|s| {
                s.log_degree = 9;
                s.lwe_std = 2f64.powi(-24);
                s.glwe_std = 2f64.powi(-29);
            })
    }
}
