//! The time of a run by the library of the playground as native code, in milliseconds: median of 11 after a first one.

use std::time::Instant;

fn main() {
    let text = include_str!("../../../scenarios/gauss-jordan-neighbour.ron");
    let set = [["ranks", "64"], ["program.n", "256"]];
    let request =
        serde_json::json!({ "ask": "run", "name": "gauss-jordan-neighbour.ron", "text": text, "set": set }).to_string();
    let mut times: Vec<f64> = (0..12)
        .map(|_| {
            let begin = Instant::now();
            let answer = parsim_playground::answer(request.as_bytes());
            assert!(answer.starts_with("{\"json\""), "{answer}");
            1000.0 * begin.elapsed().as_secs_f64()
        })
        .skip(1)
        .collect();
    times.sort_by(f64::total_cmp);
    println!("native: {:.1} ms", times[5]);
}
