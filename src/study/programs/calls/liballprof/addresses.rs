//! The requests of liballprof traces, which their addresses identify.

use super::line::CallRecord;
use super::signatures::{REQUEST_ARRAY, REQUEST_COUNT};
use crate::programs::calls::call::{BUFFERED, Call, RequestName};
use crate::programs::calls::line_reader::{CallQueue, LineFault};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of requests that a call waits for.
const MAX_REQUESTS: u64 = 1 << 24;

/// The requests of a rank, by address.
#[derive(Default)]
pub struct RequestAddresses {
    /// The requests that may be pending.
    open: FxHashSet<u64>,
    /// The requests that were complete at once, as long as no wait has named them: of buffered sends, and of operations
    /// without a partner.
    complete: FxHashSet<u64>,
    /// All requests that have begun so far.
    begun: FxHashSet<u64>,
    /// The persistent requests: the call that `MPI_Start` makes, or `None` for a partner `MPI_PROC_NULL`.
    persistent: FxHashMap<u64, Option<Call>>,
}

impl RequestAddresses {
    /// Begins an operation, or none if it has no partner. An earlier request at the same address is waited for, because
    /// reuse of the address implies its completion.
    pub fn begin(&mut self, address: u64, operation: Option<Call>, calls: &mut CallQueue) {
        if !self.open.insert(address) {
            calls.push(Call::Wait(name(address)));
        }
        self.begun.insert(address);
        self.complete.remove(&address);
        if matches!(operation, None | Some(Call::Send { request: Some(BUFFERED), .. })) {
            self.open.remove(&address);
            self.complete.insert(address);
        }
        calls.extend(operation);
    }

    /// Creates a persistent request, whose message begins with `MPI_Start`.
    pub fn create(&mut self, address: u64, message: Option<Call>) {
        self.persistent.insert(address, message);
    }

    /// Starts the persistent request at `address`, which argument `at` of the line refers to.
    pub fn start(
        &mut self,
        line: &CallRecord<'_>,
        at: usize,
        address: u64,
        calls: &mut CallQueue,
    ) -> Result<(), LineFault> {
        let Some(message) = self.persistent.get(&address).cloned() else {
            return Err(line
                .fault(at, format!("the request at {address} has not been created, for example by `MPI_Send_init`")));
        };
        self.begin(address, message, calls);
        Ok(())
    }

    pub fn wait(&mut self, address: u64, calls: &mut CallQueue) {
        self.record_unbegun(&[address], calls);
        self.open.remove(&address);
        self.complete.remove(&address);
        calls.push(Call::Wait(name(address)));
    }

    pub fn wait_for_all(&mut self, addresses: &[u64], calls: &mut CallQueue) {
        self.record_unbegun(addresses, calls);
        for address in addresses {
            self.complete.remove(address);
            calls.extend(self.open.remove(address).then_some(Call::Wait(name(*address))));
        }
    }

    /// Waits for one of several requests, which may be one that was complete at once.
    pub fn wait_for_any(&mut self, addresses: &[u64], calls: &mut CallQueue) {
        self.record_unbegun(addresses, calls);
        if addresses.iter().any(|address| self.complete.remove(address)) {
            return;
        }
        let open = addresses.iter().filter(|address| self.open.contains(address));
        calls.push(Call::WaitAny(open.map(|address| name(*address)).collect()));
    }

    /// Records a wait for requests of which none has begun at any time or is persistent.
    fn record_unbegun(&self, addresses: &[u64], calls: &mut CallQueue) {
        let has_begun = |address: &u64| self.begun.contains(address) || self.persistent.contains_key(address);
        if !addresses.is_empty() && !addresses.iter().any(has_begun) {
            calls.record_unbegun_wait();
        }
    }

    /// Returns the addresses of the requests in an array, given by its length and the address of its first element. The
    /// size of an element follows from the library, MPICH or another, or from the addresses that are known.
    pub fn array(&self, line: &CallRecord<'_>, is_mpich: bool) -> Result<impl Iterator<Item = u64> + use<>, LineFault> {
        let (count, first) = (line.number(REQUEST_COUNT)?, line.number(REQUEST_ARRAY)?);
        if count > MAX_REQUESTS {
            let message = format!("{count} requests at once; the maximum is {MAX_REQUESTS}");
            return Err(line.fault(REQUEST_COUNT, message));
        }
        let at = move |number: u64, bytes: u64| first.wrapping_add(number * bytes);
        let is_known = |address: &u64| {
            [&self.open, &self.complete].iter().any(|known| known.contains(address))
                || self.persistent.contains_key(address)
        };
        let is_small = is_mpich || (0..count).any(|number| number % 2 == 1 && is_known(&at(number, 4)));
        let bytes = if is_small { 4 } else { 8 };
        Ok((0..count).map(move |number| at(number, bytes)))
    }
}

/// Returns the name of the request at an address.
#[expect(clippy::cast_possible_truncation, reason = "the halves of the number")]
pub const fn name(address: u64) -> RequestName {
    [(address >> 32) as u32, address as u32, 0]
}
