// What the API server said: an object, or a refusal with the Status it sent. A body that is not JSON
// (a proxy's page, a cut connection) is a refusal of its own kind and never trusted as an object.

import { BigFleetError } from '@bigfleet/base';
import type { KubeHttpResponse } from '../transport/transport.ts';

/** JSON as the server sent it; readers check what they use. */
export type ApiObject = Readonly<Record<string, unknown>>;

export type ApiAnswer = { readonly kind: 'ok'; readonly object: ApiObject } | ApiRefusal;

export interface ApiRefusal {
  readonly kind: 'refused';
  readonly status: number;
  /** `AlreadyExists`, `Conflict`, `NotFound`, …; empty when something else than an API server spoke. */
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
}

const MAX_ANSWER_BYTES = 256 << 20;
/** A server that asks for more is mistaken: a reflector that waits for hours is a dead one. */
const MAX_RETRY_AFTER_SECONDS = 300;
const MAX_SHOWN_LENGTH = 300;

export async function answerOf(response: KubeHttpResponse): Promise<ApiAnswer> {
  const text = await bodyText(response);
  const object = parsedObject(text);
  const { status } = response;
  if (status >= 200 && status < 300) {
    if (object !== undefined) return { kind: 'ok', object };
    throw new BigFleetError('kube_answer_malformed', `HTTP ${status} without a JSON object`);
  }
  return refusalOf(object, { ...response, text });
}

/** Also for ERROR events of a watch, which carry a Status. */
export function refusalOf(
  status: ApiObject | undefined,
  head: {
    readonly status: number;
    readonly retryAfterSeconds?: number | undefined;
    readonly text: string;
  },
): ApiRefusal {
  const details = status?.['details'];
  const asked = head.retryAfterSeconds ?? (isObject(details) ? details['retryAfterSeconds'] : 0);
  return {
    kind: 'refused',
    status: typeof status?.['code'] === 'number' ? status['code'] : head.status,
    reason: textOf(status?.['reason']),
    message: textOf(status?.['message']) || head.text.slice(0, MAX_SHOWN_LENGTH).trim(),
    retryAfterSeconds:
      typeof asked === 'number' && asked > 0 ? Math.min(asked, MAX_RETRY_AFTER_SECONDS) : undefined,
  };
}

export function describeRefusal({ status, reason, message }: ApiRefusal): string {
  return `HTTP ${status}${reason === '' ? '' : ` ${reason}`}: ${message}`;
}

/** For a caller that cannot go on; `status` tells whether another try may help. */
export function refusalError(refusal: ApiRefusal): BigFleetError {
  const { status } = refusal;
  return new BigFleetError('kube_refused', describeRefusal(refusal), { fields: { status } });
}

async function bodyText(response: KubeHttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) {
      response.destroy();
      throw new BigFleetError(
        'kube_answer_malformed',
        `an answer of over ${MAX_ANSWER_BYTES} bytes`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function parsedObject(text: string): ApiObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is ApiObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
