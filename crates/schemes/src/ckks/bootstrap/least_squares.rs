// SPDX-License-Identifier: Apache-2.0
//! Least squares by Householder's reflections.

/// Returns the vector x for which the sum of (row x - value)^2 over all rows is least. All rows have the length of x.
/// An entry of x that the rows and the entries after it leave open is 0.
pub fn least_squares(mut rows: Vec<(Vec<f64>, f64)>) -> Vec<f64> {
    let unknowns = rows.first().map_or(0, |(row, _)| row.len());
    for column in 0..unknowns.min(rows.len()) {
        reflect(&mut rows, column);
    }
    let mut x = vec![0.0; unknowns];
    for column in (0..unknowns).rev() {
        let Some((row, value)) = rows.get(column) else {
            continue;
        };
        let known = row.iter().zip(&x).skip(column + 1);
        let known: f64 = known.map(|(a, b)| a * b).sum();
        let diagonal = row.get(column).copied().unwrap_or(0.0);
        if let Some(entry) = x.get_mut(column)
            && diagonal != 0.0
        {
            *entry = (value - known) / diagonal;
        }
    }
    x
}

/// Reflects the rows from row `column` on, so that the column is zero below that row.
fn reflect(rows: &mut [(Vec<f64>, f64)], column: usize) {
    let Some(rows) = rows.get_mut(column..) else {
        return;
    };
    let mut mirror: Vec<f64> = rows
        .iter()
        .map(|(row, _)| row.get(column).copied().unwrap_or(0.0))
        .collect();
    let norm = mirror.iter().map(|a| a * a).sum::<f64>().sqrt();
    let Some(first) = mirror.first_mut() else {
        return;
    };
    // The sign that adds instead of cancelling.
    *first += norm.copysign(*first);
    let square: f64 = mirror.iter().map(|a| a * a).sum();
    if square == 0.0 {
        return;
    }
    let length = rows.first().map_or(0, |(row, _)| row.len());
    let mut products = vec![0.0; length + 1];
    for ((row, value), m) in rows.iter().zip(&mirror) {
        for (sum, a) in products.iter_mut().zip(row.iter().chain([value])) {
            *sum += a * m;
        }
    }
    for ((row, value), m) in rows.iter_mut().zip(&mirror) {
        let entries = row.iter_mut().chain([value]);
        for (a, product) in entries.zip(&products) {
            *a -= 2.0 * product / square * m;
        }
    }
}
