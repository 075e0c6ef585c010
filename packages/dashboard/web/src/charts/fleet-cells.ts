// The machines of the fleet map in columns: a whole answer, and the changes that are told between two. A
// change of a machine that the answer does not hold, or one that moves it to another group, waits for the
// next answer.

import type { Answer } from '../../../src/api/answers.ts';
import type { CellsEvent } from '../../../src/api/stream.ts';
import { STATE_NAMES } from '../../../src/words.ts';

type MapAnswer = Answer<'map'>;

export class FleetCells {
  readonly machine: readonly string[];
  readonly state: Uint8Array;
  readonly cluster: Uint32Array;
  readonly dollarsPerHour: Float64Array;
  readonly risk: Float64Array;
  readonly sinceMs: Float64Array;
  /** First cell of each group; one more at the end. Cells of a group stand together. */
  readonly start: Uint32Array;
  readonly clusters: string[];
  readonly #indexOf = new Map<string, number>();
  readonly #clusterOf = new Map<string, number>();

  constructor(answer: MapAnswer) {
    const { cells, groups } = answer;
    this.machine = cells?.machine ?? [];
    this.state = Uint8Array.from(cells?.state ?? []);
    this.cluster = Uint32Array.from(cells?.cluster ?? []);
    this.dollarsPerHour = Float64Array.from(cells?.dollarsPerHour ?? []);
    this.risk = Float64Array.from(cells?.risk ?? []);
    this.sinceMs = Float64Array.from(cells?.sinceMs ?? []);
    this.start = new Uint32Array(groups.length + 1);
    for (const group of cells?.group ?? [])
      this.start[group + 1] = (this.start[group + 1] ?? 0) + 1;
    for (let group = 0; group < groups.length; group += 1) {
      this.start[group + 1] = (this.start[group + 1] ?? 0) + (this.start[group] ?? 0);
    }
    this.clusters = [...answer.clusters];
    this.machine.forEach((machine, index) => this.#indexOf.set(machine, index));
    this.clusters.forEach((cluster, index) => this.#clusterOf.set(cluster, index));
  }

  get count(): number {
    return this.machine.length;
  }

  indexOf(machine: string): number {
    return this.#indexOf.get(machine) ?? -1;
  }

  countOf(group: number): number {
    return (this.start[group + 1] ?? 0) - (this.start[group] ?? 0);
  }

  groupOf(index: number): number {
    let low = 0;
    let high = this.start.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.start[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  clusterName(index: number): string {
    const cluster = this.cluster[index] ?? 0;
    return cluster === 0 ? '' : (this.clusters[cluster] ?? '');
  }

  stateName(index: number): string {
    return STATE_NAMES[this.state[index] ?? 0] ?? '';
  }

  /** Indexes of the cells that look different now. */
  apply(event: CellsEvent): readonly number[] {
    const touched: number[] = [];
    for (const change of event.changed) {
      const index = this.#indexOf.get(change.machine);
      if (index === undefined) continue;
      const state = STATE_NAMES.indexOf(change.state);
      const cluster = this.#clusterIndex(change.cluster);
      if (this.state[index] !== state || this.cluster[index] !== cluster) touched.push(index);
      this.state[index] = state;
      this.cluster[index] = cluster;
      this.dollarsPerHour[index] = change.dollarsPerHour;
      this.risk[index] = change.risk;
      this.sinceMs[index] = change.sinceMs;
    }
    return touched;
  }

  #clusterIndex(name: string): number {
    if (name === '') return 0;
    const known = this.#clusterOf.get(name);
    if (known !== undefined) return known;
    this.clusters.push(name);
    this.#clusterOf.set(name, this.clusters.length - 1);
    return this.clusters.length - 1;
  }
}
