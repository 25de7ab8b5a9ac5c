// SPDX-License-Identifier: Apache-2.0
//! Runs tfhe-rs, another implementation of TFHE, on the same computer for comparison, if `make bench` has built it. It
//! is a separate process that answers over its standard input and output (benches/README.md). Nothing of it is linked.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ringmill_circuits::tfhe::Params;
use serde_json::{Value, json};

use crate::error::PaperError;

/// The path below the workspace where benches/harness/peers.py puts the tfhe-rs program.
const PATH: &str = "target/peers/tfhe-rs/release/ringmill-bench-tfhe";

/// The reason and the command to print if the tfhe-rs program is not built.
pub const HOW: &str = "not built here: cargo build --release --locked --manifest-path benches/tfhe/Cargo.toml --target-dir \
                       target/peers/tfhe-rs";

/// A running process of tfhe-rs, with the keys of a parameter set.
pub struct Peer {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts tfhe-rs with the sizes of a parameter set, on one thread. Returns `None` if it is not built.
    ///
    /// # Errors
    /// Fails if the peer ends before it answers, or if its gate is wrong.
    pub fn start(params: &Params) -> Result<Option<Self>, PaperError> {
        let here = std::env::current_dir()?;
        let found = here.ancestors().map(|dir| dir.join(PATH));
        let Some(path) = found.into_iter().find(|path: &PathBuf| path.is_file()) else {
            return Ok(None);
        };
        let mut child = Command::new(&path)
            .env("RAYON_NUM_THREADS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| PaperError::File { path, source })?;
        let (Some(asks), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("no pipes"));
        };
        let answers = BufReader::new(answers);
        let mut peer = Self {
            child,
            asks,
            answers,
        };
        let s = params.sizes();
        let open = json!({
            "do": "open",
            "rows": ["nand"],
            "set": {
                "n": s.n.0, "k": s.k.0, "ring": s.degree(),
                "pbs_log_base": s.bootstrap.log_base, "pbs_levels": s.bootstrap.levels,
                "ks_log_base": s.key_switch.log_base, "ks_levels": s.key_switch.levels,
                "lwe_std": s.lwe_std, "glwe_std": s.glwe_std,
                "message_bits": 0, "carry_bits": 0,
            },
        });
        let answer = peer.ask(&open)?;
        match answer["equal"]["nand"].as_bool() {
            Some(true) => Ok(Some(peer)),
            Some(false) | None => Err(failed(&format!("its NAND is wrong: {answer}"))),
        }
    }

    /// Returns the milliseconds of a NAND gate of tfhe-rs.
    ///
    /// # Errors
    /// Fails if the peer gives no answer, or an answer without a time.
    pub fn milliseconds(&mut self) -> Result<f64, PaperError> {
        let answer = self.ask(&json!({"do": "time", "row": "nand", "count": 1, "calls": 1}))?;
        let seconds = answer[0][0].as_f64();
        let seconds = seconds.ok_or_else(|| failed(&format!("no time in {answer}")))?;
        Ok(1e3 * seconds)
    }

    fn ask(&mut self, request: &Value) -> Result<Value, PaperError> {
        writeln!(self.asks, "{request}")?;
        self.asks.flush()?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The peer's answers have been read, so the way it ends does not matter.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn failed(why: &str) -> PaperError {
    PaperError::Disagreement(format!("tfhe-rs beside us: {why}"))
}
