//! The codes of what can be wrong with a command (S2.44). Not here: sentences and data, which belong to
//! the code that finds the problem.

use crate::choice::choice;

choice! {
    /// What is wrong with a command, as a word for programs that never changes.
    ProblemCode {
        /// Flags that must be given are not.
        MissingFlags = "missing_flags",
        /// A value outside a closed set.
        InvalidValue = "invalid_value",
        /// Values outside a closed set, in a list.
        InvalidValues = "invalid_values",
        /// A value of another type.
        InvalidType = "invalid_type",
        /// No skill has this name.
        UnknownSkill = "unknown_skill",
        /// A flag that takes a value has none.
        MissingValue = "missing_value",
        /// A flag that takes one value has several.
        TooManyValues = "too_many_values",
        /// The page does not describe this flag.
        UnknownFlag = "unknown_flag",
        /// A word that belongs to no flag.
        StrayPositional = "stray_positional",
        /// A flag with one dash.
        ShortFlag = "short_flag",
        /// Two dashes without a name.
        InvalidFlag = "invalid_flag",
        /// A quote that is never closed.
        UnclosedQuote = "unclosed_quote",
        /// A backslash with nothing behind it.
        UnfinishedEscape = "unfinished_escape",
        /// A quote of a word processor.
        CurlyQuote = "curly_quote",
        /// Something that only a shell understands.
        ShellSyntax = "shell_syntax",
        /// A `cmd` block that is never closed.
        UnclosedBlock = "unclosed_block",
        /// There is no command.
        Empty = "empty_command",
        /// The command does not begin with a name.
        NoSkill = "no_skill",
        /// `get_skill` was asked for several things.
        ExtraTopic = "extra_topic",
        /// A call in JSON of another shape.
        InvalidCall = "invalid_call",
        /// The handler is not available.
        MissingHandler = "missing_handler",
        /// No domain has this name.
        UnknownDomain = "unknown_domain",
        /// No skill has this tag.
        UnknownTag = "unknown_tag",
        /// The file of the skill cannot be loaded.
        BrokenSkill = "broken_skill",
        /// Inputs that the skill does not take.
        InvalidInput = "invalid_input",
    }
}
