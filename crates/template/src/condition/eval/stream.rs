//! Advancing of iterators, and comprehensions, which are built from them.

use deft_values::args::Args;
use deft_values::ast::{Clause, ComprehensionKind, Expr};
use deft_values::iterate::{self, Generator, Handle, Stream};
use deft_values::table::{Set, Table};
use deft_values::{Fault, Outcome};
use deft_values::{Value, deeper};

use super::Machine;

impl<'a> Machine<'a> {
    /// Returns the next item of an iterator.
    pub(super) fn next(&mut self, handle: &Handle<'a>) -> Outcome<Option<Value<'a>>> {
        self.budget.enter_call()?;
        let item = match handle.try_borrow_mut() {
            Ok(mut stream) => self.step(&mut stream),
            Err(_) => Err(Fault::other("generator already executing")),
        };
        self.budget.leave_call();
        item
    }

    fn step(&mut self, stream: &mut Stream<'a>) -> Outcome<Option<Value<'a>>> {
        match stream {
            Stream::Items(_, container, at) => {
                let item = iterate::item(container, *at);
                *at += usize::from(item.is_some());
                Ok(item)
            }
            Stream::Chars(text, at) => {
                let Some(c) = text[*at..].chars().next() else {
                    return Ok(None);
                };
                let start = *at;
                *at += c.len_utf8();
                Ok(Some(Value::Str(text.cut(start..*at))))
            }
            Stream::Map(function, sources, _) => {
                let Some(items) = self.row(sources, false)? else {
                    return Ok(None);
                };
                self.call_value(function, Args::from_positional(items))
                    .map(Some)
            }
            Stream::Filter(function, source, _) => self.next_filtered(function, source),
            Stream::Zip(sources, strict, _) => match self.row(sources, *strict)? {
                Some(items) => Value::tuple(items).map(Some),
                None => Ok(None),
            },
            Stream::Enumerate(source, count, _) => {
                let Some(item) = self.next(source)? else {
                    return Ok(None);
                };
                let number = Value::Int(*count);
                *count += 1;
                Value::tuple(vec![number, item]).map(Some)
            }
            Stream::Generator(generator) => {
                let Some(element) = self.advance(generator)?.then_some(generator.element) else {
                    return Ok(None);
                };
                self.inside(generator.frame, |machine| machine.eval(element))
                    .map(Some)
            }
        }
    }

    fn next_filtered(
        &mut self,
        function: &Value<'a>,
        source: &Handle<'a>,
    ) -> Outcome<Option<Value<'a>>> {
        while let Some(item) = self.next(source)? {
            let keep = match function {
                Value::None => item.truth()?,
                _ => self
                    .call_value(function, Args::from_positional(vec![item.clone()]))?
                    .truth()?,
            };
            if keep {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// Returns one item of each source, or `None` as soon as one has ended.
    fn row(&mut self, sources: &[Handle<'a>], strict: bool) -> Outcome<Option<Vec<Value<'a>>>> {
        let mut items = Vec::with_capacity(sources.len());
        for source in sources {
            match self.next(source)? {
                Some(item) => items.push(item),
                None if strict => return self.check_strict(sources, items.len()),
                None => return Ok(None),
            }
        }
        Ok((!items.is_empty()).then_some(items))
    }

    /// Checks that all sources end together, as `strict` requires.
    fn check_strict(
        &mut self,
        sources: &[Handle<'a>],
        ended: usize,
    ) -> Outcome<Option<Vec<Value<'a>>>> {
        if ended > 0 {
            let before = if ended == 1 { "1" } else { "s 1" };
            return Err(Fault::other(format!(
                "zip() argument {} is shorter than argument{before}",
                ended + 1
            )));
        }
        for (at, source) in sources.iter().enumerate().skip(1) {
            if self.next(source)?.is_some() {
                return Err(Fault::other(format!(
                    "zip() argument {} is longer than argument 1",
                    at + 1
                )));
            }
        }
        Ok(None)
    }

    fn inside<T>(
        &mut self,
        frame: usize,
        work: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        let outer = std::mem::replace(&mut self.frame, frame);
        let result = work(self);
        self.frame = outer;
        result
    }

    /// Moves a comprehension to its next element; returns `false` at the end.
    fn advance(&mut self, generator: &mut Generator<'a>) -> Outcome<bool> {
        self.inside(generator.frame, |machine| machine.advance_inside(generator))
    }

    fn advance_inside(&mut self, generator: &mut Generator<'a>) -> Outcome<bool> {
        let clauses = generator.clauses;
        while let Some(level) = generator.levels.last().cloned() {
            let at = generator.levels.len();
            let Some(item) = self.next(&level)? else {
                generator.levels.pop();
                continue;
            };
            let clause = &clauses[at - 1];
            self.bind(generator.frame, &clause.target, item)?;
            if !self.all_true(&clause.conditions)? {
                continue;
            }
            let Some(inner) = clauses.get(at) else {
                return Ok(true);
            };
            let source = self.eval(&inner.iter)?;
            let source =
                iterate::open(&source).map_err(|fault| fault.with_span(&inner.iter.span))?;
            generator.levels.push(source);
        }
        Ok(false)
    }

    fn all_true(&mut self, conditions: &'a [Expr]) -> Outcome<bool> {
        for condition in conditions {
            if !self.eval(condition)?.truth()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Creates a generator. The outermost source is evaluated immediately and in the enclosing scope, as in
    /// Python.
    fn generator(&mut self, element: &'a Expr, clauses: &'a [Clause]) -> Outcome<Generator<'a>> {
        let mut levels = Vec::new();
        if let Some(first) = clauses.first() {
            let source = self.eval(&first.iter)?;
            levels.push(iterate::open(&source).map_err(|fault| fault.with_span(&first.iter.span))?);
        }
        let depths = levels
            .iter()
            .map(|level| level.try_borrow().map_or(0, |l| l.depth()));
        let depth = deeper(depths)?;
        Ok(Generator {
            element,
            clauses,
            frame: self.open_frame(self.frame, true),
            levels,
            depth,
        })
    }

    pub(super) fn comprehension(
        &mut self,
        kind: ComprehensionKind,
        element: &'a Expr,
        clauses: &'a [Clause],
    ) -> Outcome<Value<'a>> {
        let mut generator = self.generator(element, clauses)?;
        if kind == ComprehensionKind::Generator {
            self.captures += 1;
            return Ok(Value::Iter(Stream::Generator(generator).handle()));
        }
        let (frame, captures) = (generator.frame, self.captures);
        let mut items = Vec::new();
        while self.advance(&mut generator)? {
            self.budget.items(1)?;
            items.push(self.inside(frame, |machine| machine.eval(element))?);
        }
        self.close_frame(frame, captures);
        match kind {
            ComprehensionKind::Set => Ok(Set::collect(items)?.finish()),
            ComprehensionKind::List | ComprehensionKind::Generator => Value::list(items),
        }
    }

    pub(super) fn dict_comprehension(
        &mut self,
        key: &'a Expr,
        value: &'a Expr,
        clauses: &'a [Clause],
    ) -> Outcome<Value<'a>> {
        let mut generator = self.generator(key, clauses)?;
        let (frame, captures) = (generator.frame, self.captures);
        let mut table = Table::default();
        while self.advance(&mut generator)? {
            self.budget.items(2)?;
            let pair = self.inside(frame, |machine| {
                Ok((machine.eval(key)?, machine.eval(value)?))
            })?;
            table.insert(pair.0, pair.1)?;
        }
        self.close_frame(frame, captures);
        Ok(table.finish())
    }

    /// Collects all items of an iterable.
    pub(super) fn drain(&mut self, value: &Value<'a>) -> Outcome<Vec<Value<'a>>> {
        let Value::Iter(stream) = value else {
            return iterate::items(value, &self.budget);
        };
        let mut items = Vec::new();
        while let Some(item) = self.next(stream)? {
            self.budget.items(1)?;
            items.push(item);
        }
        Ok(items)
    }
}
