//! A fit of equation (4) of CS-RR-281 to simulated pings.

use super::cell::Cell;
use super::description::MeasuredTable;
use crate::answer::Record;
use crate::model::point_to_point::{PointToPoint, Regime, TimedMessage};
use crate::report::TextTable;

/// Equation (4) fitted to the simulated pings of a table, with the published coefficients.
pub struct PointToPointFit {
    pub table: String,
    pub fitted: Regime,
    pub published: Regime,
}

impl PointToPointFit {
    pub fn of(table: &MeasuredTable, cells: &[Cell]) -> Option<Self> {
        let own = cells.iter().filter(|cell| table.fit_point_to_point && cell.table == table.name);
        let points: Vec<TimedMessage> = own.filter_map(Cell::ping).collect();
        let published = &PointToPoint::PARSYTEC_SUPERCLUSTER;
        let is_short = points.iter().all(|point| point.bytes <= published.packet_bytes);
        let published = if is_short { published.short } else { published.long };
        Some(Self { table: table.name.clone(), fitted: Regime::fit(&points)?, published })
    }

    /// Returns each coefficient, fitted and published, with its key, in the unit in which Table 2 prints it.
    pub fn coefficients(&self) -> [(&'static str, f64, f64); 4] {
        let us = 1e6;
        let (fitted, published) = (self.fitted, self.published);
        [
            ("alpha_us", us * fitted.alpha_s, us * published.alpha_s),
            ("beta_us_per_byte", us * fitted.beta_s_per_byte, us * published.beta_s_per_byte),
            ("gamma_us_per_hop", us * fitted.gamma_s_per_hop, us * published.gamma_s_per_hop),
            ("delta_us_per_byte_hop", us * fitted.delta_s_per_byte_hop, us * published.delta_s_per_byte_hop),
        ]
    }

    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("record", "fit");
        record.put("table", self.table.as_str());
        for (key, fitted, published) in self.coefficients() {
            record.put(key, fitted);
            record.put(format!("published_{key}"), published);
        }
        record
    }
}

/// Returns the fits as a text table.
pub fn fit_table(fits: &[PointToPointFit]) -> TextTable {
    let mut table = TextTable::new(["table", "coefficient", "fitted to simulation", "published"]);
    for fit in fits {
        for (key, fitted, published) in fit.coefficients() {
            table.row([fit.table.clone(), key.to_owned(), format!("{fitted:.4}"), format!("{published:.4}")]);
        }
    }
    table
}
