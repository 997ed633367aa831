//! The tokens of an expression.

use super::Value;
use super::fault::{ExpressionFault, REFERENCE, TextSpan};

/// A token of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExpressionToken {
    Number(Value),
    /// A name that is not a word of the language.
    Name(String),
    /// An operator, a bracket, a comma or a word of the language.
    Symbol(&'static str),
    End,
}

/// A token with its span.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub token: ExpressionToken,
    pub span: TextSpan,
}

/// The symbols of the language. Longer ones come first.
const SYMBOLS: [&str; 19] =
    ["&&", "||", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "^", "<", ">", "!", "(", ")", ",", "\0"];
const WORDS: [&str; 6] = ["not", "div", "if", "else", "true", "false"];
/// Operators of other languages, with the equivalent in this one. Longer ones come first.
const FOREIGN: [(&str, &str); 17] = [
    ("<<", "write `a * 2 ^ b` for a shift to the left"),
    (">>", "write `a div 2 ^ b` for a shift to the right"),
    ("<>", "write `!=`"),
    ("**", "write `^` for a power"),
    ("//", "write `div` for a division that rounds down"),
    ("=", "write `==` to compare"),
    ("&", "write `&&` or `and`; `bitand(a, b)` combines bits"),
    ("|", "write `||` or `or`; `bitor(a, b)` combines bits"),
    ("≤", "write `<=`"),
    ("≥", "write `>=`"),
    ("≠", "write `!=`"),
    ("×", "write `*`"),
    ("·", "write `*`"),
    ("−", "write `-`"),
    ("√", "write `sqrt(…)`"),
    ("?", "write `a if condition else b`"),
    ("[", "write round brackets"),
];

/// Splits a text into tokens. The last token is `End`.
pub(super) fn tokens(text: &str) -> Result<Vec<Spanned>, ExpressionFault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let (token, length) = first(&text[at..], at)?;
        let is_end = token == ExpressionToken::End;
        tokens.push(Spanned { token, span: TextSpan::of(at..at + length) });
        if is_end {
            return Ok(tokens);
        }
        at += length;
    }
}

/// Returns the first token of `text`, which starts at byte `at`, and the length of the token.
fn first(text: &str, at: usize) -> Result<(ExpressionToken, usize), ExpressionFault> {
    let Some(letter) = text.chars().next() else { return Ok((ExpressionToken::End, 0)) };
    let is_number = |text: &str| text.starts_with(|digit: char| digit.is_ascii_digit());
    if is_number(text) || text.strip_prefix('.').is_some_and(is_number) {
        return number(text, at);
    }
    if letter == '{' {
        return braced(text, at);
    }
    if letter.is_alphabetic() || letter == '_' {
        return Ok(word(text));
    }
    let foreign = FOREIGN.iter().filter(|(foreign, _)| foreign.chars().count() == 2);
    if let Some((sign, help)) = foreign.clone().find(|(sign, _)| text.starts_with(sign)) {
        return Err(unknown(sign, at, help));
    }
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)) {
        return Ok((ExpressionToken::Symbol(symbol), symbol.len()));
    }
    let help = FOREIGN.iter().find(|(sign, _)| text.starts_with(sign)).map_or(REFERENCE, |(_, help)| help);
    Err(unknown(&text[..letter.len_utf8()], at, help))
}

fn unknown(sign: &str, at: usize, help: &str) -> ExpressionFault {
    ExpressionFault::new(
        TextSpan::of(at..at + sign.len()),
        format!("`{}` is not an operator", sign.escape_debug()),
        help,
    )
}

fn word(text: &str) -> (ExpressionToken, usize) {
    let length = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    let token = match &text[..length] {
        "and" => ExpressionToken::Symbol("&&"),
        "or" => ExpressionToken::Symbol("||"),
        word => match WORDS.iter().find(|known| **known == word) {
            Some(known) => ExpressionToken::Symbol(known),
            None => ExpressionToken::Name(word.to_owned()),
        },
    };
    (token, length)
}

/// Reads a name of arbitrary characters, such as `{ranks-per-node}`.
fn braced(text: &str, at: usize) -> Result<(ExpressionToken, usize), ExpressionFault> {
    match text.find('}') {
        Some(end) if end > 1 => Ok((ExpressionToken::Name(text[1..end].to_owned()), end + 1)),
        _ => {
            Err(ExpressionFault::new(TextSpan::of(at..at + 1), "`{` does not begin a name", "write a name as `{name}`"))
        }
    }
}

fn number(text: &str, at: usize) -> Result<(ExpressionToken, usize), ExpressionFault> {
    let digits = |from: usize| {
        let end = text[from..].find(|digit: char| !digit.is_ascii_digit() && digit != '_');
        end.map_or(text.len(), |length| from + length)
    };
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if let Some(power) = text[end..].strip_prefix(['e', 'E']) {
        let power = power.strip_prefix(['+', '-']).unwrap_or(power);
        if power.starts_with(|digit: char| digit.is_ascii_digit()) {
            end = digits(text.len() - power.len());
        }
    }
    let span = TextSpan::of(at..at + end);
    if let Some(letter) = text[end..].chars().next().filter(|letter| letter.is_alphabetic()) {
        let number = &text[..end];
        return Err(ExpressionFault::new(
            TextSpan::of(at + end..at + end + letter.len_utf8()),
            format!("`{letter}` follows the number {number}"),
            format!("write an operator between them, such as `{number} * {letter}…`"),
        ));
    }
    let figures = text[..end].replace('_', "");
    Ok((ExpressionToken::Number(value(&figures, span)?), end))
}

fn value(figures: &str, span: TextSpan) -> Result<Value, ExpressionFault> {
    if figures.bytes().all(|byte| byte.is_ascii_digit()) {
        let help = format!("write {figures}.0 for a real number");
        let large = |_| ExpressionFault::new(span, format!("{figures} is too large for a whole number"), help);
        return figures.parse().map(Value::Whole).map_err(large);
    }
    match figures.parse() {
        Ok(real) if f64::is_finite(real) => Ok(Value::Real(real)),
        _ => Err(ExpressionFault::new(span, format!("{figures} is too large"), "the largest number is about 1.8e308")),
    }
}
