//! Choice and test of the model during setup.

use deft_service::setup::{
    self, KEY_PROVIDERS, KeyProvider, ModelCandidate, ModelChoice, ModelPreferences,
};
use deft_wire::setup::{ModelTest, SetupFindings, SetupModel};

use super::{SetupRun, answers};
use crate::failure::Done;
use crate::output::format_count;
use crate::questions::Questions;
use crate::terminal::{Stream, StyledText};

impl SetupRun<'_> {
    /// Chooses, tests and configures the model for agents. A configured model that works is kept.
    pub(super) fn set_up_model(&self, found: &SetupFindings) -> Done<Option<SetupModel>> {
        let preferences = ModelPreferences {
            provider: self.args.provider.clone(),
            model: self.args.model.clone(),
            base_url: self.args.base_url.clone(),
        };
        if preferences.is_empty()
            && let Some(model) = setup::configured_model(&self.workspace)?
        {
            let model = self.test(model)?;
            if answers(&model) || self.questions.is_none() {
                return Ok(Some(model));
            }
        }
        let candidates = setup::candidates(&self.workspace, &self.machine, found)?;
        match &self.questions {
            Some(questions) if preferences.is_empty() => {
                self.ask_until_it_answers(questions, &candidates)
            }
            Some(questions) => match setup::provider_without_key(&candidates, &preferences) {
                Some(provider) => self.ask_missing_key(questions, provider, &preferences),
                None => self.apply_preferences(&candidates, &preferences),
            },
            None => self.apply_preferences(&candidates, &preferences),
        }
    }

    fn apply_preferences(
        &self,
        candidates: &[ModelCandidate],
        preferences: &ModelPreferences,
    ) -> Done<Option<SetupModel>> {
        match setup::choose(candidates, preferences)? {
            Some(choice) => self.use_model(&choice).map(Some),
            None => self.show_none(),
        }
    }

    /// Asks for the key of a provider given on the command line. With `--base-url` the key may be empty.
    fn ask_missing_key(
        &self,
        questions: &Questions,
        provider: &KeyProvider,
        preferences: &ModelPreferences,
    ) -> Done<Option<SetupModel>> {
        let empty = match preferences.base_url {
            Some(_) => ", empty if the server needs none",
            None => "",
        };
        let question = format!("API key of {} (not shown{empty}):", provider.title);
        let Some(key) = questions.hidden_text(&question)? else {
            return self.show_none();
        };
        let model = match &preferences.model {
            Some(model) => Some(model.clone()),
            None => questions.text("Model:", provider.model)?,
        };
        let Some(model) = model else {
            return self.show_none();
        };
        let choice = setup::choose_with_key(&self.machine, provider, &model, &key);
        self.use_model(&choice.at_address(preferences)?).map(Some)
    }

    fn ask_until_it_answers(
        &self,
        questions: &Questions,
        candidates: &[ModelCandidate],
    ) -> Done<Option<SetupModel>> {
        loop {
            let Some(choice) = self.ask_choice(questions, candidates)? else {
                return self.show_none();
            };
            let model = self.use_model(&choice)?;
            if answers(&model) || !questions.confirm("Choose another model?", true)? {
                return Ok(Some(model));
            }
        }
    }

    fn show_none(&self) -> Done<Option<SetupModel>> {
        self.say("model", "none yet; chat and agents need one")?;
        Ok(None)
    }

    fn use_model(&self, choice: &ModelChoice) -> Done<SetupModel> {
        let model = setup::configure(&self.workspace, choice)?;
        self.test(model)
    }

    fn test(&self, mut model: SetupModel) -> Done<SetupModel> {
        let name = format!("{} ({})", model.model, model.name);
        if self.args.no_test {
            self.say("model", &format!("{name} is configured; it was not tested"))?;
            return Ok(model);
        }
        let waits = self.questions.is_some();
        if waits {
            drop(Stream::Err.write(format!("asking {name} …")));
        }
        let test = setup::test_model(&self.workspace, &model.name);
        if waits {
            drop(Stream::Err.write(StyledText::clear_line()));
        }
        let test = test?;
        self.say("model", &result(&name, &test))?;
        model.test = Some(test);
        Ok(model)
    }

    fn ask_choice(
        &self,
        questions: &Questions,
        candidates: &[ModelCandidate],
    ) -> Done<Option<ModelChoice>> {
        let mut options: Vec<String> = candidates.iter().map(label).collect();
        options.extend(["enter an API key", "none for now"].map(str::to_owned));
        let question = "Which model should deft use?";
        let Some(place) = questions.select(question, &options)? else {
            return Ok(None);
        };
        match candidates.get(place) {
            Some(candidate) => choose_from(questions, candidate),
            None if place == candidates.len() => self.ask_key(questions),
            None => Ok(None),
        }
    }

    fn ask_key(&self, questions: &Questions) -> Done<Option<ModelChoice>> {
        let titles = KEY_PROVIDERS.iter().map(|one| one.title.to_owned());
        let titles: Vec<String> = titles.collect();
        let Some(place) = questions.select("Which provider is your API key for?", &titles)? else {
            return Ok(None);
        };
        let Some(provider) = KEY_PROVIDERS.get(place) else {
            return Ok(None);
        };
        let question = format!("API key of {} (not shown):", provider.title);
        let key = questions.hidden_text(&question)?;
        let Some(key) = key.filter(|key| !key.trim().is_empty()) else {
            return Ok(None);
        };
        let model = questions.text("Model:", provider.model)?;
        Ok(model.map(|model| setup::choose_with_key(&self.machine, provider, &model, &key)))
    }
}

/// Asks for the model of a candidate: for a provider with a key as text with a proposal, for a local server
/// as a selection of its models.
fn choose_from(questions: &Questions, candidate: &ModelCandidate) -> Done<Option<ModelChoice>> {
    let model = match (candidate.models.as_slice(), &candidate.key) {
        ([only], None) => Some(only.clone()),
        ([proposed, ..], Some(_)) => questions.text("Model:", proposed)?,
        (models, _) => {
            let place = questions.select("Which model?", models)?;
            place.and_then(|place| models.get(place)).cloned()
        }
    };
    Ok(model.map(|model| candidate.choose(&model)))
}

fn label(candidate: &ModelCandidate) -> String {
    let detail = match (&candidate.key, candidate.models.as_slice()) {
        (Some(key), _) => match key.strip_prefix("env:") {
            Some(variable) => format!("key in {variable}"),
            None => "stored key".to_owned(),
        },
        (None, [only]) => only.clone(),
        (None, models) => format_count(models.len(), "model"),
    };
    format!("{} ({detail})", candidate.title)
}

fn result(name: &str, test: &ModelTest) -> String {
    let seconds = format!(
        "{}.{} s",
        test.latency_ms / 1000,
        test.latency_ms % 1000 / 100
    );
    if test.ok {
        return format!("{name} answers after {seconds}");
    }
    let reason = test.error.as_deref().unwrap_or("no reason was given");
    let hint = test.hint.as_ref();
    let hint = hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
    format!("{name} does not answer: {reason}{hint}")
}
