//! The modules that programs consist of, and the work that a program requests from its processor.

use serde::{Deserialize, Serialize};

/// The inner loops that programs consist of, named as in CS-RR-281, equation (10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Module {
    /// The inverse of a pivot element.
    Inv,
    /// Normalisation of a row, per element.
    Norm,
    /// Setting of variables, per row.
    Set,
    /// Row subtraction, `a[j] -= f * b[j]`, per element; the inner iteration.
    Rsub,
    /// Buffering of data, per element.
    Buf,
    /// Any floating-point operation.
    Flop,
}

impl Module {
    /// Every module.
    pub const ALL: [Self; 6] = [Self::Inv, Self::Norm, Self::Set, Self::Rsub, Self::Buf, Self::Flop];

    /// Returns the name of the module as a field of [`Modules`].
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::Inv => "inv",
            Self::Norm => "norm",
            Self::Set => "set",
            Self::Rsub => "rsub",
            Self::Buf => "buf",
            Self::Flop => "flop",
        }
    }

    /// Returns the number of floating-point operations of an iteration; copying an element counts as none.
    #[must_use]
    pub const fn flops(self) -> u64 {
        match self {
            Self::Set | Self::Buf => 0,
            Self::Inv | Self::Norm | Self::Flop => 1,
            Self::Rsub => 2,
        }
    }
}

/// One value for each module: a measured time, a listing or an instruction mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(rename = "ModulesOf{T}", title = "Modules"))]
pub struct Modules<T> {
    /// The value for [`Inv`](Module::Inv).
    pub inv: T,
    /// The value for [`Norm`](Module::Norm).
    pub norm: T,
    /// The value for [`Set`](Module::Set).
    pub set: T,
    /// The value for [`Rsub`](Module::Rsub).
    pub rsub: T,
    /// The value for [`Buf`](Module::Buf).
    pub buf: T,
    /// The value for [`Flop`](Module::Flop).
    pub flop: T,
}

impl<T> Modules<T> {
    /// Returns the value for `module`.
    #[must_use]
    pub const fn of(&self, module: Module) -> &T {
        match module {
            Module::Inv => &self.inv,
            Module::Norm => &self.norm,
            Module::Set => &self.set,
            Module::Rsub => &self.rsub,
            Module::Buf => &self.buf,
            Module::Flop => &self.flop,
        }
    }
}

/// A computation that a process requests: `passes` equal rows of a loop nest. Each row consists of iterations of one
/// module, optionally preceded by one iteration of another module.
///
/// Rows are visible to the node because a router may have to wait for the end of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    before: Option<Module>,
    module: Module,
    iterations: u64,
    passes: u64,
}

impl Work {
    /// Creates one row of `iterations` iterations of `module`.
    #[must_use]
    pub const fn new(module: Module, iterations: u64) -> Self {
        Self { before: None, module, iterations, passes: 1 }
    }

    /// Creates one row of `count` floating-point operations.
    #[must_use]
    pub const fn flops(count: u64) -> Self {
        Self::new(Module::Flop, count)
    }

    /// Precedes each row by one iteration of `module`.
    #[must_use]
    pub const fn after(mut self, module: Module) -> Self {
        self.before = Some(module);
        self
    }

    /// Sets the number of rows.
    #[must_use]
    pub const fn rows(mut self, passes: u64) -> Self {
        self.passes = passes;
        self
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn passes(self) -> u64 {
        self.passes
    }

    /// Returns whether the work is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.passes == 0 || self.iterations == 0 && self.before.is_none()
    }

    /// Returns the floating-point operations of all rows; `None` if there are 2^64 or more.
    #[must_use]
    pub fn operations(self) -> Option<u64> {
        let row = self
            .row()
            .try_fold(0_u64, |sum, (module, iterations)| sum.checked_add(module.flops().checked_mul(iterations)?));
        row?.checked_mul(self.passes)
    }

    /// Returns the modules of one row in order, each with its number of iterations.
    pub fn row(self) -> impl Iterator<Item = (Module, u64)> {
        self.before.map(|module| (module, 1)).into_iter().chain([(self.module, self.iterations)])
    }
}
