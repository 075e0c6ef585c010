// The decision engine: inventory columns, NeedsTable, Phases 1–3, rails, decision records. Pure and browser-safe.
// Built by a later issue; exports nothing yet.
export {};
