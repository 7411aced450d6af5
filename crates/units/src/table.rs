//! Tables for a terminal.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// Returns a table with a heading. Its first column is aligned to the left, the others to the right.
pub fn table<const COLUMNS: usize>(heading: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> Table {
    table_of(&heading, rows.iter().map(<[String; COLUMNS]>::as_slice))
}

/// Returns such a table with as many columns as `heading` has.
pub fn table_of<'a>(heading: &[&str], rows: impl Iterator<Item = &'a [String]>) -> Table {
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
        let text =
            table(["kernel", "GB/s"], &[["long name".into(), "1".into()], ["short".into(), "23".into()]]).to_string();
        assert!(text.contains("long name") && text.contains("    1 ") && text.contains("   23 "), "{text}");
    }
}
