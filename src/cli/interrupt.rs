//! Ctrl-C and SIGTERM: complete lines only, no unfinished files, exit code 130.

/// The exit code of a run that was interrupted.
#[cfg(unix)]
const INTERRUPTED: i32 = 130;

/// From now on an interrupt ends the process in order; a second one ends it at once.
#[cfg(unix)]
pub fn install() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    // Without it the process ends as any other does.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        let mut ending = false;
        for _ in signals.forever() {
            if std::mem::replace(&mut ending, true) {
                std::process::exit(INTERRUPTED);
            }
            std::thread::spawn(|| {
                parsim_study::files::end();
                std::process::exit(INTERRUPTED);
            });
        }
    });
}

/// Elsewhere the system ends the process.
#[cfg(not(unix))]
pub fn install() {}
