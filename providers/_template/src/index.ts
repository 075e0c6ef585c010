// The copy-me skeleton of a provider. Built by a later issue; exports nothing yet.
export {};
