//! Conversion of a prediction to components, and the place of its bottleneck.

use super::{ComputationShares, Prediction};
use crate::analysis::{Bottleneck, BottleneckSite, Component, Components, ComputationSplit, SubComponent};

/// The words of 64 bits per floating-point operation of `Rsub`, `a[j] -= f * b[j]`, which loads two words and stores
/// one for two operations.
pub const RSUB_WORDS_PER_FLOP: f64 = 1.5;

impl From<&Prediction> for Components {
    /// `T_s` and `T_po` are zero, because the report considers them negligible. The time that the printed predictions
    /// count twice ([`Prediction::repeated_input_output_s`]) is in the total only, as in Table 5.
    fn from(prediction: &Prediction) -> Self {
        let computation_s = prediction.computation_s;
        Self {
            total_s: prediction.total_s,
            computation_s,
            split: prediction.computation_shares.map(|shares| split(shares, computation_s)),
            serial_s: Some(0.0),
            parallel_overhead_s: Some(0.0),
            shared_memory_s: None,
            initialisation_s: prediction.initialisation_s,
            distribution_s: prediction.distribution_s,
            broadcast_s: prediction.broadcast_s,
            collection_s: prediction.collection_s,
            other_communication_s: 0.0,
            other_communication_phases: Vec::new(),
            input_s: prediction.input_s,
            output_s: prediction.output_s,
            processor_utilization: computation_s / prediction.total_s,
            load_balance: 1.0,
            overlap_s: None,
        }
    }
}

fn split(shares: ComputationShares, computation_s: f64) -> ComputationSplit {
    ComputationSplit {
        cpu: shares.cpu_s / computation_s,
        fpu: shares.fpu_s / computation_s,
        internal_memory: shares.internal_memory_s / computation_s,
        external_memory: shares.external_memory_s / computation_s,
        words_per_flop: Some(RSUB_WORDS_PER_FLOP),
    }
}

/// Returns the place and time of the bottleneck of a prediction, if the equations contain them: `Rsub`, which every
/// processor computes alike, a communication routine, or processor 0, which reads, distributes, collects and writes.
#[must_use]
pub fn place(bottleneck: &Bottleneck) -> BottleneckSite {
    let of = |rank, module, phase| BottleneckSite {
        rank,
        module: Some(module),
        phase: Some(phase),
        ..BottleneckSite::default()
    };
    match bottleneck.part {
        Some(SubComponent::Input) => of(Some(0), "input", "input"),
        Some(SubComponent::Output) => of(Some(0), "output", "output"),
        Some(SubComponent::Distribution) => of(Some(0), "distribution", "distribution"),
        Some(SubComponent::Collection) => of(Some(0), "collection", "collection"),
        Some(SubComponent::Broadcast) => of(None, "broadcast", "broadcast"),
        Some(SubComponent::Initialisation) => of(None, "initialisation", "initialisation"),
        _ if matches!(bottleneck.component, Component::Communication | Component::InputOutput) => {
            BottleneckSite::default()
        }
        _ => of(None, "Rsub", "reduction"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BroadcastTerms, Mesh, as_printed, as_written};
    use super::*;
    use crate::analysis::AxisInterval;

    const PROCESSORS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    const TABLE_5: &str = include_str!("../../../../validation/cs-rr-281/table5.csv");

    fn printed(p: u32) -> Components {
        Components::from(&as_printed(256, p, BroadcastTerms::Neighbour).unwrap())
    }

    fn row(components: &Components, name: &str) -> f64 {
        let component = |component| components.component_s(component).unwrap();
        let part = |part| components.part_s(part).unwrap();
        match name {
            "Txp" => components.total_s,
            "Tproc" => component(Component::Processing),
            "Tmem" => component(Component::Memory),
            "Ti/o" => component(Component::InputOutput),
            "Tcom" => component(Component::Communication),
            "Tfpu" => part(SubComponent::Fpu),
            "Tcpu" => part(SubComponent::Cpu),
            "Texm" => part(SubComponent::ExternalMemory),
            "Tinm" => part(SubComponent::InternalMemory),
            "Tinp" => part(SubComponent::Input),
            "Tout" => part(SubComponent::Output),
            "Tcini" => part(SubComponent::Initialisation),
            "Tdist" => part(SubComponent::Distribution),
            "Tbroad" => part(SubComponent::Broadcast),
            "Tcol" => part(SubComponent::Collection),
            other => panic!("Table 5 has no {other}"),
        }
    }

    /// The table truncates its digits: three below 0.01 s, two above. Tinp is a misprint and Ti/o is rounded.
    #[test]
    fn components_as_printed_are_table_5() {
        let mut missed = Vec::new();
        for line in TABLE_5.lines().skip(1) {
            let [p, name, text] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let (value, cell) = (row(&printed(p.parse().unwrap()), name), text.parse::<f64>().unwrap());
            let unit = if text.split_once('.').is_some_and(|(_, digits)| digits.len() == 3) { 0.001 } else { 0.01 };
            let tolerance = if name == "Ti/o" { 0.005 } else { 1e-9 };
            if !(cell - tolerance <= value && value < cell + unit) {
                missed.push(format!("{name} p={p}"));
            }
        }
        missed.retain(|cell| !cell.starts_with("Tinp"));
        assert_eq!(missed, ["Tcol p=2", "Tcol p=16", "Tcol p=128"]);
    }

    #[test]
    fn the_largest_component_as_printed() {
        use Component::{Communication, InputOutput, Memory};
        let largest = PROCESSORS.map(|p| Bottleneck::of(&printed(p)).component);
        let expected = [Memory, Memory, Memory, Memory, Memory, InputOutput, InputOutput, Communication];
        assert_eq!(largest, expected);
        let at_128 = Bottleneck::of(&printed(128));
        assert_eq!(at_128.part, Some(SubComponent::Broadcast));
        assert_eq!(place(&at_128).module, Some("broadcast"));
    }

    #[test]
    fn the_crossovers_as_printed() {
        let points: Vec<_> = PROCESSORS.map(|p| (f64::from(p), printed(p))).into();
        let steps: Vec<_> =
            points.windows(2).map(|w| AxisInterval { from: (w[0].0, &w[0].1), to: (w[1].0, &w[1].1) }).collect();
        let changes: Vec<_> = steps.iter().flat_map(AxisInterval::changes).collect();
        let [to_input_output, to_communication] = changes[..] else { panic!("{changes:?}") };
        assert!((20.0..21.0).contains(&to_input_output.at), "{to_input_output:?}");
        assert!((64.0..72.0).contains(&to_communication.at), "{to_communication:?}");
        let unity = |step: &AxisInterval| step.passes_one(Components::communication_to_computation);
        let passes: Vec<f64> = steps.iter().filter_map(unity).collect();
        assert!(matches!(passes[..], [at] if (45.0..48.0).contains(&at)), "{passes:?}");
        assert!(steps.iter().all(|step| step.passes_one(Components::memory_to_processing).is_none()));
    }

    #[test]
    fn memory_to_processing_is_constant_without_a_cache() {
        for p in PROCESSORS {
            assert!((printed(p).memory_to_processing().unwrap() - 40.2 / 32.09).abs() < 1e-9);
        }
    }

    #[test]
    fn components_as_written_leave_nothing_without_a_name() {
        let components = Components::from(&as_written(100, Mesh::new(3, 4), BroadcastTerms::Naive));
        assert!(components.unattributed_s().abs() < 1e-12);
        assert_eq!(components.component_s(Component::Memory), None);
        assert_eq!(components.component_s(Component::Serial), Some(0.0));
    }
}
