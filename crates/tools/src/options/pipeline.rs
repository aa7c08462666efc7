//! Rules for repairing arguments that a model wrote (S0.42).

use serde::{Deserialize, Serialize};

/// Rules for repairing arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pipeline {
    /// Rules that drop parameters which models invent.
    pub hallucinated: Vec<Rule>,
}

/// Parameters that models add to a group of tools although these tools do not have them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The tools: a name, or a prefix followed by `*`.
    pub tools: String,
    /// The parameters to drop.
    pub parameters: Vec<String>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self {
            hallucinated: vec![Rule {
                tools: "vercel_*".to_owned(),
                parameters: vec!["teamId".to_owned(), "slug".to_owned()],
            }],
        }
    }
}
