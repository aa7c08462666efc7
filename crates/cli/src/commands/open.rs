//! `deft open`: signs a browser in to the running daemon.

use std::process::ExitCode;

use deft_config::open_in_browser;
use deft_service::tokens;
use deft_wire::token::OpenResult;

use crate::args::{Global, Open};
use crate::failure::Done;
use crate::output::Output;

pub(crate) fn run(args: &Open, global: &Global, output: &Output) -> Done {
    let code = tokens::create_code(&global.workspace())?;
    let opened = !args.no_browser && open_in_browser(&code.write_redirect()?);
    if output.json {
        output.document(&OpenResult {
            ok: true,
            url: code.url,
            expires_at: code.expires_at,
            opened,
        })?;
    } else if opened {
        output.note("opened deft in your browser");
    } else {
        output.data(code.url)?;
        output
            .note("open this address within two minutes; it signs in one browser, with all rights");
    }
    Ok(ExitCode::SUCCESS)
}
