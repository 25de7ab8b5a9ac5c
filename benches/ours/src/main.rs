// SPDX-License-Identifier: Apache-2.0
//! Our side of `make bench`: a process that reads one JSON request a line, and answers each with one line of JSON. The
//! process ends at the first request that fails.
//!
//! The request `open` makes a group of rows ready and checks their results, and `time` times one row.
//! `benches/README.md` has the protocol that every side speaks.

mod basext;
mod bgv;
#[path = "../../../crates/runtime/examples/chain/mod.rs"]
mod chain;
mod circuits;
mod ckks;
mod ckks_bootstrap;
mod client;
mod group;
#[cfg(target_arch = "x86_64")]
mod instructions;
mod integers;
mod integers_client;
mod machine;
mod ntt;
mod tfhe;

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::PathBuf;

use ringmill_math::LineAllocator;
use ringmill_schemes::ckks::Params;
use serde::Deserialize;
use serde_json::{Value, json};

use group::Group;

/// The allocator, which starts limbs at cache lines.
#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Request {
    /// A request for the rates of this processor's instructions and memories.
    Machine,
    /// A request for the primes and sizes of a CKKS parameter set.
    Params {
        set: String,
    },
    Open(Open),
    /// A request for `count` samples of a row, each the mean wall and processor seconds of `calls` calls.
    Time {
        row: String,
        count: usize,
        calls: u32,
    },
}

#[derive(Deserialize)]
#[serde(tag = "group", rename_all = "snake_case")]
enum Open {
    Ntt {
        log_n: Vec<u8>,
        bits: Vec<u32>,
    },
    Basext {
        log_n: u8,
        limbs: usize,
        bits: u32,
        threads: usize,
    },
    /// Operations of CKKS. `folder` has SEAL's keys, operands and results. Without it the keys are ours.
    Ckks {
        set: String,
        folder: Option<PathBuf>,
        threads: usize,
    },
    /// Operations of BFV or BGV. `folder` has SEAL's parameters, keys, operands and results.
    Integers {
        scheme: String,
        folder: PathBuf,
    },
    /// Bootstraps of a TFHE parameter set, by the names of their rows.
    Tfhe {
        set: String,
        rows: Vec<String>,
    },
    /// Operations at the top level of a BGV set that bootstraps, and its bootstraps, by the names of their rows.
    Bgv {
        set: String,
        rows: Vec<String>,
        threads: usize,
    },
    /// A bootstrap of a CKKS set.
    CkksBootstrap {
        set: String,
        threads: usize,
    },
    /// Operations on encrypted integers of 16 bits under a TFHE parameter set.
    Circuits {
        set: String,
        rows: Vec<String>,
        threads: usize,
    },
}

fn main() -> Result<()> {
    let mut group = Group::default();
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            Request::Machine => machine::measure(),
            Request::Params { set } => parameters(&set)?,
            Request::Open(open) => {
                // The memory of the last group is freed before the next one is made.
                drop(std::mem::take(&mut group));
                group = match open {
                    Open::Ntt { log_n, bits } => ntt::open(&log_n, &bits)?,
                    Open::Basext {
                        log_n,
                        limbs,
                        bits,
                        threads,
                    } => basext::open(log_n, limbs, bits, threads)?,
                    Open::Ckks {
                        set,
                        folder,
                        threads,
                    } => ckks::open(&set, folder.as_deref(), threads)?,
                    Open::Integers { scheme, folder } => integers::open(&scheme, &folder)?,
                    Open::Tfhe { set, rows } => tfhe::open(&set, &rows)?,
                    Open::Bgv { set, rows, threads } => bgv::open(&set, &rows, threads)?,
                    Open::CkksBootstrap { set, threads } => ckks_bootstrap::open(&set, threads)?,
                    Open::Circuits { set, rows, threads } => circuits::open(&set, &rows, threads)?,
                };
                group.describe()
            }
            Request::Time { row, count, calls } => json!(group.time(&row, count, calls)?),
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn parameters(set: &str) -> Result<Value> {
    let params = Params::named(set)?;
    Ok(json!({
        "log_n": params.log_n(),
        "moduli": params.moduli(),
        "log2_scale": params.default_scale().log2(),
        "galois": params.galois_element(1)?,
    }))
}
