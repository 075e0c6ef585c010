// The one mapping from priority to class (engine §10, decision 23): metrics, the starvation page
// and the test gates use it together, so that they never disagree. `other` is published at zero
// for rows without a readable priority; a number always has a class, so it is not returned here.

export type PriorityClass = 'critical' | 'service' | 'batch';

/** Every value of the metric label `priority_class`. */
export const PRIORITY_CLASS_LABELS: readonly (PriorityClass | 'other')[] = [
  'critical',
  'service',
  'batch',
  'other',
];

export const CRITICAL_PRIORITY_FLOOR = 1_000_000;
export const SERVICE_PRIORITY_FLOOR = 1_000;

/** A Pod without a PriorityClass has priority 0 and counts as batch, not as starvation. */
export function priorityClassOf(priority: number): PriorityClass {
  if (priority >= CRITICAL_PRIORITY_FLOOR) return 'critical';
  return priority >= SERVICE_PRIORITY_FLOOR ? 'service' : 'batch';
}
