// Objects by the ten thousand, written into the etcd of a control plane as its API server would have stored them:
// creates through the server would take longer than what is tested, and only the server may date an object.

import { base64, gateway } from '../etcd/gateway.ts';
import type { ControlPlane } from './control-plane.ts';
import { each } from './pods-and-requests.ts';

export interface EtcdObject {
  /** Under the server's `/registry/`. */
  readonly key: string;
  readonly object: object;
}

const WRITERS = 4;
/** etcd takes 128 at most. */
const TRANSACTION_PUTS = 100;

/**
 * The server is down meanwhile and lists the objects when it starts: its caches follow so many events slowly, and
 * refuse lists until they have.
 */
export async function putObjects(
  { apiserver, etcd }: Pick<ControlPlane, 'apiserver' | 'etcd'>,
  objects: readonly EtcdObject[],
): Promise<void> {
  const { endpoint } = etcd.member(0);
  const puts = objects.map(({ key, object }) => ({
    requestPut: { key: base64(`/registry/${key}`), value: base64(JSON.stringify(object)) },
  }));
  const batches = Array.from({ length: Math.ceil(puts.length / TRANSACTION_PUTS) }, (_, at) =>
    puts.slice(at * TRANSACTION_PUTS, (at + 1) * TRANSACTION_PUTS),
  );
  await apiserver.stop();
  await each(batches, (success) => gateway(endpoint, 'kv/txn', { success }), WRITERS);
  await apiserver.start();
}
