// Behaviour ids for people: three or more that follow each other in the catalogue become a range.

import { behaviours } from '../../../catalogue/catalogue.ts';

const MIN_RANGE = 3;
const positions: ReadonlyMap<string, number> = new Map(
  behaviours.map(({ id }, position) => [id, position]),
);

/** `B101 B103–B106 B301`; the order of the catalogue is expected. */
export function idRanges(ids: readonly string[]): string {
  const runs: string[][] = [];
  for (const id of ids) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const follows = last !== undefined && positionOf(id) === positionOf(last) + 1;
    if (run !== undefined && follows) run.push(id);
    else runs.push([id]);
  }
  return runs
    .map((run) => (run.length < MIN_RANGE ? run.join(' ') : `${run[0]}–${run.at(-1)}`))
    .join(' ');
}

function positionOf(id: string): number {
  return positions.get(id) ?? Number.NaN;
}
