// Why input was refused (engine §15.5), one table per kind of input. Refused input has no effect:
// the last good state stays.

/** `machines_rejected_total{reason}`. */
export const machineRefusals = {
  price: {
    meaning: 'The price is not a number, negative or infinite.',
    action: 'Correct what the provider publishes.',
  },
  interruption_probability: {
    meaning: 'The interruption probability is not a number between 0 and 1.',
    action: 'Correct what the provider publishes.',
  },
  structural: {
    meaning: 'The record breaks an invariant of machines, such as a missing capacity type.',
    action: 'Correct what the provider publishes; the log line names the field.',
  },
  duplicate_id: {
    meaning: 'Another provider already lists a machine with this id; the first one is kept.',
    action: 'Give every machine an id of its own, across all providers.',
  },
} as const;

export type MachineRefusal = keyof typeof machineRefusals;

/** Log `code=`, record. `rollup_quarantined` is held, not refused. */
export const rollupRefusals = {
  malformed: {
    meaning: 'The bytes are no valid roll-up.',
    action: 'Check the version of the operator.',
  },
  bad_bucket: {
    meaning: 'A penalty bucket is outside its range.',
    action: 'Check the version of the operator.',
  },
  bad_quantity: {
    meaning: 'A resource quantity does not parse or is negative.',
    action: 'Correct the request that carries it; the log line names the need.',
  },
  bad_operator: {
    meaning: 'A requirement uses an unknown operator.',
    action: 'Check the version of the operator process.',
  },
  cluster_mismatch: {
    meaning: 'The roll-up names another cluster than the session was opened for.',
    action: 'Check the cluster id that the operator was started with.',
  },
  too_large: {
    meaning: 'The roll-up exceeds the size or row limit.',
    action: 'Look for requests that differ in more than they need to, so that they aggregate.',
  },
  rollup_quarantined: {
    meaning: 'The roll-up has under a tenth of the last accepted rows and is held, at most twice.',
    action:
      'If demand really fell, wait: the third such roll-up applies. Else repair the operator.',
  },
} as const;

export type RollupRefusal = keyof typeof rollupRefusals;

/** `rollup_skipped_total{reason}` in the operator; Event reason in CamelCase. */
export const requestRefusals = {
  unsupported_operator: {
    meaning: 'A requirement of the CapacityRequest uses an operator that is not supported.',
    action: 'Rewrite the requirement with In, NotIn, Exists or DoesNotExist.',
  },
  bad_quantity: {
    meaning: 'A resource quantity of the CapacityRequest does not parse or is negative.',
    action: 'Correct the quantity in the CapacityRequest or in the pod it stands for.',
  },
  bad_penalty: {
    meaning: 'A penalty of the CapacityRequest is not an amount of dollars.',
    action: 'Correct the penalty in the CapacityRequest or in the pod annotation.',
  },
  foreign_node: {
    meaning: 'The pod runs on a node that BigFleet does not own, so it is no demand of ours.',
    action: 'Nothing.',
  },
} as const;

export type RequestRefusal = keyof typeof requestRefusals;

export const sessionRefusals = {
  hello_missing: {
    meaning: 'The first message of the session was not a hello.',
    action: 'Check the version of the operator.',
  },
  identity_rejected: {
    meaning: 'The certificate of the peer does not belong to the cluster it speaks for.',
    action: 'Issue the operator a certificate with the SAN of its cluster.',
  },
  session_replaced: {
    meaning: 'The cluster opened a newer session, which replaces this one.',
    action: 'Nothing if it is rare; otherwise look for two operators with one cluster id.',
  },
  session_limit: {
    meaning: 'The shard has as many sessions as it accepts.',
    action: 'Assign clusters to more shards, or raise the limit.',
  },
  outbox_stalled: {
    meaning: 'The operator did not read for so long that its queue filled up.',
    action: 'Check that the operator is not overloaded and that the network drains.',
  },
} as const;

export type SessionRefusal = keyof typeof sessionRefusals;
