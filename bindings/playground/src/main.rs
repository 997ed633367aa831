//! The module itself: a program rather than a library, of which the linker keeps what the page calls and nothing else.

use parsim_playground as _;

const fn main() {}
