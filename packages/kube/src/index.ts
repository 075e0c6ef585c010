// Reflector, typed requests, eviction, leases.
// Built by a later issue; exports nothing yet.
export {};
