//! Who may declare a name, and who holds it.
