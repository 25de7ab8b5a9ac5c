// SPDX-License-Identifier: Apache-2.0
//! The decryption study of sections 4.1 and 5 of the paper of Mert, Öztürk and Savaş. It runs BFV's decryption as SEAL
//! does it, on our own ciphertexts and on SEAL's, with the product c_1 s on the machine. Host, link and machine are
//! reported separately, and so are other uses of the machine.
//!
//! In this study alone a secret key goes to a device, as in the paper. Devices that run programs never get one.

mod beyond;
mod card;
mod homomorphic;
pub(crate) mod host;
pub(crate) mod sample;
mod seal;

use std::collections::BTreeMap;
use std::sync::Arc;

use ringmill_machines::polymul::{ArrayOp, Description, Tables};
use ringmill_runtime::shown::Parts;
use serde::{Deserialize, Serialize};

use crate::error::PaperError;
use crate::how::How;
use crate::scope::{Record, fields, record};
use crate::tables;
use card::{Card, Product, Work};
use sample::{Sample, Set};
use seal::Seal;

/// The number of products in the stream of calls on which the decryption study measures the time from result to
/// result.
const STREAMED: u32 = 8;

/// The number of calls of the machine for one parameter set. Three have our own data: a first call, one with the tables
/// and key already loaded, and one with a stream of products. The fourth has SEAL's data.
const CALLS: u64 = 4;

/// The inputs of the decryption study: the machine, tools and numbers of runs.
#[derive(Clone, Copy)]
pub(super) struct Study<'a> {
    pub machine: &'a Description,
    /// The tools that simulate the RTL. Without them cycles come from the model.
    pub hdl: Option<&'a ringmill_hdl::Hdl>,
    /// The number of decryptions over which a host's time is the mean.
    pub runs: u32,
}

/// The parameter sets whose decryption the paper of Mert, Öztürk and Savaş times.
#[derive(Deserialize)]
struct Printed {
    seal_decrypt: Vec<Set>,
}

/// The measured times and the cycles of decryptions with one parameter set, by their names in `data/polymul.toml`.
#[derive(Serialize)]
struct Figures {
    set: usize,
    n: usize,
    bits: u32,
    times: host::Parts,
    counts: Counts,
    seals: Option<seal::Times>,
    /// SEAL's version, or the reason why there is no SEAL.
    said: String,
}

/// The cycles of the machine for one parameter set, and the words of its tables on the link.
#[derive(Serialize)]
struct Counts {
    /// The cycles in which c_1 comes in through the machine's port. The tables and the key are loaded already.
    load: u64,
    /// The cycles of the product c_1 s.
    product: u64,
    /// The cycles in which the product goes out through the machine's port.
    unload: u64,
    /// The cycles in which the tables are loaded, in the first call.
    tables: u64,
    table_words: usize,
    /// The cycles of a call that finds tables and key already loaded, from its first command to the end of its last.
    steady: u64,
    /// The cycles of the first call, which also loads the tables and the key.
    first: u64,
    /// The mean cycles from one result to the next in a stream of products.
    period: f64,
}

impl Study<'_> {
    /// Runs the whole decryption study, and returns its figures by the names of their lists in `data/polymul.toml`.
    /// `parts` makes a progress report for a given number of parts.
    ///
    /// # Errors
    /// Fails if a part of the study cannot run, or if a message or a product is wrong.
    pub fn figures<'p>(
        self,
        parts: impl FnOnce(u64) -> Parts<'p>,
    ) -> Result<BTreeMap<&'static str, Vec<Record>>, PaperError> {
        let Printed { seal_decrypt: sets } = tables::of("polymul")?;
        let parts = &mut parts(CALLS * sets.len() as u64 + beyond::PARTS + 1);
        let seal = seal::run(&sets, self.runs)?;
        let mut card = Card::new(self.machine.shape()?, self.hdl)?;
        let mut found = Vec::new();
        for (at, &set) in sets.iter().enumerate() {
            let theirs = seal.as_ref().map(|found| found.get(at));
            let theirs = theirs.map_err(String::as_str);
            let theirs = theirs.and_then(|found| found.ok_or("SEAL printed fewer sets"));
            let figures = self.of_set(at, set, theirs, &mut card, parts)?;
            found.push(self.named(fields(&figures)?));
        }
        let mut encryptions = Vec::new();
        for set in beyond::SETS {
            encryptions.push(beyond::encryption(self, set, &mut card, parts)?);
        }
        let six_primes = beyond::six_primes(self, &mut card, parts)?;
        let homomorphic = homomorphic::figures(self)?;
        parts.done();
        Ok([
            ("decryptions", found),
            ("encryptions", encryptions),
            ("six_primes", vec![six_primes]),
            ("homomorphic", vec![homomorphic]),
        ]
        .into())
    }

    /// Returns the simulator with its version, or an empty text if cycles come from the model.
    pub fn simulator(self) -> String {
        let version = |hdl: &ringmill_hdl::Hdl| {
            let version = &hdl.tools().versions().verilator;
            format!("Verilator {version}")
        };
        self.hdl.map(version).unwrap_or_default()
    }

    /// Returns the source of cycles: RTL or model.
    pub fn how(self) -> How {
        match self.hdl {
            Some(_) => How::Rtl,
            None => How::Model,
        }
    }

    /// Returns a record with the simulator and the source of cycles added.
    fn named(self, mut found: Record) -> Record {
        found.extend(record([
            ("simulator", self.simulator().into()),
            ("source", self.how().name().into()),
        ]));
        found
    }

    /// Decrypts our ciphertext and SEAL's of one parameter set on the host and on the machine. Returns the measured
    /// times and the cycles.
    fn of_set(
        self,
        at: usize,
        set: Set,
        theirs: Result<&Seal, &str>,
        card: &mut Card,
        parts: &mut Parts<'_>,
    ) -> Result<Figures, PaperError> {
        let sample = Sample::ours(set)?;
        let times = host::measure(&sample, self.runs)?;
        let tables = Arc::new(Tables::new(card.shape(), set.n, set.prime()?)?);
        let work = work(&sample, &tables);
        card.forget();
        let first = card.call(&work, &[PRODUCT])?;
        parts.done();
        let steady = card.call(&work, &[PRODUCT])?;
        parts.done();
        let stream = card.call(&work, &[PRODUCT; STREAMED as usize])?;
        parts.done();
        for product in first.products.iter().chain(&steady.products) {
            host::finish(&sample, product)?;
        }
        if let Ok(seal) = theirs {
            seals(seal, &tables, card)?;
            parts.done();
        }
        let sum = |of: &card::Call, name: &str| of.of(name).iter().sum();
        Ok(Figures {
            set: at,
            n: set.n,
            bits: set.bits,
            times,
            counts: Counts {
                load: sum(&steady, "LOAD"),
                product: sum(&steady, "HPM"),
                unload: sum(&steady, "UNLOAD"),
                tables: sum(&first, "TABLES"),
                table_words: set.n + Tables::HEADER_BEATS * self.machine.beat,
                steady: steady.cycles(),
                first: first.cycles(),
                period: stream.period(),
            },
            seals: theirs.ok().map(|seal| seal.times),
            said: theirs.map_or_else(str::to_owned, |seal| seal.version.clone()),
        })
    }
}

/// The product of c_1 and the secret key. The key stays in the machine from the first call on.
const PRODUCT: Product = Product {
    op: ArrayOp::Hpm,
    modulus: 0,
    a: 1,
    b: 0,
};

fn work<'a>(sample: &'a Sample, tables: &Arc<Tables>) -> Work<'a> {
    Work {
        tables: vec![Arc::clone(tables)],
        operands: vec![&sample.key, &sample.c1],
    }
}

/// Decrypts SEAL's ciphertext with SEAL's key twice: by the host alone, and by the host with the machine's product.
/// Both must give SEAL's message.
fn seals(found: &Seal, tables: &Arc<Tables>, card: &mut Card) -> Result<(), PaperError> {
    host::measure(&found.sample, 1)?;
    card.forget();
    let call = card.call(&work(&found.sample, tables), &[PRODUCT])?;
    let mut products = call.products.iter();
    products.try_for_each(|product| host::finish(&found.sample, product))
}
