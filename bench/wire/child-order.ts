// What a bench asks of the processes it starts: one role each, as JSON on the command line.

import type { SideName } from './side.ts';

export interface PemFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface ServerOrder {
  readonly role: 'server';
  readonly side: SideName;
  readonly seed: number;
}

export interface StreamServerOrder {
  readonly role: 'stream-server';
  readonly tls: PemFiles;
  readonly seed: number;
}

/** A client of a stream: its certificate's files and the cluster that the certificate is for. */
export interface Operator {
  readonly clusterId: string;
  readonly tls: PemFiles;
}

export interface StreamClientsOrder {
  readonly role: 'stream-clients';
  readonly target: string;
  readonly streamCount: number;
  /** Taken in turn. */
  readonly operators: readonly Operator[];
}

export type Order = ServerOrder | StreamServerOrder | StreamClientsOrder;

export function parseOrder(text: string | undefined): Order {
  const value: unknown = JSON.parse(text ?? 'null');
  if (!isOrder(value)) throw new Error('wire bench child: not an order');
  return value;
}

function isOrder(value: unknown): value is Order {
  if (typeof value !== 'object' || value === null || !('role' in value)) return false;
  return ['server', 'stream-server', 'stream-clients'].includes(String(value.role));
}
