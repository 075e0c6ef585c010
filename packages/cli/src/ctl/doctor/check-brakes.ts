// Machines that never join (adr 0085): what a shard holds off, and what it failed with last.

import type { FailureRun } from '@bigfleet/wire';
import { shortNeed } from '../kinds/need-name.ts';
import { durationText } from '../output/text.ts';
import { type Finding, finding, type FleetFacts, type ShardFacts } from './facts.ts';

const MAX_ERROR_SHOWN = 200;

export function checkBrakes({ shards }: FleetFacts): Finding[] {
  return shards.flatMap((shard) => [...needs(shard), ...types(shard), ...unasked(shard)]);
}

interface Held {
  readonly name: string;
  readonly run: FailureRun;
}

function needs({ entry, brakes }: ShardFacts): Finding[] {
  const all = brakes.ok ? brakes.value.needs : [];
  const held = heldOf(
    all.map(({ clusterId, profileFingerprint, run }) => ({
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
      `shard ${entry.shardId}`,
      `machines never join for ${counted(held.length, 'need')}: ${worstText(worst)}`,
      `Why do the nodes of ${worst.name} never join (image, bootstrap template, network)? ` +
        `bigfleetctl get machines --shard=${entry.shardId} --state=Failed -o wide; mended: ` +
        `${clearing(entry.shardId)} --cluster=… --reason=…`,
    ),
  ];
}

function types({ entry, brakes }: ShardFacts): Finding[] {
  const all = brakes.ok ? brakes.value.types : [];
  const held = heldOf(
    all.map(({ provider, instanceType, run }) => ({ name: `${provider}/${instanceType}`, run })),
  );
  const [worst] = held;
  if (worst === undefined) return [];
  return [
    finding(
      'warning',
      'type-failing',
      `shard ${entry.shardId}`,
      `buys no more of what fails in several clusters, ${counted(held.length, 'instance type')}: ` +
        worstText(worst),
      `Check the image and the quota of ${worst.name} at its provider; mended: ` +
        `${clearing(entry.shardId)} --provider=… --reason=…`,
    ),
  ];
}

/** A shard that is too old to say. */
function unasked({ entry, brakes }: ShardFacts): Finding[] {
  if (brakes.ok) return [];
  return [finding('info', 'unanswered', `shard ${entry.shardId}`, brakes.problem, 'Update it.')];
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
