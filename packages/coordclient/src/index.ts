// The shard-side client of the coordinator.
// Built by a later issue; exports nothing yet.
export {};
