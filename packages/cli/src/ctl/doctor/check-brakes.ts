// Machines that never join (adr 0085): what a shard holds off, and what it failed with last.

import type { FailureRun } from '@bigfleet/wire';
import type { Brakes } from '../kinds/brakes.ts';
import { shortNeed } from '../kinds/need-name.ts';
import { durationText } from '../output/text.ts';
import { type Finding, finding, type FleetFacts } from './facts.ts';

const MAX_ERROR_SHOWN = 200;

export function checkBrakes({ shards }: FleetFacts): Finding[] {
  return shards.flatMap(({ entry: { shardId }, brakes }) => {
    const subject = `shard ${shardId}`;
    // A shard that is too old to say.
    if (!brakes.ok) return [finding('info', 'unanswered', subject, brakes.error, 'Update it.')];
    return [...needs(shardId, brakes.value), ...types(shardId, brakes.value)];
  });
}

interface Held {
  readonly name: string;
  readonly run: FailureRun;
}

function needs(shardId: string, brakes: Brakes): Finding[] {
  const held = heldOf(
    brakes.needs.map(({ clusterId, profileFingerprint, run }) => ({
      name: `${clusterId}/${shortNeed(profileFingerprint, '')}`,
      run,
    })),
  );
  const [worst] = held;
  if (worst === undefined) return [];
  return [
    finding(
      'warning',
      'configures-failing',
      `shard ${shardId}`,
      `machines never join for ${counted(held.length, 'need')}: ${worstText(worst)}`,
      `Why do the nodes of ${worst.name} never join (image, bootstrap template, network)? ` +
        `bigfleetctl get machines --shard=${shardId} --state=Failed -o wide; mended: ` +
        `${clearing(shardId)} --cluster=… --reason=…`,
    ),
  ];
}

function types(shardId: string, brakes: Brakes): Finding[] {
  const held = heldOf(
    brakes.types.map(({ provider, instanceType, run }) => ({
      name: `${provider}/${instanceType}`,
      run,
    })),
  );
  const [worst] = held;
  if (worst === undefined) return [];
  return [
    finding(
      'warning',
      'type-failing',
      `shard ${shardId}`,
      `buys no more of what fails in several clusters, ${counted(held.length, 'instance type')}: ` +
        worstText(worst),
      `Check the image and the quota of ${worst.name} at its provider; mended: ` +
        `${clearing(shardId)} --provider=… --reason=…`,
    ),
  ];
}

/** Most failures first. */
function heldOf(
  brakes: readonly { readonly name: string; readonly run: FailureRun | undefined }[],
): Held[] {
  return brakes
    .flatMap(({ name, run }) =>
      run === undefined || run.pauseSeconds === 0 ? [] : [{ name, run }],
    )
    .toSorted((a, b) => b.run.failures - a.run.failures);
}

function worstText({ name, run }: Held): string {
  const error = run.lastError === '' ? '' : `, last: ${run.lastError.slice(0, MAX_ERROR_SHOWN)}`;
  const pause = durationText(run.pauseSeconds * 1_000);
  return `${name} after ${run.failures} failures in a row, one probe in ${pause}${error}`;
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

function clearing(shardId: string): string {
  return `bigfleetctl brakes clear --shard=${shardId}`;
}
