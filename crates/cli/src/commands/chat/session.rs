//! A chat at the terminal: reads lines, prints answers and the results of commands.

use crate::failure::Done;
use crate::output::table;
use crate::terminal::StyledText;
use crate::when::short;
use deft_service::runs;
use deft_service::talk::{NewChatMessage, describe_usage, dollars};
use deft_wire::chat::{ChatAnswer, ChatMessage, ChatUsage, MessageRole};
use deft_wire::model::{RunStatus, SpendSubject, visible};

use super::editor::{Input, Lines};
use super::slash::{self, Entry};
use super::turn::{TurnEnd, TurnParticipants, TurnRequest};
use super::unanswered;

/// The name of the channel for chats at the terminal.
pub(super) const CHANNEL: &str = "cli";

/// The number of earlier messages shown when a conversation is resumed.
const RESUMED_MESSAGES: usize = 4;

/// A chat.
pub(super) struct Session {
    pub participants: TurnParticipants,
    pub conversation: Option<String>,
    pub agent: Option<String>,
    /// The usage of the chat so far.
    pub usage: ChatUsage,
    /// The last answer.
    pub last: Option<ChatAnswer>,
    pub zone: jiff::tz::TimeZone,
    /// The model chosen with `/model`, or `None` for the agent's own.
    pub model: Option<String>,
    /// Whether a person types. Then `@path` attaches a file, and a status line shows the model and the cost.
    pub attaches: bool,
    /// The status line as last shown.
    pub status: String,
}

impl Session {
    /// Reads and answers lines until the input ends or the person quits.
    pub(super) async fn run(&mut self, mut lines: Box<dyn Lines>) -> Done<()> {
        let mut gave_up = false;
        loop {
            let prompt = match &self.agent {
                Some(agent) => format!("{agent}> "),
                None => "> ".to_owned(),
            };
            // Reading blocks, and leases must be renewed meanwhile.
            let asked = tokio::task::spawn_blocking(move || (lines.next(&prompt), lines));
            let Ok((input, back)) = asked.await else {
                return Ok(());
            };
            lines = back;
            match input? {
                Input::End => return Ok(()),
                Input::Interrupt if gave_up => return Ok(()),
                Input::Interrupt => {
                    gave_up = true;
                    self.note("ctrl-c again or ctrl-d ends the chat");
                    continue;
                }
                Input::Line(line) => {
                    if !self.enter(&line).await? {
                        return Ok(());
                    }
                }
            }
            gave_up = false;
        }
    }

    /// Handles a line. Returns false if it ends the chat.
    async fn enter(&mut self, line: &str) -> Done<bool> {
        let entry = Entry::read(line);
        let done = match entry {
            Entry::Quit => return Ok(false),
            Entry::Nothing => Ok(()),
            Entry::Say(text) => self.say(text).await,
            Entry::Help => {
                self.note(slash::help());
                Ok(())
            }
            Entry::Skills => self.skills().await,
            Entry::Cost => self.cost().await,
            Entry::Stop => self.stop().await,
            Entry::New => {
                self.begin();
                self.note("a new conversation");
                Ok(())
            }
            Entry::History => self.history().await,
            Entry::Resume(id) => self.resume(id.unwrap_or("last")).await,
            Entry::Agent(name) => self.switch(name).await,
            Entry::Model(None) => self.list_models().await,
            Entry::Model(Some(name)) => self.switch_model(name).await,
            Entry::Undo => self.undo().await,
            Entry::Search(words) => self.search(words).await,
            Entry::Unknown { given, near } => {
                let hint = near.map_or("`/help` lists the commands".to_owned(), |near| {
                    format!("did you mean `{near}`?")
                });
                self.note(format!("unknown command `{}`; {hint}", visible(given)));
                Ok(())
            }
        };
        // A failure does not end the chat: the next line may succeed.
        if let Err(failure) = done {
            let hint = failure.hint.map(|hint| format!("\nhint: {hint}"));
            self.note(format!("{}{}", failure.message, hint.unwrap_or_default()));
        }
        self.show_status().await?;
        Ok(true)
    }

    async fn say(&mut self, text: &str) -> Done<()> {
        let say = NewChatMessage {
            conversation: self.conversation.clone(),
            agent: self.agent.clone(),
            channel: CHANNEL.to_owned(),
            text: self.with_files(text)?,
            key: None,
            answer_to: None,
            alone: self.participants.asker.is_none(),
            model: self.model.clone(),
            origin: runs::caller_origin(),
        };
        self.answer(TurnRequest::Say(say)).await
    }

    async fn answer(&mut self, request: TurnRequest) -> Done<()> {
        match self.participants.turn(request).await? {
            TurnEnd::Answered(answer) => {
                self.participants.view.end(&answer);
                self.conversation = Some(answer.conversation.clone());
                self.usage.add(&answer.usage);
                self.last = Some(*answer);
            }
            TurnEnd::Left => self.note("left running; `deft runs list` shows its status"),
        }
        Ok(())
    }

    /// Completes unanswered messages before the next one is sent.
    async fn catch_up(&mut self, conversation: &str) -> Done<()> {
        for open in self
            .participants
            .talk
            .unanswered_messages(conversation)
            .await?
        {
            self.note(unanswered::describe(&open));
            if unanswered::can_resume(&open) {
                self.answer(TurnRequest::Resume(open.run)).await?;
            }
        }
        Ok(())
    }

    async fn skills(&self) -> Done<()> {
        let skills = self.participants.talk.skills(self.agent.as_deref()).await?;
        if skills.is_empty() {
            self.note("no skills");
            return Ok(());
        }
        let rows: Vec<Vec<String>> = skills
            .into_iter()
            .map(|(id, description)| vec![visible(&id), super::lines::words(&description)])
            .collect();
        self.note(table(&rows, crate::output::terminal_width()).trim_end());
        Ok(())
    }

    async fn cost(&self) -> Done<()> {
        self.note(format!("this chat: {}", describe_usage(&self.usage)));
        let today = self.participants.talk.spending().await?;
        if let Some(all) = today
            .scopes
            .iter()
            .find(|used| used.scope == SpendSubject::All)
        {
            let cost = dollars(all.cost_usd);
            let tokens = all.input_tokens + all.output_tokens;
            self.note(format!(
                "today: {tokens} tokens, {cost}; `deft budget show` shows details"
            ));
        }
        Ok(())
    }

    async fn stop(&mut self) -> Done<()> {
        let waits = self
            .last
            .take_if(|answer| answer.status == RunStatus::Waiting);
        let Some(answer) = waits else {
            self.note("no answer is waiting; ctrl-c stops an answer in progress");
            return Ok(());
        };
        let run = answer.run;
        self.participants.talk.stop(&run, "/stop").await?;
        self.note(format!("run {run} is stopped"));
        Ok(())
    }

    fn begin(&mut self) {
        self.conversation = None;
        self.last = None;
    }

    /// Switches to another conversation and shows its last messages.
    pub(super) async fn resume(&mut self, id: &str) -> Done<()> {
        let found = super::archive::find(&*self.participants.talk, id)
            .await?
            .view;
        let messages = self.participants.talk.messages(&found.id).await?;
        let spoken = without_results(&messages);
        self.show(&spoken[spoken.len().saturating_sub(RESUMED_MESSAGES)..]);
        self.note(format!("resuming {}: {}", found.id, visible(&found.title)));
        self.begin();
        self.conversation = Some(found.id.clone());
        self.agent = Some(found.agent);
        self.model = self.participants.talk.chosen_model(&found.id).await?;
        self.catch_up(&found.id).await
    }

    async fn history(&self) -> Done<()> {
        let Some(id) = &self.conversation else {
            self.note("no messages yet");
            return Ok(());
        };
        let messages = self.participants.talk.messages(id).await?;
        self.show(&without_results(&messages));
        Ok(())
    }

    fn show(&self, lines: &[&ChatMessage]) {
        let color = self.participants.view.color();
        for line in lines {
            let at = short(line.at, jiff::Timestamp::now(), &self.zone);
            let who = format!("{}  {at}", line.role.word());
            self.note(StyledText::paint("2", &who, color));
            self.participants.view.show(&line.text);
        }
    }

    async fn switch(&mut self, name: Option<&str>) -> Done<()> {
        match name {
            None => {
                let agent = self.agent.as_deref().unwrap_or("the default agent");
                self.note(format!(
                    "current agent: {}; `/agent NAME` switches",
                    visible(agent)
                ));
            }
            Some(name) => {
                self.participants.talk.check_agent(name).await?;
                self.begin();
                self.agent = Some(name.to_owned());
                self.note(format!(
                    "switched to {}, in a new conversation",
                    visible(name)
                ));
            }
        }
        Ok(())
    }

    async fn search(&self, words: &str) -> Done<()> {
        if words.is_empty() {
            self.note("give the words to search for: `/search WORDS`");
            return Ok(());
        }
        let found = self.participants.talk.search(words, 10).await?;
        self.note(super::archive::hits(&found, &self.zone).trim_end());
        Ok(())
    }

    pub(super) fn note(&self, text: impl Into<StyledText>) {
        self.participants.view.note(text);
    }
}

/// Returns the messages of people and agents, without the results of calls.
fn without_results(messages: &[ChatMessage]) -> Vec<&ChatMessage> {
    let messages = messages.iter();
    messages
        .filter(|message| message.role != MessageRole::Tool)
        .collect()
}
