use super::*;

const PROCESSORS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const EQUATIONS: [u32; 3] = [128, 256, 512];
const BROADCASTS: [BroadcastTerms; 2] = [BroadcastTerms::Naive, BroadcastTerms::Neighbour];

const TABLE_3: &str = include_str!("../../../../validation/cs-rr-281/table3-naive.csv");
const TABLE_4: &str = include_str!("../../../../validation/cs-rr-281/table4-neighbour.csv");
const TABLE_5: &str = include_str!("../../../../validation/cs-rr-281/table5.csv");

/// Returns the most square mesh with a number of processors that is a power of two.
fn mesh(p: u32) -> Mesh {
    let rows = 1 << (p.ilog2() / 2);
    Mesh::new(rows, p / rows)
}

fn records(csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(String::from).collect()).collect()
}

/// Returns the `predicted_s` of Tables 3 and 4 as (broadcast, n, p, printed).
fn printed_totals() -> Vec<(BroadcastTerms, u32, u32, f64)> {
    let of = |broadcast, csv| {
        records(csv).into_iter().map(move |r| {
            let printed = r[3].parse().unwrap();
            (broadcast, r[0].parse().unwrap(), r[1].parse().unwrap(), printed)
        })
    };
    of(BroadcastTerms::Naive, TABLE_3).chain(of(BroadcastTerms::Neighbour, TABLE_4)).collect()
}

/// Returns one unit of the last printed digit. The report prints two decimals, three below 0.01, and omits trailing
/// zeros.
fn printed_unit(text: &str) -> f64 {
    match text.split_once('.') {
        Some((_, decimals)) if decimals.len() == 3 => 0.001,
        _ => 0.01,
    }
}

/// Returns whether `model`, truncated after the printed digits, is `printed`.
fn is_cut_to(model: f64, printed: f64, unit: f64) -> bool {
    printed <= model && model < printed + unit
}

fn table_5_component(prediction: &Prediction, component: &str) -> f64 {
    let shares = prediction.computation_shares.unwrap();
    match component {
        "Txp" => prediction.total_s,
        "Tproc" => shares.processing_s(),
        "Tmem" => shares.memory_s(),
        "Ti/o" => prediction.input_output_s(),
        "Tcom" => prediction.communication_s(),
        "Tfpu" => shares.fpu_s,
        "Tcpu" => shares.cpu_s,
        "Texm" => shares.external_memory_s,
        "Tinm" => shares.internal_memory_s,
        "Tinp" => prediction.input_s,
        "Tout" => prediction.output_s,
        "Tcini" => prediction.initialisation_s,
        "Tdist" => prediction.distribution_s,
        "Tbroad" => prediction.broadcast_s,
        "Tcol" => prediction.collection_s,
        other => panic!("Table 5 has no {other}"),
    }
}

#[test]
fn as_printed_gives_every_parallel_prediction_of_tables_3_and_4() {
    let cells: Vec<_> = printed_totals().into_iter().filter(|c| c.2 > 1).collect();
    assert_eq!(cells.len(), 42);
    for (broadcast, n, p, printed) in cells {
        let model = as_printed(n, p, broadcast).unwrap().total_s;
        assert!(is_cut_to(model, printed, 0.01), "{broadcast:?} n={n} p={p}: {model} is not cut to {printed}");
    }
}

#[test]
fn as_printed_gives_the_sequential_predictions_but_the_misprint() {
    let missed: Vec<_> = printed_totals()
        .into_iter()
        .filter(|&(broadcast, n, p, printed)| {
            p == 1 && !is_cut_to(as_printed(n, p, broadcast).unwrap().total_s, printed, 0.01)
        })
        .collect();
    assert_eq!(missed, [(BroadcastTerms::Naive, 512, 1, 586.52), (BroadcastTerms::Neighbour, 512, 1, 586.52)]);
}

/// Printed values that are not reproduced: Tcol, by at most 1.6 ms, and input and output. The report prints the latter
/// as 1.97 although 1.9639 + 0.0061 = 1.96996. Ti/o is thus rounded, as the only value of the table, and Tinp is Ti/o.
#[test]
fn as_printed_gives_table_5_but_these_cells() {
    let missed: Vec<_> = records(TABLE_5)
        .into_iter()
        .filter(|record| {
            let p = record[0].parse().unwrap();
            let prediction = as_printed(256, p, BroadcastTerms::Neighbour).unwrap();
            let model = table_5_component(&prediction, &record[1]);
            !is_cut_to(model, record[2].parse().unwrap(), printed_unit(&record[2]))
        })
        .map(|record| format!("{} p={}: {}", record[1], record[0], record[2]))
        .collect();
    let everywhere = |name| PROCESSORS.map(|p| format!("{name} p={p}: 1.97"));
    let collection = ["Tcol p=2: 0.01", "Tcol p=16: 0.02", "Tcol p=128: 0.03"].map(String::from);
    let expected = [&everywhere("Ti/o")[..], &everywhere("Tinp"), &collection].concat();
    assert_eq!(missed, expected);
}

#[test]
fn unreproduced_cells_of_table_5_miss_by_little() {
    let at = |p| as_printed(256, p, BroadcastTerms::Neighbour).unwrap();
    for (p, printed) in [(2, 0.01), (16, 0.02), (128, 0.03)] {
        let missing = printed - at(p).collection_s;
        assert!(0.0 < missing && missing < 1.6e-3, "p={p}: {missing}");
    }
    assert!((at(1).input_output_s() - 1.97).abs() < 0.005);
    assert!((at(1).input_s - 1.9639).abs() < 5e-5);
}

#[test]
fn as_printed_is_silent_off_the_tables() {
    for broadcast in BROADCASTS {
        for (n, p) in [(100, 2), (1024, 2), (256, 3), (256, 0), (256, 256)] {
            assert_eq!(as_printed(n, p, broadcast), None);
        }
    }
}

/// Totals computed independently from the same equations, by p.
const AS_WRITTEN_TOTALS: [(BroadcastTerms, u32, [f64; 8]); 6] = [
    (BroadcastTerms::Neighbour, 128, [9.5100, 5.2805, 3.2627, 2.2640, 1.8291, 1.6526, 1.6673, 1.8606]),
    (BroadcastTerms::Neighbour, 256, [74.2600, 39.2102, 22.0599, 13.5048, 9.4363, 7.4630, 6.6617, 6.4878]),
    (BroadcastTerms::Neighbour, 512, [586.9400, 301.7541, 160.6436, 90.1478, 55.6827, 38.5934, 30.5597, 26.9302]),
    (BroadcastTerms::Naive, 128, [9.5100, 5.2805, 3.4650, 3.2205, 4.4972, 8.4740, 17.6559, 40.9921]),
    (BroadcastTerms::Naive, 256, [74.2600, 39.2102, 22.8393, 17.1376, 19.4413, 32.3636, 63.7418, 141.0350]),
    (BroadcastTerms::Naive, 512, [586.9400, 301.7541, 163.7019, 104.2921, 94.3678, 133.4256, 245.1316, 521.1617]),
];

#[test]
fn as_written_gives_the_reference_totals() {
    for (broadcast, n, totals) in AS_WRITTEN_TOTALS {
        for (p, total) in PROCESSORS.into_iter().zip(totals) {
            let model = as_written(n, mesh(p), broadcast).total_s;
            assert!((model - total).abs() <= 0.5e-4, "{broadcast:?} n={n} p={p}: {model} is not {total}");
        }
    }
}

/// Computed independently for N = 256: p, Tcini, Tdist, Tbroad, Tcol, Tcom.
const AS_WRITTEN_COMPONENTS: [(u32, [f64; 5]); 7] = [
    (2, [0.00127, 0.36318, 0.72930, 0.00142, 1.09518]),
    (4, [0.00508, 0.55146, 1.45860, 0.00227, 2.01741]),
    (8, [0.01270, 0.65931, 1.82324, 0.00329, 2.49855]),
    (16, [0.03048, 0.72457, 2.18789, 0.00531, 2.94825]),
    (32, [0.06604, 0.78914, 2.37022, 0.00861, 3.23401]),
    (64, [0.14224, 0.85338, 2.55254, 0.01405, 3.56221]),
    (128, [0.29464, 0.98763, 2.64370, 0.02709, 3.95306]),
];

#[test]
fn as_written_gives_the_reference_components() {
    for (p, components) in AS_WRITTEN_COMPONENTS {
        let prediction = as_written(256, mesh(p), BroadcastTerms::Neighbour);
        for (name, component) in ["Tcini", "Tdist", "Tbroad", "Tcol", "Tcom"].into_iter().zip(components) {
            let model = table_5_component(&prediction, name);
            assert!((model - component).abs() <= 0.5e-5, "{name} p={p}: {model} is not {component}");
        }
    }
}

#[test]
fn input_and_output_by_n() {
    for (n, seconds) in EQUATIONS.into_iter().zip([0.49720, 1.96996, 7.84889]) {
        let prediction = as_written(n, Mesh::new(1, 1), BroadcastTerms::Naive);
        assert!((prediction.input_output_s() - seconds).abs() < 0.5e-5);
    }
}

#[test]
fn fitted_sequential_time_is_near_the_published_one() {
    for n in EQUATIONS {
        let relative = fitted_sequential_s(n) / sequential_s(n) - 1.0;
        assert!(relative.abs() < 3.2e-4, "n={n}: {relative}");
    }
}

#[test]
fn components_add_up() {
    for broadcast in BROADCASTS {
        let written = [(100, 3, 5), (256, 1, 1), (1000, 8, 16), (4, 16, 16)]
            .map(|(n, r, c)| as_written(n, Mesh::new(r, c), broadcast));
        let printed = PROCESSORS.map(|p| as_printed(256, p, broadcast).unwrap());
        for prediction in written.iter().chain(&printed) {
            let sum = prediction.computation_s
                + prediction.initialisation_s
                + prediction.distribution_s
                + prediction.broadcast_s
                + prediction.collection_s
                + prediction.input_s
                + prediction.output_s
                + prediction.repeated_input_output_s;
            assert!((sum - prediction.total_s).abs() < 1e-9 * sum);
        }
    }
}

#[test]
fn computation_is_processing_and_memory_where_the_report_splits_it() {
    let prediction = as_written(256, Mesh::new(2, 4), BroadcastTerms::Neighbour);
    let shares = prediction.computation_shares.unwrap();
    let sum = shares.processing_s() + shares.memory_s();
    assert!((sum - prediction.computation_s).abs() < 1e-9);
    assert!((shares.memory_s() / shares.processing_s() - 1.2527).abs() < 5e-5);
    let other = as_written(128, Mesh::new(2, 4), BroadcastTerms::Neighbour);
    assert_eq!(other.computation_shares, None);
}

#[test]
fn one_processor_does_not_communicate() {
    for broadcast in BROADCASTS {
        let written = as_written(300, Mesh::new(1, 1), broadcast);
        assert!(written.communication_s().abs() < 1e-15);
        assert!((written.total_s - sequential_s(300)).abs() < 1e-9);
    }
}

#[test]
fn mesh_sums_by_enumeration() {
    for (rows, columns) in [(1, 1), (1, 2), (3, 5), (8, 16)] {
        let places: Vec<(u32, u32)> = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).collect();
        let pairs = places.iter().flat_map(|a| places.iter().map(move |b| a.0.abs_diff(b.0) + a.1.abs_diff(b.1)));
        let distances: Vec<u32> = pairs.collect();
        let mesh = Mesh::new(rows, columns);
        let sum = f64::from(distances.iter().sum::<u32>()) / mesh.processors();
        assert!((mesh.mean_distance_sum() - sum).abs() < 1e-9);
        let adjacent = distances.iter().map(|&d| u32::from(d == 1)).sum::<u32>();
        assert!((mesh.links() - f64::from(adjacent) / 2.0).abs() < 1e-12);
    }
}

#[test]
#[should_panic(expected = "a mesh has at least one processor")]
fn an_empty_mesh_is_refused() {
    let _ = Mesh::new(0, 4);
}
