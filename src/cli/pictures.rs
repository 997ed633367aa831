//! Names of pictures on the command line.

use std::path::{Path, PathBuf};

/// Reads the name of a picture: SVG is what is drawn, so no other suffix will do.
pub fn svg(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match suffix(&path) {
        Some(suffix) if !suffix.eq_ignore_ascii_case("svg") => {
            Err(format!("pictures are drawn as SVG: give a name that ends in .svg instead of .{suffix}"))
        }
        _ => Ok(path),
    }
}

/// Reads the name of a folder for several pictures.
pub fn folder(text: &str) -> Result<PathBuf, String> {
    const PICTURES: [&str; 6] = ["svg", "png", "pdf", "jpg", "jpeg", "eps"];
    let path = PathBuf::from(text);
    match suffix(&path).filter(|suffix| PICTURES.iter().any(|known| suffix.eq_ignore_ascii_case(known))) {
        Some(suffix) => Err(format!("several pictures are drawn: give a folder, whose name does not end in .{suffix}")),
        None => Ok(path),
    }
}

fn suffix(path: &Path) -> Option<&str> {
    path.extension().and_then(|suffix| suffix.to_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_fit_are_taken() {
        assert!(["a.svg", "a.b/c.SVG", "/dev/stdout"].iter().all(|name| svg(name).is_ok()));
        assert!(["a.png", "a.svg.pdf"].iter().all(|name| svg(name).is_err()));
        assert!(folder("figures").is_ok() && folder("v1.2").is_ok() && folder("a.png").is_err());
    }
}
