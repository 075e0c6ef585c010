// Refusals over HTTP: a stable code, a sentence, and the status that fits the code.

import { errorCatalogue, isErrorCode } from '@bigfleet/base';
import type { Problem } from '../../api/index.ts';

const STATUS: Readonly<Record<string, number>> = {
  parameter_invalid: 400,
  parameter_unknown: 400,
  subject_missing: 400,
  moment_not_yet: 400,
  host_refused: 403,
  method_not_allowed: 405,
  body_refused: 413,
  moment_not_kept: 404,
  internal: 500,
};

export function statusOf({ code }: Problem): number {
  const known = STATUS[code];
  if (known !== undefined) return known;
  if (/_(?:not_found|unknown)$/.test(code)) return 404;
  return isErrorCode(code) && errorCatalogue[code].kind === 'user' ? 400 : 503;
}
