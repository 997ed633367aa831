//! Processes: plain `async fn`s that ask for something and go on when it has happened.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Where a process leaves its request and finds the answer.
///
/// One mailbox serves all processes of a simulation, because only one of them runs at a time:
/// the request is taken out as soon as the process has yielded.
pub struct Mailbox<Q, A> {
    request: Cell<Option<Q>>,
    answer: Cell<Option<A>>,
}

impl<Q, A> Mailbox<Q, A> {
    /// An empty mailbox.
    #[must_use]
    pub fn new() -> Rc<Self> {
        Rc::new(Self { request: Cell::new(None), answer: Cell::new(None) })
    }

    /// Leaves `request`, at once; the future, to be awaited at once, is ready when the simulation has answered it.
    ///
    /// The future does not hold the request: a process that waits is as small as it can be.
    pub fn ask(&self, request: Q) -> Asking<'_, Q, A> {
        self.request.set(Some(request));
        Asking { mailbox: self }
    }
}

/// A request on its way; awaiting it yields the answer.
#[must_use = "the simulation answers when the process waits"]
pub struct Asking<'m, Q, A> {
    mailbox: &'m Mailbox<Q, A>,
}

impl<Q, A> Future for Asking<'_, Q, A> {
    type Output = A;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<A> {
        // Nothing has been answered before the request has been taken out.
        self.mailbox.answer.take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// What a process did when it was resumed.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<Q> {
    /// It asks for something and waits for the answer.
    Asks(Q),
    /// It has run to its end.
    Finished,
    /// It waits for a future that is no request of this simulation, and would wait for ever.
    Stuck,
}

/// The processes of a simulation, polled without executor and without wakers: a process is
/// resumed exactly when what it asked for has happened.
pub struct Processes<Q, A> {
    mailbox: Rc<Mailbox<Q, A>>,
    futures: Vec<Option<Pin<Box<dyn Future<Output = ()>>>>>,
}

impl<Q, A> Processes<Q, A> {
    /// The processes `futures`, which use `mailbox`.
    pub fn new(
        mailbox: Rc<Mailbox<Q, A>>,
        futures: impl IntoIterator<Item = Pin<Box<dyn Future<Output = ()>>>>,
    ) -> Self {
        Self { mailbox, futures: futures.into_iter().map(Some).collect() }
    }

    /// Hands `answer` to the process, if it waits for one, and lets it run until it asks again.
    ///
    /// # Panics
    /// If the process has finished before.
    pub fn resume(&mut self, process: usize, answer: Option<A>) -> Step<Q> {
        self.mailbox.answer.set(answer);
        let slot = &mut self.futures[process];
        let future = slot.as_mut().expect("a finished process is not resumed");
        let poll = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        match (poll, self.mailbox.request.take()) {
            (Poll::Ready(()), _) => {
                *slot = None;
                Step::Finished
            }
            (Poll::Pending, Some(request)) => Step::Asks(request),
            (Poll::Pending, None) => Step::Stuck,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_asks_and_goes_on() {
        let mailbox = Mailbox::<u32, u32>::new();
        let sum = Rc::new(Cell::new(0));
        let process = {
            let (mailbox, sum) = (Rc::clone(&mailbox), Rc::clone(&sum));
            async move {
                sum.set(mailbox.ask(1).await + mailbox.ask(2).await);
            }
        };
        let mut processes = Processes::new(mailbox, [Box::pin(process) as Pin<Box<dyn Future<Output = ()>>>]);
        assert_eq!(processes.resume(0, None), Step::Asks(1));
        assert_eq!(processes.resume(0, Some(10)), Step::Asks(2));
        assert_eq!(processes.resume(0, Some(20)), Step::Finished);
        assert_eq!(sum.get(), 30);
    }

    #[test]
    fn a_foreign_future_is_noticed() {
        let process = Box::pin(std::future::pending()) as Pin<Box<dyn Future<Output = ()>>>;
        let mut processes = Processes::<u32, u32>::new(Mailbox::new(), [process]);
        assert_eq!(processes.resume(0, None), Step::Stuck);
    }
}
