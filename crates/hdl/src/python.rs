// SPDX-License-Identifier: Apache-2.0
//! Runs a script in the virtual environment's Python. The request goes in as JSON; progress and the answer come out
//! as JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cache::{self, Key, Scratch};
use crate::watch::Stage;
use crate::{Hdl, HdlError, Param, Top};

/// The Python file that every Python script of this crate imports.
const SHARED: Part = ("rtl.py", include_str!("../scripts/rtl.py"));
/// The number of bytes of a script's error output, from its end, that are sure to stay in memory. Up to twice as many
/// may. A long synthesis prints megabytes.
const KEPT: usize = 64 << 10;
/// The number of last lines of a script's error output that an error message contains.
const LINES: usize = 12;

/// One file of a Python script: its name and its text.
pub(crate) type Part = (&'static str, &'static str);

/// A Python script that runs a hardware tool, and the name of the tool for error messages.
pub(crate) struct Script {
    pub tool: &'static str,
    pub text: &'static str,
    /// The files that the script imports beside [`SHARED`].
    pub parts: &'static [Part],
}

impl Script {
    /// Returns the script and all files that it imports.
    fn files(&self) -> impl Iterator<Item = Part> {
        let main = ("main.py", self.text);
        [SHARED, main].into_iter().chain(self.parts.iter().copied())
    }
}

/// The input of a Python script, as JSON: the RTL files in order, the top module and its
/// parameters, and the options of this script.
#[derive(Serialize)]
struct Request<'a, O> {
    files: Vec<&'a Path>,
    top: &'a str,
    params: Vec<String>,
    #[serde(flatten)]
    options: O,
}

/// A line of a Python script's output, as JSON: progress or the answer.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line<A> {
    Stage(Stage),
    Answer { answer: A },
}

/// Runs the script on the module `top`, and returns its answer. Each stage of the script's work goes to the caller's
/// watch.
pub(crate) fn ask<A: DeserializeOwned>(
    hdl: &Hdl,
    script: &Script,
    top: &Top,
    options: &impl Serialize,
) -> Result<A, HdlError> {
    top.validate()?;
    let sources = hdl.sources.closure(&top.module)?;
    let request = Request {
        files: sources.into_iter().map(|s| s.0).collect(),
        top: &top.module,
        params: top.overrides(),
        options,
    };
    let answer = |message: String| HdlError::Answer {
        tool: script.tool,
        message,
    };
    let input = serde_json::to_vec(&request).map_err(|e| answer(e.to_string()))?;
    let work = Scratch::new(&hdl.cache)?;
    let main = work.0.join("main.py");
    for (name, text) in script.files() {
        let path = work.0.join(name);
        std::fs::write(&path, text).map_err(HdlError::io("write", &path))?;
    }
    let python = &hdl.tools.python;
    let mut child = Command::new(python)
        .arg("-B")
        .arg(&main)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(HdlError::io("run", python))?;
    let words = child.stderr.take().map(|e| std::thread::spawn(|| tail(e)));
    if let Some(mut stdin) = child.stdin.take() {
        // A script that dies early closes the pipe; its status below says so better than this error.
        let _ = stdin.write_all(&input);
    }
    let mut last = None;
    for line in child
        .stdout
        .take()
        .into_iter()
        .flat_map(|out| BufReader::new(out).lines())
    {
        let line = line.map_err(HdlError::io("read the answer of", python))?;
        match serde_json::from_str(&line).map_err(|e| answer(format!("{e}: {line}"))) {
            Ok(Line::Stage(stage)) => hdl.watch.tell(&stage),
            other => last = Some(other),
        }
    }
    let status = child.wait().map_err(HdlError::io("run", python))?;
    let words = words
        .and_then(|thread| thread.join().ok())
        .unwrap_or_default();
    if !status.success() {
        return Err(HdlError::Tool {
            tool: script.tool,
            what: top.to_string(),
            message: words,
        });
    }
    match last {
        Some(Ok(Line::Answer { answer })) => Ok(answer),
        Some(Err(error)) => Err(error),
        _ => Err(answer("nothing".to_owned())),
    }
}

/// Runs the script on the module `top`, or returns its answer from the cache if sources, parameters, files that text
/// parameters name, options, scripts and `versions` are the same.
pub(crate) fn ask_once<A: Serialize + DeserializeOwned>(
    hdl: &Hdl,
    script: &Script,
    top: &Top,
    options: &impl Serialize,
    versions: &[&str],
) -> Result<A, HdlError> {
    top.validate()?;
    let mut key = Key::new("script");
    key.texts(script.files().map(|part| part.1));
    key.text(&top.module);
    key.texts(hdl.sources.closure(&top.module)?.into_iter().map(|s| s.1));
    key.texts(top.overrides());
    key.texts(tables(top));
    key.texts(versions);
    let options_text = serde_json::to_string(options).map_err(|e| HdlError::Answer {
        tool: script.tool,
        message: e.to_string(),
    })?;
    key.text(&options_text);
    cache::remembered(&hdl.cache, key, || ask(hdl, script, top, options))
}

/// Returns the content of the files that the text parameters of the module name, such as tables for
/// `$readmemh`.
fn tables(top: &Top) -> Vec<String> {
    let files = top.params.iter().filter_map(|(_, value)| match value {
        Param::Text(text) => std::fs::read(text).ok(),
        Param::Int(_) | Param::Ints(_) => None,
    });
    files
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

/// Reads the output of a tool to its end and returns its last lines.
fn tail(mut from: impl Read) -> String {
    let mut kept = Vec::new();
    let mut chunk = [0; 8192];
    while let Ok(n @ 1..) = from.read(&mut chunk) {
        kept.extend_from_slice(chunk.get(..n).unwrap_or_default());
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
    let text = String::from_utf8_lossy(&kept);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(LINES);
    lines.get(from..).unwrap_or_default().join("\n")
}
