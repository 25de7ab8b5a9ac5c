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
pub(crate) mod link;
pub(crate) mod sample;
pub(crate) mod seal;

use std::sync::Arc;

use ringmill_machines::polymul::{ArrayOp, Description, Tables};
use ringmill_runtime::shown::Parts;

use super::{Given, SealDecrypt};
use crate::error::PaperError;
use crate::figure::How;
use crate::row::Ours;
use crate::scope::{Record, record};
use crate::value::{Value, measured, stated};
use card::{Card, Product, Work};
use link::{Link, OneCall, stream_break_even};
use sample::{Sample, Set};
use seal::Seal;

/// The number of products in the stream of calls on which the decryption study measures the time from result to
/// result.
const STREAMED: u32 = 8;
/// The reason why a figure that depends on [`Seal::rest`] is missing.
const NOISY: &str = "SEAL's transforms alone were timed longer than its decryption: the processor was shared; run again";

/// The number of calls of the machine for one parameter set. Three have our own data: a first call, one with the tables
/// and key already loaded, and one with a stream of products. The fourth has SEAL's data.
const CALLS: u64 = 4;

/// The inputs of the decryption study: printed figures, the machine, tools and numbers of runs.
#[derive(Clone, Copy)]
pub(super) struct Study<'a> {
    pub given: &'a Given,
    pub machine: &'a Description,
    /// The tools that simulate the RTL. Without them cycles come from the model.
    pub hdl: Option<&'a ringmill_hdl::Hdl>,
    /// The number of decryptions over which a host's time is the mean.
    pub runs: u32,
}

/// The figures of the decryption study, by the names of the lists in `data/polymul.toml`.
pub(super) struct Found {
    pub sets: Vec<Record>,
    pub encryptions: Vec<Record>,
    pub six_primes: Record,
    pub homomorphic: Record,
}

impl Study<'_> {
    /// Returns the number of steps of progress of the decryption study, each about equally long.
    pub fn parts(self) -> u64 {
        CALLS * self.given.seal_decrypt.len() as u64 + beyond::PARTS + 1
    }

    /// Runs the whole decryption study, and returns its figures. `parts` reports the progress.
    pub fn figures(self, parts: &mut Parts<'_>) -> Result<Found, PaperError> {
        let printed = &self.given.seal_decrypt;
        let sets = printed.iter().map(|s| Set { n: s.n, bits: s.k });
        let sets: Vec<Set> = sets.collect();
        let seal = seal::run(&sets, self.runs)?;
        let mut card = Card::new(self.machine.shape()?, self.hdl)?;
        let mut found = Vec::new();
        for (at, (&set, printed)) in sets.iter().zip(printed).enumerate() {
            let theirs = seal.as_ref().map(|found| found.get(at));
            let figures = self.of_set(set, &mut card, parts)?;
            let theirs = match theirs {
                Ok(Some(found)) => {
                    figures.seals(found, &mut card)?;
                    parts.done();
                    Ok(found)
                }
                Ok(None) => Err("SEAL printed fewer sets"),
                Err(why) => Err(why.as_str()),
            };
            let mut record = self.record(&figures, printed, theirs);
            record.insert("set".to_owned(), (at as f64).into());
            record.insert("bits".to_owned(), f64::from(set.bits).into());
            found.push(record);
        }
        let mut encryptions = Vec::new();
        for set in beyond::SETS {
            encryptions.push(beyond::encryption(self, set, &mut card, parts)?);
        }
        let six_primes = beyond::six_primes(self, &mut card, parts)?;
        let homomorphic = homomorphic::figures(self)?;
        parts.done();
        Ok(Found {
            sets: found,
            encryptions,
            six_primes,
            homomorphic,
        })
    }

    fn us(self, cycles: f64) -> f64 {
        cycles / self.given.clock_mhz
    }

    fn link(self) -> Link {
        Link(self.given.pcie_effective_gbps)
    }

    /// Returns the simulator with its version, or an empty text if cycles come from the model.
    pub fn simulator(self) -> String {
        let version = |hdl: &ringmill_hdl::Hdl| {
            let version = &hdl.tools().versions().verilator;
            format!("Verilator {version}")
        };
        self.hdl.map(version).unwrap_or_default()
    }

    /// Returns `value`, a number of cycles or a figure that follows from one, with its source: RTL or model.
    fn counted(self, value: f64) -> Value {
        let how = match self.hdl {
            Some(_) => How::Rtl,
            None => How::Model,
        };
        Ours::Is(value, how).into()
    }

    /// Returns the microseconds of the first call, which also brings the tables and the key over the link.
    fn first_us(self, figures: &Figures) -> f64 {
        let (call, link) = (figures.call, self.link());
        let words = call.n + Tables::HEADER_BEATS * self.machine.beat;
        let tables = link.us(words).max(figures.tables_us);
        call.through(link) + tables + link.us(call.n).max(call.load)
    }

    /// Returns our figures of one parameter set beside SEAL's, as a record for the formulas of `data/polymul.toml`.
    fn record(self, figures: &Figures, printed: &SealDecrypt, seal: Result<&Seal, &str>) -> Record {
        let (call, host, link) = (figures.call, figures.host, self.link());
        let period = self.us(figures.period);
        let seals = |of: &dyn Fn(&Seal) -> Option<f64>| match seal {
            Ok(seal) => of(seal).map_or(Value::None, measured),
            Err(_) => Value::NotMeasured,
        };
        let even = |link: Option<Link>, how| {
            link.map_or(Value::None, |Link(speed)| Ours::Is(speed, how).into())
        };
        let said = seal.map_or_else(str::to_owned, |seal| seal.version.clone());
        let missing = match seal {
            Ok(seal) if seal.rest().is_none() => NOISY.to_owned(),
            Ok(_) | Err(_) => said.clone(),
        };
        let least = format!(
            "load, product and unload take {:.2} us on any link",
            call.least()
        );
        let (product, whole) = (host.product, host.whole());
        let stream =
            format!("the machine's period is {period:.2} us, our host's decryption {whole:.2} us");
        let of_paper = call.break_even(printed.software_multiply_us);
        let of_paper = of_paper.map_or(Value::None, |Link(speed)| self.counted(speed));
        let of_seal = |seal: &Seal| call.break_even(seal.transforms).map(|Link(speed)| speed);
        record([
            ("simulator", self.simulator().into()),
            ("n", (call.n as f64).into()),
            ("host.product", measured(product)),
            ("host.extension", measured(host.extension)),
            ("host.others", measured(host.others)),
            ("host.whole", measured(whole)),
            ("host.rest", measured(host.rest())),
            ("call.load", self.counted(call.load)),
            ("call.product", self.counted(call.product)),
            ("call.unload", self.counted(call.unload)),
            ("call.steady", self.counted(call.through(link))),
            ("call.first", self.counted(self.first_us(figures))),
            ("cycles.steady", self.counted(figures.steady as f64)),
            ("cycles.first", self.counted(figures.first as f64)),
            ("period", self.counted(period)),
            ("link.polynomial", stated(link.us(call.n))),
            ("link.inputs", stated(1e6 / link.us(call.n))),
            ("link.both", stated(1e6 / link.us(2 * call.n))),
            ("even.paper", of_paper),
            ("even.seal", seals(&of_seal)),
            ("even.host", even(call.break_even(product), How::Measured)),
            (
                "even.stream",
                even(stream_break_even(call.n, period, whole), How::Measured),
            ),
            (
                "host_said",
                format!("{least}, our host's product {product:.2} us").into(),
            ),
            ("least_said", least.into()),
            ("stream_said", stream.into()),
            ("seal.decrypt", seals(&|seal| Some(seal.decrypt))),
            ("seal.transforms", seals(&|seal| Some(seal.transforms))),
            ("seal.rest", seals(&Seal::rest)),
            ("seal.said", said.into()),
            ("seal.missing", missing.into()),
        ])
    }

    /// Decrypts our ciphertext of one parameter set on the host and on the machine, and returns the measured times and
    /// cycles.
    fn of_set(
        self,
        set: Set,
        card: &mut Card,
        parts: &mut Parts<'_>,
    ) -> Result<Figures, PaperError> {
        let sample = Sample::ours(set)?;
        let host = host::measure(&sample, self.runs)?;
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
        let us = |name: &str| self.us(steady.of(name).iter().sum::<u64>() as f64);
        Ok(Figures {
            host,
            call: OneCall {
                n: set.n,
                load: us("LOAD"),
                product: us("HPM"),
                unload: us("UNLOAD"),
            },
            tables_us: self.us(first.of("TABLES").iter().sum::<u64>() as f64),
            steady: steady.cycles(),
            first: first.cycles(),
            period: stream.period(),
            tables,
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

/// The measured times and the cycles of decryptions with one parameter set.
struct Figures {
    host: host::Parts,
    /// The times of one call of the machine in the steady state, in which its tables and the key are loaded.
    call: OneCall,
    tables_us: f64,
    /// The cycles from the first command to the end of the last, in the steady state. `first` has the cycles of the
    /// first call.
    steady: u64,
    first: u64,
    /// The mean cycles from one result to the next in a stream of products.
    period: f64,
    tables: Arc<Tables>,
}

impl Figures {
    /// Decrypts SEAL's ciphertext with SEAL's key twice: by the host alone, and by the host with the machine's product.
    /// Both must give SEAL's message.
    fn seals(&self, found: &Seal, card: &mut Card) -> Result<(), PaperError> {
        host::measure(&found.sample, 1)?;
        card.forget();
        let call = card.call(&work(&found.sample, &self.tables), &[PRODUCT])?;
        let mut products = call.products.iter();
        products.try_for_each(|product| host::finish(&found.sample, product))
    }
}
