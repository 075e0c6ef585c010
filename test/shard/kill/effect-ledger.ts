// What really happened to machines, written by the provider's substrate at the moment of each
// effect, and the law of it: created, then in turns joined to a cluster and drained, then deleted;
// no effect twice, no operation id twice. A shard that forgot what it had begun and began it again
// breaks it. The file outlives every shard.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export const EFFECT_KINDS = ['create', 'configure', 'drain', 'delete'] as const;
export type EffectKind = (typeof EFFECT_KINDS)[number];

export interface Effect {
  readonly kind: EffectKind;
  readonly machineId: string;
  /** Empty where the kit gives none. */
  readonly operationId: string;
}

type Condition = 'absent' | 'idle' | 'bound';

const EDGES: Readonly<Record<EffectKind, readonly [from: Condition, to: Condition]>> = {
  create: ['absent', 'idle'],
  configure: ['idle', 'bound'],
  drain: ['bound', 'idle'],
  delete: ['idle', 'absent'],
};

export function appendEffect(file: string, { kind, machineId, operationId }: Effect): void {
  appendFileSync(file, `${kind} ${machineId} ${operationId}\n`);
}

export function readEffects(file: string): readonly Effect[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [kind = '', machineId = '', operationId = ''] = line.split(' ');
    const known = EFFECT_KINDS.find((each) => each === kind);
    if (known === undefined) throw new Error(`not an effect: ${line}`);
    return { kind: known, machineId, operationId };
  });
}

/** Every way in which the effects break the law; none is the good answer. */
export function brokenEffects(effects: readonly Effect[]): readonly string[] {
  const conditions = new Map<string, Condition>();
  const operationIds = new Set<string>();
  const broken: string[] = [];
  for (const { kind, machineId, operationId } of effects) {
    const [from, to] = EDGES[kind];
    const before = conditions.get(machineId) ?? 'absent';
    if (before !== from) broken.push(`${kind} of ${machineId}, which was ${before}`);
    conditions.set(machineId, to);
    if (operationId === '') continue;
    if (operationIds.has(operationId)) broken.push(`${kind} of ${machineId}: ${operationId} twice`);
    operationIds.add(operationId);
  }
  return broken;
}
