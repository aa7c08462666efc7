//! `deft tokens`: creates, lists and revokes HTTP API tokens.

use std::process::ExitCode;

use deft_service::tokens;
use deft_wire::token::{TokenScope, TokenView};
use jiff::Timestamp;

use crate::args::{Global, TokenScopeArg, Tokens};
use crate::failure::Done;
use crate::output::Output;
use crate::table::{Column, Row, Table};
use crate::when;

pub(crate) fn run(command: &Tokens, global: &Global, output: &Output) -> Done {
    match command {
        Tokens::Add { name, scope } => add(name, *scope, global, output),
        Tokens::List => list(global, output),
        Tokens::Revoke { name } => {
            let revoked = tokens::revoke(&global.workspace(), name)?;
            if output.json {
                output.document(&revoked)?;
            } else {
                output.data(format!("revoked `{name}`"))?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn add(name: &str, scope: TokenScopeArg, global: &Global, output: &Output) -> Done {
    let scope = match scope {
        TokenScopeArg::Read => TokenScope::Read,
        TokenScopeArg::Run => TokenScope::Run,
        TokenScopeArg::Admin => TokenScope::Admin,
    };
    let added = tokens::add(&global.workspace(), name, scope)?;
    if output.json {
        output.document(&added)?;
    } else {
        output.data(added.token.as_str())?;
        output.note("keep it now: deft stores only its hash and cannot show it again");
    }
    Ok(ExitCode::SUCCESS)
}

fn list(global: &Global, output: &Output) -> Done {
    let workspace = global.workspace();
    let list = tokens::list(&workspace)?;
    if output.json {
        output.document(&list)?;
    } else if list.tokens.is_empty() {
        output.note("no added tokens; the token of the owner is in the file `token` of the home");
        output.note("hint: `deft tokens add NAME --scope read` creates another one");
    } else {
        let zone = workspace.home_to_read()?.moment().zone;
        let columns = [
            Column::keep("token"),
            Column::keep("scope"),
            Column::keep("created"),
        ];
        let row = |token: &TokenView| {
            let made = when::short(token.created_at, Timestamp::now(), &zone);
            Row::new([
                token.name.as_str().into(),
                token.scope.word().into(),
                made.into(),
            ])
        };
        output.table(&Table::new(columns, list.tokens.iter().map(row)))?;
    }
    Ok(ExitCode::SUCCESS)
}
