//! The parser of expressions, by precedence climbing.
//!
//! It also checks the types: variables are numbers, so every part is known to be a number or a truth value.

use super::Value;
use super::fault::{ExpressionFault, REFERENCE, TextSpan};
use super::functions::{self, FUNCTIONS};
use super::lexer::{ExpressionToken, Spanned};
use super::node::{Arithmetic, ComparisonOperator, Connective, ExpressionNode, PartKind};
use parsim_sim::units::nearest;

/// Maximum nesting depth of parts: deeper than any practical expression, and safe for the stack.
const DEEPEST: usize = 60;
const COMPARISONS: u8 = 4;

/// A binary operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Connective(Connective),
    Comparison(ComparisonOperator),
    Arithmetic(Arithmetic),
}

/// Parses a whole expression.
pub(super) fn parse(
    text: &str,
    tokens: Vec<Spanned>,
) -> Result<(ExpressionNode, Vec<(String, TextSpan)>), ExpressionFault> {
    let mut parser = ExpressionParser { text, tokens, at: 0, depth: 0, names: Vec::new() };
    let root = parser.choice()?;
    match parser.token() {
        ExpressionToken::End => Ok((root, parser.names)),
        _ => Err(parser.unexpected_behind_operand()),
    }
}

struct ExpressionParser<'t> {
    text: &'t str,
    tokens: Vec<Spanned>,
    at: usize,
    depth: usize,
    names: Vec<(String, TextSpan)>,
}

impl ExpressionParser<'_> {
    fn token(&self) -> &ExpressionToken {
        &self.tokens[self.at].token
    }

    fn span(&self) -> TextSpan {
        self.tokens[self.at].span
    }

    fn is_at(&self, symbol: &str) -> bool {
        matches!(self.token(), ExpressionToken::Symbol(found) if *found == symbol)
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is_at(symbol);
        self.at += usize::from(found);
        found
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, ExpressionFault>) -> Result<T, ExpressionFault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("parts are nested more than {DEEPEST} deep");
            return Err(ExpressionFault::new(self.span(), message, "compute a part of it elsewhere"));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Parses `a if condition else b`, or a part with higher precedence.
    fn choice(&mut self) -> Result<ExpressionNode, ExpressionFault> {
        let value = self.binary(1)?;
        if !self.is_at("if") {
            return Ok(value);
        }
        let at = self.span();
        self.at += 1;
        let condition = self.binary(1)?;
        if !self.accept("else") {
            let help = "write `a if condition else b`";
            return Err(ExpressionFault::new(at, "this `if` has no `else`", help));
        }
        let otherwise = self.nested(Self::choice)?;
        self.truth(&condition, "the condition of `if`")?;
        if value.is_truth() != otherwise.is_truth() {
            let message = "one side of `if … else` is a number, the other a truth value";
            return Err(ExpressionFault::new(at, message, "give two numbers or two conditions"));
        }
        let span = value.span.to(otherwise.span);
        Ok(ExpressionNode { kind: PartKind::Choice(Box::new([condition, value, otherwise])), span })
    }

    /// Parses operators whose precedence is at least `level`.
    fn binary(&mut self, level: u8) -> Result<ExpressionNode, ExpressionFault> {
        let mut left = if self.is_at("not") { self.negation(level)? } else { self.unary()? };
        while let Some((operator, binds)) = self.operator().filter(|(_, binds)| *binds >= level) {
            let at = self.span();
            self.at += 1;
            let right = self.binary(binds + 1)?;
            left = self.joined(operator, at, left, right)?;
            if matches!(operator, Operator::Comparison(_)) {
                self.no_chain()?;
            }
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        let ExpressionToken::Symbol(symbol) = self.token() else { return None };
        let comparison = |comparison| (Operator::Comparison(comparison), COMPARISONS);
        let arithmetic = |arithmetic, level| (Operator::Arithmetic(arithmetic), level);
        Some(match *symbol {
            "||" => (Operator::Connective(Connective::Or), 1),
            "&&" => (Operator::Connective(Connective::And), 2),
            "==" => comparison(ComparisonOperator::Equal),
            "!=" => comparison(ComparisonOperator::Unequal),
            "<" => comparison(ComparisonOperator::Less),
            "<=" => comparison(ComparisonOperator::LessOrEqual),
            ">" => comparison(ComparisonOperator::Greater),
            ">=" => comparison(ComparisonOperator::GreaterOrEqual),
            "+" => arithmetic(Arithmetic::Add, 5),
            "-" => arithmetic(Arithmetic::Subtract, 5),
            "*" => arithmetic(Arithmetic::Multiply, 6),
            "/" => arithmetic(Arithmetic::Divide, 6),
            "div" => arithmetic(Arithmetic::FlooredDivide, 6),
            "%" => arithmetic(Arithmetic::Remainder, 6),
            _ => return None,
        })
    }

    /// Parses `not`, whose precedence is higher than that of `and` and lower than that of comparisons.
    fn negation(&mut self, level: u8) -> Result<ExpressionNode, ExpressionFault> {
        let at = self.span();
        if level > COMPARISONS - 1 {
            return Err(ExpressionFault::new(
                at,
                "`not` binds less than what stands before it",
                "put brackets around `not …`",
            ));
        }
        self.at += 1;
        let operand = self.nested(|parser| parser.binary(COMPARISONS - 1))?;
        self.not(at, operand)
    }

    fn not(&self, at: TextSpan, operand: ExpressionNode) -> Result<ExpressionNode, ExpressionFault> {
        self.truth(&operand, "what is negated")?;
        let span = at.to(operand.span);
        Ok(ExpressionNode { kind: PartKind::Not(Box::new(operand)), span })
    }

    fn unary(&mut self) -> Result<ExpressionNode, ExpressionFault> {
        let at = self.span();
        if self.accept("-") {
            let operand = self.nested(Self::unary)?;
            self.number(&operand, "`-`")?;
            let span = at.to(operand.span);
            return Ok(ExpressionNode { kind: PartKind::Negate(Box::new(operand)), span });
        }
        if self.accept("+") {
            let operand = self.nested(Self::unary)?;
            self.number(&operand, "`+`")?;
            return Ok(operand);
        }
        if self.accept("!") {
            let operand = self.nested(Self::unary)?;
            return self.not(at, operand);
        }
        self.power()
    }

    /// Parses `a ^ b`, where b may have a sign.
    fn power(&mut self) -> Result<ExpressionNode, ExpressionFault> {
        let base = self.primary()?;
        let at = self.span();
        if !self.accept("^") {
            return Ok(base);
        }
        let exponent = self.nested(Self::unary)?;
        self.joined(Operator::Arithmetic(Arithmetic::Power), at, base, exponent)
    }

    fn primary(&mut self) -> Result<ExpressionNode, ExpressionFault> {
        let Spanned { token, span } = self.tokens[self.at].clone();
        self.at += usize::from(token != ExpressionToken::End);
        let constant = |value| Ok(ExpressionNode { kind: PartKind::Constant(value), span });
        match token {
            ExpressionToken::Number(value) => constant(value),
            ExpressionToken::Symbol("true") => constant(Value::Truth(true)),
            ExpressionToken::Symbol("false") => constant(Value::Truth(false)),
            ExpressionToken::Symbol("(") => self.bracket(span),
            ExpressionToken::Name(name) if self.is_at("(") => self.call(&name, span),
            ExpressionToken::Name(name) => Ok(self.variable(name, span)),
            ExpressionToken::End if self.at == 0 => {
                Err(ExpressionFault::new(span, "the expression is empty", "write a number, a name or `(…)`"))
            }
            ExpressionToken::End => {
                Err(ExpressionFault::new(span, "something is missing at the end", "write a number, a name or `(…)`"))
            }
            ExpressionToken::Symbol(_) => {
                let message = format!("expected a number, a name or `(`, found `{}`", span.of_text(self.text));
                Err(ExpressionFault::new(span, message, REFERENCE))
            }
        }
    }

    fn bracket(&mut self, at: TextSpan) -> Result<ExpressionNode, ExpressionFault> {
        let inner = self.nested(Self::choice)?;
        let end = self.closing(at)?;
        Ok(ExpressionNode { span: at.to(end), ..inner })
    }

    fn closing(&mut self, opening: TextSpan) -> Result<TextSpan, ExpressionFault> {
        let end = self.span();
        match self.token() {
            ExpressionToken::Symbol(")") => {
                self.at += 1;
                Ok(end)
            }
            ExpressionToken::End => Err(ExpressionFault::new(opening, "this bracket is never closed", "add `)`")),
            _ => Err(self.unexpected_behind_operand()),
        }
    }

    fn variable(&mut self, name: String, span: TextSpan) -> ExpressionNode {
        let number = self.names.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.names.push((name, span));
            self.names.len() - 1
        });
        let number = u16::try_from(number).expect("an expression has fewer names than characters");
        ExpressionNode { kind: PartKind::Variable(number), span }
    }

    fn call(&mut self, name: &str, span: TextSpan) -> Result<ExpressionNode, ExpressionFault> {
        let Some(function) = functions::find(name) else { return Err(unknown_function(name, span)) };
        let opening = self.span();
        self.at += 1;
        let mut arguments = Vec::new();
        if !self.is_at(")") {
            arguments.push(self.nested(Self::choice)?);
            while self.accept(",") {
                arguments.push(self.nested(Self::choice)?);
            }
        }
        let end = self.closing(opening)?;
        if !(function.least..=function.most).contains(&arguments.len()) {
            let message = format!("`{name}` is given {} arguments", arguments.len());
            return Err(ExpressionFault::new(span.to(end), message, format!("write `{}`", function.usage())));
        }
        for argument in &arguments {
            self.number(argument, &format!("`{name}`"))?;
        }
        Ok(ExpressionNode { kind: PartKind::Call(function, arguments.into()), span: span.to(end) })
    }

    fn joined(
        &self,
        operator: Operator,
        at: TextSpan,
        left: ExpressionNode,
        right: ExpressionNode,
    ) -> Result<ExpressionNode, ExpressionFault> {
        let (name, span) = (format!("`{}`", at.of_text(self.text)), left.span.to(right.span));
        let of_truths = match operator {
            Operator::Connective(_) => true,
            Operator::Comparison(ComparisonOperator::Equal | ComparisonOperator::Unequal) => left.is_truth(),
            Operator::Comparison(_) | Operator::Arithmetic(_) => false,
        };
        for side in [&left, &right] {
            if of_truths { self.truth(side, &name)? } else { self.number(side, &name)? }
        }
        let sides = Box::new([left, right]);
        let kind = match operator {
            Operator::Connective(connective) => PartKind::Connective(connective, sides),
            Operator::Comparison(comparison) => PartKind::Comparison(comparison, sides),
            Operator::Arithmetic(arithmetic) => PartKind::Arithmetic(arithmetic, sides),
        };
        Ok(ExpressionNode { kind, span })
    }

    fn truth(&self, node: &ExpressionNode, who: &str) -> Result<(), ExpressionFault> {
        if node.is_truth() {
            return Ok(());
        }
        let part = node.span.of_text(self.text);
        let message = format!("{who} needs a truth value, but `{part}` is a number");
        Err(ExpressionFault::new(node.span, message, format!("compare it with something, such as `{part} != 0`")))
    }

    fn number(&self, node: &ExpressionNode, who: &str) -> Result<(), ExpressionFault> {
        if !node.is_truth() {
            return Ok(());
        }
        let part = node.span.of_text(self.text);
        let message = format!("{who} needs a number, but `{part}` is a truth value");
        Err(ExpressionFault::new(node.span, message, format!("write `1 if {part} else 0` for a number")))
    }

    fn no_chain(&self) -> Result<(), ExpressionFault> {
        match self.operator() {
            Some((Operator::Comparison(_), _)) => {
                let help = "write `a < b && b < c`, or brackets to compare truth values";
                Err(ExpressionFault::new(self.span(), "comparisons cannot be chained", help))
            }
            _ => Ok(()),
        }
    }

    /// Creates the fault of a token where an operator, a closing bracket or the end is expected.
    fn unexpected_behind_operand(&self) -> ExpressionFault {
        let span = self.span();
        let found = span.of_text(self.text);
        let help = match found {
            "mod" | "MOD" => "write `%` for the remainder".to_owned(),
            "xor" | "XOR" => "write `bitxor(a, b)`".to_owned(),
            "AND" | "OR" | "NOT" | "DIV" | "IF" | "ELSE" => format!("write `{}`", found.to_lowercase()),
            "min" | "max" | "atan2" => format!("write `{found}(a, b)`"),
            "else" => "write `a if condition else b`".to_owned(),
            ")" => "remove it, or add `(` before".to_owned(),
            _ if self.follows_function() => {
                let name = self.tokens[self.at - 1].span.of_text(self.text);
                format!("write `{name}({found}…)`")
            }
            _ => match (self.seconds_before(found), self.operations_before(found)) {
                (Some(seconds), _) => format!("a time is a number of seconds: write `{seconds}`"),
                (_, Some(operations)) => format!("operations are counted without a unit: write `{operations}`"),
                _ if found.ends_with("flop") || found.ends_with("flops") => {
                    format!(
                        "operations are counted without a unit: leave `{found}` out, and multiply by what its prefix means"
                    )
                }
                _ => format!("write an operator before it; {REFERENCE}"),
            },
        };
        ExpressionFault::new(span, format!("expected an operator or the end, found `{found}`"), help)
    }

    /// Returns the number of seconds that a number with the unit `found` behind it would be.
    fn seconds_before(&self, found: &str) -> Option<String> {
        self.number_before(found, &[("s", ""), ("ms", "e-3"), ("us", "e-6"), ("ns", "e-9")])
    }

    /// Returns the number of operations that a number with the unit `found` behind it would be.
    fn operations_before(&self, found: &str) -> Option<String> {
        let name = found.strip_suffix('s').unwrap_or(found);
        let units = [("flop", ""), ("kflop", "e3"), ("Mflop", "e6"), ("Gflop", "e9"), ("Tflop", "e12")];
        self.number_before(name, &units)
    }

    /// Returns the plain number that the last token with one of these units behind it would be.
    fn number_before(&self, found: &str, units: &[(&str, &str)]) -> Option<String> {
        let (_, power) = units.iter().find(|(unit, _)| *unit == found)?;
        let number = self.tokens[self.at.checked_sub(1)?].span.of_text(self.text);
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        is_plain.then(|| format!("{number}{power}"))
    }

    fn follows_function(&self) -> bool {
        let before = self.at.checked_sub(1).map(|at| &self.tokens[at].token);
        matches!(before, Some(ExpressionToken::Name(name)) if functions::find(name).is_some())
    }
}

fn unknown_function(name: &str, span: TextSpan) -> ExpressionFault {
    let names: Vec<_> = FUNCTIONS.iter().map(|function| function.name).collect();
    let meant = nearest(name, names.iter().copied()).map(|meant| format!("did you mean `{meant}`? "));
    let help = format!("{}the functions are {}", meant.unwrap_or_default(), names.join(", "));
    ExpressionFault::new(span, format!("there is no function `{name}`"), help)
}
