// Why a process did not start, for its one line on stderr: what the environment or a flag explains
// is one line with its stable code; a bug keeps its stack.

import { BigFleetError, describeThrown } from '@bigfleet/base';

export function startRefusal(error: unknown): string {
  if (error instanceof BigFleetError) return `${error.code}: ${error.message}`;
  return (error instanceof Error ? error.stack : undefined) ?? describeThrown(error);
}
