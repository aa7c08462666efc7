//! Size limits of the sections of a prompt.

/// Maximum number of characters of each section. Fixed texts of deft have no cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// The agent's own prompt.
    pub own: usize,
    /// The overview of domains.
    pub domains: usize,
    /// The quick reference.
    pub quick_reference: usize,
    /// Tools, in command mode.
    pub tools: usize,
    /// Names of tools on the shelf.
    pub others: usize,
    /// The list of skills.
    pub skills: usize,
    /// Skills that did not fit into the list but share words with the message.
    pub near: usize,
    /// All playbooks together.
    pub playbooks: usize,
    /// Information about the user.
    pub user: usize,
    /// Facts from memory.
    pub memory: usize,
    /// The task, or the context of a dispatched agent.
    pub task: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            own: 16_000,
            domains: 4_000,
            quick_reference: 3_000,
            tools: 12_000,
            others: 3_000,
            skills: 12_000,
            near: 2_000,
            playbooks: 24_000,
            user: 4_000,
            memory: 6_000,
            task: 8_000,
        }
    }
}

impl Caps {
    /// Returns the sum of all caps.
    pub fn total(&self) -> usize {
        self.fields().iter().sum()
    }

    /// Reduces all caps in proportion if their sum exceeds `chars`, for models with a small context.
    #[must_use]
    pub fn within(mut self, chars: usize) -> Self {
        let total = self.total();
        if total > chars {
            for cap in self.fields_mut() {
                *cap = scale_cap(*cap, chars, total);
            }
        }
        self
    }

    fn fields(mut self) -> [usize; 11] {
        self.fields_mut().map(|cap| *cap)
    }

    fn fields_mut(&mut self) -> [&mut usize; 11] {
        [
            &mut self.own,
            &mut self.domains,
            &mut self.quick_reference,
            &mut self.tools,
            &mut self.others,
            &mut self.skills,
            &mut self.near,
            &mut self.playbooks,
            &mut self.user,
            &mut self.memory,
            &mut self.task,
        ]
    }
}

fn scale_cap(cap: usize, part: usize, whole: usize) -> usize {
    let wide = cap as u128 * part as u128 / whole.max(1) as u128;
    usize::try_from(wide).unwrap_or(cap)
}

#[cfg(test)]
mod tests {
    use super::Caps;

    #[test]
    fn caps_shrink_together_and_never_grow() {
        let caps = Caps::default();
        assert_eq!(caps.within(caps.total()), caps);
        assert_eq!(caps.within(usize::MAX), caps);
        let half = caps.within(caps.total() / 2);
        assert_eq!((half.own, half.near), (8_000, 1_000));
        assert!(caps.within(10_000).total() <= 10_000);
        assert_eq!(caps.within(0).total(), 0);
    }
}
