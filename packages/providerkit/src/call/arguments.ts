// Step 1 of the processing order: the shape of the arguments. Reveals nothing about any machine
// and moves no mark. Bounds refuse; nothing is ever truncated, because a shortened credential or
// metadata map would look accepted.

import { BigFleetError } from '@bigfleet/base';
import { isAbsentToken, negativeToken } from '@bigfleet/wire';
import { MAX_NAME_LENGTH } from '../backend/instance-rules.ts';
import type { KitOptions } from '../options.ts';
import type { Mutation } from '../work/work-item.ts';

export interface ArgumentRules extends KitOptions {
  readonly canDelete: boolean;
}

export function refuseBadArguments(mutation: Mutation, rules: ArgumentRules): void {
  refuseBadId(mutation.machineId);
  if (mutation.kind === 'delete' && !rules.canDelete) {
    throw new BigFleetError('delete_unsupported', 'this provider does not delete machines');
  }
  refuseBadToken(mutation, rules);
  if (mutation.kind === 'drain' && mutation.gracePeriodSeconds < 0n) {
    throw bad('grace_period_seconds is negative');
  }
  if (mutation.kind === 'configure') refuseBadBinding(mutation, rules);
}

export function refuseBadId(machineId: string): void {
  if (machineId === '') throw bad('the machine id is empty');
  if (machineId.length > MAX_NAME_LENGTH) throw bad('the machine id is too long');
}

function refuseBadToken({ token }: Mutation, rules: KitOptions): void {
  if (rules.requireFence && isAbsentToken(token)) throw bad('a fencing token is required');
  if (token.shardId.length > MAX_NAME_LENGTH) throw bad('shard_id is too long');
  const problem = rules.strictTokens ? negativeToken(token) : undefined;
  if (problem !== undefined) throw bad(problem);
}

/** A binding without a name would be a Configuring record without cluster, which shards refuse. */
function refuseBadBinding(
  mutation: Mutation & { readonly kind: 'configure' },
  rules: KitOptions,
): void {
  if (mutation.clusterId === '') throw bad('cluster_id is empty');
  if (mutation.clusterId.length > MAX_NAME_LENGTH) throw bad('cluster_id is too long');
  if (mutation.bootstrapBlob.length > rules.maxBootstrapBlobBytes) {
    throw bad(`bootstrap_blob is larger than ${rules.maxBootstrapBlobBytes} bytes`);
  }
  let metadataBytes = 0;
  for (const [key, value] of mutation.shardMetadata) {
    metadataBytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (metadataBytes > rules.maxShardMetadataBytes) {
    throw bad(`shard_metadata is larger than ${rules.maxShardMetadataBytes} bytes`);
  }
}

function bad(message: string): BigFleetError {
  return new BigFleetError('provider_argument', message);
}
