// Real processes, real faults, profiles, SLO gates, summary.json.
// Built by a later issue; exports nothing yet.
export {};
