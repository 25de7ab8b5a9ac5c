// SPDX-License-Identifier: Apache-2.0
//! The protocol between a process that holds secrets and its parent, which searches its memory: when to search, and for
//! what.
//!
//! The process runs twice with the same seeds. The first run, the twin, tells the secrets, some of which it must
//! compute again. The second run does only the work of the scenario, so each copy found in its memory was left there by
//! that work.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Stdout, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::memory::{COPY, Find, Needle, search};

/// The argument that makes a process the twin.
pub const TWIN: &str = "tell";

/// How long a secret may stay in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// As long as the object that holds it exists.
    WithItsHolder,
    /// Only during the operation that makes it.
    Never,
}

/// The moment of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Secrets were used, and the objects that hold them exist.
    Held,
    /// All objects that held secrets are dropped.
    Dropped,
}

/// A type of number that secrets consist of.
pub trait Word: Copy {
    fn tell(self, out: &mut impl Write) -> io::Result<()>;
}

macro_rules! words {
    ($($word:ty),*) => {
        $(impl Word for $word {
            fn tell(self, out: &mut impl Write) -> io::Result<()> {
                out.write_all(&self.to_le_bytes())
            }
        })*
    };
}

words!(u8, i8, u16, u32, u64, i64, f64, i128);

/// The side of the process that holds the secrets.
pub struct Keeper {
    out: BufWriter<Stdout>,
    twin: bool,
}

impl Keeper {
    /// Makes the side of the twin, which tells secrets, or that of the process that is searched.
    pub fn new(twin: bool) -> Self {
        Self {
            out: BufWriter::new(io::stdout()),
            twin,
        }
    }

    /// Calls `tell` in the twin, and does nothing in the other process.
    pub fn tells(&mut self, tell: impl FnOnce(&mut Teller<'_>)) {
        if self.twin {
            tell(&mut Teller(&mut self.out));
        }
    }

    /// Asks the parent to search memory and waits until it has. Returns at once in the twin.
    pub fn search(&mut self, stage: Stage) {
        if self.twin {
            return;
        }
        let stage = match stage {
            Stage::Held => b"\0H",
            Stage::Dropped => b"\0D",
        };
        let written = self.out.write_all(stage).and_then(|()| self.out.flush());
        written.expect("the parent listens");
        let mut line = String::new();
        io::stdin()
            .lock()
            .read_line(&mut line)
            .expect("the parent answers");
    }
}

/// A channel by which the twin tells secrets to its parent.
pub struct Teller<'a>(&'a mut BufWriter<Stdout>);

impl Teller<'_> {
    fn needle<W: Word>(&mut self, name: &str, kept: Kept, copy: usize, words: &[W]) {
        let fields = [
            name.len(),
            usize::from(kept == Kept::Never),
            copy,
            size_of_val(words),
        ];
        let mut write = || -> io::Result<()> {
            self.0.write_all(b"\0N")?;
            for field in fields {
                self.0.write_all(&(field as u64).to_le_bytes())?;
            }
            self.0.write_all(name.as_bytes())?;
            words.iter().try_for_each(|word| word.tell(&mut self.0))
        };
        write().expect("the parent listens");
    }

    /// Tells a secret of which [`COPY`] consecutive bytes count as a copy.
    pub fn tell<W: Word>(&mut self, name: &str, kept: Kept, words: &[W]) {
        self.needle(name, kept, COPY, words);
    }

    /// Tells a secret of small numbers in long words. A few such words occur everywhere, so a copy has at least 32 of
    /// them.
    pub fn tell_small<W: Word>(&mut self, name: &str, kept: Kept, words: &[W]) {
        self.needle(name, kept, COPY * size_of::<W>(), words);
    }
}

/// The result of a search.
pub struct Seen {
    pub stage: Stage,
    /// Copies of secrets that must not be in memory at this stage.
    pub left: Vec<Find>,
    /// Secrets whose holders exist and which were not found. Then the search is wrong, or the twin told the wrong
    /// bytes.
    pub missed: Vec<String>,
}

/// The secrets that the twin told, and the names of those that their holders may keep.
#[derive(Default)]
struct Secrets {
    needles: Vec<Needle>,
    held: BTreeSet<String>,
}

struct Listener {
    child: Child,
    from: BufReader<ChildStdout>,
    to: ChildStdin,
}

impl Listener {
    fn number(&mut self) -> io::Result<usize> {
        let mut bytes = [0; 8];
        self.from.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes) as usize)
    }

    fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("no pipe to the child");
        Ok(Self {
            from: BufReader::new(child.stdout.take().ok_or_else(missing)?),
            to: child.stdin.take().ok_or_else(missing)?,
            child,
        })
    }

    fn needle(&mut self, secrets: &mut Secrets) -> io::Result<()> {
        let [name, never, copy, len] = [
            self.number()?,
            self.number()?,
            self.number()?,
            self.number()?,
        ];
        let mut text = vec![0; name];
        self.from.read_exact(&mut text)?;
        let name = String::from_utf8_lossy(&text).into_owned();
        let mut bytes = vec![0; len];
        self.from.read_exact(&mut bytes)?;
        if never == 0 {
            secrets.held.insert(name.clone());
        }
        secrets.needles.push(Needle { name, bytes, copy });
        Ok(())
    }

    fn look(&mut self, secrets: &Secrets, stage: Stage) -> io::Result<Seen> {
        let mut left = search(self.child.id(), &secrets.needles)?;
        let mut missed = Vec::new();
        if stage == Stage::Held {
            let found = |name: &&String| left.iter().any(|find| find.needle == **name);
            missed = secrets
                .held
                .iter()
                .filter(|name| !found(name))
                .cloned()
                .collect();
            left.retain(|find| !secrets.held.contains(&find.needle));
        }
        writeln!(self.to, "seen")?;
        Ok(Seen {
            stage,
            left,
            missed,
        })
    }

    /// Reads all that the child tells until it ends. Returns the result of each search.
    fn hear(mut self, secrets: &mut Secrets) -> io::Result<Vec<Seen>> {
        let (mut seen, mut print) = (Vec::new(), Vec::new());
        // The child's output for people has no zero bytes, and is skipped.
        while self.from.read_until(0, &mut print)? > 0 && print.ends_with(&[0]) {
            let mut tag = [0];
            self.from.read_exact(&mut tag)?;
            match &tag {
                b"N" => self.needle(secrets)?,
                b"H" => seen.push(self.look(secrets, Stage::Held)?),
                b"D" => seen.push(self.look(secrets, Stage::Dropped)?),
                other => return Err(io::Error::other(format!("the child said {other:?}"))),
            }
            print.clear();
        }
        let status = self.child.wait()?;
        match status.success() {
            true => Ok(seen),
            false => Err(io::Error::other(format!("the child ended with {status}"))),
        }
    }
}

/// Runs a scenario of a program as the twin, and then again to search its memory for the secrets that the twin told.
///
/// # Errors
/// Fails if the program cannot be run or fails, or if its memory cannot be read.
pub fn observe(program: &str, scenario: &str) -> io::Result<Vec<Seen>> {
    let mut secrets = Secrets::default();
    Listener::start(Command::new(program).args([scenario, TWIN]))?.hear(&mut secrets)?;
    Listener::start(Command::new(program).arg(scenario))?.hear(&mut secrets)
}
