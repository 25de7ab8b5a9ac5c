//! Requests to valgrind: which bytes are secret, and whether anything depended on them.
