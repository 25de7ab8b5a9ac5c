// SPDX-License-Identifier: Apache-2.0
//! Text names the files of a program without their folders.

use ringmill_isa::macros::text;
use ringmill_isa::source::SourceLoc;

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
