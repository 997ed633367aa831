//! Benchmarks of parsim; see the files beside this one.
