// Refuses a catalogue that could not mean what it says, with every problem at once and the place
// of each. Nothing is repaired: a silently dropped field has made drills run without their
// disturbance before.

import { err, ok, parseQuantity, type Result } from '@bigfleet/base';
import { type Archetype, type Catalogue, sameKeyOf, type SizeBucket, sizesOf } from './schema.ts';

export interface CatalogueProblem {
  /** Where: `archetypes[2] gpu-training`, `seedArchetypes`, … */
  readonly at: string;
  readonly problem: string;
}

export function validateCatalogue(
  catalogue: Catalogue,
): Result<Catalogue, readonly CatalogueProblem[]> {
  const lists = [
    ['archetypes', catalogue.archetypes],
    ['seedArchetypes', catalogue.seedArchetypes],
    ['demandArchetypes', catalogue.demandArchetypes],
  ] as const;
  const problems = lists.flatMap(([name, list]) => (list === undefined ? [] : inList(name, list)));
  if (catalogue.name === '') problems.unshift({ at: 'catalogue', problem: 'has no name' });
  return problems.length === 0 ? ok(catalogue) : err(problems);
}

function inList(list: string, archetypes: readonly Archetype[]): CatalogueProblem[] {
  const problems: CatalogueProblem[] = [];
  if (!archetypes.some(({ burstOnly }) => burstOnly !== true)) {
    problems.push({ at: list, problem: 'has no archetype that a steady draw could reach' });
  }
  const seen = new Set<string>();
  archetypes.forEach((archetype, index) => {
    const at = `${list}[${index}] ${archetype.name}`.trimEnd();
    if (archetype.name === '') problems.push({ at, problem: 'has no name' });
    if (seen.has(archetype.name)) problems.push({ at, problem: 'is named twice' });
    seen.add(archetype.name);
    for (const problem of inArchetype(archetype)) problems.push({ at, problem });
  });
  return problems;
}

function inArchetype(archetype: Archetype): string[] {
  return [
    ...weightProblems('weight', archetype.weight),
    ...listProblems('instanceTypes', archetype.instanceTypes),
    ...listProblems('zones', archetype.zones),
    ...sizeProblems(archetype),
    ...numberProblems(archetype),
    ...gangProblems(archetype),
    ...spreadProblems(archetype),
  ];
}

function weightProblems(what: string, weight: number): string[] {
  const isWeight = weight > 0 && weight < Number.POSITIVE_INFINITY;
  return isWeight ? [] : [`${what} ${weight} is not above 0`];
}

function listProblems(what: string, values: readonly string[]): string[] {
  if (values.length === 0) return [`${what} is empty`];
  if (values.includes('')) return [`${what} holds an empty value`];
  return new Set(values).size === values.length ? [] : [`${what} holds a value twice`];
}

function sizeProblems(archetype: Archetype): string[] {
  const sizes = sizesOf(archetype);
  if (archetype.sizeBuckets !== undefined && archetype.resources !== undefined) {
    return ['has both sizeBuckets and resources: one of them would be ignored'];
  }
  if (sizes.length === 0) return ['has neither sizeBuckets nor resources'];
  return sizes.flatMap(bucketProblems);
}

function bucketProblems(bucket: SizeBucket): string[] {
  const entries = Object.entries(bucket.resources);
  const none = entries.length === 0 ? ['a size has no resources'] : [];
  const bad = entries.flatMap(([name, text]) => {
    const quantity = parseQuantity(text);
    return quantity.ok && quantity.value.nanos > 0n
      ? []
      : [`${name}: ${JSON.stringify(text)} is not a quantity above 0`];
  });
  return [...weightProblems('size weight', bucket.weight), ...none, ...bad];
}

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

function numberProblems(archetype: Archetype): string[] {
  const problems: string[] = [];
  const { podsPerNode, priorityClasses } = archetype;
  if (podsPerNode !== undefined && !(Number.isInteger(podsPerNode) && podsPerNode >= 1)) {
    problems.push(`podsPerNode ${podsPerNode} is not a whole number above 0`);
  }
  if (priorityClasses.length === 0) problems.push('priorityClasses is empty');
  for (const priority of priorityClasses) {
    const isInt32 = Number.isInteger(priority) && priority >= INT32_MIN && priority <= INT32_MAX;
    if (!isInt32) problems.push(`priority ${priority} is not an int32`);
  }
  const amounts = {
    interruptionPenaltyDollars: archetype.interruptionPenaltyDollars,
    reclamationPenaltyDollars: archetype.reclamationPenaltyDollars,
    meanLifetimeSeconds: archetype.meanLifetimeSeconds,
  };
  for (const [name, value] of Object.entries(amounts)) {
    if (!(value >= 0)) problems.push(`${name} ${value} is negative or not a number`);
  }
  return problems;
}

function gangProblems(archetype: Archetype): string[] {
  if (archetype.sameRack === true && archetype.sameZone === true) {
    return ['sameRack and sameZone exclude each other'];
  }
  const range = archetype.groupSizeRange;
  if (sameKeyOf(archetype) === undefined) {
    return [
      ...(range === undefined ? [] : ['groupSizeRange without sameRack or sameZone']),
      ...(archetype.allowPartial === undefined ? [] : ['allowPartial without a gang']),
    ];
  }
  if (range === undefined) return ['a gang without groupSizeRange'];
  const [lo, hi] = range;
  const isRange = Number.isInteger(lo) && Number.isInteger(hi) && lo >= 1 && lo <= hi;
  return isRange ? [] : [`groupSizeRange ${lo}–${hi} is no range of whole numbers from 1`];
}

function spreadProblems(archetype: Archetype): string[] {
  const { spreadConstraint: spread, spreadConstraintProb: probability } = archetype;
  if ((spread === undefined) !== (probability === undefined)) {
    return ['spreadConstraint and spreadConstraintProb need each other'];
  }
  if (spread === undefined || probability === undefined) return [];
  const problems: string[] = [];
  if (!(probability >= 0 && probability <= 1)) {
    problems.push(`spreadConstraintProb ${probability} is outside 0–1`);
  }
  if (!(Number.isInteger(spread.maxSkew) && spread.maxSkew >= 1)) {
    problems.push(`maxSkew ${spread.maxSkew} is not a whole number above 0`);
  }
  if (spread.topologyKey === '') problems.push('spreadConstraint has no topologyKey');
  if (spread.topologyKey === sameKeyOf(archetype)) {
    problems.push(`spread and Same contradict each other on ${spread.topologyKey}`);
  }
  return problems;
}
