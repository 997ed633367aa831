//! The tokens of RON: brackets, names, numbers and texts. Comments and spaces are skipped.

use super::number;
use super::spelling::excerpt;

/// A token and its range of bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Open(char),
    Close(char),
    Comma,
    Colon,
    Word,
    Number,
    Text(String),
    Char(char),
    /// A character sequence that is not valid RON, with the message to report.
    Bad(String),
    End,
}

/// Splits a text into tokens, one at a time. `at` may be reset to the start of any earlier token.
pub(super) struct Scanner<'a> {
    text: &'a str,
    pub at: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str, start: usize) -> Self {
        Self { text, at: start }
    }

    pub fn next(&mut self) -> Token {
        let start = match self.pass_over_spaces() {
            Ok(()) => self.at,
            Err(comment) => return self.token(TokenKind::Bad("this comment is never closed".to_owned()), comment),
        };
        let kind = self.kind();
        self.token(kind, start)
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token {
        Token { kind, start, end: self.at }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn pass_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|letter| !wanted(letter)).unwrap_or(rest.len());
    }

    /// Skips spaces and comments.
    ///
    /// # Errors The start of an unclosed comment.
    fn pass_over_spaces(&mut self) -> Result<(), usize> {
        loop {
            self.pass_while(|letter| letter.is_whitespace() || letter == '\u{feff}');
            if self.rest().starts_with("//") {
                self.pass_while(|letter| letter != '\n');
            } else if self.rest().starts_with("/*") {
                self.pass_over_block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn pass_over_block_comment(&mut self) -> Result<(), usize> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("/*") {
                depth += 1;
                self.at += 2;
            } else if rest.starts_with("*/") {
                depth -= 1;
                self.at += 2;
            } else if self.bump().is_none() {
                return Err(start);
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn kind(&mut self) -> TokenKind {
        let Some(first) = self.peek() else { return TokenKind::End };
        match first {
            '(' | '[' | '{' => self.single(TokenKind::Open(first)),
            ')' | ']' | '}' => self.single(TokenKind::Close(first)),
            ',' => self.single(TokenKind::Comma),
            ':' => self.single(TokenKind::Colon),
            '"' => self.quoted_text(),
            '\'' => self.quoted_char(),
            'r' if self.is_raw_text() => self.raw_text(),
            '0'..='9' | '+' | '-' => self.number(),
            _ if first == '_' || first.is_alphabetic() => self.word(),
            _ => self.single(TokenKind::Bad(format!("unexpected character `{}`", excerpt(&first.to_string())))),
        }
    }

    fn single(&mut self, kind: TokenKind) -> TokenKind {
        self.bump();
        kind
    }

    fn word(&mut self) -> TokenKind {
        let start = self.at;
        self.pass_while(|letter| letter == '_' || letter.is_alphanumeric());
        match &self.text[start..self.at] {
            "inf" | "NaN" => TokenKind::Number,
            _ => TokenKind::Word,
        }
    }

    fn number(&mut self) -> TokenKind {
        let start = self.at;
        self.bump();
        let mut previous = ' ';
        while let Some(letter) = self.peek() {
            let exponent_sign = matches!(letter, '+' | '-') && matches!(previous, 'e' | 'E');
            if !(exponent_sign || letter.is_alphanumeric() || matches!(letter, '_' | '.')) {
                break;
            }
            previous = letter;
            self.bump();
        }
        let text = &self.text[start..self.at];
        match number::parse_number(text) {
            Some(_) => TokenKind::Number,
            None => TokenKind::Bad(format!("`{}` is not a number", excerpt(text))),
        }
    }

    fn quoted_text(&mut self) -> TokenKind {
        self.bump();
        let mut text = String::new();
        let mut bad = None;
        loop {
            match self.bump() {
                None => return TokenKind::Bad("this text is never closed by a `\"`".to_owned()),
                Some('"') => return bad.map_or(TokenKind::Text(text), TokenKind::Bad),
                Some('\\') => match self.escape() {
                    Ok(letter) => text.push(letter),
                    Err(message) => bad = bad.or(Some(message)),
                },
                Some(letter) => text.push(letter),
            }
        }
    }

    fn quoted_char(&mut self) -> TokenKind {
        self.bump();
        let letter = match self.bump() {
            Some('\\') => self.escape(),
            Some(letter) if letter != '\'' => Ok(letter),
            _ => return TokenKind::Bad("single quotes enclose one character".to_owned()),
        };
        if self.peek() != Some('\'') {
            return TokenKind::Bad("single quotes enclose one character; text is written in double quotes".to_owned());
        }
        self.bump();
        letter.map_or_else(TokenKind::Bad, TokenKind::Char)
    }

    fn escape(&mut self) -> Result<char, String> {
        let escaped = match self.bump() {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('0') => Some('\0'),
            Some(same @ ('\\' | '"' | '\'')) => Some(same),
            Some('x') => self.hexadecimal(2),
            Some('u') => self.braced_hexadecimal(),
            _ => None,
        };
        escaped.ok_or_else(|| "unknown escape after `\\`; a backslash itself is written `\\\\`".to_owned())
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<char> {
        let text = self.rest().get(..digits)?;
        let code = text.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(text, 16).ok())??;
        self.at += digits;
        char::from_u32(code)
    }

    fn braced_hexadecimal(&mut self) -> Option<char> {
        let digits = self.rest().strip_prefix('{')?.bytes().take(7).position(|byte| byte == b'}')?;
        self.bump();
        let letter = self.hexadecimal(digits)?;
        self.bump();
        Some(letter)
    }

    fn is_raw_text(&self) -> bool {
        self.rest()[1..].trim_start_matches('#').starts_with('"')
    }

    fn raw_text(&mut self) -> TokenKind {
        self.bump();
        let hashes = self.rest().bytes().take_while(|&byte| byte == b'#').count();
        self.at += hashes + 1;
        let closing = format!("\"{}", "#".repeat(hashes));
        let Some(length) = self.rest().find(&closing) else {
            self.at = self.text.len();
            return TokenKind::Bad(format!("this text is never closed by a `{}`", excerpt(&closing)));
        };
        let text = self.rest()[..length].to_owned();
        self.at += length + closing.len();
        TokenKind::Text(text)
    }
}
