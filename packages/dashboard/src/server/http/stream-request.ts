// What `/api/v1/stream` is asked with: views, cells, and the event after which it goes on.

import { err, ok, type Result } from '@bigfleet/base';
import type { Problem } from '../../api/index.ts';
import type { StreamAsk } from '../stream/stream-hub.ts';
import type { HttpRequest } from './answer.ts';

const MAX_VIEWS = 8;
const MAX_ID = 64;
const NAMES: ReadonlySet<string> = new Set(['view', 'after', 'cells']);

export function parseStreamRequest(request: HttpRequest): Result<StreamAsk, Problem> {
  const { search } = request;
  for (const name of search.keys()) {
    if (!NAMES.has(name)) {
      return refused(
        'parameter_unknown',
        `a stream knows view, after and cells, not ${JSON.stringify(name)}`,
      );
    }
  }
  const views = [...new Set(search.getAll('view'))];
  if (views.length > MAX_VIEWS) {
    return refused('parameter_invalid', `view: ${views.length} are more than ${MAX_VIEWS}`);
  }
  const cells = search.get('cells') ?? '0';
  if (cells !== '0' && cells !== '1') return refused('parameter_invalid', 'cells: write 0 or 1');
  // A browser that comes back by itself repeats the URL that it began with; its header is newer.
  const after = request.header('last-event-id') ?? search.get('after') ?? '';
  if (after.length > MAX_ID) return refused('parameter_invalid', 'after: no id of an event');
  return ok({ views, hasCells: cells === '1', after: after === '' ? undefined : after });
}

function refused(code: string, message: string): Result<StreamAsk, Problem> {
  return err({ code, message });
}
