// Every mutant, by what is wrong with it. The names are unique, and the table in
// docs/internals/conformance-mutants.md has their order.

import type { Mutant } from '../mutant.ts';
import { bindingMutants } from './bindings.ts';
import { codeMutants } from './codes.ts';
import { cursorMutants } from './cursors.ts';
import { failureMutants } from './failures.ts';
import { fenceMutants } from './fences.ts';
import { fleetMutants } from './fleets.ts';
import { listMutants } from './lists.ts';
import { operationMutants } from './operations.ts';
import { recordMutants } from './records.ts';
import { restartMutants } from './restarts.ts';

export interface MutantGroup {
  /** What is wrong in all of them. */
  readonly title: string;
  readonly mutants: readonly Mutant[];
}

export const mutantGroups: readonly MutantGroup[] = [
  { title: 'Status codes and positions', mutants: codeMutants },
  { title: 'Fences', mutants: fenceMutants },
  { title: 'Operations and acks', mutants: operationMutants },
  { title: 'Bindings and metadata', mutants: bindingMutants },
  { title: 'States and record shape', mutants: recordMutants },
  { title: 'Filters, caps and pages', mutants: listMutants },
  { title: 'Cursors and deltas', mutants: cursorMutants },
  { title: 'Failures and timeouts', mutants: failureMutants },
  { title: 'Restarts', mutants: restartMutants },
  { title: 'Large and busy fleets', mutants: fleetMutants },
];

export const allMutants: readonly Mutant[] = mutantGroups.flatMap(({ mutants }) => mutants);
