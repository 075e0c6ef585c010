// The text of -help and -list.

import { blockLines } from '@bigfleet/process/flags';
import type { Behaviour } from '../catalogue/behaviour.ts';
import { FLAGS } from './flags.ts';

const HELP_HEAD = `bfconformance judges a BigFleet capacity provider over gRPC: 25 baseline checks and the
catalogue of 93 behaviours.

  bfconformance -target localhost:9001
  bfconformance -target localhost:9001 -start-cmd './provider --addr={addr} --state={state} --seed={seed}'
  bfconformance -provider _template -profile declared -out report

Flags (-x and --x are the same):`;

const HELP_TAIL = `
Exit code: 0 every claimed profile is certified; 1 FAILED or INCOMPLETE; 2 the command line is
wrong, or nothing could be judged.`;

export function helpText(): string {
  const flags = Object.entries(FLAGS).flatMap(([name, { form, fallback, help }]) =>
    form === undefined
      ? blockLines(`-${name}`, help)
      : blockLines(`-${name} ${form}`, fallback === '' ? help : `${help} (default ${fallback})`),
  );
  return [HELP_HEAD, ...flags, HELP_TAIL, ''].join('\n');
}

export function listText(entries: readonly Behaviour[]): string {
  return entries.map((entry) => `${entryLine(entry)}\n`).join('');
}

function entryLine({ id, area, title, profiles, capability, phase }: Behaviour): string {
  const needs = capability === '' ? '' : ` needs ${capability}`;
  return `${id.padEnd(6)} ${area.padEnd(18)} ${title} [${profiles.join(',')}; phase ${phase}${needs}]`;
}
