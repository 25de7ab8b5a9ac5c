// SPDX-License-Identifier: Apache-2.0
//! What a process that keeps secrets tells the one that searches its memory: when to look, and what for.
//!
//! It is run twice with the same seeds. The first run, the twin, tells the secrets, some of which it has to compute once more.
//! The second does nothing but the work, so that what is found in its memory was left there by the work.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Stdout, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::memory::{COPY, Find, Needle, search};

/// The argument of a twin.
pub const TWIN: &str = "tell";

/// How long a secret may lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// As long as what holds it lives.
    WithItsHolder,
    /// No longer than the operation that made it.
    Never,
}

/// When memory is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Secrets were used, and their holders live.
    Held,
    /// All is dropped.
    Dropped,
}

/// A number that secrets consist of.
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

/// The side that keeps the secrets.
pub struct Keeper {
    out: BufWriter<Stdout>,
    twin: bool,
}

impl Keeper {
    /// The twin, which tells secrets, or the one that is searched.
    pub fn new(twin: bool) -> Self {
        Self {
            out: BufWriter::new(io::stdout()),
            twin,
        }
    }

    /// Has the twin tell secrets.
    pub fn tells(&mut self, tell: impl FnOnce(&mut Teller<'_>)) {
        if self.twin {
            tell(&mut Teller(&mut self.out));
        }
    }

    /// Waits until memory was searched.
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

/// Tells secrets.
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

    /// A secret of which 32 bytes tell.
    pub fn tell<W: Word>(&mut self, name: &str, kept: Kept, words: &[W]) {
        self.needle(name, kept, COPY, words);
    }

    /// A secret of small numbers in long words: any four words are found anywhere, so that a copy is 32 of them.
    pub fn tell_small<W: Word>(&mut self, name: &str, kept: Kept, words: &[W]) {
        self.needle(name, kept, COPY * size_of::<W>(), words);
    }
}

/// What was found at one stage.
pub struct Seen {
    pub stage: Stage,
    /// Copies of what may not be in memory any longer.
    pub left: Vec<Find>,
    /// Secrets whose holders live and which were not found: the search, or what was told, is wrong.
    pub missed: Vec<String>,
}

/// What was told.
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

    /// Hears the child to its end.
    fn hear(mut self, secrets: &mut Secrets) -> io::Result<Vec<Seen>> {
        let (mut seen, mut print) = (Vec::new(), Vec::new());
        // What the child prints for people has no zeros, and is passed over.
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

/// Runs a command as a twin, with one argument more, and then as one that is searched for what the twin told.
///
/// # Errors
/// A command that cannot be run or fails, or whose memory cannot be read.
pub fn observe(program: &str, scenario: &str) -> io::Result<Vec<Seen>> {
    let mut secrets = Secrets::default();
    Listener::start(Command::new(program).args([scenario, TWIN]))?.hear(&mut secrets)?;
    Listener::start(Command::new(program).arg(scenario))?.hear(&mut secrets)
}
