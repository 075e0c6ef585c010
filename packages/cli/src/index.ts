// The commands: bigfleet, bigfleetctl, bigfleet-operator.
// Built by a later issue; exports nothing yet.
export {};
