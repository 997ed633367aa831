//! Figures of sensitivities: a tornado chart, and the makespan over one constant.

use super::{ParameterSensitivity, Sensitivities, VariedRun};
use crate::experiment::StudyError;
use crate::experiment::gradient::{PricedPath, Variation};
use crate::report::plot::{ChartAxis, LineChart, LineStyle, PlotLine, Scale};
use crate::report::tornado::{Tornado, TornadoBar};
use crate::scenario::Parameter;
use rayon::prelude::*;

/// The maximum number of constants in a tornado chart.
const BARS: usize = 16;
/// Multiples of a constant at which the run is simulated.
const SIMULATED: [f64; 9] = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0];
/// Multiples of a constant whose critical paths are priced.
const PRICED: [f64; 3] = [0.25, 1.0, 4.0];
/// The spacing of the multiples at which paths are priced.
const GRID: f64 = 0.125;

impl VariedRun {
    /// Draws the effects of the most important constants as a tornado chart.
    #[must_use]
    pub fn tornado(&self, found: &Sensitivities<'_>) -> Tornado {
        let bar = |finding: &ParameterSensitivity<'_>| {
            let elasticity = finding.elasticity()?;
            let name = finding.parameter.name.clone();
            Some(TornadoBar { name, smaller: -elasticity.left, larger: elasticity.right })
        };
        let bars = found.findings.iter().filter(|finding| finding.has_effect()).filter_map(bar);
        let note = "change of the makespan in % by a change of a constant by 1 %".to_owned();
        let key = Some(["1 % smaller", "1 % larger"].map(str::to_owned));
        let title = format!("Sensitivity of the makespan of {}", self.title);
        Tornado { title, note, key, bars: bars.take(BARS).collect() }
    }

    /// Draws the makespan over a constant: the pieces that paths predict, and simulated points.
    ///
    /// # Errors
    /// Returns an error if no constant of the scenario has this name, or if it is zero or a whole number.
    pub fn curve(&self, name: &str) -> Result<LineChart, StudyError> {
        let parameter = self.drawn(name)?;
        let simulated = SIMULATED.par_iter().filter_map(|factor| self.point(parameter, *factor)).collect();
        let paths: Vec<_> = PRICED.par_iter().filter_map(|factor| self.path_at(parameter, *factor)).collect();
        let grid = (2_u8..=32).map(|steps| GRID * f64::from(steps));
        let predicted: Vec<_> = grid.filter_map(|factor| self.priced(parameter, factor, &paths)).collect();
        let lines = [
            PlotLine::new("simulated", simulated, 0),
            PlotLine { style: LineStyle::Dashed, ..PlotLine::new("paths", predicted, 1) },
        ];
        Ok(LineChart {
            title: format!("{} over {name}", self.title),
            x: ChartAxis::new(format!("multiple of {}", parameter.text), Scale::Linear),
            y: ChartAxis::new("Makespan [s]", Scale::Linear),
            lines: lines.into_iter().filter(|line| !line.points.is_empty()).collect(),
            reference: None,
        })
    }

    /// Returns the constant of this name over which the makespan can be drawn.
    fn drawn(&self, name: &str) -> Result<&Parameter, StudyError> {
        let fault = |message: &str| Err(StudyError::Argument("of", format!("{name}: {message}")));
        let Some(parameter) = self.base.parameters().iter().find(|one| one.name == name) else {
            return Err(self.unknown("of", name));
        };
        if parameter.is_whole() || parameter.number() == 0.0 {
            let what = if parameter.is_whole() { "a whole number" } else { "zero" };
            return fault(&format!("it is {what}: give a time, rate or ratio of machine or program that is not zero"));
        }
        Ok(parameter)
    }

    fn point(&self, parameter: &Parameter, factor: f64) -> Option<(f64, f64)> {
        Some((factor, self.base.makespan_with(parameter, parameter.scaled(factor)).ok()?))
    }

    /// Returns the critical path with another value.
    fn path_at(&self, parameter: &Parameter, factor: f64) -> Option<PricedPath> {
        let scenario = self.base.changed(|document| parameter.set(document, parameter.scaled(factor))).ok()?;
        PricedPath::of(&Variation::of(&scenario).ok()?).ok()
    }

    /// Returns the length of the longest of some paths with another value.
    fn priced(&self, parameter: &Parameter, factor: f64, paths: &[PricedPath]) -> Option<(f64, f64)> {
        let mut document = self.base.document().clone();
        parameter.set(&mut document, parameter.scaled(factor)).ok()?;
        let longest = paths.iter().filter_map(|path| path.length_s(&document)).reduce(f64::max);
        longest.map(|longest| (factor, longest))
    }
}
