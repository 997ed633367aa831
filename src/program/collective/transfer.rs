//! Sends and receives of the steps of a collective, with a tag that no other receive takes.

use super::payload::Payload;
use crate::program::process::{COLLECTIVE_TAG as TAG, Message, Operation, Pattern, Process};

fn message(payload: &Payload) -> Message {
    Message::new(payload.bytes).tag(TAG).values(payload.values.clone())
}

pub(super) async fn send(me: &Process, to: u32, payload: &Payload) {
    me.send(to, message(payload)).await;
}

pub(super) async fn start_send(me: &Process, to: u32, payload: &Payload) -> Operation {
    me.start_send(to, message(payload)).await
}

pub(super) async fn receive(me: &Process, from: u32) -> Payload {
    let message = me.receive_where(Pattern { from: Some(from), tag: Some(TAG) }).await.message;
    Payload::new(message.bytes, message.values)
}

/// Sends to one rank while it receives from another.
pub(super) async fn exchange(me: &Process, to: u32, payload: &Payload, from: u32) -> Payload {
    let sending = start_send(me, to, payload).await;
    let received = receive(me, from).await;
    me.wait(sending).await;
    received
}
