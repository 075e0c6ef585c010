// Read-only server and the web app.
// Built by a later issue; exports nothing yet.
export {};
