//! The text form of a schedule.
//!
//! A text consists of `num_ranks N` and, for each rank, of `rank R { … }` with one statement per line. `//` and `/* */`
//! are comments. The statements are `[label:] send SIZEb to PEER [tag T] [cpu C] [nic K]`,
//! `[label:] recv SIZEb from PEER|-1 [tag T|-1] [cpu C] [nic K]`, `[label:] calc UNITS [cpu C]`, `a requires b` and
//! `a irequires b`.

use super::blocks::TextBlocks;
use crate::programs::file::BYTE_ORDER_MARK;
use crate::programs::schedule::{ANY, Edge, NodeKind, OperationPlace, RankSchedule, Schedule, ScheduleNode, TAGS};
use rustc_hash::FxHashMap;
use std::io::{self, Read};

/// The error of a text that is not a schedule.
#[derive(Debug)]
#[non_exhaustive]
pub enum TextError {
    Unreadable(io::Error),
    Faulty(Box<TextFault>),
}

/// A fault of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct TextFault {
    /// The line and the column, counted from 1.
    pub place: (usize, usize),
    pub message: String,
    pub help: String,
}

/// A fault of a part of a text, with the byte at which it occurs.
struct PartFault {
    at: usize,
    message: String,
    help: String,
}

/// Maximum number of ranks of a schedule.
const MAX_RANKS: u64 = 1 << 24;

/// Minimum number of bytes of a file that are read at once.
pub const CHUNK: usize = 1 << 18;

/// Parses the schedule that a text describes. Only a block and `chunk` bytes of the text are held in memory at once.
///
/// # Errors
/// The first fault of the text.
pub fn read(source: impl Read, chunk: usize) -> Result<Schedule, TextError> {
    let (mut blocks, mut ranks) = (TextBlocks::of(source, chunk), Ranks::default());
    loop {
        let (text, is_last) = blocks.next().map_err(TextError::Unreadable)?;
        if let Err(fault) = (GoalParser { text, at: 0 }).part(&mut ranks, is_last) {
            let PartFault { at, message, help } = *fault;
            return Err(TextError::Faulty(Box::new(TextFault { place: blocks.line_and_column(at), message, help })));
        }
        if is_last {
            return Ok(Schedule { ranks: ranks.read.into_iter().flatten().collect() });
        }
    }
}

/// Returns the line and the column of an operation in the text of a valid schedule.
pub fn place(source: impl Read, operation: OperationPlace) -> Option<(usize, usize)> {
    let (mut blocks, mut ranks) =
        (TextBlocks::of(source, CHUNK), Ranks { wanted: Some(operation), ..Ranks::default() });
    loop {
        let (text, is_last) = blocks.next().ok()?;
        (GoalParser { text, at: 0 }).part(&mut ranks, is_last).ok()?;
        if let Some(at) = ranks.found {
            return Some(blocks.line_and_column(at));
        }
        // Only places are needed, so the parsed schedules are discarded.
        ranks.read.iter_mut().flatten().for_each(|rank| *rank = RankSchedule::default());
        if is_last {
            return None;
        }
    }
}

/// The ranks that have been read.
#[derive(Default)]
struct Ranks {
    /// The number of ranks, once it is known.
    count: Option<u64>,
    read: Vec<Option<RankSchedule>>,
    /// The operation whose place is sought.
    wanted: Option<OperationPlace>,
    /// The byte of the sought operation in the current part, once it is found.
    found: Option<usize>,
}

struct GoalParser<'t> {
    text: &'t [u8],
    at: usize,
}

/// The block of a rank that is being read.
#[derive(Default)]
struct Block<'t> {
    nodes: Vec<ScheduleNode>,
    /// The byte at which each operation begins.
    places: Vec<usize>,
    edges: Vec<Edge>,
    labels: FxHashMap<&'t [u8], u32>,
}

impl<'t> GoalParser<'t> {
    /// Parses a part of the text: its beginning, if that has not been read yet, and whole blocks.
    fn part(&mut self, ranks: &mut Ranks, is_last: bool) -> Result<(), Box<PartFault>> {
        let count = match ranks.count {
            Some(count) => count,
            None => *ranks.count.insert(self.count()?),
        };
        self.skip_lines()?;
        while self.at < self.text.len() {
            self.rank(count, ranks)?;
            self.skip_lines()?;
        }
        let given = ranks.read.iter().take_while(|rank| rank.is_some()).count() as u64;
        if is_last && given < count {
            let help = "write `rank R { }` for a rank that does nothing; or the file has been cut off";
            return Err(fault(self.at, format!("rank {given} of {count} is missing"), help));
        }
        Ok(())
    }

    /// Parses the number of ranks, with which a text begins.
    fn count(&mut self) -> Result<u64, Box<PartFault>> {
        self.at += if self.text.starts_with(&BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        self.skip_lines()?;
        self.keyword("num_ranks", "a schedule begins with `num_ranks N`")?;
        self.skip_blanks()?;
        let at = self.at;
        let count = self.number("the number of ranks")?;
        if count == 0 || count > MAX_RANKS {
            return Err(fault(at, format!("{count} ranks"), &format!("give a number from 1 to {MAX_RANKS}")));
        }
        Ok(count)
    }

    fn rank(&mut self, count: u64, ranks: &mut Ranks) -> Result<(), Box<PartFault>> {
        self.keyword("rank", "write `rank R {` with the operations of the rank in lines of their own, then `}`")?;
        self.skip_blanks()?;
        let at = self.at;
        let rank = self.number("the number of a rank")?;
        let Some(place) = usize::try_from(rank).ok().filter(|_| rank < count) else {
            return Err(fault(at, format!("rank {rank}, but the ranks are 0 to {}", count - 1), "correct one of them"));
        };
        if ranks.read.get(place).is_some_and(Option::is_some) {
            return Err(fault(at, format!("rank {rank} occurs twice"), "write all its operations in one block"));
        }
        self.skip_lines()?;
        self.symbol(b'{', "`{` follows the number of a rank")?;
        let (schedule, places) = self.block(count)?;
        if let Some((_, number)) = ranks.wanted.filter(|(of, _)| u64::from(*of) == rank) {
            ranks.found = places.get(number as usize).copied();
        }
        if ranks.read.len() <= place {
            ranks.read.resize_with(place + 1, || None);
        }
        ranks.read[place] = Some(schedule);
        Ok(())
    }

    /// Parses the block of a rank; returns its schedule, and the byte at which each operation begins.
    fn block(&mut self, ranks: u64) -> Result<(RankSchedule, Vec<usize>), Box<PartFault>> {
        let mut block = Block::default();
        loop {
            self.skip_lines()?;
            match self.text.get(self.at) {
                Some(b'}') => break self.at += 1,
                Some(_) => self.statement(ranks, &mut block)?,
                None => return Err(fault(self.at, "the file ends within a rank", "close the block with `}`")),
            }
        }
        let Block { nodes, places, edges, labels } = block;
        let linked = RankSchedule::linked(nodes, &edges).map_err(|number| {
            let label = labels.iter().find(|(_, of)| **of == number).map(|(label, _)| shown(label));
            let name = label.unwrap_or_else(|| format!("operation {number}"));
            fault(places[number as usize], format!("{name} waits for itself, indirectly"), "take out one `requires`")
        });
        linked.map(|schedule| (schedule, places))
    }

    fn statement(&mut self, ranks: u64, block: &mut Block<'t>) -> Result<(), Box<PartFault>> {
        let at = self.at;
        let mut word = self.word("an operation, a label or `}`")?;
        self.skip_blanks()?;
        match self.text.get(self.at) {
            Some(b':') => {
                let number = u32::try_from(block.nodes.len()).map_err(|_| too_many(at))?;
                if block.labels.insert(word, number).is_some() {
                    return Err(fault(at, format!("{} is the label of two operations", shown(word)), "rename one"));
                }
                self.at += 1;
                self.skip_blanks()?;
                word = self.word("an operation follows a label: `send`, `recv` or `calc`")?;
            }
            Some(b'r' | b'i') => return self.dependency((word, at), block),
            _ => {}
        }
        let node = match word {
            b"send" => self.message(NodeKind::Send, ranks)?,
            b"recv" => self.message(NodeKind::Receive, ranks)?,
            b"calc" => self.computation()?,
            other => {
                let help = "write `send`, `recv`, `calc`, or `a requires b` with labels";
                return Err(fault(at, format!("{} is not an operation", shown(other)), help));
            }
        };
        block.nodes.push(node);
        block.places.push(at);
        self.end_of_line()
    }

    fn dependency(&mut self, (word, at): (&'t [u8], usize), block: &mut Block<'t>) -> Result<(), Box<PartFault>> {
        let verb_at = self.at;
        let to_end = match self.word("`requires` or `irequires`")? {
            b"requires" => true,
            b"irequires" => false,
            other => {
                return Err(fault(
                    verb_at,
                    format!("{} is not a relation", shown(other)),
                    "write `requires` or `irequires`",
                ));
            }
        };
        let follower = known(block, word, at)?;
        self.skip_blanks()?;
        let at = self.at;
        let leader = known(block, self.word("a label")?, at)?;
        block.edges.push(Edge { follower, leader, to_end });
        if u32::try_from(block.edges.len()).is_err() {
            return Err(too_many(at));
        }
        self.end_of_line()
    }

    fn message(&mut self, kind: NodeKind, ranks: u64) -> Result<ScheduleNode, Box<PartFault>> {
        let is_send = kind == NodeKind::Send;
        let size = self.number("the size of the message")?;
        self.symbol(b'b', "the size of a message ends in `b`, as in `8b`")?;
        let (word, help) = if is_send {
            ("to", "`to` and a rank follow the size")
        } else {
            ("from", "`from` and a rank follow the size")
        };
        self.keyword(word, help)?;
        self.skip_blanks()?;
        let at = self.at;
        let peer = self.number_or_any(is_send, "the other rank")?;
        if peer != ANY && u64::from(peer) >= ranks || peer == ANY && is_send {
            return Err(fault(at, format!("rank {peer}, but the ranks are 0 to {}", ranks - 1), "correct one of them"));
        }
        let tag = self.tag(is_send)?;
        let [cpu, nic] = self.lanes()?;
        Ok(ScheduleNode { peer, tag, cpu, nic, ..ScheduleNode::new(kind, size) })
    }

    fn tag(&mut self, is_send: bool) -> Result<u32, Box<PartFault>> {
        if !self.option("tag")? {
            return Ok(0);
        }
        self.skip_blanks()?;
        let at = self.at;
        match self.number_or_any(is_send, "a tag")? {
            ANY if !is_send => Ok(ANY),
            tag if tag < TAGS => Ok(tag),
            tag => Err(fault(at, format!("tag {tag}"), &format!("tags are smaller than {TAGS}"))),
        }
    }

    fn computation(&mut self) -> Result<ScheduleNode, Box<PartFault>> {
        let size = self.number("the time of the computation, in whole units")?;
        let [cpu, nic] = self.lanes()?;
        Ok(ScheduleNode { cpu, nic, ..ScheduleNode::new(NodeKind::Compute, size) })
    }

    fn lanes(&mut self) -> Result<[u8; 2], Box<PartFault>> {
        let mut lanes = [0; 2];
        for (lane, name) in lanes.iter_mut().zip(["cpu", "nic"]) {
            if self.option(name)? {
                self.skip_blanks()?;
                let at = self.at;
                let number = self.number(name)?;
                *lane = u8::try_from(number)
                    .map_err(|_| fault(at, format!("{name} {number}"), "give a number up to 255"))?;
            }
        }
        Ok(lanes)
    }

    /// Parses a number or, except in a send, `-1`.
    fn number_or_any(&mut self, is_send: bool, what: &str) -> Result<u32, Box<PartFault>> {
        let at = self.at;
        if !is_send && self.text[at..].starts_with(b"-1") {
            self.at += 2;
            return Ok(ANY);
        }
        let number = self.number(what)?;
        u32::try_from(number).map_err(|_| fault(at, format!("{number} as {what}"), "give a smaller number"))
    }

    #[inline]
    fn number(&mut self, what: &str) -> Result<u64, Box<PartFault>> {
        self.skip_blanks()?;
        let (begin, mut number) = (self.at, 0u64);
        while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            let next = number.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit - b'0')));
            number = next.ok_or_else(|| fault(begin, format!("{what} is 2^64 or more"), "give a smaller number"))?;
            self.at += 1;
        }
        if self.at == begin {
            return Err(fault(begin, format!("{what} is missing{}", self.found()), "write a whole number"));
        }
        Ok(number)
    }

    /// Consumes a word if it is next; returns `true` in that case.
    #[inline]
    fn option(&mut self, word: &str) -> Result<bool, Box<PartFault>> {
        self.skip_blanks()?;
        let comes = self.text[self.at..].starts_with(word.as_bytes())
            && !self.text.get(self.at + word.len()).is_some_and(|byte| is_of_word(*byte));
        self.at += if comes { word.len() } else { 0 };
        Ok(comes)
    }

    fn keyword(&mut self, word: &str, help: &str) -> Result<(), Box<PartFault>> {
        if self.option(word)? {
            return Ok(());
        }
        Err(fault(self.at, format!("`{word}` is missing{}", self.found()), help))
    }

    fn symbol(&mut self, symbol: u8, help: &str) -> Result<(), Box<PartFault>> {
        if self.text.get(self.at) == Some(&symbol) {
            self.at += 1;
            return Ok(());
        }
        Err(fault(self.at, format!("`{}` is missing{}", char::from(symbol), self.found()), help))
    }

    #[inline]
    fn word(&mut self, what: &str) -> Result<&'t [u8], Box<PartFault>> {
        let rest = &self.text[self.at..];
        let mut length = 0;
        while rest.get(length).is_some_and(|byte| is_of_word(*byte)) {
            length += 1;
        }
        if length == 0 || !rest[0].is_ascii_alphabetic() {
            return Err(fault(self.at, format!("{what} is missing{}", self.found()), "words begin with a letter"));
        }
        self.at += length;
        Ok(&rest[..length])
    }

    #[inline]
    fn end_of_line(&mut self) -> Result<(), Box<PartFault>> {
        self.skip_blanks()?;
        if self.text[self.at..].starts_with(b"//") || matches!(self.text.get(self.at), None | Some(b'\n' | b'}')) {
            return Ok(());
        }
        let help = "a statement ends with its line; options have the order tag, cpu, nic";
        Err(fault(self.at, format!("the statement does not end here{}", self.found()), help))
    }

    /// Skips blanks and comments within a line.
    #[inline]
    fn skip_blanks(&mut self) -> Result<(), Box<PartFault>> {
        while let Some(b' ' | b'\t' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'/') { self.skip_comments() } else { Ok(()) }
    }

    #[cold]
    fn skip_comments(&mut self) -> Result<(), Box<PartFault>> {
        while self.text[self.at..].starts_with(b"/*") {
            self.skip_comment()?;
            while let Some(b' ' | b'\t' | b'\r') = self.text.get(self.at) {
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Skips empty lines and comments.
    fn skip_lines(&mut self) -> Result<(), Box<PartFault>> {
        loop {
            self.skip_blanks()?;
            match self.text.get(self.at) {
                Some(b'\n') => self.at += 1,
                Some(b'/') if self.text.get(self.at + 1) == Some(&b'/') => {
                    let rest = &self.text[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Box<PartFault>> {
        let rest = &self.text[self.at + 2..];
        let Some(length) = rest.windows(2).position(|pair| pair == b"*/") else {
            return Err(fault(self.at, "this comment is never closed", "close it with `*/`"));
        };
        self.at += length + 4;
        Ok(())
    }

    /// Describes the text at the current position, for messages.
    fn found(&self) -> String {
        let rest = &self.text[self.at..];
        match rest.first() {
            None => ": the file ends here".to_owned(),
            Some(b'\n') => ": the line ends here".to_owned(),
            Some(_) => {
                let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len()).max(1);
                format!(": found {}", shown(&rest[..length]))
            }
        }
    }
}

fn known(block: &Block<'_>, label: &[u8], at: usize) -> Result<u32, Box<PartFault>> {
    let undefined = || {
        let help = "define a label in the same rank, before the line that uses it";
        fault(at, format!("{} is not the label of an operation above", shown(label)), help)
    };
    block.labels.get(label).copied().ok_or_else(undefined)
}

const fn is_of_word(byte: u8) -> bool {
    IS_WORD_BYTE[byte as usize]
}

/// A table of the bytes that words may contain. A lookup is faster, and most bytes of a text belong to words.
const IS_WORD_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        #[expect(clippy::cast_possible_truncation, reason = "there are 256")]
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric() || letter == b'_';
        byte += 1;
    }
    table
};

/// Shortens and quotes a part of the text, for messages.
fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 24;
    let (part, rest) = if text.len() > LONGEST { (&text[..LONGEST], "…") } else { (text, "") };
    format!("`{}{rest}`", part.escape_ascii())
}

#[expect(clippy::unnecessary_box_returns, reason = "results without a fault are small")]
fn too_many(at: usize) -> Box<PartFault> {
    fault(at, "the rank has 2^32 operations or dependencies", "such a schedule is too large")
}

#[expect(clippy::unnecessary_box_returns, reason = "results without a fault are small")]
fn fault(at: usize, message: impl Into<String>, help: &str) -> Box<PartFault> {
    Box::new(PartFault { at, message: message.into(), help: help.to_owned() })
}
