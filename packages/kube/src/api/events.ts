// Events on objects, for the person who asks `kubectl describe`. One Event per object, reason and
// message: a repetition raises its count, so that a mistake that is met every ten seconds does not fill
// the API server. Sending is best effort; an Event is never worth a retry.

import { createHash } from 'node:crypto';
import type { Clock } from '@bigfleet/base';
import type { KubeClient } from './client.ts';
import { EVENTS } from './resource.ts';

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for an object of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface EventText {
  readonly type: 'Normal' | 'Warning';
  /** One word in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

export interface EventSenderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Name of the program. */
  readonly component: string;
  readonly signal: AbortSignal;
}

const MAX_MESSAGE_LENGTH = 1024;
/** The count of an Event that this process forgot begins at one again. */
const MAX_KNOWN = 10_000;

export class EventSender {
  readonly #options: EventSenderOptions;
  readonly #counts = new Map<string, number>();

  constructor(options: EventSenderOptions) {
    this.#options = options;
  }

  async send(subject: EventSubject, text: EventText): Promise<void> {
    const { client, clock, component, signal } = this.#options;
    const message = text.message.slice(0, MAX_MESSAGE_LENGTH);
    const hash = createHash('sha256').update(`${subject.uid}\n${text.reason}\n${message}`);
    const name = `${subject.name.slice(0, 200)}.${hash.digest('hex').slice(0, 16)}`;
    const namespace = subject.namespace === '' ? 'default' : subject.namespace;
    const now = new Date(Number(clock.unixNanos() / 1_000_000n)).toISOString().replace(/\.\d+/, '');
    const count = (this.#counts.get(name) ?? 0) + 1;
    if (this.#counts.size >= MAX_KNOWN) this.#counts.clear();
    this.#counts.set(name, count);
    const options = { lane: 'event' as const, signal };
    const patch = { count, lastTimestamp: now };
    if (count > 1) {
      const patched = await client.mergePatch(EVENTS, { namespace, name }, { ...options, patch });
      if (patched.kind === 'ok' || patched.status !== 404) return;
    }
    const { apiVersion, kind, uid } = subject;
    await client.create(
      EVENTS,
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace },
        involvedObject: { apiVersion, kind, namespace: subject.namespace, name: subject.name, uid },
        type: text.type,
        reason: text.reason,
        message,
        source: { component },
        firstTimestamp: now,
        ...patch,
      },
      options,
    );
  }
}
