//! Codes of problems with commands (S2.44). Not here: messages and data, which belong to the code that finds
//! the problem.

use crate::choice::choice;

choice! {
    /// A problem with a command, as a stable word for programs.
    ProblemCode {
        /// Required flags are missing.
        MissingFlags = "missing_flags",
        /// A value is not in the closed set of the flag.
        InvalidValue = "invalid_value",
        /// Some values of a list are not in the closed set of the flag.
        InvalidValues = "invalid_values",
        /// A value has the wrong type.
        InvalidType = "invalid_type",
        /// No skill has this name.
        UnknownSkill = "unknown_skill",
        /// A flag that takes a value has none.
        MissingValue = "missing_value",
        /// A flag that takes one value has several.
        TooManyValues = "too_many_values",
        /// The man page does not describe this flag.
        UnknownFlag = "unknown_flag",
        /// A word belongs to no flag.
        StrayPositional = "stray_positional",
        /// A flag has only one dash.
        ShortFlag = "short_flag",
        /// Two dashes are not followed by a name.
        InvalidFlag = "invalid_flag",
        /// A quote is not closed.
        UnclosedQuote = "unclosed_quote",
        /// A backslash is the last character.
        UnfinishedEscape = "unfinished_escape",
        /// A typographic quote is used instead of a plain one.
        CurlyQuote = "curly_quote",
        /// The command contains syntax that only a shell understands.
        ShellSyntax = "shell_syntax",
        /// A `cmd` block is not closed.
        UnclosedBlock = "unclosed_block",
        /// The command is empty.
        Empty = "empty_command",
        /// The command does not begin with a name.
        NoSkill = "no_skill",
        /// `get_skill` was called with several topics.
        ExtraTopic = "extra_topic",
        /// The JSON of a call has the wrong shape.
        InvalidCall = "invalid_call",
        /// The handler is not available.
        MissingHandler = "missing_handler",
        /// No domain has this name.
        UnknownDomain = "unknown_domain",
        /// No skill has this tag.
        UnknownTag = "unknown_tag",
        /// The file of the skill cannot be loaded.
        BrokenSkill = "broken_skill",
        /// The skill does not accept the inputs.
        InvalidInput = "invalid_input",
    }
}
