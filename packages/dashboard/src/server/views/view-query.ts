// A view with its parameters, from the text of a URL: read strictly, once, and written back in one form.
// Two askers who mean the same get the same key, and so the same answer, computed once.

import { err, ok, type Result } from '@bigfleet/base';
import type { ZodError, ZodType } from 'zod';
import { params, type Params, type Problem, type ViewName } from '../../api/index.ts';

export interface ViewQuery<V extends ViewName = ViewName> {
  readonly view: V;
  readonly params: Params<V>;
  /** Equal for equal questions. */
  readonly key: string;
  /** Of a recorded moment: it does not change any more. */
  readonly isPast: boolean;
}

export const VIEW_NAMES: readonly ViewName[] = Object.keys(params) as ViewName[];

function isViewName(name: string): name is ViewName {
  return Object.hasOwn(params, name);
}

/** `decisions?cluster=a`, as a stream is asked with. */
export function parseViewText(text: string): Result<ViewQuery, Problem> {
  const at = text.indexOf('?');
  const name = at < 0 ? text : text.slice(0, at);
  return parseViewQuery(name, new URLSearchParams(at < 0 ? '' : text.slice(at + 1)));
}

export function parseViewQuery(name: string, search: URLSearchParams): Result<ViewQuery, Problem> {
  if (!isViewName(name)) {
    const known = VIEW_NAMES.join(', ');
    return err({ code: 'view_unknown', message: `no view ${quoted(name)}: there are ${known}` });
  }
  const given = singleValues(search);
  if (!given.ok) return given;
  const schema: ZodType<Params<ViewName>> = params[name];
  const parsed = schema.safeParse(given.value);
  if (!parsed.success) return err(parameterProblem(parsed.error, given.value));
  return ok({
    view: name,
    params: parsed.data,
    key: `${name}?${JSON.stringify(parsed.data)}`,
    isPast: 'at' in parsed.data && parsed.data.at > 0,
  });
}

/** Which of two values counts is a guess that a link must not depend on. */
function singleValues(search: URLSearchParams): Result<Record<string, string>, Problem> {
  const values = new Map<string, string>();
  for (const [name, value] of search) {
    if (values.has(name)) {
      return err({ code: 'parameter_invalid', message: `${quoted(name)} is given twice` });
    }
    values.set(name, value);
  }
  return ok(Object.fromEntries(values));
}

function parameterProblem({ issues }: ZodError, given: Record<string, string>): Problem {
  const [issue] = issues;
  if (issue?.code === 'unrecognized_keys') {
    const names = issue.keys.map(quoted).join(', ');
    return { code: 'parameter_unknown', message: `the view does not know ${names}` };
  }
  const name = String(issue?.path[0] ?? '');
  const value = Object.hasOwn(given, name) ? ` ${quoted(given[name] ?? '')}` : '';
  const message = `${name}${value}: ${issue?.message ?? 'not understood'}`;
  return { code: 'parameter_invalid', message };
}

const SHOWN_CHARACTERS = 80;

/** What a stranger wrote, short and without line breaks. */
function quoted(text: string): string {
  return JSON.stringify(
    text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text,
  );
}
