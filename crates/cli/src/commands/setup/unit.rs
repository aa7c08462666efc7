//! The service that starts deft automatically. It is written and started only with the person's consent.

use deft_service::{Lock, setup};
use deft_wire::setup::{ServiceUnit, SetupModel, UnitEffect};

use super::{SetupRun, shorten};
use crate::failure::Done;

impl SetupRun<'_> {
    pub(super) fn install_service(
        &self,
        model: Option<&mut SetupModel>,
    ) -> Done<Option<ServiceUnit>> {
        if self.args.no_service {
            return Ok(None);
        }
        let is_new = !matches!(
            setup::find_unit(&self.workspace, &self.machine),
            Ok(Some(_))
        );
        let wanted = self.args.service || (is_new && self.confirm(OFFER, false)?);
        if is_new && !wanted {
            return Ok(None);
        }
        if let Some(model) = model.filter(|_| wanted) {
            self.store_key_of(model)?;
        }
        let mut unit = setup::write_unit(&self.workspace, &self.machine)?;
        self.show_unit(&unit)?;
        if wanted {
            self.start(&mut unit)?;
        }
        Ok(Some(unit))
    }

    /// Offers to store the key of a model as a secret, because a service does not see the variables of a
    /// shell.
    fn store_key_of(&self, model: &mut SetupModel) -> Done<()> {
        let Some(variable) = setup::key_variable(model).map(str::to_owned) else {
            return Ok(());
        };
        let question = format!("A service does not see `{variable}`. Store the key as a secret?");
        if self.confirm(&question, true)? {
            setup::store_key(&self.workspace, model)?;
            let reference = model.api_key.as_deref().unwrap_or_default();
            self.say("key", &format!("stored as `{reference}`"))?;
        }
        Ok(())
    }

    fn show_unit(&self, unit: &ServiceUnit) -> Done<()> {
        let path = shorten(&unit.path);
        let command = &unit.command;
        let text = match unit.effect {
            UnitEffect::Written => format!("`{path}` written; `{command}` starts it"),
            UnitEffect::Unchanged => format!("`{path}` is installed"),
            UnitEffect::Kept => format!("`{path}` was not written by deft; left unchanged"),
        };
        self.say("service", &text)
    }

    fn start(&self, unit: &mut ServiceUnit) -> Done<()> {
        if let Some(process) = Lock::holder(&self.workspace.locate()?) {
            return self.say("", &format!("deft is already running (process {process})"));
        }
        if !self.confirm("Start it now?", true)? {
            return Ok(());
        }
        setup::start_unit(&self.machine, unit);
        match &unit.error {
            None => self.say("", "started; it starts again when you log in"),
            Some(error) => self.say("", &format!("not started: {error}")),
        }
    }

    /// Returns the answer of the person, or the proposal with `--yes`.
    fn confirm(&self, question: &str, proposal: bool) -> Done<bool> {
        match &self.questions {
            Some(questions) => questions.confirm(question, proposal),
            None => Ok(proposal),
        }
    }
}

const OFFER: &str = "Run deft in the background as a service?";
