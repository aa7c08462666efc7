//! `deft chat …` and `deft budget …`.

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, Default, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Chat {
    #[command(subcommand)]
    pub command: Option<Conversations>,
    /// Send one message, print the answer and exit; piped input is appended
    #[arg(long = "print", short = 'p', value_name = "TEXT")]
    pub print: Option<String>,
    /// The agent that answers [default: `agent.default`]
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Continue a conversation: its id, a prefix of it, or `last`
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "last")]
    pub resume: Option<String>,
    /// Print the prompt without calling a model
    #[arg(long)]
    pub show_prompt: bool,
    /// Approve every confirmation; this is recorded
    #[arg(long)]
    pub yes: bool,
    /// Idempotency key: the message is answered only once per key
    #[arg(long, value_name = "KEY", requires = "print")]
    pub key: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Conversations {
    /// List conversations, latest first
    List {
        /// Only conversations on this channel, such as `cli` or `telegram:CHAT`
        #[arg(long, value_name = "WHERE")]
        channel: Option<String>,
        /// Maximum number of results
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Show a conversation
    Show {
        /// The conversation id, a prefix of it, or `last`
        id: String,
    },
    /// Search conversations
    Search {
        /// Words to search for; all must match, as whole words or prefixes
        #[arg(required = true)]
        words: Vec<String>,
        /// Maximum number of results
        #[arg(long, value_name = "N", default_value = "20")]
        limit: u32,
    },
    /// Delete a conversation with all its messages; `deft undo` restores it
    Delete {
        /// The conversation id, a prefix of it, or `last`
        id: String,
        /// Delete without asking
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Budget {
    /// Show today's usage and the limits
    Show,
    /// Set a limit, overall or for one agent; `none` removes it
    Set(BudgetSet),
    /// Resume a paused agent
    Resume {
        /// The agent's name
        agent: String,
    },
}

#[derive(Debug, ClapArgs)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true)))]
pub(crate) struct BudgetSet {
    /// Set the limit for this agent [default: overall]
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Maximum tokens per day, or `none`
    #[arg(long, value_name = "N", group = "what")]
    pub tokens_per_day: Option<String>,
    /// Maximum US dollars per day, or `none`
    #[arg(long, value_name = "AMOUNT", group = "what")]
    pub usd_per_day: Option<String>,
    /// Action when a limit is reached: `pause`, `skip` or `ask`
    #[arg(long, value_name = "WORD", group = "what")]
    pub on_exhausted: Option<String>,
    /// Pause the agent after this many tokens in one hour
    #[arg(long, value_name = "N", group = "what", requires = "agent")]
    pub spike_tokens: Option<String>,
    /// Pause the agent when its usage in one hour exceeds the usual by this factor
    #[arg(long, value_name = "TIMES", group = "what", requires = "agent")]
    pub spike_factor: Option<String>,
}
