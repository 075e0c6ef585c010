// What a provider author builds on: contract, stores, test double for backends.
// Built by a later issue; exports nothing yet.
export {};
