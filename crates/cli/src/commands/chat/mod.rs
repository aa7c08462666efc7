//! `deft chat`: talks to an agent, at the terminal or once for a script, and shows past conversations.
//!
//! This file connects the input, the display and the agent. Not here: the agents, which run in the engine
//! behind [`Talk`].

mod answer_screen;
mod archive;
mod complete;
mod controls;
mod echo;
mod editor;
mod lines;
mod once;
mod session;
mod slash;
mod spinner;
#[cfg(test)]
mod tests;
mod turn;
mod unanswered;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;

use crate::args::{Chat, Conversations, Global};
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::progress::route_messages;
use crate::prompt::Prompt;
use answer_screen::{ChatOutput, View};
use deft_config::Home;
use deft_service::app::App;
use deft_service::doctor::ADD_A_MODEL;
use deft_service::talk::{self, NewChatMessage, Talk};
use deft_service::{Lock, runs, seed};
use deft_wire::chat::ChatUsage;
use editor::{Lines, PipedLines, Terminal};
use session::{CHANNEL, Session};
use turn::{StopRequests, TurnParticipants};

pub(crate) fn run(args: &Chat, global: &Global, output: &Output) -> Done {
    if let Some(command) = &args.command {
        let app = match command {
            Conversations::Delete { .. } => App::without_skills(&global.workspace())?,
            Conversations::List { .. }
            | Conversations::Show { .. }
            | Conversations::Search { .. } => App::to_read(&global.workspace())?,
        };
        let talk = talk::host(&app);
        let done = app.block_on(archive::run(command, &*talk, &app.zone, global, output));
        app.close();
        return done;
    }
    let home = global.workspace().home()?;
    if home.config.models.is_empty() && !args.show_prompt {
        return Err(Failure::input("no_model", "no model is configured").hint(ADD_A_MODEL));
    }
    // Read the message before opening the home: an empty message is an error.
    let text = match &args.print {
        Some(given) => Some(once::text(given)?),
        None => None,
    };
    // An assistant depends on its playbooks, so a new home gets the default skills first.
    seed::seed_new_home(&home)?;
    let app = App::open(&global.workspace())?;
    output.maybe_error_message(app.broken_warning(None));
    let chat = ChatSetup {
        args,
        global,
        output,
        home: &home,
        zone: app.zone.clone(),
    };
    // Deliver pending messages during the chat, which may be long.
    let stays = args.print.is_none() && !args.show_prompt;
    let delivery = stays.then(|| app.start_delivery());
    let done = app.block_on(chat.talk(talk::host(&app), text));
    delivery
        .into_iter()
        .for_each(|delivery| app.stop_delivery(delivery));
    app.close();
    done
}

/// The arguments and the context of a chat.
struct ChatSetup<'a> {
    args: &'a Chat,
    global: &'a Global,
    output: &'a Output,
    home: &'a Home,
    zone: jiff::tz::TimeZone,
}

impl ChatSetup<'_> {
    async fn talk(self, talk: Arc<dyn Talk>, text: Option<String>) -> Done {
        if let Some(agent) = &self.args.agent {
            talk.check_agent(agent).await?;
        }
        let conversation = match &self.args.resume {
            Some(id) => Some(archive::find(&*talk, id).await?),
            None => None,
        };
        let view = Arc::new(View::new(ChatOutput::new(self.output)));
        route_messages(&view);
        let prompt = Prompt::new(view.clone(), self.global);
        // Without a prompt, no person watches the chat.
        let alone = prompt.is_none();
        let say = |text: String| NewChatMessage {
            conversation: conversation.as_ref().map(|found| found.view.id.clone()),
            agent: self.args.agent.clone(),
            channel: CHANNEL.to_owned(),
            text,
            key: self.args.key.clone(),
            answer_to: None,
            alone,
            model: None,
            origin: runs::caller_origin(),
        };
        if self.args.show_prompt {
            let say = say(text.unwrap_or_default());
            return once::show_prompt(&*talk, say, self.output).await;
        }
        let speaker = conversation.as_ref().map(|found| found.view.agent.as_str());
        let speaker = self.args.agent.as_deref().or(speaker);
        talk.check_model(speaker).await?;
        let mut participants = TurnParticipants {
            talk,
            view,
            asker: prompt.map(|prompt| Arc::new(prompt) as Arc<_>),
            yes: self.args.yes,
            stops: StopRequests::listen(),
            is_up: |home| Lock::holder(home).is_some(),
            home: self.home.path.clone(),
        };
        if let Some(text) = text {
            if let Some(found) = &conversation {
                unanswered::resume_all(&mut participants, &found.view.id, self.output).await?;
            }
            return once::say(&mut participants, say(text), self.output).await;
        }
        if self.output.json {
            return Err(Failure::input(
                "usage",
                "`--json` prints one document, but a chat has many answers",
            )
            .hint("send one message with `-p TEXT --json`"));
        }
        let resumed = conversation.map(|found| found.view.id);
        self.session(participants, resumed).await
    }

    async fn session(self, participants: TurnParticipants, resumed: Option<String>) -> Done {
        let terminal = io::stdin().is_terminal();
        let mut session = Session {
            participants,
            conversation: None,
            agent: self.args.agent.clone(),
            usage: ChatUsage::default(),
            last: None,
            zone: self.zone,
            model: None,
            attaches: terminal,
            status: String::new(),
        };
        if let Some(id) = resumed {
            session.resume(&id).await?;
            session.agent = self.args.agent.clone().or(session.agent);
        }
        let lines: Box<dyn Lines> = if terminal {
            self.output.note("`/help` lists commands, ctrl-d ends");
            let mut terminal = Terminal::open(&self.home.path, self.output.styles_stderr())?;
            session.participants.view.print_with(terminal.printer());
            session.participants.view.hide_typing();
            session.show_status().await?;
            Box::new(terminal)
        } else {
            Box::new(PipedLines)
        };
        let done = session.run(lines).await;
        session.participants.view.print_with(None);
        done?;
        if let (Some(id), true) = (&session.conversation, terminal) {
            self.output
                .note(&format!("`deft chat --resume {id}` continues it"));
        }
        Ok(ExitCode::SUCCESS)
    }
}
