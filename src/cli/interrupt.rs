//! SIGINT and SIGTERM: output ends with a complete line, unfinished files are removed, and the exit code is 130.

/// The exit code of a run that was interrupted.
#[cfg(unix)]
const INTERRUPTED: i32 = 130;

/// Makes an interrupt end the process in an orderly way, and a second one at once.
#[cfg(unix)]
pub fn install() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    // Without signal handling, an interrupt ends the process at once.
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

/// Does nothing: the system ends the process.
#[cfg(not(unix))]
pub fn install() {}
