//! The memory of this process, searched for copies of secrets.
