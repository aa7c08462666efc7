//! The seven kinds of cron fields: their names, ranges and hints.

/// The kind of a cron field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Second,
    Minute,
    Hour,
    Day,
    Month,
    Weekday,
    Year,
}

impl Kind {
    /// Returns the name used in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Second => "seconds",
            Kind::Minute => "minutes",
            Kind::Hour => "hours",
            Kind::Day => "days of the month",
            Kind::Month => "months",
            Kind::Weekday => "weekdays",
            Kind::Year => "years",
        }
    }

    /// Returns the lowest and the highest value.
    pub(crate) fn range(self) -> (u16, u16) {
        match self {
            Kind::Second | Kind::Minute => (0, 59),
            Kind::Hour => (0, 23),
            Kind::Day => (1, 31),
            Kind::Month => (1, 12),
            Kind::Weekday => (0, 7),
            Kind::Year => (1, 5000),
        }
    }

    /// Returns the names of the values, starting with value 0.
    pub(crate) fn names(self) -> &'static [&'static str] {
        match self {
            Kind::Month => &[
                "", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV",
                "DEC",
            ],
            Kind::Weekday => &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
            Kind::Second | Kind::Minute | Kind::Hour | Kind::Day | Kind::Year => &[],
        }
    }

    /// Returns a hint about the valid values, for errors.
    pub(crate) fn hint(self) -> String {
        let (low, high) = self.range();
        match self {
            Kind::Month => "months go from 1 to 12, or JAN to DEC".into(),
            Kind::Weekday => {
                "weekdays go from 0 to 6 with Sunday as 0 (or 7), or SUN to SAT".into()
            }
            Kind::Second | Kind::Minute | Kind::Hour | Kind::Day | Kind::Year => {
                format!("{} go from {low} to {high}", self.name())
            }
        }
    }
}
