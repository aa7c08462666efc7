//! All rules that a file can violate: one table for ids, severities and the reference page.

use crate::severity::Severity;

/// Defines the rules in one place.
macro_rules! rules {
    ($( $variant:ident = $id:literal, $severity:ident, $summary:literal; )+) => {
        /// A rule that a file can violate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the summary in the table is the documentation")]
        pub enum Rule { $( $variant ),+ }

        impl Rule {
            /// All rules, in the order of the table.
            pub const ALL: &'static [Rule] = &[$( Rule::$variant ),+];

            /// Returns the name used in output, documents and suppressions.
            pub fn id(self) -> &'static str {
                match self { $( Rule::$variant => $id ),+ }
            }

            /// Returns the default severity.
            pub fn severity(self) -> Severity {
                match self { $( Rule::$variant => Severity::$severity ),+ }
            }

            /// Returns a sentence that describes the requirement.
            pub fn summary(self) -> &'static str {
                match self { $( Rule::$variant => $summary ),+ }
            }
        }
    };
}

rules! {
    // The file itself.
    Unreadable = "unreadable", Error, "The file can be opened and read.";
    TooLarge = "too_large", Error, "The file is not larger than the limit.";
    NotUtf8 = "not_utf8", Error, "The file is UTF-8 text.";
    Bom = "bom", Warning, "The file does not start with a byte order mark.";
    NotASkill = "not_a_skill", Hint, "The file is a skill file.";
    MissingSkillMd = "missing_skill_md", Warning, "A folder among skills holds a SKILL.md or other skill files, one among agents an AGENT.md.";
    NestedTooDeep = "nested_too_deep", Warning, "Folders are not nested deeper than the limit.";
    SymlinkLoop = "symlink_loop", Warning, "Symbolic links do not lead back into a folder that contains them.";

    TooManyFolders = "too_many_folders", Warning, "Folders of skills are within the limits of number and time.";
    LinkOutside = "link_outside", Warning, "Symbolic links lead to files in folders of skills.";
    SpecialFile = "special_file", Warning, "Pipes, sockets and devices are not among skills.";

    // Frontmatter and YAML.
    MissingFrontmatter = "missing_frontmatter", Error, "The file starts with frontmatter between two `---` lines.";
    UnclosedFrontmatter = "unclosed_frontmatter", Error, "The frontmatter is closed by a `---` line.";
    YamlSyntax = "yaml_syntax", Error, "The YAML can be read.";
    RepairedYaml = "repaired_yaml", Warning, "Values that are not valid YAML are quoted.";
    FlowStyle = "flow_style", Warning, "The open format allows block style only, no `{…}` or `[…]`.";
    AnchorOrTag = "anchor_or_tag", Warning, "The open format does not allow anchors, aliases or tags.";
    DuplicateKey = "duplicate_key", Error, "A key appears once.";
    UnevenIndent = "uneven_indent", Warning, "In the open format, nested mappings of one parent have the same indentation.";
    NotAMapping = "not_a_mapping", Error, "The document is a mapping of keys to values.";
    UnknownKey = "unknown_key", Warning, "Every key is known; an unknown one is an error in workflows, records and agents, a warning elsewhere.";
    WrongType = "wrong_type", Error, "A value has the type of its key.";
    InvalidValue = "invalid_value", Error, "A value is one that its key accepts.";

    // Names and descriptions.
    MissingName = "missing_name", Error, "The skill has a name.";
    MissingDescription = "missing_description", Error, "The skill has a description.";
    MissingBody = "missing_body", Error, "The skill has text below its frontmatter.";
    InvalidName = "invalid_name", Error, "The name has the form that its dialect requires.";
    ReservedName = "reserved_name", Error, "The action is not `all` or `help`, which `get_skill` uses.";
    NameFolderMismatch = "name_folder_mismatch", Warning, "The name equals the name of the folder.";
    NamePathMismatch = "name_path_mismatch", Warning, "The dotted name equals the path, `domain/action.md`.";
    NameTooLong = "name_too_long", Warning, "The name has at most 64 characters.";
    DescriptionTooLong = "description_too_long", Warning, "The description has at most 1024 characters.";
    CompatibilityTooLong = "compatibility_too_long", Warning, "The compatibility note has at most 500 characters.";
    DuplicateId = "duplicate_id", Warning, "No two skills have the same id.";

    // Man pages.
    UnknownHandler = "unknown_handler", Error, "The handler of a page is `tool:NAME`, `skill:NAME` or a built-in handler.";
    InvalidFlag = "invalid_flag", Warning, "A line of the Flags section starts with `--name`.";
    DuplicateFlag = "duplicate_flag", Warning, "A flag is described once.";

    // Workflows.
    MissingSteps = "missing_steps", Error, "A workflow has at least one step.";
    MissingStepId = "missing_step_id", Error, "A step has an id.";
    DuplicateStepId = "duplicate_step_id", Error, "Step ids, output names and inputs do not collide.";
    InvalidStepId = "invalid_step_id", Error, "Step ids and output names can be used in templates.";
    StepAction = "step_action", Error, "A step has exactly one of the keys that say what it does: `tool`, `compute` and so on.";
    UnknownStep = "unknown_step", Error, "Steps that other steps name exist.";
    DependencyCycle = "dependency_cycle", Error, "Steps do not wait for each other in a cycle.";
    InvalidTemplate = "invalid_template", Error, "Templates compile.";
    InvalidCondition = "invalid_condition", Error, "Conditions are Python expressions.";
    InvalidCompute = "invalid_compute", Error, "Compute blocks are Python.";
    UndefinedName = "undefined_name", Error, "Names in templates, conditions and compute blocks are inputs or earlier steps, or have a `default`.";
    LaterName = "later_name", Error, "Templates, conditions and compute blocks use only values that exist before their step runs.";
    ComputeResult = "compute_result", Warning, "A compute block sets `result`.";
    MayPrintNone = "may_print_none", Warning, "Text does not print the value of a step that may be skipped, or of an input that may be missing.";
    MayReadNone = "may_read_none", Warning, "A compute block tests the value of a step that may be skipped before it reads a member of it.";
    ScheduledInput = "scheduled_input", Warning, "A scheduled skill has a default for each required input.";
    InvalidOnError = "invalid_on_error", Error, "`on_error` is `fail`, `continue` or `retry:N`.";
    InvalidPattern = "invalid_pattern", Error, "Input patterns are regular expressions.";
    InvalidDefault = "invalid_default", Error, "The default of an input is a valid value of it.";

    // Surroundings, as far as known.
    UnknownTool = "unknown_tool", Warning, "A server provides each named tool.";
    ToolArgument = "tool_argument", Warning, "Arguments match the schema of the tool.";
    UnknownSkill = "unknown_skill", Warning, "Named skills exist.";
    SkillCycle = "skill_cycle", Warning, "Skills do not run each other in a cycle.";

    // Triggers.
    InvalidCron = "invalid_cron", Error, "Cron expressions parse and have a next fire.";
    InvalidTimezone = "invalid_timezone", Error, "Time zones are IANA names.";
    InvalidInstant = "invalid_instant", Error, "`at` is an ISO timestamp.";
    TriggerConflict = "trigger_conflict", Error, "A trigger has one of `schedule`, `interval_minutes`, `at` and a delay.";

    // Advice (S3.26).
    AdviseHeal = "advise_heal", Hint, "Steps that call outside services have a `heal` rule.";
    AdviseStepId = "advise_step_id", Hint, "Step ids describe what the step does.";
    AdviseOnError = "advise_on_error", Hint, "A step with `on_error: continue` is checked later.";
    AdviseConfirm = "advise_confirm", Hint, "Destructive steps are confirmed.";
    AdviseLog = "advise_log", Hint, "A run returns or logs its result.";
}

impl Rule {
    /// Whether the rule is about good practice and not about mistakes (S3.26).
    pub(crate) fn is_advice(self) -> bool {
        self >= Self::AdviseHeal
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}
