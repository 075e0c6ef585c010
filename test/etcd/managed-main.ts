// A process with nothing but a managed etcd, for tests that kill the parent alone. It bootstraps
// without asking anybody and runs until it is killed.
// Arguments: <etcd> <data-dir> <client-port> <peer-port>.

import { realRuntime } from '@bigfleet/base/real';
import { startManagedEtcd } from '@bigfleet/coordinator/etcd';

const [binary = '', dataDir = '', clientPort = '', peerPort = ''] = process.argv.slice(2);
const nobody = (): Promise<never> => Promise.reject(new Error('there is nobody'));
const never = new AbortController().signal;
const peer = `127.0.0.1:${peerPort}`;

const { formation } = await startManagedEtcd(
  {
    runtime: realRuntime(),
    binary,
    nodeId: 'c-0',
    dataDir,
    clientAddress: `127.0.0.1:${clientPort}`,
    peerBind: peer,
    peerAdvertise: peer,
    bootstrap: true,
    probeForMs: 1,
    port: { join: nobody, clusterUid: nobody },
  },
  never,
);
console.log(`started ${formation}`);
