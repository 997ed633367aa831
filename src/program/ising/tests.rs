use super::*;
use crate::engine::Streams;
use crate::machine::Machine;
use crate::simulation::Simulation;
use crate::trace::Trace;
