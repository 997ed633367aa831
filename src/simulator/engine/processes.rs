//! Processes: plain `async fn`s that issue a request and resume when it has been answered.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The slot in which a process leaves its request and finds the answer.
///
/// One mailbox serves all processes of a simulation, because only one process runs at a time: the request is taken out
/// as soon as the process has yielded.
pub struct Mailbox<Q, A> {
    request: Cell<Option<Q>>,
    answer: Cell<Option<A>>,
    /// Set when a process has issued another request without awaiting the answer to the first.
    has_unawaited_request: Cell<bool>,
}

impl<Q, A> Mailbox<Q, A> {
    /// Creates an empty mailbox.
    #[must_use]
    pub fn new() -> Rc<Self> {
        Rc::new(Self { request: Cell::new(None), answer: Cell::new(None), has_unawaited_request: Cell::new(false) })
    }

    /// Issues `request` immediately. The future, which must be awaited immediately, becomes ready when the simulation
    /// has answered the request, and yields `read(answer)`.
    ///
    /// The future does not hold the request, which keeps waiting processes small.
    pub fn ask<R>(&self, request: Q, read: R) -> IssuedRequest<'_, Q, A, R> {
        if self.request.replace(Some(request)).is_some() {
            self.has_unawaited_request.set(true);
        }
        IssuedRequest { mailbox: self, read }
    }
}

/// A request that has been issued; awaiting it yields the answer.
#[must_use = "the simulation answers when the process waits"]
pub struct IssuedRequest<'m, Q, A, R> {
    mailbox: &'m Mailbox<Q, A>,
    read: R,
}

impl<Q, A, T, R: Fn(A) -> T + Unpin> Future for IssuedRequest<'_, Q, A, R> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        // There is no answer until the request has been taken out.
        self.mailbox.answer.take().map_or(Poll::Pending, |answer| Poll::Ready((self.read)(answer)))
    }
}

/// Result of resuming a process.
#[derive(Debug, PartialEq, Eq)]
pub enum Resumed<Q> {
    /// The process has issued a request and waits for the answer.
    Asks(Q),
    /// The process has finished.
    Finished,
    /// The process waits for a future that is not a request of this simulation, which would never complete, or it has
    /// issued a request without awaiting it.
    Stuck,
}

/// The processes of a simulation, polled without an executor and without wakers: a process is resumed exactly when its
/// request has been answered.
pub struct Processes<Q, A> {
    mailbox: Rc<Mailbox<Q, A>>,
    futures: Vec<Option<Pin<Box<dyn Future<Output = ()>>>>>,
}

impl<Q, A> Processes<Q, A> {
    /// Creates the processes `futures`, which use `mailbox`.
    pub fn new(
        mailbox: Rc<Mailbox<Q, A>>,
        futures: impl IntoIterator<Item = Pin<Box<dyn Future<Output = ()>>>>,
    ) -> Self {
        Self { mailbox, futures: futures.into_iter().map(Some).collect() }
    }

    /// Passes `answer` to the process, if it waits for one, and runs the process until its next request.
    ///
    /// # Panics
    /// Panics if the process has already finished.
    pub fn resume(&mut self, process: usize, answer: Option<A>) -> Resumed<Q> {
        self.mailbox.answer.set(answer);
        let slot = &mut self.futures[process];
        let future = slot.as_mut().expect("a finished process is not resumed");
        let poll = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        match (poll, self.mailbox.request.take()) {
            _ if self.mailbox.has_unawaited_request.take() => Resumed::Stuck,
            (Poll::Ready(()), None) => {
                *slot = None;
                Resumed::Finished
            }
            (Poll::Pending, Some(request)) => Resumed::Asks(request),
            (Poll::Pending, None) | (Poll::Ready(()), Some(_)) => Resumed::Stuck,
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
                sum.set(mailbox.ask(1, |ten| ten).await + mailbox.ask(2, |twenty| twenty + 1).await);
            }
        };
        let mut processes = Processes::new(mailbox, [Box::pin(process) as Pin<Box<dyn Future<Output = ()>>>]);
        assert_eq!(processes.resume(0, None), Resumed::Asks(1));
        assert_eq!(processes.resume(0, Some(10)), Resumed::Asks(2));
        assert_eq!(processes.resume(0, Some(20)), Resumed::Finished);
        assert_eq!(sum.get(), 31);
    }

    #[test]
    fn a_foreign_future_is_noticed() {
        let process = Box::pin(std::future::pending()) as Pin<Box<dyn Future<Output = ()>>>;
        let mut processes = Processes::<u32, u32>::new(Mailbox::new(), [process]);
        assert_eq!(processes.resume(0, None), Resumed::Stuck);
    }

    #[test]
    fn a_request_that_is_not_awaited_is_noticed() {
        let mailbox = Mailbox::<u32, u32>::new();
        let (twice, at_the_end) = (Rc::clone(&mailbox), Rc::clone(&mailbox));
        let twice = async move {
            let first = twice.ask(1, |answer| answer);
            let second = twice.ask(2, |answer| answer);
            first.await;
            second.await;
        };
        let at_the_end = async move {
            drop(at_the_end.ask(1, |answer: u32| answer));
        };
        let mut processes =
            Processes::new(mailbox, [Box::pin(twice) as Pin<Box<dyn Future<Output = ()>>>, Box::pin(at_the_end)]);
        assert_eq!(processes.resume(0, None), Resumed::Stuck);
        assert_eq!(processes.resume(1, None), Resumed::Stuck);
    }
}
