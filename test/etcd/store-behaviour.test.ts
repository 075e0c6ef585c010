// Proves that the etcd engine behaves like every engine: the one suite of all engines, on a real
// etcd, with random command streams against the pure state machine.

import { after, before } from 'node:test';
import { storeBehaviour } from '@bigfleet/coordinator/testing';
import { type EtcdCluster, monotonicMs } from '../toolkit/index.ts';
import { createReplica } from './replica.ts';
import { startEtcd } from './binaries.ts';

let etcd: EtcdCluster;
before(async () => {
  etcd = await startEtcd(1);
});
after(() => etcd.stop());

let stageCount = 0;

storeBehaviour({
  engine: 'etcd',
  streams: 15,
  stage: (context) => {
    stageCount += 1;
    const prefix = `/behaviour-${stageCount}/`;
    return Promise.resolve({
      store: ({ bootstrap }) => {
        const { store } = createReplica({ endpoints: etcd.endpoints, prefix, bootstrap });
        context.after(() => store.close());
        return store;
      },
      nowMs: monotonicMs,
    });
  },
});
