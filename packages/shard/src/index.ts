// Sessions, cycle loop, reconcile, execute pool, ShardRead.
// Built by a later issue; exports nothing yet.
export {};
