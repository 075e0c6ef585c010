// State machine, storage engines, instructions, rebalancer, admin RPCs.
// Built by a later issue; exports nothing yet.
export {};
