// SPDX-License-Identifier: Apache-2.0
//! Positions in the user's source.

use std::fmt;
use std::sync::Arc;

/// A line of the user's program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLoc {
    pub file: Arc<str>,
    pub line: u32,
}

impl SourceLoc {
    /// The file's name without its folders: all that text says of it, since text goes to others and folders are the author's
    /// own business.
    pub fn file_name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::macros::text;

    #[test]
    fn text_names_files_without_their_folders() {
        let name = |file: &str| {
            let (file, line) = (file.into(), 1);
            SourceLoc { file, line }.file_name().to_owned()
        };
        assert_eq!(name("/home/ada/model.py"), "model.py");
        assert_eq!(name("<ipython-input-1>"), "<ipython-input-1>");
        assert_eq!((&*name("a/b/"), &*name("")), ("", ""));
        let program = |file: &str| {
            format!(
                r#"macro "p" scheme ckks slots 8
  input 0 = encrypted "x"
  output 0 = "y"
  proc 0 = "same" at "{file}":1
    in %0 : cipher 2
    out %0
  end
  %0 = INPUT input 0 : cipher 2 at "{file}":2
  OUTPUT %0 output 0
end
"#
            )
        };
        let written = text::print(&text::parse(&program("/home/ada/model.py")).unwrap());
        assert_eq!(written, program("model.py"));
    }
}
