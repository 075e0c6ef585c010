// docs/errors.md from the tables that processes print from: error codes, reason codes, and exit codes.
// Nothing here says anew what a code means.

import { type ErrorEntry, errorCatalogue, reasonCatalogue, type ReasonSet } from '@bigfleet/base';
import { EXIT_CODES } from './exit-codes.ts';
import { cell, code, page, table } from './markdown.ts';

export interface ErrorTables {
  readonly errors: Readonly<Record<string, ErrorEntry>>;
  readonly reasons: typeof reasonCatalogue;
}

export const OUR_TABLES: ErrorTables = { errors: errorCatalogue, reasons: reasonCatalogue };

/** Heading, and where a reader meets the code. Every set has a row, or the page does not compile. */
const SETS: Readonly<Record<ReasonSet, readonly [heading: string, where: string]>> = {
  action: [
    'Why an action was taken',
    'decision records, `bigfleetctl explain`, Events of reclaims',
  ],
  unmet: [
    'Why a need is unmet',
    '`bigfleetctl get needs`, `get shortfalls`, `explain need`; the first code that applies, in this order',
  ],
  candidate: ['Why a machine was passed over', 'candidates of `bigfleetctl explain`'],
  execute_outcome: ['What became of an action', 'label `outcome` of executed actions, audit log'],
  skipped: ['Why an action was skipped', 'dispositions of `bigfleetctl records`'],
  deferred: ['Why an action was deferred', 'dispositions of `bigfleetctl records`'],
  drain_operator: ["The operator's part of a drain", 'audit log, and the series of drains'],
  machine_refusal: [
    'Machines that a shard does not take in',
    'log of the shard, its series of refusals',
  ],
  rollup_refusal: [
    'Roll-ups that a shard refuses',
    'log of the shard; the operator gets no answer',
  ],
  request_refusal: [
    'CapacityRequests that an operator leaves out',
    'Events on the object, series of the operator',
  ],
  session_refusal: ['Sessions that a shard refuses or ends', 'log of both ends'],
  instruction: ['Instructions of the coordinator', 'audit log, `bigfleetctl get transfers`'],
  transfer_abort: ['Why a transfer was aborted', '`bigfleetctl get transfers`'],
  counterfactual: ['What would have changed the answer', '`bigfleetctl explain --counterfactuals`'],
};

const INTRODUCTION = `# Errors and reasons

<!-- Generated: node tools/reference/main.ts -->

*A line shows a code: what does it mean, and what do I do?* The page is written from the tables that
the processes print from (\`packages/base/src/errors/catalogue.ts\`, \`packages/base/src/reasons\`);
\`make check\` fails when it is not current. A code is never renamed and never reused, so it is safe to
search for, to alert on and to write into a runbook. What series mean: [observability](internals/observability.md).`;

const ERRORS_INTRODUCTION = `An error is what the environment did: a refused connection, a damaged file, a passed deadline. Its
kind says whose move it is:

| Kind | Whose move |
|---|---|
| \`user\` | refused; the caller corrects what was sent or configured |
| \`system\` | an operator acts; trying again does not help |
| \`transient\` | tried again by itself; it needs somebody only when it lasts |

The gRPC status is the one that a caller sees when the error reaches a gRPC boundary. A bug is none of
these: it ends the process with a failed assertion.`;

const REASONS_INTRODUCTION = `A reason says why something was decided; nothing is broken. Decision records, logs, metric labels,
\`bigfleetctl\` and the dashboard print the same codes
(engine §15). One code can occur in several sets.`;

/** `catalogueSource`: the text of the error catalogue, for its headings and their order. */
export function errorsPage(tables: ErrorTables, catalogueSource: string): string {
  const groups = groupedCodes(tables.errors, catalogueSource);
  return page([
    INTRODUCTION,
    '## Exit codes',
    'Errors are one line on stderr that begins with the command and the code; the second line says what to do next.',
    table(
      ['Command', 'Code', 'Meaning'],
      EXIT_CODES.map(({ command, exit, meaning }) => [code(command), String(exit), cell(meaning)]),
    ),
    '## Error codes',
    ERRORS_INTRODUCTION,
    ...groups.flatMap(([heading, codes]) => [
      `### ${heading}`,
      table(
        ['Code', 'Kind', 'gRPC status', 'What happened', 'What to do'],
        codes.map((name) => errorRow(name, tables.errors[name])),
      ),
    ]),
    '## Errors by gRPC status',
    'What a client that sees only the status may be looking at.',
    table(['Status', 'Codes'], statusRows(tables.errors)),
    '## Reason codes',
    REASONS_INTRODUCTION,
    ...Object.entries(SETS).flatMap(([set, [heading, where]]) => [
      `### ${heading}`,
      `Set \`${set}\`. Where it shows: ${where}.`,
      table(
        ['Code', 'What it says', 'What to do'],
        Object.entries(tables.reasons[set as ReasonSet]).map(([name, { meaning, action }]) => [
          code(name),
          cell(meaning),
          cell(action),
        ]),
      ),
    ]),
  ]);
}

function errorRow(name: string, entry: ErrorEntry | undefined): string[] {
  if (entry === undefined) throw new Error(`no error has the code ${name}`);
  return [code(name), entry.kind, code(entry.grpc), cell(entry.meaning), cell(entry.action)];
}

function statusRows(errors: ErrorTables['errors']): string[][] {
  const byStatus = new Map<string, string[]>();
  for (const [name, { grpc }] of Object.entries(errors)) {
    byStatus.set(grpc, [...(byStatus.get(grpc) ?? []), code(name)]);
  }
  return [...byStatus]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, names]) => [code(status), names.join(', ')]);
}

/** The catalogue keeps each package's codes under a heading of its own; the page keeps them too. */
function groupedCodes(
  errors: ErrorTables['errors'],
  source: string,
): readonly (readonly [heading: string, codes: readonly string[]])[] {
  const groups: [string, string[]][] = [];
  for (const line of source.split('\n')) {
    const heading = /^ {2}\/\/ ── (.+?) ─+$/.exec(line)?.[1];
    if (heading !== undefined) groups.push([heading, []]);
    const name = /^ {2}([a-z0-9_]+): \{$/.exec(line)?.[1];
    if (name !== undefined && Object.hasOwn(errors, name)) groups.at(-1)?.[1].push(name);
  }
  const found = groups.flatMap(([, codes]) => codes).toSorted();
  const all = Object.keys(errors).toSorted();
  if (found.join() !== all.join()) {
    throw new Error(`${all.length - found.length} error codes stand under no heading`);
  }
  return groups.filter(([, codes]) => codes.length > 0);
}
