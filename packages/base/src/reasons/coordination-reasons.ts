// Coordinator and shard client: `InstructAck.reason_code`, `TransferRecord.reason_code`
// (engine §15.6).

export const instructionReasons = {
  duplicate_redelivery: {
    meaning: 'The instruction was already executed; its first result stands.',
    action: 'Nothing.',
  },
  stale_term: {
    meaning: 'The instruction comes from an older coordinator leader than the shard has seen.',
    action: 'Nothing if it is rare; otherwise look for two coordinators that both lead.',
  },
  unknown_payload: {
    meaning: 'The shard does not know this kind of instruction.',
    action: 'Upgrade the shard.',
  },
  not_implemented: {
    meaning: 'The shard knows this kind of instruction but does not carry it out.',
    action: 'Upgrade the shard.',
  },
  actuation_paused: {
    meaning: 'Actuation is paused on the shard.',
    action: 'Resume actuation when the reason for the pause is gone.',
  },
  dry_run: {
    meaning: 'The shard runs dry and executes nothing.',
    action: 'Leave dry run when the recorded decisions look right.',
  },
  no_eligible_machines: {
    meaning: 'The shard has no machine that it could give up.',
    action: 'Nothing: the coordinator asks another shard.',
  },
  unknown_transfer: {
    meaning: 'The shard does not know the transfer.',
    action: 'Nothing if it is rare; the coordinator ends the transfer.',
  },
  not_idle: {
    meaning: 'The machine was not idle when it was to change hands.',
    action: 'Nothing: the coordinator ends the transfer.',
  },
  provider_unreachable: {
    meaning: 'The shard cannot reach the provider of the machine.',
    action: 'Check that the provider runs and that the network path to it is open.',
  },
} as const;

export type InstructionReason = keyof typeof instructionReasons;

export const transferAborts = {
  ack_timeout: {
    meaning: 'A shard did not acknowledge its step of the transfer in time.',
    action: 'Check that both shards run and reach the coordinator.',
  },
  donor_rejected: {
    meaning: 'The giving shard refused the transfer.',
    action: 'Nothing: the reason of the refusal is in its acknowledgement.',
  },
  donor_stale: {
    meaning: 'The giving shard has not reported for too long.',
    action: 'Check that the shard runs and reaches the coordinator.',
  },
  recipient_stale: {
    meaning: 'The receiving shard has not reported for too long.',
    action: 'Check that the shard runs and reaches the coordinator.',
  },
  recipient_removed: {
    meaning: 'The receiving shard was removed from the fleet.',
    action: 'Nothing.',
  },
  benefit_too_small: {
    meaning: 'The gain no longer justifies moving a machine.',
    action: 'Nothing.',
  },
  provider_recovering: {
    meaning: 'The provider of the machine is recovering, so ownership stays where it is.',
    action: 'Nothing: it is considered again afterwards.',
  },
  override_limit: {
    meaning: 'The provider has as many ownership overrides as are allowed.',
    action: 'Rebalance assignments so that fewer machines live on foreign shards.',
  },
} as const;

export type TransferAbort = keyof typeof transferAborts;
