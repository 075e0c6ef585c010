// The one table of error codes: what happened, whose move it is, and what to do. Documentation,
// metric labels and CLI help are generated from it, so a code is never renamed or reused.
// `kind` decides the reaction: `user` is refused and reported to the caller, `system` needs an
// operator, `transient` may be tried again. `grpc` is the status to answer if the error reaches
// a gRPC boundary. Reasons for decisions (why a need is unmet) are not errors: see ../reasons/.
// A package adds its codes under its own heading.

export type ErrorKind = 'user' | 'system' | 'transient';

export type GrpcStatusName =
  | 'OK'
  | 'CANCELLED'
  | 'UNKNOWN'
  | 'INVALID_ARGUMENT'
  | 'DEADLINE_EXCEEDED'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'OUT_OF_RANGE'
  | 'UNIMPLEMENTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'DATA_LOSS'
  | 'UNAUTHENTICATED';

export interface ErrorEntry {
  readonly kind: ErrorKind;
  /** What happened, as a sentence that is true of every occurrence. */
  readonly meaning: string;
  /** What the operator should do. */
  readonly action: string;
  readonly grpc: GrpcStatusName;
}

const table = {
  // ── base: values at the edge ────────────────────────────────────────────────────────────
  quantity_malformed: {
    kind: 'user',
    meaning: 'A resource quantity does not follow the Kubernetes quantity grammar.',
    action: 'Correct the quantity at its source; write for example 250m, 1.5 or 16Gi.',
    grpc: 'INVALID_ARGUMENT',
  },
  quantity_negative: {
    kind: 'user',
    meaning: 'A resource quantity is below zero where capacity or demand is expected.',
    action: 'Correct the quantity at its source; capacity and demand are never negative.',
    grpc: 'INVALID_ARGUMENT',
  },
  quantity_too_long: {
    kind: 'user',
    meaning: 'A resource quantity is longer than any sensible spelling of a quantity.',
    action: 'Correct the quantity at its source; shorten it to the digits that matter.',
    grpc: 'INVALID_ARGUMENT',
  },
  id_malformed: {
    kind: 'user',
    meaning: 'An id is not 1 to 253 characters out of letters, digits, hyphen, underscore, dot.',
    action: 'Choose an id inside the grammar; a certificate could not carry this one.',
    grpc: 'INVALID_ARGUMENT',
  },
  price_invalid: {
    kind: 'user',
    meaning: 'A price per hour is not a number, negative, infinite or beyond any real price.',
    action: 'Correct what the provider publishes; the last good price stays in use.',
    grpc: 'INVALID_ARGUMENT',
  },

  // ── common: any call, any process ───────────────────────────────────────────────────────
  deadline_exceeded: {
    kind: 'transient',
    meaning: 'The work did not finish within its deadline; it may or may not have taken effect.',
    action: 'Nothing if it is rare. If it repeats, look for an overloaded or unreachable peer.',
    grpc: 'DEADLINE_EXCEEDED',
  },
  cancelled: {
    kind: 'transient',
    meaning: 'The caller gave up, or the process is shutting down.',
    action: 'Nothing: this follows from a decision made elsewhere.',
    grpc: 'CANCELLED',
  },
  unavailable: {
    kind: 'transient',
    meaning: 'The peer cannot be reached or refuses work for now.',
    action: 'Check that the peer runs and that the network path to it is open.',
    grpc: 'UNAVAILABLE',
  },
  internal: {
    kind: 'system',
    meaning: 'A fault in BigFleet itself; the call was abandoned.',
    action: 'Report it with the log lines around it.',
    grpc: 'INTERNAL',
  },
  node_version: {
    kind: 'system',
    meaning: 'The process was started with an unsupported Node.js major version.',
    action: 'Start it with Node.js 24; in the repository, use the make targets.',
    grpc: 'FAILED_PRECONDITION',
  },
  address_in_use: {
    kind: 'system',
    meaning: 'A listen address is taken by another process.',
    action: 'Stop the other process or choose another address.',
    grpc: 'FAILED_PRECONDITION',
  },

  // ── wire: transport, TLS and identity ───────────────────────────────────────────────────
  tls_partial_configuration: {
    kind: 'user',
    meaning: 'Some of the TLS flags are set and others are missing.',
    action: 'Give certificate, key and CA together, or none of them with plaintext asked for.',
    grpc: 'FAILED_PRECONDITION',
  },
  tls_bad_material: {
    kind: 'user',
    meaning: 'A certificate, key or CA file is unreadable, not PEM, or the pair does not match.',
    action: 'Replace the named file; on reload the previous material stays in use.',
    grpc: 'FAILED_PRECONDITION',
  },
  tls_no_ca_certificates: {
    kind: 'user',
    meaning: 'The CA file holds no certificate, so no peer could ever be verified.',
    action: 'Put at least one PEM certificate into the CA file.',
    grpc: 'FAILED_PRECONDITION',
  },
  tls_required: {
    kind: 'user',
    meaning: 'TLS is not configured and plaintext was not asked for.',
    action: 'Configure TLS, or ask for plaintext explicitly where that is acceptable.',
    grpc: 'FAILED_PRECONDITION',
  },
  identity_missing: {
    kind: 'user',
    meaning: 'The peer presented no certificate with a bigfleet:// URI SAN.',
    action: 'Issue the peer a certificate with exactly one bigfleet:// URI SAN.',
    grpc: 'PERMISSION_DENIED',
  },
  identity_ambiguous: {
    kind: 'user',
    meaning: 'The peer certificate carries more than one bigfleet:// URI SAN.',
    action: 'Issue one certificate per identity, each with exactly one bigfleet:// URI SAN.',
    grpc: 'PERMISSION_DENIED',
  },
  identity_malformed: {
    kind: 'user',
    meaning: 'The bigfleet:// URI SAN of the peer does not follow the identity grammar.',
    action: 'Issue a certificate with a SAN such as bigfleet://cluster/<id>, byte for byte.',
    grpc: 'PERMISSION_DENIED',
  },
  identity_denied: {
    kind: 'user',
    meaning: 'The identity of the peer may not call this method or act for this id.',
    action: 'Use a certificate of the right role and id; see the authorisation matrix.',
    grpc: 'PERMISSION_DENIED',
  },
  method_not_in_table: {
    kind: 'system',
    meaning: 'A served method has no row in the authorisation matrix, so it is refused.',
    action: 'Report it: every method needs a row before it ships.',
    grpc: 'PERMISSION_DENIED',
  },
  message_too_large: {
    kind: 'user',
    meaning: 'A message exceeds the size limit.',
    action: 'Reduce what is sent in one message; the limit is the same at both ends.',
    grpc: 'RESOURCE_EXHAUSTED',
  },
  message_malformed: {
    kind: 'user',
    meaning: 'The bytes received are no valid message of the expected type.',
    action: 'Check the version of the sender; nothing of the message was applied.',
    grpc: 'INVALID_ARGUMENT',
  },

  // ── telemetry ───────────────────────────────────────────────────────────────────────────
  listen_failed: {
    kind: 'system',
    meaning: 'A listener could not be opened, for a reason other than a taken address.',
    action: 'Read the cause: the address may not exist on this host or need a privilege.',
    grpc: 'FAILED_PRECONDITION',
  },
  sample_trace_failed: {
    kind: 'system',
    meaning: 'The file for raw duration samples could not be opened, written or read.',
    action: 'Check the path and the space of --trace-samples; the process runs on without it.',
    grpc: 'INTERNAL',
  },
} as const;

export type ErrorCode = keyof typeof table;

export const errorCatalogue: Readonly<Record<ErrorCode, ErrorEntry>> = table;

export const errorCodes: readonly ErrorCode[] = Object.keys(table) as ErrorCode[];

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(table, text);
}
