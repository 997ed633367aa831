//! Sends and receives of the steps of a collective operation, with a tag that no other receive matches.

use super::payload::{Payload, PayloadOrigin};
use crate::program::process::{COLLECTIVE_TAG as TAG, Message, Operation, Process};

/// Creates the message that carries a payload. It is created last, so that a waiting rank does not store one.
async fn message(me: &Process, payload: &Payload) -> Message {
    let origin = payload.take_to_send();
    if origin == PayloadOrigin::Message {
        me.forward(payload.bytes).await;
    }
    let message = Message::new(payload.bytes).tag(TAG).values(payload.values.clone());
    if origin == PayloadOrigin::SendBuffer { message.again() } else { message }
}

#[expect(clippy::manual_async_fn, reason = "an `async fn` is larger by its arguments, and there may be a million")]
pub(super) fn send(me: &Process, to: u32, payload: &Payload) -> impl Future<Output = ()> {
    async move { me.send_in_collective(to, message(me, payload).await).await }
}

pub(super) async fn start_send(me: &Process, to: u32, payload: &Payload) -> Operation {
    me.start_send_in_collective(to, message(me, payload).await).await
}

/// Starts a send with the tag of a port.
pub(super) async fn start_tagged(me: &Process, to: u32, payload: &Payload, tag: u32) -> Operation {
    me.start_send_in_collective(to, message(me, payload).await.tag(tag)).await
}

pub(super) async fn receive(me: &Process, from: u32) -> Payload {
    let message = me.receive_in_collective(from, TAG).await.message;
    Payload::received(message.bytes, message.values)
}

/// Sends to one rank while receiving from another.
pub(super) async fn exchange(me: &Process, to: u32, payload: &Payload, from: u32) -> Payload {
    let sending = start_send(me, to, payload).await;
    let received = receive(me, from).await;
    me.wait(sending).await;
    received
}
