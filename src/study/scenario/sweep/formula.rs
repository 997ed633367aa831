//! Expressions over axes: computed axes and the filter.

use super::PlannedAxis;
use crate::programs::expression::{self, Binding, Bound, Formula, TextSpan, Value};
use crate::scenario::axis::AxisValue;
use crate::scenario::source::{Document, SourceFault};
use std::borrow::Cow;

/// An expression over axes, parsed once.
#[derive(Clone, Debug)]
pub(super) struct AxisFormula {
    /// The path of the expression in the document, for diagnostics.
    at: String,
    bound: Bound,
    /// The axes that the expression names, in the order of its slots.
    axes: Vec<(usize, TextSpan)>,
}

impl AxisFormula {
    /// Parses the condition `text` over `axes`, located at the path `at` of `document`.
    pub fn condition(text: &str, at: String, axes: &[PlannedAxis], document: &Document) -> Result<Self, SourceFault> {
        let wrong = ("the filter is a number, not a condition", "compare something, such as `p <= n`");
        Self::read(text, at, (axes, &[]), document, |formula| (!formula.is_truth()).then_some(wrong))
    }

    /// Parses the numeric expression `text` of an axis, located at the path `at` of `document`. It may use the axes
    /// `before` this one, but not those `after` it.
    pub fn computed(
        text: &str,
        at: String,
        (before, after): (&[PlannedAxis], &[PlannedAxis]),
        document: &Document,
    ) -> Result<Self, SourceFault> {
        let wrong = ("the expression is a condition, not a number", "compute a number, such as `128 * sqrt(p)`");
        Self::read(text, at, (before, after), document, |formula| formula.is_truth().then_some(wrong))
    }

    fn read(
        text: &str,
        at: String,
        (before, after): (&[PlannedAxis], &[PlannedAxis]),
        document: &Document,
        misfit: impl Fn(&Formula) -> Option<(&'static str, &'static str)>,
    ) -> Result<Self, SourceFault> {
        let fault = |fault: expression::ExpressionFault| placed(&at, &fault, document);
        let formula = Formula::read(text).map_err(fault)?;
        if let Some((message, help)) = misfit(&formula) {
            return Err(document.fault_at(&at, message, Some(help)));
        }
        let place = |axes: &[PlannedAxis], name: &str| axes.iter().position(|planned| planned.axis.name == name);
        let mut named = Vec::new();
        for (name, span) in formula.names() {
            if let Some(axis) = place(before, name) {
                named.push((axis, span));
            } else if place(after, name).is_some() {
                let message = format!("there is no axis `{name}` before this one");
                return Err(document.fault_within(&at, span.range(), &message, "use axes declared before"));
            }
        }
        let slot = |name: &str| {
            let axis = place(before, name)?;
            let slot = named.iter().position(|(known, _)| *known == axis)?;
            u16::try_from(slot).ok().map(Binding::Slot)
        };
        let known = before.iter().map(|planned| planned.axis.name.as_str());
        let bound = formula.bind(slot, known).map_err(fault)?;
        Ok(Self { at, bound, axes: named })
    }

    /// Returns the places of the axes that the expression names.
    pub fn inputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.axes.iter().map(|(axis, _)| *axis)
    }

    /// Returns `true` if the condition is true at a point with these values of the axes.
    pub fn holds(&self, values: &[Cow<'_, AxisValue>], document: &Document) -> Result<bool, SourceFault> {
        Ok(self.evaluate(values, document)? == Value::Truth(true))
    }

    /// Returns the number at a point with these values of the axes.
    pub fn number(&self, values: &[Cow<'_, AxisValue>], document: &Document) -> Result<AxisValue, SourceFault> {
        Ok(match self.evaluate(values, document)? {
            Value::Whole(whole) => AxisValue::Whole(whole.into()),
            Value::Real(real) => AxisValue::Real(real),
            Value::Truth(_) => unreachable!("its type has been checked"),
        })
    }

    fn evaluate(&self, values: &[Cow<'_, AxisValue>], document: &Document) -> Result<Value, SourceFault> {
        let value = |(axis, span): &(usize, TextSpan)| {
            let value = &values[*axis];
            value.as_value().ok_or_else(|| {
                let message = format!("the axis has the value `{value}`, which is not a number");
                document.fault_within(&self.at, span.range(), &message, "use axes of numbers")
            })
        };
        let slots = self.axes.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        self.bound.evaluate(&slots).map_err(|fault| placed(&self.at, &fault, document))
    }
}

fn placed(at: &str, fault: &expression::ExpressionFault, document: &Document) -> SourceFault {
    document.fault_within(at, fault.span.range(), &fault.message, &fault.help)
}
