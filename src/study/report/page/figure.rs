//! Figures of a page: a picture that needs no script, and data with which the script makes it interactive.

use super::payload::PagePayload;
use crate::report::animation::Animation;
use crate::report::panels::Panels;
use maud::{Markup, PreEscaped, html};

/// A picture on a page with its caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The file name under which the picture can be saved.
    pub file: String,
    /// The caption.
    pub caption: String,
    /// The picture itself.
    pub picture: Picture,
}

/// The content of a picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// An SVG document without interaction.
    Drawn(String),
    /// Charts that the script makes interactive.
    Charts(Panels),
    /// A run that the script animates, and a static picture of it.
    Run(Box<Animation>, String),
}

impl Figure {
    /// Creates a figure of a picture with its caption, which can be saved as `file`.
    #[must_use]
    pub fn new(file: &str, caption: &str, picture: Picture) -> Self {
        Self { file: file.to_owned(), caption: caption.to_owned(), picture }
    }

    /// Returns the picture as an SVG document.
    #[must_use]
    pub fn svg(&self) -> String {
        match &self.picture {
            Picture::Drawn(svg) | Picture::Run(_, svg) => svg.clone(),
            Picture::Charts(panels) => panels.svg(),
        }
    }

    /// Returns the markup of the figure, and adds its data to `payload`.
    pub(super) fn markup(&self, payload: &mut PagePayload) -> Markup {
        let (chart, run) = match &self.picture {
            Picture::Charts(panels) => (Some(payload.chart(panels)), None),
            Picture::Run(run, _) => (None, Some(payload.run(run))),
            Picture::Drawn(_) => (None, None),
        };
        html! {
            figure data-chart=[chart] data-run=[run] {
                // The text within a picture is too long to be read aloud; the caption and the tables describe it.
                div.picture role="img" aria-label=(self.caption) tabindex="0" { (PreEscaped(self.svg())) }
                figcaption {
                    (self.caption) " "
                    // The script saves the picture from the page, so the data do not contain it again.
                    button.download type="button" data-file=(self.file) data-picture hidden { "SVG" }
                }
            }
        }
    }
}
