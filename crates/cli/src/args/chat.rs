//! `deft chat …` and `deft budget …`.

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Chat {
    #[command(subcommand)]
    pub command: Option<Conversations>,
    /// Say this, print the answer and end; what is piped in is said too
    #[arg(long = "print", short = 'p', value_name = "TEXT")]
    pub print: Option<String>,
    /// The agent that answers [default: `agent.default`]
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Go on with a conversation: its id, the beginning of it, or `last`
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "last")]
    pub resume: Option<String>,
    /// Show what a model would be told, and ask none
    #[arg(long)]
    pub show_prompt: bool,
    /// Answer confirmations with yes; the record says so
    #[arg(long)]
    pub yes: bool,
    /// What was said is answered once, however often it is said with this key
    #[arg(long, value_name = "KEY", requires = "print")]
    pub key: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Conversations {
    /// List conversations, the latest first
    List {
        /// Only those that took place here, such as `cli` or `telegram:CHAT`
        #[arg(long, value_name = "WHERE")]
        channel: Option<String>,
        /// At most so many
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Show what was said
    Show {
        /// Its id, or the beginning of it
        id: String,
    },
    /// Find words in what was said
    Search {
        /// The words; each has to be there, or a word that begins with it
        #[arg(required = true)]
        words: Vec<String>,
        /// At most so many
        #[arg(long, value_name = "N", default_value = "20")]
        limit: u32,
    },
    /// Delete a conversation with all its messages
    Delete {
        /// Its id, or the beginning of it
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Budget {
    /// Show what was used today, and the limits
    Show,
    /// Set a limit, for everything or for one agent; `none` takes it away
    Set(BudgetSet),
    /// Let an agent go on that was paused
    Resume {
        /// The agent
        agent: String,
    },
}

#[derive(Debug, ClapArgs)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true)))]
pub(crate) struct BudgetSet {
    /// Only for this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The most tokens in a day, or `none`
    #[arg(long, value_name = "N", group = "what")]
    pub tokens_per_day: Option<String>,
    /// The most US dollars in a day, or `none`
    #[arg(long, value_name = "AMOUNT", group = "what")]
    pub usd_per_day: Option<String>,
    /// What becomes of runs when a limit is reached: `pause`, `skip` or `ask`
    #[arg(long, value_name = "WORD", group = "what")]
    pub on_exhausted: Option<String>,
    /// More tokens than this within an hour pause the agent
    #[arg(long, value_name = "N", group = "what", requires = "agent")]
    pub spike_tokens: Option<String>,
    /// So many times its usual hour pauses the agent
    #[arg(long, value_name = "TIMES", group = "what", requires = "agent")]
    pub spike_factor: Option<String>,
}
