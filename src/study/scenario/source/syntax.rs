//! A parser of RON that returns a tree or a list of faults.
//!
//! The recovering parser of `ron2` 0.3 does not terminate on 128 `[` followed by a `)` and needs 400 bytes of memory
//! per byte of text. The time and memory of this parser are linear in the text, whatever its content.

use std::collections::HashMap;
use std::ops::Range;

use super::fault::SourceFault;
use super::place::{Place, Sources, position_in};
use super::spelling::excerpt;
use super::tokens::{Scanner, Token, TokenKind};
use super::tree::{Name, Tree, TreeField, TreeValue};

const DEEPEST: usize = 64;
const MAX_FAULTS: usize = 20;

/// Parses the text at `place`, which extends to the end of its source.
pub(super) fn parse(sources: &Sources, place: Place) -> Result<Tree, Vec<SourceFault>> {
    let text = sources.get(place.file).map_or("", |source| source.text.as_str());
    let mut parser = Parser::new(text, place);
    let tree = parser.document();
    tree.filter(|_| parser.faults.is_empty()).ok_or(parser.faults)
}

struct Parser<'a> {
    text: &'a str,
    file: usize,
    scanner: Scanner<'a>,
    token: Token,
    previous_end: usize,
    open: Vec<(char, Place)>,
    faults: Vec<SourceFault>,
    faulty_line: Range<usize>,
    stopped: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, place: Place) -> Self {
        let mut scanner = Scanner::new(text, place.start);
        let token = scanner.next();
        Self {
            text,
            file: place.file,
            scanner,
            token,
            previous_end: place.start,
            open: Vec::new(),
            faults: Vec::new(),
            faulty_line: 0..0,
            stopped: false,
        }
    }

    fn document(&mut self) -> Option<Tree> {
        while self.token_text() == "#" && self.text[self.token.end..].starts_with("![") {
            self.attribute();
        }
        if self.token.kind == TokenKind::End {
            self.fault(self.here(), "there is no value: the text is empty", None);
            return None;
        }
        let tree = self.value();
        if self.token.kind != TokenKind::End {
            let message = format!("unexpected {} after the end of the value", self.found());
            self.fault(self.here(), &message, Some(&self.help_behind_value()));
        }
        tree
    }

    fn help_behind_value(&self) -> String {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // The text of an option begins with the name of the axis.
        let value = self.text.trim().rsplit('=').next().unwrap_or_default();
        let ends = value.split_once('-').filter(|(first, last)| is_number(first) && is_number(last));
        match ends {
            Some((first, last)) => format!("a range is written `{first}..{last}`"),
            None => "a file contains one value, such as `Scenario(…)`".to_owned(),
        }
    }

    fn attribute(&mut self) {
        self.scanner.at = self.token.end + 1;
        self.advance();
        self.advance();
        self.skip(false);
        self.advance();
    }

    fn advance(&mut self) -> Token {
        self.previous_end = self.token.end;
        let next = if self.stopped { self.end() } else { self.scanner.next() };
        std::mem::replace(&mut self.token, next)
    }

    fn end(&self) -> Token {
        Token { kind: TokenKind::End, start: self.text.len(), end: self.text.len() }
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.token = self.end();
    }

    fn here(&self) -> Place {
        self.place(self.token.start, self.token.end)
    }

    fn place(&self, start: usize, end: usize) -> Place {
        Place { file: self.file, start, end }
    }

    fn token_text(&self) -> &'a str {
        &self.text[self.token.start..self.token.end]
    }

    fn found(&self) -> String {
        match self.token.kind {
            TokenKind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", excerpt(self.token_text())),
        }
    }

    fn line(&self, place: Place) -> usize {
        position_in(self.text, place.start).line
    }

    /// Records a fault, unless a fault of the same line is recorded already: later ones are mostly consequential.
    fn fault(&mut self, place: Place, message: &str, help: Option<&str>) {
        if !self.faulty_line.contains(&place.start) {
            let line_start = self.text[..place.start].rfind('\n').map_or(0, |newline| newline + 1);
            let line_end = self.text[place.start..].find('\n').map_or(self.text.len(), |length| place.start + length);
            self.faulty_line = line_start..line_end + 1;
            self.record(place, message, help);
        }
    }

    fn record(&mut self, place: Place, message: &str, help: Option<&str>) {
        if self.stopped {
            return;
        }
        let fault = SourceFault::new(message).at(place);
        self.faults.push(match help {
            Some(help) => fault.help(help),
            None => fault,
        });
        if self.faults.len() >= MAX_FAULTS {
            self.stop();
        }
    }

    fn value(&mut self) -> Option<Tree> {
        let start = self.token.start;
        let node = match &self.token.kind {
            TokenKind::Open('(') => self.parenthesis(None),
            TokenKind::Open('[') => self.list(),
            TokenKind::Open(_) => self.map(),
            TokenKind::Word => self.named(),
            TokenKind::Number => Some(TreeValue::Number(self.take_text())),
            TokenKind::Text(_) | TokenKind::Char(_) => self.literal(),
            TokenKind::Bad(_) => self.bad(),
            TokenKind::Close(_) | TokenKind::Comma | TokenKind::Colon | TokenKind::End => {
                let message = format!("expected a value, found {}", self.found());
                self.fault(self.here(), &message, None);
                None
            }
        }?;
        Some(Tree { place: self.place(start, self.previous_end), node })
    }

    fn take_text(&mut self) -> String {
        let text = self.token_text().to_owned();
        self.advance();
        text
    }

    fn literal(&mut self) -> Option<TreeValue> {
        match self.advance().kind {
            TokenKind::Text(text) => Some(TreeValue::Text(text)),
            TokenKind::Char(letter) => Some(TreeValue::Char(letter)),
            _ => None,
        }
    }

    fn bad<T>(&mut self) -> Option<T> {
        let place = self.here();
        if let TokenKind::Bad(message) = self.advance().kind {
            let quantity = message.ends_with("is not a number");
            self.fault(place, &message, quantity.then_some("a quantity is text with its unit, such as \"20 Mbit/s\""));
        }
        None
    }

    fn named(&mut self) -> Option<TreeValue> {
        let name = Name { place: self.here(), text: self.take_text() };
        match (name.text.as_str(), &self.token.kind) {
            ("true", _) => Some(TreeValue::Bool(true)),
            ("false", _) => Some(TreeValue::Bool(false)),
            ("Some", TokenKind::Open('(')) => self.some(),
            ("None", TokenKind::Comma | TokenKind::Close(_) | TokenKind::End) => Some(TreeValue::Option(None)),
            (_, TokenKind::Open('(')) => self.parenthesis(Some(name)),
            (_, TokenKind::Open('{')) => {
                let message = format!("the fields of `{}` are written in round brackets", excerpt(&name.text));
                self.fault(self.here(), &message, Some("write `(` and `)`"));
                None
            }
            _ => Some(TreeValue::Name(name.text)),
        }
    }

    fn some(&mut self) -> Option<TreeValue> {
        let place = self.here();
        match self.parenthesis(None)? {
            TreeValue::Tuple { mut items, .. } if items.len() == 1 => {
                Some(TreeValue::Option(items.pop().map(Box::new)))
            }
            record @ TreeValue::Record { .. } => {
                let place = self.place(place.start, self.previous_end);
                Some(TreeValue::Option(Some(Box::new(Tree { place, node: record }))))
            }
            _ => {
                self.fault(place, "`Some` takes one value", None);
                None
            }
        }
    }

    fn parenthesis(&mut self, name: Option<Name>) -> Option<TreeValue> {
        self.enter()?;
        if self.is_record() {
            return Some(TreeValue::Record { name, fields: self.fields() });
        }
        let items = self.items(')', Self::value);
        Some(if name.is_none() && items.is_empty() { TreeValue::Unit } else { TreeValue::Tuple { name, items } })
    }

    /// Returns `true` if the parenthesis just entered begins with `name:`, or was probably meant to.
    fn is_record(&mut self) -> bool {
        if self.token.kind != TokenKind::Word {
            return false;
        }
        let at = self.scanner.at;
        let next = self.scanner.next();
        self.scanner.at = at;
        let forgotten_colon =
            matches!(next.kind, TokenKind::Number | TokenKind::Text(_) | TokenKind::Char(_) | TokenKind::Word);
        next.kind == TokenKind::Colon || forgotten_colon || self.text[next.start..].starts_with('=')
    }

    fn fields(&mut self) -> Vec<TreeField> {
        let fields = self.items(')', Self::field);
        let mut seen = HashMap::new();
        for TreeField { name, .. } in &fields {
            self.once("field", &name.text, name.place, &mut seen);
            if self.stopped {
                break;
            }
        }
        fields
    }

    fn field(&mut self) -> Option<TreeField> {
        if matches!(self.token.kind, TokenKind::Bad(_)) {
            return self.bad();
        }
        if self.token.kind != TokenKind::Word {
            let message = format!("expected the name of a field, found {}", self.found());
            self.fault(self.here(), &message, Some("fields are written `name: value`, names without quotes"));
            return None;
        }
        let name = Name { place: self.here(), text: self.take_text() };
        if self.token.kind != TokenKind::Colon {
            let message = format!("expected `:` and a value after `{}`, found {}", excerpt(&name.text), self.found());
            self.fault(name.place, &message, Some("fields are written `name: value`"));
            return None;
        }
        self.advance();
        self.value().map(|value| TreeField { name, value, inherited: false })
    }

    fn list(&mut self) -> Option<TreeValue> {
        self.enter()?;
        Some(TreeValue::List(self.items(']', Self::value)))
    }

    fn map(&mut self) -> Option<TreeValue> {
        self.enter()?;
        let entries = self.items('}', Self::entry);
        let mut seen = HashMap::new();
        for (key, _) in &entries {
            let (TreeValue::Text(text) | TreeValue::Name(text) | TreeValue::Number(text)) = &key.node else { continue };
            self.once("key", text, key.place, &mut seen);
        }
        Some(TreeValue::Map(entries))
    }

    /// Records a fault if `name` has been given before.
    fn once<'n>(&mut self, what: &str, name: &'n str, place: Place, seen: &mut HashMap<&'n str, Place>) {
        if let Some(first) = seen.insert(name, place) {
            let (first, second) = (self.line(first), self.line(place));
            let message = format!("{what} `{}` is given twice: in line {first} and in line {second}", excerpt(name));
            self.record(place, &message, Some("remove one of them"));
        }
    }

    fn entry(&mut self) -> Option<(Tree, Tree)> {
        let key = self.value()?;
        if self.token.kind != TokenKind::Colon {
            let message = format!("expected `:` and a value after this key, found {}", self.found());
            self.fault(key.place, &message, Some("a map is written `{key: value}`"));
            return None;
        }
        self.advance();
        self.value().map(|value| (key, value))
    }

    /// Consumes the opening bracket that is the current token.
    fn enter(&mut self) -> Option<()> {
        if self.open.len() >= DEEPEST {
            let message = format!("brackets are nested deeper than {DEEPEST}");
            self.fault(self.here(), &message, None);
            self.stop();
            return None;
        }
        let place = self.here();
        if let TokenKind::Open(bracket) = self.advance().kind {
            self.open.push((bracket, place));
        }
        Some(())
    }

    /// Parses the items between the bracket just entered and its closing bracket, separated by commas.
    fn items<T>(&mut self, closing: char, item: fn(&mut Self) -> Option<T>) -> Vec<T> {
        let mut items = Vec::new();
        while !matches!(self.token.kind, TokenKind::Close(_) | TokenKind::End) {
            let found = item(self);
            if found.is_none() {
                self.skip(true);
            }
            items.extend(found);
            self.separator();
        }
        self.leave(closing);
        items
    }

    fn separator(&mut self) {
        match self.token.kind {
            TokenKind::Comma => drop(self.advance()),
            TokenKind::Close(_) | TokenKind::End => {}
            _ => self.missing_comma(),
        }
    }

    fn missing_comma(&mut self) {
        let before = self.text[..self.previous_end].chars().next_back();
        let help = self.help_on_missing_comma(before);
        let message = format!("expected `,` before {}", self.found());
        let last = self.previous_end - before.map_or(0, char::len_utf8);
        self.fault(self.place(last, self.previous_end), &message, Some(&help));
        if !matches!(
            self.token.kind,
            TokenKind::Word | TokenKind::Open(_) | TokenKind::Number | TokenKind::Text(_) | TokenKind::Char(_)
        ) {
            self.advance();
            self.skip(true);
        }
    }

    fn help_on_missing_comma(&self, before: Option<char>) -> String {
        let is_field = self.text[self.token.end..].trim_start().starts_with(':');
        let follows_digit = before.is_some_and(|letter| letter.is_ascii_digit());
        match (&self.token.kind, self.open.last()) {
            (TokenKind::Word, _) if !is_field && follows_digit => {
                "a quantity is text with its unit, such as \"20 Mbit/s\"".to_owned()
            }
            (TokenKind::Colon, Some(&('[', opening))) => {
                format!(
                    "a list has no fields: close the `[`{} with a `]` before this one",
                    self.line_unless_known(opening)
                )
            }
            _ => "separate values by `,`".to_owned(),
        }
    }

    fn leave(&mut self, closing: char) {
        let Some((bracket, opening)) = self.open.pop() else { return };
        match self.token.kind {
            TokenKind::Close(found) if found == closing => drop(self.advance()),
            TokenKind::Close(found) => self.wrong_closing(bracket, opening, found),
            _ => {
                self.fault(opening, &format!("this `{bracket}` is never closed"), Some(&format!("add a `{closing}`")));
                self.stop();
            }
        }
    }

    fn wrong_closing(&mut self, bracket: char, opening: Place, found: char) {
        let line = self.line_unless_known(opening);
        let outer_waits = self.open.iter().any(|&(outer, _)| closing_of(outer) == found);
        let (closing, message) = (closing_of(bracket), format!("`{found}` does not close the `{bracket}`{line}"));
        let help =
            if outer_waits { format!("add a `{closing}` before it") } else { format!("write `{closing}` instead") };
        self.fault(self.here(), &message, Some(&help));
        if !outer_waits {
            self.advance();
        }
    }

    /// Returns the line of a bracket in words. It is empty if no fault will be recorded, because counting lines is
    /// costly.
    fn line_unless_known(&self, opening: Place) -> String {
        if self.faulty_line.contains(&self.token.start) {
            return String::new();
        }
        format!(" of line {}", self.line(opening))
    }

    /// Skips to the next comma (if `commas`) or closing bracket at the same depth.
    fn skip(&mut self, commas: bool) {
        let mut depth = 0_usize;
        loop {
            match self.token.kind {
                TokenKind::End => return,
                TokenKind::Comma if depth == 0 && commas => return,
                TokenKind::Close(_) if depth == 0 => return,
                TokenKind::Close(_) => depth -= 1,
                TokenKind::Open(_) => depth += 1,
                _ => {}
            }
            self.advance();
        }
    }
}

fn closing_of(bracket: char) -> char {
    match bracket {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

#[cfg(test)]
mod tests;
