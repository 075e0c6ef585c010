// How many machines a need with DoNotSchedule has per topology value: the ones credited to it,
// and with `actions` the ones acquired for it in this cycle. Counts run on through acquisition
// and Phase 2; starting again anywhere keeps the skew per step and breaks it in total.

import type { ActionBuffer } from '../actions/action-buffer.ts';
import type { Row } from '../needs/row.ts';
import { CELL, CLAIM, SLOT } from '../store/cluster-supply.ts';
import type { Inventory } from '../store/inventory.ts';

export function creditedByValue(inventory: Inventory, row: Row, key: string): Map<string, number> {
  const counts = new Map<string, number>();
  const supply = inventory.supplyOf(row.cluster);
  if (supply === undefined || row.result.creditedCount === 0) return counts;
  const { cells, end } = supply;
  const mark = row.result.index + 1;
  for (let at = 0; at < end; at += CELL) {
    if (cells[at + CLAIM] === mark) addValue(inventory, counts, cells[at + SLOT]!, key);
  }
  return counts;
}

export function addAcquired(
  inventory: Inventory,
  counts: Map<string, number>,
  row: Row,
  actions: ActionBuffer,
  key: string,
): void {
  if (row.result.bootstrapCount + row.result.provisionCount === 0) return;
  for (let at = 0; at < actions.length; at++) {
    if (actions.row[at] === row) addValue(inventory, counts, actions.slot[at]!, key);
  }
}

/** One machine more at its value, if it has one. */
export function addValue(
  { columns, classes }: Inventory,
  counts: Map<string, number>,
  slot: number,
  key: string,
): void {
  const value = classes.valueOf(columns.klass[slot]!, key);
  if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
}

/** Whether one machine more at this value keeps the skew. */
export function keepsSkew(
  counts: ReadonlyMap<string, number>,
  value: string | undefined,
  maxSkew: number,
): boolean {
  if (value === undefined) return false;
  const own = counts.get(value) ?? 0;
  let least = own;
  for (const count of counts.values()) least = Math.min(least, count);
  return own <= least + Math.max(1, maxSkew) - 1;
}
