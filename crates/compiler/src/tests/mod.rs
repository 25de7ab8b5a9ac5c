//! Tests of the passes on random and on chosen programs.

mod passes;
mod pipeline;
mod random;
mod run;
mod shapes;
