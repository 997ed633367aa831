//! The names of requests. Every operation that begins under a name must be waited for.

use crate::programs::phases::compiled::RequestNumber;
use parsim_sim::fault::Fault;
use parsim_sim::units::nearest;

/// The names of requests, each with the paths of a step that begins an operation under it and of one that waits for it or
/// tests it.
#[derive(Default)]
pub(super) struct RequestNames {
    names: Vec<RequestUse>,
    /// `true` if some step waits for all operations.
    waits_for_all: bool,
}

#[derive(Default)]
struct RequestUse {
    name: String,
    begun: Option<String>,
    asked: Option<String>,
    is_waited: bool,
}

impl RequestNames {
    /// Returns the number of the name under which the step at `path` begins an operation. An empty name stands for
    /// none.
    pub fn begin(&mut self, name: &str, path: &str) -> RequestNumber {
        let number = self.number(name);
        self.names[usize::from(number)].begun.get_or_insert_with(|| path.to_owned());
        number
    }

    /// Returns the number of the name for which the step at `path` waits.
    pub fn wait(&mut self, name: &str, path: &str) -> RequestNumber {
        let number = self.test(name, path);
        self.names[usize::from(number)].is_waited = true;
        number
    }

    /// Returns the number of the name that the step at `path` tests.
    pub fn test(&mut self, name: &str, path: &str) -> RequestNumber {
        let number = self.number(name);
        self.names[usize::from(number)].asked.get_or_insert_with(|| path.to_owned());
        number
    }

    pub const fn wait_for_all(&mut self) {
        self.waits_for_all = true;
    }

    fn number(&mut self, name: &str) -> RequestNumber {
        let place = self.names.iter().position(|known| known.name == name).unwrap_or_else(|| {
            self.names.push(RequestUse { name: name.to_owned(), ..RequestUse::default() });
            self.names.len() - 1
        });
        // Names beyond the maximum share one number, which no realistic program reaches.
        RequestNumber::try_from(place).unwrap_or(RequestNumber::MAX)
    }

    /// Returns the faults of names that no step waits for, and of names under which no step begins an operation.
    pub fn faults(&self) -> impl Iterator<Item = Fault> {
        self.names.iter().filter_map(|request| match request {
            RequestUse { begun: Some(begun), is_waited: false, name, .. } if !self.waits_for_all => {
                Some(unwaited(name, begun))
            }
            RequestUse { begun: None, asked: Some(asked), name, .. } => Some(self.unknown(name, asked)),
            _ => None,
        })
    }

    fn unknown(&self, name: &str, path: &str) -> Fault {
        let begun = || self.names.iter().filter(|request| request.begun.is_some()).map(|request| request.name.as_str());
        let help = match nearest(name, begun()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("write `request: \"{name}\"` in the Isend, Irecv or Icollective that it waits for"),
        };
        Fault::new(&format!("{path}.request"), format!("no step begins a request `{name}`"), help)
    }

    pub fn into_names(self) -> Vec<String> {
        self.names.into_iter().map(|request| request.name).collect()
    }
}

fn unwaited(name: &str, path: &str) -> Fault {
    if name.is_empty() {
        return Fault::new(path, "no step waits for this request", "write `Waitall` after it, or give it a name");
    }
    let help = format!("write `Wait(request: \"{name}\")` behind it");
    Fault::new(&format!("{path}.request"), format!("no step waits for the request `{name}`"), help)
}
