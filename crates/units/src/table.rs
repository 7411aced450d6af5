//! Formats tables for a terminal.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Row, Table, TableStyle};

/// Returns a table with a heading. The first column is aligned to the left, and the others to the right.
pub fn table(heading: impl Into<Row>, rows: impl IntoIterator<Item: Into<Row>>) -> Table {
    let style = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    let mut table = Table::new();
    table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heading);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows {
        table.add_row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_aligns_names_left_and_numbers_right() {
        let text = table(["kernel", "GB/s"], [["long name", "1"], ["short", "23"]]).to_string();
        assert!(text.contains("long name") && text.contains("    1 ") && text.contains("   23 "), "{text}");
    }
}
