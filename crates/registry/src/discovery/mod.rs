//! What people and models are shown of the skills.
