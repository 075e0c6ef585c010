// The owner's table from PriorityClass to penalties and priority (kubernetes §5.4). Read once at the
// start; a mistake in it stops the process and names class and field, because a penalty that silently
// counts as absent would put expensive work onto machines that can vanish.

import { err, ok, parseQuantity, type Result } from '@bigfleet/base';
import { parseYaml } from '@bigfleet/process';

export interface ClassDefaults {
  readonly interruptionPenalty: string | undefined;
  readonly reclamationPenalty: string | undefined;
  /** Replaces the number that admission resolved. */
  readonly priority: number | undefined;
}

export type ClassTable = ReadonlyMap<string, ClassDefaults>;

const FIELDS: readonly string[] = ['interruptionPenalty', 'reclamationPenalty', 'priority'];

/** The error is one line. */
export function parseClassTable(text: string): Result<ClassTable, string> {
  const parsed = parseYaml(text);
  if (!parsed.ok) return err(namedDuplicate(parsed.error, text));
  if (parsed.value === null) return ok(new Map());
  if (!isMapping(parsed.value)) return err('not a map from class name to defaults');
  const table = new Map<string, ClassDefaults>();
  for (const [name, value] of Object.entries(parsed.value)) {
    const defaults = parseDefaults(value ?? {});
    if (!defaults.ok) return err(`${name}${defaults.error}`);
    table.set(name, defaults.value);
  }
  return ok(table);
}

function parseDefaults(value: unknown): Result<ClassDefaults, string> {
  if (!isMapping(value)) return err(': not a map');
  const unknown = Object.keys(value).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined)
    return err(`.${unknown}: no such field; there are ${FIELDS.join(', ')}`);
  for (const field of ['interruptionPenalty', 'reclamationPenalty'] as const) {
    const raw = value[field];
    if (raw === undefined || raw === null) continue;
    const isText = typeof raw === 'string' || typeof raw === 'number';
    if (!isText || !parseQuantity(String(raw)).ok) {
      return err(`.${field}: ${JSON.stringify(raw)} is no quantity`);
    }
  }
  const { interruptionPenalty: first, reclamationPenalty: second, priority } = value;
  if (priority !== undefined && priority !== null && !isInt32(priority)) {
    return err(`.priority: ${JSON.stringify(priority)} is no 32-bit integer`);
  }
  return ok({
    interruptionPenalty: penaltyText(first),
    reclamationPenalty: penaltyText(second),
    priority: isInt32(priority) ? priority : undefined,
  });
}

function penaltyText(raw: unknown): string | undefined {
  return typeof raw === 'string' || typeof raw === 'number' ? String(raw) : undefined;
}

function isInt32(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) === (Number(value) | 0);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The parser names a line; the person who reads the message looks for the class. */
function namedDuplicate(problem: string, text: string): string {
  const line = /unique at line (\d+)/.exec(problem)?.[1];
  if (line === undefined) return problem;
  return `${problem} (${text.split('\n')[Number(line) - 1]?.trim() ?? ''})`;
}
