//! Commands of a chat for its model, its last exchange and attached files, and the status line above the
//! prompt.

use deft_service::talk::{AttachedFile, ChatModel, attach, dollars};
use deft_wire::model::visible;

use super::session::Session;
use super::spinner::short_count;
use crate::failure::{Done, Failure};
use crate::output::table;
use crate::terminal::StyledText;

impl Session {
    /// Attaches the files that `text` names with `@path`.
    pub(super) fn with_files(&self, text: &str) -> Done<String> {
        if !self.attaches {
            return Ok(text.to_owned());
        }
        let folder = std::env::current_dir().unwrap_or_default();
        let home = deft_config::env::user_home();
        let attached = attach(text, &folder, home.as_deref())?;
        if !attached.files.is_empty() {
            let line = format!("attached {}", list(&attached.files));
            self.note(StyledText::paint(
                "2",
                &line,
                self.participants.view.color(),
            ));
        }
        Ok(attached.text)
    }

    pub(super) async fn list_models(&self) -> Done<()> {
        let models = self.models().await?;
        let row = |model: &ChatModel| {
            let answers = Some(&model.name) == self.next_model(&models).map(|one| &one.name);
            let mark = if answers { "answers" } else { "" };
            let cells = [&model.name, &model.provider, &model.model];
            let cells = cells.map(|cell| visible(cell));
            cells.into_iter().chain([mark.to_owned()]).collect()
        };
        let rows: Vec<Vec<String>> = models.iter().map(row).collect();
        self.note(table(&rows, crate::output::terminal_width()).trim_end());
        if models.len() > 1 {
            self.note("`/model NAME` switches the model");
        }
        Ok(())
    }

    pub(super) async fn switch_model(&mut self, name: &str) -> Done<()> {
        let models = self.models().await?;
        let Some(found) = models.iter().find(|model| model.name == name) else {
            let names: Vec<&str> = models.iter().map(|model| &*model.name).collect();
            let message = format!("unknown model `{name}`");
            let hint = format!("configured models: {}", names.join(", "));
            return Err(Failure::input("no_model", message).hint(hint));
        };
        self.model = Some(found.name.clone());
        let text = format!("switched to {} ({}) for this chat", found.name, found.model);
        self.note(text);
        Ok(())
    }

    pub(super) async fn undo(&mut self) -> Done<()> {
        let undone = match &self.conversation {
            Some(id) => self.participants.talk.undo(id).await?,
            None => None,
        };
        let Some(undone) = undone else {
            self.note("nothing to undo");
            return Ok(());
        };
        self.last = None;
        let text = super::lines::words(&undone.text);
        self.note(format!("removed \"{text}\" and its answer"));
        if !undone.called.is_empty() {
            let run = undone.run.map_or(String::new(), |run| {
                format!("; `deft runs show {run}` lists their calls")
            });
            self.note(format!("effects of tool calls are not undone{run}"));
        }
        Ok(())
    }

    /// Prints the status line with the model and the cost of the chat if it has changed.
    pub(super) async fn show_status(&mut self) -> Done<()> {
        if !self.attaches {
            return Ok(());
        }
        let models = self.models().await?;
        let model = self.next_model(&models);
        let status = model.map_or(String::new(), |model| self.status_of(model));
        if status != self.status && !status.is_empty() {
            let line = StyledText::paint("2", &status, self.participants.view.color());
            self.participants.view.tell(line);
        }
        self.status = status;
        Ok(())
    }

    fn status_of(&self, model: &ChatModel) -> String {
        let mut name = visible(&model.name);
        if model.name != model.model {
            name.push_str(&format!(" ({})", visible(&model.model)));
        }
        let usage = &self.usage;
        if usage.llm_calls == 0 {
            return name;
        }
        let tokens = short_count(usage.input_tokens + usage.output_tokens);
        let cost = usage.cost_usd.map(|cost| format!(" · {}", dollars(cost)));
        format!("{name} · {tokens} tokens{}", cost.unwrap_or_default())
    }

    async fn models(&self) -> Done<Vec<ChatModel>> {
        self.participants.talk.models(self.agent.as_deref()).await
    }

    /// Returns the model for the next answer.
    fn next_model<'a>(&self, models: &'a [ChatModel]) -> Option<&'a ChatModel> {
        let chosen = |model: &&ChatModel| self.model.as_ref() == Some(&model.name);
        let usual = |model: &&ChatModel| model.usual;
        match &self.model {
            Some(_) => models.iter().find(chosen),
            None => models.iter().find(usual),
        }
    }
}

/// Formats files with their sizes.
fn list(files: &[AttachedFile]) -> String {
    let files = files.iter().map(|file| {
        let size = match file.bytes {
            0..1000 => format!("{} bytes", file.bytes),
            bytes => format!("{} kB", bytes.div_ceil(1000)),
        };
        format!("{} ({size})", visible(&file.path))
    });
    files.collect::<Vec<_>>().join(", ")
}
