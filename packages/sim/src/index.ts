// Virtual time, cluster model, workload catalogue, scenarios, fault injection.
// Built by a later issue; exports nothing yet.
export {};
