//! Tests of the passes on random and on chosen programs.

mod explicit;
mod factors;
mod passes;
mod pipeline;
pub mod random;
mod repeats;
mod run;
mod saved;
mod shapes;
mod transparent;
mod worst;
