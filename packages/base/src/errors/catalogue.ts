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

  // ── kube: requests to an API server ─────────────────────────────────────────────────────
  kube_unreachable: {
    kind: 'transient',
    meaning: 'The API server did not answer, or its answer broke off.',
    action: 'Check that the API server runs and that the network path to it is open.',
    grpc: 'UNAVAILABLE',
  },
  kube_answer_malformed: {
    kind: 'transient',
    meaning: 'What answered in place of the API server did not speak its language.',
    action: 'Look for a proxy between the process and the API server.',
    grpc: 'UNAVAILABLE',
  },
  kube_refused: {
    kind: 'transient',
    meaning: 'The API server refused a request; its own words are in the message.',
    action:
      "For 403, install the chart's RBAC. Otherwise nothing if it is rare: it is tried again.",
    grpc: 'UNAVAILABLE',
  },
  kubeconfig_invalid: {
    kind: 'user',
    meaning: 'The kubeconfig, the mounted ServiceAccount or an exec plugin gives no access.',
    action: 'Correct what the message names; kubectl with the same file must work.',
    grpc: 'FAILED_PRECONDITION',
  },

  kube_insecure: {
    kind: 'user',
    meaning: 'TLS is required, and the address of the API server has none.',
    action: 'Use an https address in the kubeconfig, or start without --require-tls.',
    grpc: 'FAILED_PRECONDITION',
  },

  // ── operator and pod controller: files of the cluster's owner ───────────────────────────
  bootstrap_template_invalid: {
    kind: 'user',
    meaning: 'The bootstrap template cannot be read or is no template.',
    action: 'Correct the file at the line that the message names; nothing was started.',
    grpc: 'FAILED_PRECONDITION',
  },
  bootstrap_template_missing: {
    kind: 'user',
    meaning:
      'The operator has no bootstrap template: new machines boot with a stub and join no cluster.',
    action: 'Give one with --bootstrap-template-file, or with the chart value bootstrapTemplate.',
    grpc: 'FAILED_PRECONDITION',
  },
  class_defaults_invalid: {
    kind: 'user',
    meaning: 'The file of PriorityClass defaults cannot be read or has a wrong entry.',
    action: 'Correct the class and field that the message names; nothing was started.',
    grpc: 'FAILED_PRECONDITION',
  },

  // ── dashboard: files of who starts it ───────────────────────────────────────────────────
  conformance_report_invalid: {
    kind: 'user',
    meaning: 'The report that --conformance names cannot be read or is no report of bfconformance.',
    action: 'Name the report.json that bfconformance --out wrote; nothing was started.',
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

  // ── providerkit: contract ───────────────────────────────────────────────────────────────
  provider_argument: {
    kind: 'user',
    meaning: 'An argument of a provider call is empty, negative or beyond its documented bound.',
    action: 'Correct the caller; the machine and its fence mark are untouched.',
    grpc: 'INVALID_ARGUMENT',
  },
  provider_fenced: {
    kind: 'system',
    meaning: 'The fencing token of a mutation is not newer than one seen for this machine.',
    action: 'Look for two processes with one shard identity; never repeat the call.',
    grpc: 'FAILED_PRECONDITION',
  },
  machine_unknown: {
    kind: 'user',
    meaning: 'The provider has no machine with this id.',
    action: 'List the machines of the provider; the id may belong to another one.',
    grpc: 'NOT_FOUND',
  },
  transition_out_of_position: {
    kind: 'system',
    meaning: 'The machine is not in the state that this operation starts from.',
    action: 'Read the machine and decide again; nothing was changed.',
    grpc: 'INTERNAL',
  },
  delete_unsupported: {
    kind: 'user',
    meaning: 'The capacity of this provider is fixed, so its machines cannot be deleted.',
    action: 'Nothing to repair: check the capacity type, fixed capacity is held instead.',
    grpc: 'UNIMPLEMENTED',
  },
  provider_stopping: {
    kind: 'transient',
    meaning: 'The provider is shutting down and accepts no further mutation.',
    action: 'Nothing: the call is repeated after the restart.',
    grpc: 'UNAVAILABLE',
  },
  provider_busy: {
    kind: 'transient',
    meaning: 'Too many calls wait for one machine, or too many fence marks are held.',
    action: 'Look for a caller that repeats itself or invents ids.',
    grpc: 'RESOURCE_EXHAUSTED',
  },
  machine_not_failed: {
    kind: 'user',
    meaning: 'Only a Failed machine can be reset.',
    action: 'Read the machine; use the lifecycle calls for every other state.',
    grpc: 'INVALID_ARGUMENT',
  },
  cleanup_failed: {
    kind: 'transient',
    meaning: 'The substrate could not clean up after a Failed machine; it stays Failed.',
    action: 'Read the cause in the message, repair the substrate and try again.',
    grpc: 'UNAVAILABLE',
  },
  instance_invalid: {
    kind: 'system',
    meaning: 'The backend described a machine that breaks a rule of the provider contract.',
    action: 'Correct the backend or its offerings; the message names the machine and the rule.',
    grpc: 'INTERNAL',
  },
  describe_failed: {
    kind: 'transient',
    meaning: 'The backend could not describe its inventory, so a first start is impossible.',
    action: 'Check credentials and reachability of the substrate and start again.',
    grpc: 'UNAVAILABLE',
  },
  readiness_source_missing: {
    kind: 'user',
    meaning: 'Nothing was given that can tell when a node is Ready, so no machine could be.',
    action: 'Set --readiness-source, or give the backend a confirmNodeReady of its own.',
    grpc: 'FAILED_PRECONDITION',
  },

  // ── providerkit: store and process ──────────────────────────────────────────────────────
  store_unavailable: {
    kind: 'transient',
    meaning: 'The durable store could not keep a change; nothing of the change was applied.',
    action: 'Free space on the state volume or repair it; the provider recovers by itself.',
    grpc: 'UNAVAILABLE',
  },
  store_corrupt: {
    kind: 'system',
    meaning: 'The durable state is damaged, so acknowledged changes would be lost by loading it.',
    action: 'Restore the named files from a backup; move them away only to start from nothing.',
    grpc: 'DATA_LOSS',
  },
  store_locked: {
    kind: 'system',
    meaning: 'Another process holds the durable state; two writers would corrupt it.',
    action: 'Stop the other process; deploy one replica with the Recreate strategy.',
    grpc: 'FAILED_PRECONDITION',
  },
  flag_invalid: {
    kind: 'user',
    meaning: 'A command-line flag or its environment variable is unknown or has a bad value.',
    action: 'Correct the named flag; --help lists every flag with its form and default.',
    grpc: 'INVALID_ARGUMENT',
  },
  backend_not_configured: {
    kind: 'user',
    meaning: 'A provider has neither the configuration of its real backend nor a request to fake.',
    action: 'Give the named configuration, or ask for the fake explicitly in a test.',
    grpc: 'FAILED_PRECONDITION',
  },
  state_not_configured: {
    kind: 'user',
    meaning: 'A real backend was started without a durable state file.',
    action: 'Set --state to a path on a persistent volume; lost fence marks admit zombies.',
    grpc: 'FAILED_PRECONDITION',
  },
  offerings_invalid: {
    kind: 'user',
    meaning: 'The offerings file is unreadable or an entry in it breaks a rule.',
    action: 'Correct the named entry of the file; nothing was started from it.',
    grpc: 'INVALID_ARGUMENT',
  },
  price_missing: {
    kind: 'user',
    meaning: 'An offering that costs money would be published with the price zero.',
    action: 'Give a price for the named types; a price of zero would win every ranking.',
    grpc: 'FAILED_PRECONDITION',
  },

  // ── conformance ─────────────────────────────────────────────────────────────────────────
  conformance_boot_failed: {
    kind: 'system',
    meaning: 'A provider process that the conformance suite started did not become ready.',
    action: 'Read the named log: the end of it is in the message.',
    grpc: 'FAILED_PRECONDITION',
  },

  // ── shard: provider client ──────────────────────────────────────────────────────────────
  provider_not_supported: {
    kind: 'system',
    meaning: 'A provider does not implement the call: Delete on fixed capacity, or no provider.',
    action:
      'Check the capacity types that the provider declares, and the address it is dialled at.',
    grpc: 'UNIMPLEMENTED',
  },
  provider_rejected: {
    kind: 'system',
    meaning: 'A provider refused the call for a reason that a repetition would not change.',
    action: 'Read its message: the request, the identity or the configuration is at fault.',
    grpc: 'INTERNAL',
  },
  provider_state_refused: {
    kind: 'transient',
    meaning: 'A provider refused the call, most often because the machine is in another state.',
    action: 'Nothing: the shard reads the machine again. If it repeats, read the provider log.',
    grpc: 'INTERNAL',
  },
  provider_result_unknown: {
    kind: 'transient',
    meaning: 'A provider did not answer, so the call may or may not have taken effect.',
    action: 'Nothing if it is rare. If it repeats, check that the provider runs and is reachable.',
    grpc: 'UNAVAILABLE',
  },
  provider_answer_malformed: {
    kind: 'system',
    meaning: 'A provider answered with bytes or values that the contract does not know.',
    action: 'Check the version of the provider, and certify it with the conformance suite.',
    grpc: 'INTERNAL',
  },
  provider_misconfigured: {
    kind: 'user',
    meaning: 'The set of providers, or one entry of it, cannot be used as it is configured.',
    action: 'Correct the named flag or registry entry; nothing was dialled.',
    grpc: 'INVALID_ARGUMENT',
  },
  // ── shard: core ─────────────────────────────────────────────────────────────────────────
  engine_lost: {
    kind: 'system',
    meaning: 'The thread that decides has ended or lost its place; the process ends with it.',
    action: 'Restart the shard: it is rebuilt from List and the next roll-ups. Report the cause.',
    grpc: 'INTERNAL',
  },
  reconcile_lost: {
    kind: 'transient',
    meaning: 'The thread that reads Lists has ended; the shard starts another and lists in full.',
    action: 'Nothing at once: the next cycle tries again. Report the cause if it keeps happening.',
    grpc: 'UNAVAILABLE',
  },

  // ── shard: process ──────────────────────────────────────────────────────────────────────
  epoch_corrupt: {
    kind: 'system',
    meaning: 'The file epoch is damaged or unreadable, so the next epoch could be an old one.',
    action: 'Restore the file, or remove it and start with --epoch-floor above the last epoch.',
    grpc: 'INTERNAL',
  },
  epoch_unwritable: {
    kind: 'system',
    meaning: 'The new epoch could not be made durable, so this process may not act.',
    action: 'Free space on, or repair, the volume of --data-dir, then start again.',
    grpc: 'INTERNAL',
  },
  data_dir_locked: {
    kind: 'user',
    meaning: 'Another shard process runs on this data directory.',
    action: 'Stop the other process, or give this one a --data-dir of its own.',
    grpc: 'INTERNAL',
  },
  data_dir_unusable: {
    kind: 'system',
    meaning: 'The data directory cannot be made or locked.',
    action: 'Check owner, mode and free space of --data-dir.',
    grpc: 'INTERNAL',
  },
  records_removed: {
    kind: 'user',
    meaning: 'A segment of decision records was deleted while the shard wrote to it.',
    action: 'None: the next record begins another one. What was deleted cannot be explained.',
    grpc: 'INTERNAL',
  },
  audit_log_unusable: {
    kind: 'system',
    meaning: 'The audit log cannot be opened for appending, so nothing would be on record.',
    action: 'Name a file in an existing, writable directory with --audit-log, or leave it out.',
    grpc: 'INTERNAL',
  },
  providers_file_corrupt: {
    kind: 'system',
    meaning: 'The file providers.json is damaged, so providers of this shard would be forgotten.',
    action: 'Remove it if the coordinator is reachable, or name the providers by --provider.',
    grpc: 'INTERNAL',
  },

  // ── shard: ownership ────────────────────────────────────────────────────────────────────
  assignment_file_corrupt: {
    kind: 'system',
    meaning: 'The file assignment.json is damaged, so the shard cannot tell what it owns.',
    action: 'Move it away: nothing of shared providers is owned until the coordinator answers.',
    grpc: 'DATA_LOSS',
  },
  transfers_file_corrupt: {
    kind: 'system',
    meaning: 'The file transfers.json is damaged, so a machine promised away could be acted on.',
    action: 'Move it away: nothing of shared providers is owned until the coordinator answers.',
    grpc: 'DATA_LOSS',
  },
  ownership_unwritable: {
    kind: 'system',
    meaning: 'A change of ownership could not be made durable, so it did not take effect.',
    action: 'Free space on, or repair, the volume of --data-dir; the coordinator tries again.',
    grpc: 'INTERNAL',
  },

  // ── coordclient ─────────────────────────────────────────────────────────────────────────
  leader_not_found: {
    kind: 'transient',
    meaning: 'No replica of the coordinator answered as its leader.',
    action: 'Nothing if it is brief: shards go on alone. Else check --coordinator-addr and quorum.',
    grpc: 'UNAVAILABLE',
  },
  coordinator_term_corrupt: {
    kind: 'system',
    meaning: 'The file coordinator-term is damaged, so a deposed coordinator could be believed.',
    action: 'Restore the file, or remove it when no old coordinator can still be running.',
    grpc: 'DATA_LOSS',
  },
  coordinator_term_unwritable: {
    kind: 'system',
    meaning: 'A newer coordinator term could not be made durable; its instructions wait.',
    action: 'Free space on, or repair, the volume of --data-dir; the next report tries again.',
    grpc: 'INTERNAL',
  },

  // ── shard: reading and records ──────────────────────────────────────────────────────────
  trace_lost: {
    kind: 'system',
    meaning: 'The trace of the inputs ended early; the run goes on, and another trace follows.',
    action: 'Nothing if it is rare. If it repeats, look at the disk of the records directory.',
    grpc: 'INTERNAL',
  },
  trace_too_large: {
    kind: 'user',
    meaning: 'The fleet is too large for traces within the bound of the records directory.',
    action: 'Raise --records-max-bytes to replay this shard; decision records are kept as before.',
    grpc: 'FAILED_PRECONDITION',
  },
  feed_readers_exceeded: {
    kind: 'transient',
    meaning: 'As many readers as a shard serves at once already watch or read its records.',
    action: 'Close a reader, or share one: a dashboard server needs a single feed per shard.',
    grpc: 'RESOURCE_EXHAUSTED',
  },
  verdicts_replaced: {
    kind: 'transient',
    meaning: 'Newer verdicts replaced those that a slow reader was still reading.',
    action: 'Ask again, and read faster or ask for one cluster or a limit.',
    grpc: 'ABORTED',
  },
  read_request_invalid: {
    kind: 'user',
    meaning: 'A read names no subject, a negative limit, or something that cannot be matched.',
    action: 'Correct the named field of the request.',
    grpc: 'INVALID_ARGUMENT',
  },
  record_not_found: {
    kind: 'user',
    meaning:
      'No stored record is of the cycle, or mentions the machine or need, that was asked for.',
    action: 'Check the name; older records were dropped to stay within --records-max-bytes.',
    grpc: 'NOT_FOUND',
  },

  // ── operator: session ───────────────────────────────────────────────────────────────────
  session_unacknowledged: {
    kind: 'transient',
    meaning: 'The shard did not acknowledge the hello of a session in time.',
    action: 'Nothing if it is rare: the operator dials again. Else check the shard address.',
    grpc: 'DEADLINE_EXCEEDED',
  },
  rollups_unanswered: {
    kind: 'transient',
    meaning: 'The shard took roll-ups and answered none of them for three intervals.',
    action: 'Look for "rollup rejected" in the log of the shard; the operator dials again.',
    grpc: 'DEADLINE_EXCEEDED',
  },
  session_overrun: {
    kind: 'system',
    meaning: 'The shard sent states of more machines than the operator can keep waiting.',
    action: 'Check the API server of the cluster for back-pressure; the operator dials again.',
    grpc: 'RESOURCE_EXHAUSTED',
  },
  demand_not_synced: {
    kind: 'transient',
    meaning: 'The first full list of CapacityRequests is not done, so no roll-up may be sent.',
    action: 'Check that the CRDs are installed and that the operator may list them.',
    grpc: 'UNAVAILABLE',
  },

  // ── shard: rails and administration ─────────────────────────────────────────────────────
  rails_invalid: {
    kind: 'user',
    meaning: 'Actuation settings are out of range, contradict each other or carry no reason.',
    action: 'Correct the named setting; nothing was changed.',
    grpc: 'INVALID_ARGUMENT',
  },
  rails_corrupt: {
    kind: 'system',
    meaning: 'The file rails.json is damaged or unreadable, so a pause in it would be forgotten.',
    action: 'Read the named file, restore the settings it held, or move it away to use the flags.',
    grpc: 'DATA_LOSS',
  },
  rails_not_persisted: {
    kind: 'system',
    meaning: 'The pause holds in this process but could not be written, so a restart forgets it.',
    action: 'Repair the data directory and pause again.',
    grpc: 'UNAVAILABLE',
  },
  rails_write_failed: {
    kind: 'system',
    meaning: 'Actuation settings could not be written, so they were not changed.',
    action: 'Repair the data directory and try again.',
    grpc: 'UNAVAILABLE',
  },
  reason_missing: {
    kind: 'user',
    meaning: 'An administrative change was asked for without a reason.',
    action: 'Give a reason: it is shown to whoever finds the change later.',
    grpc: 'INVALID_ARGUMENT',
  },
  cluster_session_live: {
    kind: 'user',
    meaning: 'The operator of the cluster is connected, so its next roll-up restores the demand.',
    action: 'Stop the operator first, or force the call if that is what you want.',
    grpc: 'ABORTED',
  },
  brake_selection_invalid: {
    kind: 'user',
    meaning: 'What to clear of the brake is not said, or needs and types are named together.',
    action:
      'Name a cluster and its profile, or a provider and its type, or all; nothing was cleared.',
    grpc: 'INVALID_ARGUMENT',
  },
  configure_brake_off: {
    kind: 'user',
    meaning: 'The shard runs without the brake on machines that never join: nothing is held off.',
    action: 'Nothing to clear. To have the rail, start the shard with --configure-brake.',
    grpc: 'ABORTED',
  },
  cluster_unknown: {
    kind: 'user',
    meaning: 'The shard has no demand, no session and no machine of this cluster.',
    action: 'Check the cluster id and which shard the cluster is bound to.',
    grpc: 'NOT_FOUND',
  },

  // ── cli: bigfleetctl ────────────────────────────────────────────────────────────────────
  coordinator_unreachable: {
    kind: 'transient',
    meaning: 'No replica of the coordinator could be reached at the given address.',
    action: 'Check --coordinator or the context, and that bigfleet coordinator runs there.',
    grpc: 'UNAVAILABLE',
  },
  coordinator_store_unavailable: {
    kind: 'transient',
    meaning: 'The coordinator answers, but its store could not keep a change or confirm its lead.',
    action:
      'Its /readyz says why: free the disk, or bring the quorum of etcd back; then try again.',
    grpc: 'UNAVAILABLE',
  },
  coordinator_no_leader: {
    kind: 'transient',
    meaning: 'The replicas of the coordinator answer, but none of them leads.',
    action: 'Wait for the election; if it lasts, run bigfleetctl doctor and check the quorum.',
    grpc: 'UNAVAILABLE',
  },
  shard_unreachable: {
    kind: 'transient',
    meaning: 'A shard could not be reached at the address under which it is registered.',
    action: 'Check that it runs, and its --advertise-addr; --shard-addr dials another address.',
    grpc: 'UNAVAILABLE',
  },
  provider_unreachable: {
    kind: 'transient',
    meaning: 'A provider could not be reached at its address.',
    action: 'Check the address and that the provider runs; list-providers shows the registry.',
    grpc: 'UNAVAILABLE',
  },
  shard_not_registered: {
    kind: 'user',
    meaning: 'No shard with this id is registered at the coordinator.',
    action: 'Look at bigfleetctl list-shards; --shard-addr needs no registry.',
    grpc: 'NOT_FOUND',
  },
  shard_identity_mismatch: {
    kind: 'user',
    meaning: 'Another shard answers at the address under which a shard is registered.',
    action:
      'Start it with --advertise-addr, remove-shard it, let it register; or use --shard-addr.',
    grpc: 'FAILED_PRECONDITION',
  },
  thing_not_found: {
    kind: 'user',
    meaning: 'No shard or table that was asked holds something of this name.',
    action: 'Check the spelling; bigfleetctl get lists what there is.',
    grpc: 'NOT_FOUND',
  },
  feature_missing: {
    kind: 'system',
    meaning:
      'The server does not know the call: it is older than this bigfleetctl, or another one.',
    action: 'Check the port; update the server, or use the bigfleetctl of its version.',
    grpc: 'UNIMPLEMENTED',
  },
  request_refused: {
    kind: 'user',
    meaning: 'The server refused the call for the reason in the message.',
    action: 'Correct what the message names and try again.',
    grpc: 'FAILED_PRECONDITION',
  },
  confirmation_missing: {
    kind: 'user',
    meaning: 'The command would do lasting harm if it was not meant, and was not confirmed.',
    action: 'Read the message, and add --yes if that is what you want.',
    grpc: 'FAILED_PRECONDITION',
  },
  ctl_config_invalid: {
    kind: 'user',
    meaning: 'The config file of bigfleetctl cannot be read or holds something unknown.',
    action: 'Correct the named place, or name another file with --config.',
    grpc: 'INVALID_ARGUMENT',
  },
  ctl_context_unknown: {
    kind: 'user',
    meaning: 'The config file of bigfleetctl has no context of this name.',
    action: 'Look at bigfleetctl config get-contexts; config set-context makes one.',
    grpc: 'NOT_FOUND',
  },
  local_file_failed: {
    kind: 'user',
    meaning: 'A file on this machine could not be read or written.',
    action: 'Check the path, its owner and mode, and the space on the disk.',
    grpc: 'INTERNAL',
  },
  other_build_unusable: {
    kind: 'user',
    meaning: 'The build that bigfleet diff compares with cannot be run, or prints no decisions.',
    action: 'Give its main file or its checkout; it must know bigfleet replay --decisions.',
    grpc: 'FAILED_PRECONDITION',
  },
  snapshot_incomplete: {
    kind: 'system',
    meaning: 'A snapshot did not arrive whole, so no file was written.',
    action: 'Try again; if it repeats, read the log of the leader.',
    grpc: 'DATA_LOSS',
  },

  // ── coordinator: state, SQLite and snapshots ────────────────────────────────────────────
  coordinator_row_malformed: {
    kind: 'system',
    meaning: 'A stored row of the fleet state, or a row of a snapshot, cannot be read.',
    action: 'Undo what edited the store by hand, or restore: bigfleetctl snapshot restore.',
    grpc: 'DATA_LOSS',
  },
  coordinator_data_dir_in_use: {
    kind: 'user',
    meaning: 'Another coordinator, or a restore, holds this data directory.',
    action: 'Stop the other process, or give this one a --data-dir of its own.',
    grpc: 'FAILED_PRECONDITION',
  },
  coordinator_data_dir_unusable: {
    kind: 'system',
    meaning: 'The data directory of the coordinator cannot be made, locked or written.',
    action: 'Check owner, mode and free space of --data-dir.',
    grpc: 'INTERNAL',
  },
  coordinator_store_corrupt: {
    kind: 'system',
    meaning: 'The database of the coordinator failed its check; nothing was written over it.',
    action: 'Keep a copy of the file, then restore: bigfleetctl snapshot restore.',
    grpc: 'DATA_LOSS',
  },
  coordinator_store_newer: {
    kind: 'user',
    meaning: 'The store was written by a newer version, whose rows this one does not know.',
    action: 'Run the newer version again; going back needs a snapshot of before the upgrade.',
    grpc: 'FAILED_PRECONDITION',
  },
  coordinator_store_empty: {
    kind: 'user',
    meaning: 'The store is empty and this process may not write first.',
    action: 'Start with --bootstrap on the first install; restore a snapshot otherwise.',
    grpc: 'FAILED_PRECONDITION',
  },
  coordinator_store_closed: {
    kind: 'system',
    meaning: 'The store was asked for something before it was opened or after it was closed.',
    action: 'Look for the first error before this one in the log.',
    grpc: 'UNAVAILABLE',
  },
  coordinator_deposed: {
    kind: 'transient',
    meaning: 'A newer leadership exists, so this one may neither write nor answer.',
    action: 'Ask the leader.',
    grpc: 'FAILED_PRECONDITION',
  },
  snapshot_malformed: {
    kind: 'user',
    meaning: 'The archive is no coordinator snapshot, or is damaged; nothing was restored.',
    action: 'Use another snapshot; the message says what is wrong with this one.',
    grpc: 'INVALID_ARGUMENT',
  },
  snapshot_unsupported: {
    kind: 'user',
    meaning: 'This engine cannot take or restore a snapshot of this format.',
    action: 'Use the format that the engine writes, or --format=logical, which any engine takes.',
    grpc: 'FAILED_PRECONDITION',
  },

  // ── coordinator: etcd ───────────────────────────────────────────────────────────────────
  etcd_bad_endpoint: {
    kind: 'user',
    meaning: 'An endpoint of --etcd-endpoints cannot be used.',
    action: 'Give http://host:port or https://host:port, the latter with the TLS flags.',
    grpc: 'INVALID_ARGUMENT',
  },
  etcd_unavailable: {
    kind: 'transient',
    meaning: 'No endpoint of etcd answered in time, or etcd has no leader.',
    action:
      'Check that a majority of the etcd members runs and can be reached; it heals by itself.',
    grpc: 'UNAVAILABLE',
  },
  etcd_password_unreadable: {
    kind: 'system',
    meaning: 'The file with the password of etcd could not be read.',
    action: 'Check --etcd-password-file and that this process may read it.',
    grpc: 'UNAVAILABLE',
  },
  etcd_refused: {
    kind: 'system',
    meaning: 'The etcd refused a request: wrong password, missing permission or an unknown call.',
    action: 'Check the etcd user, its role on the prefix, and the version of etcd.',
    grpc: 'UNAVAILABLE',
  },
  etcd_compacted: {
    kind: 'transient',
    meaning: 'The etcd no longer has the revision that was asked for; the reader starts again.',
    action: 'Nothing if it is rare; else lengthen the compaction interval of etcd.',
    grpc: 'UNAVAILABLE',
  },
  etcd_no_space: {
    kind: 'system',
    meaning: 'The etcd has used up its space quota and refuses every write.',
    action: 'Compact and defragment etcd, then disarm its NOSPACE alarm.',
    grpc: 'UNAVAILABLE',
  },
  etcd_lease_gone: {
    kind: 'transient',
    meaning: 'The lease has ended: it was not renewed in time, or somebody revoked it.',
    action: 'Nothing if it is rare; else look for stalls of the process or of etcd.',
    grpc: 'UNAVAILABLE',
  },
  etcd_no_ordinal: {
    kind: 'user',
    meaning: 'Managed etcd needs the ordinal of the replica at the end of --id.',
    action: 'Give ids like bigfleet-coordinator-0, or leave --join-addr out.',
    grpc: 'INVALID_ARGUMENT',
  },
  etcd_peer_not_pinned: {
    kind: 'user',
    meaning: 'With TLS the peers of a managed etcd must be pinned to a name of coordinators only.',
    action: 'Advertise a DNS name with a domain: --raft-advertise=<replica>.<domain>:7791.',
    grpc: 'INVALID_ARGUMENT',
  },
  etcd_other_cluster: {
    kind: 'user',
    meaning: 'This replica has the data of another cluster than the one at --join-addr.',
    action: 'Correct --join-addr; or, to join that cluster, start with an empty --data-dir.',
    grpc: 'FAILED_PRECONDITION',
  },
  etcd_restore_failed: {
    kind: 'system',
    meaning: 'The data of a new etcd could not be made from the snapshot; the old state stands.',
    action: 'Read the detail; check the snapshot file and that etcd and etcdutl are 3.6 or newer.',
    grpc: 'UNAVAILABLE',
  },
  etcd_snapshot_corrupt: {
    kind: 'system',
    meaning: 'The snapshot that etcd sent does not match its checksum, or ended early.',
    action: 'Take it again; if it repeats, check the disk of that etcd member.',
    grpc: 'DATA_LOSS',
  },
} as const;

export type ErrorCode = keyof typeof table;

export const errorCatalogue: Readonly<Record<ErrorCode, ErrorEntry>> = table;

export const errorCodes: readonly ErrorCode[] = Object.keys(table) as ErrorCode[];

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(table, text);
}
