// What a shard bench asks of the processes that it starts beside the shard: a role and a shape on
// the command line, then questions with one argument each.

export interface PemFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** A provider that has the machines of a shape. */
export interface ProviderOrder {
  readonly role: 'provider';
  readonly shape: string;
  readonly tls: PemFiles;
  /** How long it takes to answer a call about one machine. Default: no time of its own. */
  readonly callMs?: number;
}

/** Operators of some clusters of a shape, each on a connection of its own. */
export interface OperatorsOrder {
  readonly role: 'operators';
  readonly shape: string;
  readonly target: string;
  /** `<cluster>.crt` and `<cluster>.key`, and `ca.crt` for all. */
  readonly certificates: string;
  /** Of the clusters in the order of the shape: every `stride`-th from `first` on. */
  readonly first: number;
  readonly stride: number;
}

export type Order = ProviderOrder | OperatorsOrder;

export function parseOrder(text: string | undefined): Order {
  const value: unknown = JSON.parse(text ?? 'null');
  if (!isOrder(value)) throw new Error('shard bench child: not an order');
  return value;
}

function isOrder(value: unknown): value is Order {
  if (typeof value !== 'object' || value === null || !('role' in value)) return false;
  return ['provider', 'operators'].includes(String(value.role));
}
