//! Command-line values that name output files with a fixed format.

use super::Failure;
use clap::{ArgGroup, Args};
use parsim_study::files::{create, is_stream};
use parsim_study::report::{Lettered, Lettering};
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The texts of the pictures that a command draws.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("picture").multiple(true)))]
pub struct LetteringArguments {
    /// The title of the pictures instead of their own; `""` leaves it out.
    #[arg(long, value_name = "TEXT", requires = "picture")]
    title: Option<String>,
    /// Leaves out the legends of the pictures.
    #[arg(long, requires = "picture")]
    no_legend: bool,
}

/// The picture of an answer, in one file.
#[derive(Debug, Args)]
pub struct PictureArguments {
    /// Draws the answer as SVG.
    #[arg(long, value_name = "FILE.svg", value_parser = svg, group = "picture", alias = "svg")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub lettering: LetteringArguments,
}

impl LetteringArguments {
    /// Returns the chosen texts.
    pub fn texts(&self) -> Lettering {
        Lettering { title: self.title.clone(), has_no_legend: self.no_legend }
    }

    /// Returns a picture with the chosen texts.
    pub fn on<P: Lettered>(&self, picture: P) -> P {
        picture.lettered(&self.texts())
    }
}

/// Parses the name of a picture, whose suffix must be that of SVG.
pub fn svg(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match suffix(&path) {
        Some(suffix) if suffix.eq_ignore_ascii_case("svg") => Ok(path),
        Some(suffix) => Err(format!("pictures are drawn as SVG: give a name that ends in .svg instead of .{suffix}")),
        None if is_stream(&path) => Ok(path),
        None => Err("pictures are drawn as SVG: give a name that ends in .svg".to_owned()),
    }
}

/// Parses the name of an HTML page.
pub fn html(text: &str) -> Result<PathBuf, String> {
    of_form("html", text)
}

/// Parses the name of a CSV table.
pub fn csv(text: &str) -> Result<PathBuf, String> {
    of_form("csv", text)
}

/// Parses the name of a JSON file.
pub fn json(text: &str) -> Result<PathBuf, String> {
    of_form("json", text)
}

/// Parses a name that must not have the suffix of another known format.
fn of_form(form: &str, text: &str) -> Result<PathBuf, String> {
    const FORMS: [&str; 14] =
        ["svg", "png", "pdf", "jpg", "jpeg", "eps", "html", "json", "jsonl", "csv", "txt", "ron", "xlsx", "parquet"];
    let path = PathBuf::from(text);
    match suffix(&path).map(str::to_lowercase).filter(|suffix| suffix != form && FORMS.contains(&suffix.as_str())) {
        Some(suffix) => {
            Err(format!("the format is {}: give a name that ends in .{form} instead of .{suffix}", form.to_uppercase()))
        }
        None => Ok(path),
    }
}

/// Parses the name of a folder for several pictures.
pub fn folder(text: &str) -> Result<PathBuf, String> {
    const PICTURES: [&str; 6] = ["svg", "png", "pdf", "jpg", "jpeg", "eps"];
    let path = PathBuf::from(text);
    match suffix(&path).filter(|suffix| PICTURES.iter().any(|known| suffix.eq_ignore_ascii_case(known))) {
        Some(suffix) => Err(format!("several pictures are drawn: give a folder, whose name must not end in .{suffix}")),
        None => Ok(path),
    }
}

/// Writes a picture.
pub fn write(path: &Path, picture: &impl Display) -> Result<(), Failure> {
    Ok(create(path, |sink| write!(sink, "{picture}"))?)
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
        assert!(html("a.html").is_ok() && csv("a").is_ok() && csv("a.json").is_err() && json("a.trace").is_ok());
        assert!(["a.png", "a.svg.pdf", "noext", "a.b/c"].iter().all(|name| svg(name).is_err()));
        assert!(folder("figures").is_ok() && folder("v1.2").is_ok() && folder("a.png").is_err());
    }
}
