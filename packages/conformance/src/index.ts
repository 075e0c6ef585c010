// The 93 behaviours against any gRPC endpoint.
// Built by a later issue; exports nothing yet.
export {};
