//! Pictures of a page: drawn for everybody, and as data for the script that brings them to life.

use super::payload::PagePayload;
use crate::report::animation::Animation;
use crate::report::panels::Panels;
use maud::{Markup, PreEscaped, html};

/// A picture on a page with its caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name under which it can be saved.
    pub file: String,
    /// The caption.
    pub caption: String,
    /// The picture itself.
    pub picture: Picture,
}

/// The content of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// An SVG document, which stays as it is.
    Drawn(String),
    /// Charts, which the script makes interactive.
    Charts(Panels),
    /// A run, which the script plays, and a picture of it.
    Run(Box<Animation>, String),
}

impl Figure {
    /// A picture with its caption, which can be saved as `file`.
    #[must_use]
    pub fn new(file: &str, caption: &str, picture: Picture) -> Self {
        Self { file: file.to_owned(), caption: caption.to_owned(), picture }
    }

    /// The picture as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        match &self.picture {
            Picture::Drawn(svg) | Picture::Run(_, svg) => svg.clone(),
            Picture::Charts(panels) => panels.svg(),
        }
    }

    /// The figure, whose data come into `payload`.
    pub(super) fn markup(&self, payload: &mut PagePayload) -> Markup {
        let (chart, run) = match &self.picture {
            Picture::Charts(panels) => (Some(payload.chart(panels)), None),
            Picture::Run(run, _) => (None, Some(payload.run(run))),
            Picture::Drawn(_) => (None, None),
        };
        html! {
            figure data-chart=[chart] data-run=[run] {
                // The text within a picture is too much to be read out: the caption and the tables say what it shows.
                div.picture role="img" aria-label=(self.caption) tabindex="0" { (PreEscaped(self.svg())) }
                figcaption {
                    (self.caption) " "
                    // The picture is on the page already: the script saves it from there.
                    button.download type="button" data-file=(self.file) data-picture hidden { "SVG" }
                }
            }
        }
    }
}
