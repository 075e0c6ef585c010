// Pods to CapacityRequests.
// Built by a later issue; exports nothing yet.
export {};
