// An error as a person reads it: what happened, under a code that can be searched for, and what to
// do next. A bug keeps its stack: whoever reports it needs it.

import { BigFleetError, describeThrown, errorCatalogue } from '@bigfleet/base';
import { cleanText } from '../output/clean-text.ts';

export interface DescribedFailure {
  /** `code: what happened`. */
  readonly line: string;
  /** What to do; empty when there is nothing to say. */
  readonly next: string;
}

export function describeFailure(thrown: unknown): DescribedFailure {
  if (thrown instanceof BigFleetError) {
    const line = `${thrown.code}: ${cleanText(thrown.message)}`;
    return { line, next: errorCatalogue[thrown.code].action };
  }
  if (isFileError(thrown)) {
    const line = `local_file_failed: ${cleanText(thrown.message)}`;
    return { line, next: errorCatalogue.local_file_failed.action };
  }
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  return {
    line: `internal: ${stack ?? describeThrown(thrown)}`,
    next: errorCatalogue.internal.action,
  };
}

/** Of a call to the system: a file that cannot be read or written here. */
function isFileError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'syscall' in thrown && 'code' in thrown;
}
