// SPDX-License-Identifier: Apache-2.0
//! Tests of the Rust side of a model: ports, widths, waves, and errors that name what is wrong.

use std::path::Path;

use ringmill_hdl::{BuildOptions, HdlError, Model, Tools, Top};

use crate::rtl::support::hdl;

fn model(top: &Top) -> Model {
    hdl().model(top, BuildOptions::default()).unwrap()
}

#[test]
fn a_model_is_built_once() {
    let top = Top::new("rm_delay").int("Width", 7);
    let first = hdl().build(&top, BuildOptions::default()).unwrap();
    let made = std::fs::metadata(&first).unwrap().modified().unwrap();
    let second = hdl().build(&top, BuildOptions::default()).unwrap();
    assert_eq!(first, second);
    assert_eq!(
        made,
        std::fs::metadata(&second).unwrap().modified().unwrap()
    );
    let other = hdl()
        .build(&top.int("Depth", 2), BuildOptions::default())
        .unwrap();
    assert_ne!(first, other);
}

#[test]
fn unknown_ports_and_wide_values_are_refused() {
    let mut delay = model(&Top::new("rm_delay").int("Width", 7));
    match delay.input("data_i") {
        Err(HdlError::UnknownPort { known, .. }) => assert_eq!(known, "clk_i d_i"),
        other => panic!("{other:?}"),
    }
    assert!(delay.output("d_i").is_err(), "an input is not an output");
    let port = delay.input("d_i").unwrap();
    delay.set(port, 127).unwrap();
    assert!(matches!(
        delay.set(port, 128),
        Err(HdlError::PortWidth { width: 7, .. })
    ));
    delay.set_words(port, &[127, 0, 0]).unwrap();
    assert!(delay.set_words(port, &[1, 0, 1]).is_err());
    let wide = model(&Top::new("rm_delay").int("Width", 100));
    let out = wide.output("q_o").unwrap();
    assert!(matches!(
        wide.get(out),
        Err(HdlError::PortWidth { width: 100, .. })
    ));
    // A handle from a model with more ports than this one.
    let many = model(&Top::new("rm_mod_mul"));
    let foreign = many.input("b_i").unwrap();
    assert!(matches!(
        delay.set(foreign, 0),
        Err(HdlError::UnknownPort { .. })
    ));
}

#[test]
fn waves_are_written_on_request() {
    let top = Top::new("rm_delay").int("Width", 7);
    let options = BuildOptions {
        waves: true,
        ..BuildOptions::default()
    };
    let mut model = hdl().model(&top, options).unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("delay.vcd");
    model.waves(&file).unwrap();
    assert!(model.waves(&file).is_err(), "one file at a time");
    let port = model.input("d_i").unwrap();
    model.set(port, 0x55).unwrap();
    model.step(3).unwrap();
    model.waves_close().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("line_q") && text.contains("b1010101"),
        "{text}"
    );
    let missing = model.waves(Path::new("no/such/directory/x.vcd"));
    assert!(matches!(missing, Err(HdlError::Waves { .. })));
    let mut plain = self::model(&top);
    assert!(matches!(plain.waves(&file), Err(HdlError::Waves { .. })));
}

#[test]
fn a_tools_refusal_carries_its_message() {
    let broken = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken");
    std::fs::create_dir_all(&broken).unwrap();
    std::fs::write(
        broken.join("bad.sv"),
        "module bad (input logic a_i; endmodule\n",
    )
    .unwrap();
    let hdl = hdl().with_sources(&[&broken]).unwrap();
    let top = Top::new("bad");
    for result in [
        hdl.lint(&top),
        hdl.build(&top, BuildOptions::default()).map(|_| ()),
        hdl.synthesise(&top).map(|_| ()),
        hdl.prove(&top, 1).map(|_| ()),
    ] {
        match result {
            Err(HdlError::Tool { message, .. }) => {
                assert!(message.contains("bad.sv:1"), "{message}")
            }
            other => panic!("{other:?}"),
        }
    }
    let unknown = hdl.model(&Top::new("absent"), BuildOptions::default());
    assert!(matches!(unknown, Err(HdlError::UnknownModule(_))));
    let wrong = hdl.lint(&Top::new("bad").int("no;such", 1));
    assert!(matches!(wrong, Err(HdlError::BadIdentifier(_))));
}

#[test]
fn missing_directories_are_errors() {
    assert!(matches!(
        Tools::in_venv(Path::new("no/such/venv")),
        Err(HdlError::ToolsMissing { .. })
    ));
    assert!(matches!(
        hdl().with_sources(&[Path::new("no/such/rtl")]),
        Err(HdlError::Io { .. })
    ));
    assert!(matches!(
        ringmill_hdl::Hdl::find(Path::new("/")),
        Err(HdlError::NoWorkspace(_))
    ));
}
