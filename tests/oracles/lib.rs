//! Tests of parsim against other implementations: the files beside this one.
