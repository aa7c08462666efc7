//! `deft undo`: undoes the last deletion.

use std::process::ExitCode;

use deft_service::trash;
use deft_wire::trash::{TrashEntry, TrashList};
use jiff::Timestamp;

use crate::args::Global;
use crate::failure::Done;
use crate::output::Output;
use crate::table::{Column, Row, Table};
use crate::when;

pub(crate) fn run(list: bool, global: &Global, output: &Output) -> Done {
    if list {
        return show(global, output);
    }
    let result = trash::undo(&global.workspace())?;
    if output.json {
        output.document(&result)?;
    } else {
        output.prose(format!("restored: {}", result.undone.what))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(global: &Global, output: &Output) -> Done {
    let trash = trash::list(&global.workspace())?;
    if output.json {
        output.document(&TrashList { trash })?;
    } else if trash.is_empty() {
        output.note("the trash is empty");
    } else {
        output.page();
        let (now, zone) = (
            Timestamp::now(),
            global.workspace().home_to_read()?.moment().zone,
        );
        let row = |entry: &TrashEntry| {
            let deleted = when::short(entry.deleted_at, now, &zone);
            Row::new([deleted.into(), entry.what.as_str().into()])
        };
        let columns = [Column::keep("deleted"), Column::text("what")];
        output.table(&Table::new(columns, trash.iter().map(row)))?;
        output.note("hint: `deft undo` restores the first of these");
    }
    Ok(ExitCode::SUCCESS)
}
