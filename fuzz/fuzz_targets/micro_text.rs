#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ringmill_parsers::micro_text(bytes);
});
