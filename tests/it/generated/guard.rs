//! Panics as values: where they happened and what they said.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The hook of all threads: those that are not guarded get the hook of before.
static HOOK: Once = Once::new();

fn install() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| if IS_GUARDED.get() { keep(info) } else { before(info) }));
}

fn keep(info: &PanicHookInfo<'_>) {
    let place = info.location().map_or_else(String::new, |place| format!("{}:{}", place.file(), place.line()));
    let said = info.payload_as_str().unwrap_or("no words");
    LAST.set(format!("{place}: {said}"));
}

/// The result of `action`, or the place and cause of its panic.
pub fn guarded<T>(action: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(install);
    IS_GUARDED.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(action));
    IS_GUARDED.set(false);
    result.map_err(|_| LAST.take())
}
