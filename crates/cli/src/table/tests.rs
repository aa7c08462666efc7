//! Tables at several widths.

use super::*;

const RUNS: [Column; 5] = [
    Column::id("run"),
    Column::keep("skill"),
    Column::keep("outcome"),
    Column::extra("cause"),
    Column::text("about"),
];

fn rows(rows: &[[&str; 5]]) -> Vec<Row> {
    let row = |row: &[&str; 5]| Row::new(row.map(Cell::from));
    rows.iter().map(row).collect()
}

fn two_runs() -> Table {
    let rows = rows(&[
        [
            "run_01a1dfed18e073f3b94e",
            "morning-briefing",
            "success",
            "schedule",
            "tells the day's meetings and the mail that matters",
        ],
        ["run_01a1dfed18e173f3b94e", "backup", "error", "by hand", ""],
    ]);
    Table::new(RUNS, rows)
}

fn print_table(table: &Table, width: Option<usize>) -> String {
    let color = false;
    table.print(TableStyle { width, color }).as_str().to_owned()
}

#[test]
fn a_table_without_a_width_has_one_line_for_each_row() {
    let wanted = "\
RUN                       SKILL             OUTCOME  CAUSE     ABOUT
run_01a1dfed18e073f3b94e  morning-briefing  success  schedule  tells the day's meetings and the mail that matters
run_01a1dfed18e173f3b94e  backup            error    by hand
";
    assert_eq!(print_table(&two_runs(), None), wanted);
}

#[test]
fn texts_wrap_on_words_and_ids_keep_their_distinct_part() {
    let wanted = "\
RUN               SKILL             OUTCOME  CAUSE     ABOUT
run_01a1dfed18e0  morning-briefing  success  schedule  tells the day's meetings
                                                       and the mail that matters
run_01a1dfed18e1  backup            error    by hand
";
    assert_eq!(print_table(&two_runs(), Some(80)), wanted);
}

#[test]
fn wide_cells_move_below_their_row() {
    let wanted = "\
RUN               SKILL             OUTCOME
run_01a1dfed18e0  morning-briefing  success
    schedule · tells the day's meetings and the …
run_01a1dfed18e1  backup            error
    by hand
";
    assert_eq!(print_table(&two_runs(), Some(50)), wanted);
}

#[test]
fn a_long_name_affects_only_its_own_row() {
    let long = "a-name-that-is-longer-than-half-of-the-line";
    let table = Table::new(
        [Column::keep("skill"), Column::keep("outcome")],
        [
            Row::new([long.into(), "success".into()]),
            Row::new(["backup".into(), "error".into()]).with_below(Some("no space left on device")),
        ],
    );
    let wanted = "\
SKILL   OUTCOME
a-name-that-is-longer-than-half-of-the-line
        success
backup  error
    no space left on device
";
    assert_eq!(print_table(&table, Some(50)), wanted);
}

#[test]
fn colours_have_no_width_and_lines_have_no_trailing_spaces() {
    let table = Table::new(
        [Column::keep("outcome"), Column::keep("note")],
        [
            Row::new([Cell::with_tone("error", Tone::Bad), "x".into()]),
            Row::new(["success".into(), "".into()]),
        ],
    );
    let paper = TableStyle {
        width: Some(80),
        color: true,
    };
    let wanted = "\x1b[1mOUTCOME  NOTE\x1b[0m\n\x1b[31merror\x1b[0m    x\nsuccess\n";
    assert_eq!(table.print(paper).as_str(), wanted);
}

#[test]
fn a_text_has_at_most_two_lines() {
    let words = "one two three four five six seven eight nine ten eleven twelve";
    let table = Table::new([Column::text("about")], [Row::new([words.into()])]);
    let wanted = "one two three four five\nsix seven eight nine …\n";
    assert_eq!(print_table(&table.headless(), Some(24)), wanted);
}
