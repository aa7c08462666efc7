//! Syntax checks of compute blocks, with the span of the error in the file.
//!
//! Only the grammar is checked, with the same parser as the sandbox's interpreter, so both agree. Not here:
//! an interpreter, names, and errors that only compilation finds (`return` outside a function); these are
//! reported when the block runs.

use deft_template::house_style;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::lexer::lex;
use ruff_python_parser::{Mode, parse_module};

use crate::diagnostic::Sink;
use crate::rules::Rule;
use crate::yaml::{Node, locate};

/// Maximum nesting depth up to which a block is checked. The parser recurses for each level without a limit
/// of its own, and files are parsed on threads with small stacks. Real blocks are nested a tenth as deep.
/// Deeper ones are left to the sandbox, where a stack overflow only ends the worker process.
const MAX_DEPTH: usize = 60;

/// Reports a block that is not valid Python.
pub(crate) fn check(node: &Node, file: &str, sink: &mut Sink) {
    let Some(scalar) = node.as_scalar() else {
        return;
    };
    if depth(&scalar.text) > MAX_DEPTH {
        return;
    }
    let Err(problem) = parse_module(&scalar.text) else {
        return;
    };
    let place = problem.location.start().to_usize()..problem.location.end().to_usize();
    let span = locate(file, node, place);
    let message = format!(
        "this is not Python: {}",
        house_style(&problem.error.to_string())
    );
    sink.report(Rule::InvalidCompute, span, message);
}

/// Whether a block is shallow enough for its syntax tree to be walked.
pub(crate) fn is_walkable(code: &str) -> bool {
    depth(code) <= MAX_DEPTH
}

/// An open pair of brackets, or the statement itself.
#[derive(Default)]
struct Level {
    /// Operators and keywords since the last comma; each may add a nesting level.
    operators: usize,
    /// Whether a `lambda` occurred: a comma may then separate its parameters and does not end the operators.
    lambda: bool,
}

/// Returns an upper bound of the nesting depth of a block's syntax tree.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the tokens belong to the Python parser"
)]
fn depth(code: &str) -> usize {
    let mut lexer = lex(code, Mode::Module);
    let (mut levels, mut blocks, mut deepest) = (vec![Level::default()], 0_usize, 0);
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return deepest,
            TokenKind::Indent => blocks += 1,
            TokenKind::Dedent => blocks = blocks.saturating_sub(1),
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => levels.push(Level::default()),
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => {
                // A bracket after a value nests that value: `f()()`.
                if levels.len() > 1 {
                    levels.pop();
                }
                count(&mut levels, false);
            }
            TokenKind::Newline | TokenKind::Semi => {
                levels.pop();
                levels.push(Level::default());
            }
            TokenKind::Comma => {
                if let Some(level) = levels.last_mut().filter(|level| !level.lambda) {
                    level.operators = 0;
                }
            }
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringMiddle
            | TokenKind::TStringMiddle
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline
            | TokenKind::Colon => {}
            other => count(&mut levels, other == TokenKind::Lambda),
        }
        let operators: usize = levels.iter().map(|level| level.operators).sum();
        deepest = deepest.max(blocks + levels.len() + operators);
        if deepest > MAX_DEPTH {
            return deepest;
        }
    }
}

fn count(levels: &mut [Level], lambda: bool) {
    if let Some(level) = levels.last_mut() {
        level.operators += 1;
        level.lambda |= lambda;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_measured_by_nesting_and_not_by_length() {
        for (code, expected) in [
            ("x", 1),
            ("x = [1, 2, 3]", 3),
            ("x = [(1, -2), (3, -4), (5, -6)]", 5),
            ("if a:\n  x = 1\n  y = 2\n", 3),
            ("f(')', '(')", 2),
        ] {
            assert_eq!(depth(code), expected, "{code}");
        }
        let long = "rows.append({'a': 1, 'b': [2, 3]})\n".repeat(500);
        assert!(depth(&long) < 10);
    }

    /// Each shape has the maximum depth, on a stack half as large as that of the threads that parse files;
    /// deeper blocks are not parsed.
    #[test]
    fn the_deepest_block_fits_on_a_small_stack() {
        let shapes: [fn(usize) -> String; 9] = [
            |n| format!("{}1{}", "(".repeat(n), ")".repeat(n)),
            |n| format!("{}1{}", "[".repeat(n), "]".repeat(n)),
            |n| format!("{}1{}", "{1:".repeat(n), "}".repeat(n)),
            |n| format!("{}1", "not ".repeat(n)),
            |n| format!("{}1", "lambda a, b: ".repeat(n)),
            |n| format!("f{}", "()".repeat(n)),
            |n| format!("1{}", " if 1 else 1".repeat(n)),
            |n| format!("1{}", " ** 1".repeat(n)),
            |n| {
                (0..n)
                    .map(|at| format!("{}if a:\n", " ".repeat(at)))
                    .collect::<String>()
                    + &" ".repeat(n)
                    + "a"
            },
        ];
        let deepest = |shape: fn(usize) -> String| {
            let fits = (1..=MAX_DEPTH)
                .rev()
                .map(shape)
                .find(|code| depth(code) <= MAX_DEPTH);
            fits.unwrap()
        };
        let parse = move || {
            for shape in shapes {
                let code = deepest(shape);
                assert!(parse_module(&code).is_ok(), "{code}");
                assert!(depth(&shape(100_000.min(MAX_DEPTH * 40))) > MAX_DEPTH);
            }
        };
        let small = std::thread::Builder::new().stack_size(1024 * 1024);
        small.spawn(parse).unwrap().join().unwrap();
    }
}
