//! The torus machine's RTL behind safe handles.

pub mod keyswitch;
