// SPDX-License-Identifier: Apache-2.0
//! The common lexer of all text forms: a cursor over a line-oriented text, quoting, and the parse error.
#![deny(clippy::arithmetic_side_effects)]

use std::fmt;

use crate::limits;
use crate::source::SourceLoc;

/// The error of a text that does not parse: the place, the expected token, and the text found there. Lines and columns
/// count from 1; columns count characters.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub struct ParseError {
    pub line: usize,
    pub column: usize,
    pub expected: String,
    pub found: String,
}

/// Quotes a name for the text form, with `"`, `\` and control characters escaped.
pub(crate) fn quote(text: &str) -> impl fmt::Display + '_ {
    struct Quoted<'a>(&'a str);
    impl fmt::Display for Quoted<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("\"")?;
            for c in self.0.chars() {
                match c {
                    '"' | '\\' => write!(f, "\\{c}")?,
                    c if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                    c => write!(f, "{c}")?,
                }
            }
            f.write_str("\"")
        }
    }
    Quoted(text)
}

/// A position in the text that a parser reads, kept to be named in an error.
#[derive(Clone, Copy)]
pub(crate) struct Mark(usize);

/// The definitions of values in a text, in order of appearance: the number of each value, its type,
/// and where it is defined.
pub(crate) struct Definitions<T>(Vec<(u32, T, Mark)>);

impl<T> Default for Definitions<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Definitions<T> {
    pub(crate) fn push(&mut self, number: u32, ty: T, mark: Mark) {
        self.0.push((number, ty, mark));
    }

    /// Returns the types of the defined values in the order of their numbers. The numbers must run from 0 without gap
    /// or repetition, so the size of the text bounds the memory. Errors print a number after `prefix`.
    pub(crate) fn types(self, c: &Cursor<'_>, prefix: &str) -> Result<Vec<T>, ParseError> {
        let count = self.0.len();
        let mut types = vec![None; count];
        for (number, ty, mark) in self.0 {
            match types.get_mut(number as usize) {
                Some(entry @ None) => *entry = Some(ty),
                Some(Some(_)) => {
                    let found = format!("a second definition of {prefix}{number}");
                    return Err(c.error_found(mark, "each number defined once", found));
                }
                None => {
                    let expected = format!("numbers below {count}, the count of definitions");
                    return Err(c.error_found(mark, expected, format!("{prefix}{number}")));
                }
            }
        }
        Ok(types.into_iter().flatten().collect())
    }
}

/// A lexer that reads a text token by token. Blanks (spaces, tabs, carriage returns) and comments (`;` to the end of
/// the line) separate tokens; a line end is a token.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self, ParseError> {
        if text.len() > limits::MAX_TEXT {
            let expected = format!("at most {} bytes", limits::MAX_TEXT);
            return Err(ParseError {
                line: 1,
                column: 1,
                expected,
                found: format!("{} bytes", text.len()),
            });
        }
        Ok(Self { text, at: 0 })
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Moves the cursor forward in the text by this number of bytes.
    fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches([' ', '\t', '\r']);
        self.skip(rest.len().saturating_sub(trimmed.len()));
        if trimmed.starts_with(';') {
            self.skip(trimmed.find('\n').unwrap_or(trimmed.len()));
        }
    }

    /// Skips to the next token that is not a line end.
    pub(crate) fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if !self.rest().starts_with('\n') {
                return;
            }
            self.skip(1);
        }
    }

    /// Returns the position of the next token on the cursor's line, to be named in an error.
    pub(crate) fn mark(&mut self) -> Mark {
        self.skip_blanks();
        Mark(self.at)
    }

    /// Returns the error of an unexpected token at the position `mark`. `expected` says what should stand there.
    pub(crate) fn error_at(&self, mark: Mark, expected: impl Into<String>) -> ParseError {
        let before = self.text.get(..mark.0).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |n| n.saturating_add(1));
        let rest = self.text.get(mark.0..).unwrap_or("");
        let found = match rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some('\n') => "the end of the line".to_owned(),
            Some(first) => {
                let word = rest.split(|c: char| !is_word(c)).next().unwrap_or("");
                let shown: String = if word.is_empty() {
                    first.to_string()
                } else {
                    word.chars().take(40).collect()
                };
                format!("`{}`", shown.escape_debug())
            }
        };
        ParseError {
            line: one_based(before.bytes().filter(|&b| b == b'\n').count()),
            column: one_based(before.get(line_start..).unwrap_or("").chars().count()),
            expected: expected.into(),
            found,
        }
    }

    /// Returns the error that [`Cursor::error_at`] would return, but with the words `found` in
    /// place of the text at the position.
    pub(crate) fn error_found(
        &self,
        mark: Mark,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> ParseError {
        ParseError {
            found: found.into(),
            ..self.error_at(mark, expected)
        }
    }

    /// Returns the error of an unexpected token at the cursor.
    pub(crate) fn error(&mut self, expected: impl Into<String>) -> ParseError {
        let mark = self.mark();
        self.error_at(mark, expected)
    }

    pub(crate) fn at_line_end(&mut self) -> bool {
        self.skip_blanks();
        let rest = self.rest();
        rest.is_empty() || rest.starts_with('\n')
    }

    /// Checks that the line has no further token.
    pub(crate) fn line_end(&mut self) -> Result<(), ParseError> {
        if self.at_line_end() {
            Ok(())
        } else {
            Err(self.error("the end of the line"))
        }
    }

    /// Checks that only empty lines and comments follow in the text.
    pub(crate) fn text_end(&mut self) -> Result<(), ParseError> {
        self.skip_lines();
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(self.error("the end of the text"))
        }
    }

    /// Returns whether the punctuation `token` comes next.
    pub(crate) fn peek(&mut self, token: &str) -> bool {
        self.skip_blanks();
        self.rest().starts_with(token)
    }

    /// Reads the punctuation `token` if it comes next, and returns whether it did.
    pub(crate) fn accept(&mut self, token: &str) -> bool {
        let found = self.peek(token);
        if found {
            self.skip(token.len());
        }
        found
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.accept(token) {
            Ok(())
        } else {
            Err(self.error(format!("`{token}`")))
        }
    }

    /// Returns the next word without reading it, or an empty string if there is none.
    pub(crate) fn peek_word(&mut self) -> &'a str {
        self.skip_blanks();
        let rest = self.rest();
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or("")
    }

    /// Reads a word of letters, digits and the characters `.`, `_`, `-`, `+`. `expected` describes it in the error.
    pub(crate) fn word(&mut self, expected: &str) -> Result<&'a str, ParseError> {
        let word = self.peek_word();
        if word.is_empty() {
            return Err(self.error(expected));
        }
        self.skip(word.len());
        Ok(word)
    }

    /// Reads the word `word` if it comes next, and returns whether it did.
    pub(crate) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.skip(word.len());
        }
        found
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.accept_word(word) {
            Ok(())
        } else {
            Err(self.error(format!("`{word}`")))
        }
    }

    /// Reads a word and parses it as `T`, such as a number. `expected` describes it in the error.
    pub(crate) fn parsed<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, ParseError> {
        let mark = self.mark();
        let word = self.word(expected)?;
        word.parse().map_err(|_| self.error_at(mark, expected))
    }

    /// Reads `prefix` directly followed by a number, such as `%5`.
    pub(crate) fn numbered<T: std::str::FromStr>(
        &mut self,
        prefix: &str,
        expected: &str,
    ) -> Result<T, ParseError> {
        let mark = self.mark();
        if !self.accept(prefix) || !self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error_at(mark, expected));
        }
        self.word(expected)?
            .parse()
            .map_err(|_| self.error_at(mark, expected))
    }

    /// Reads the word `word` and the number after it, such as `poly 1`, and returns the number.
    pub(crate) fn field<T: std::str::FromStr>(&mut self, word: &str) -> Result<T, ParseError> {
        self.expect_word(word)?;
        self.parsed(&format!("a number in range after `{word}`"))
    }

    /// Reads the first words of an entry of a numbered list, such as `seed 0 =`. The entry's number
    /// must be `expected`.
    pub(crate) fn field_is(&mut self, word: &str, expected: usize) -> Result<(), ParseError> {
        let mark = self.mark();
        if self.field::<usize>(word)? != expected {
            return Err(self.error_at(
                mark,
                format!("`{word} {expected}` (entries are numbered in order)"),
            ));
        }
        self.expect("=")
    }

    /// Reads a quoted name of at most [`MAX_NAME`](limits::MAX_NAME) bytes.
    pub(crate) fn name(&mut self) -> Result<String, ParseError> {
        let mark = self.mark();
        let name = self.string("a quoted name")?;
        if name.len() > limits::MAX_NAME {
            let expected = format!("a name of at most {} bytes", limits::MAX_NAME);
            return Err(self.error_found(mark, expected, format!("{} bytes", name.len())));
        }
        Ok(name)
    }

    /// Reads the line of the user's source, `at "FILE":LINE`, if the word `at` comes next. Returns
    /// `None` otherwise.
    pub(crate) fn source_loc(&mut self) -> Result<Option<SourceLoc>, ParseError> {
        if !self.accept_word("at") {
            return Ok(None);
        }
        let file = self.string("a quoted file name")?;
        self.expect(":")?;
        Ok(Some(SourceLoc {
            file: file.into(),
            line: self.parsed("a line number")?,
        }))
    }

    /// Reads a quoted string. `expected` describes it in the error.
    pub(crate) fn string(&mut self, expected: &str) -> Result<String, ParseError> {
        let mark = self.mark();
        if !self.accept("\"") {
            return Err(self.error_at(mark, expected));
        }
        let mut out = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.skip(offset);
                    self.skip(1);
                    return Ok(out);
                }
                '\n' => break,
                '\\' => {
                    let escape = Mark(self.at.saturating_add(offset));
                    let unescaped = match chars.next() {
                        Some((_, c @ ('"' | '\\'))) => Some(c),
                        Some((_, 'u')) => unicode_escape(&mut chars),
                        _ => None,
                    };
                    out.push(unescaped.ok_or_else(|| {
                        self.error_found(
                            escape,
                            "an escape `\\\"`, `\\\\` or `\\u{...}`",
                            "another escape",
                        )
                    })?);
                }
                c => out.push(c),
            }
        }
        Err(self.error_found(mark, "a closing quote on this line", "none"))
    }
}

fn one_based(index: usize) -> usize {
    index.saturating_add(1)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+')
}

fn unicode_escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    if chars.next()?.1 != '{' {
        return None;
    }
    let mut code = 0u32;
    loop {
        let (_, c) = chars.next()?;
        if c == '}' {
            return char::from_u32(code);
        }
        code = code.checked_mul(16)?.checked_add(c.to_digit(16)?)?;
    }
}
