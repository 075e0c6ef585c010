// Verbs that save the coordinator's state as one file and restore it.

import { SnapshotFormat } from '@bigfleet/wire';
import { createLogger, createRegistry, stderrSink } from '@bigfleet/telemetry';
import { oneOf, text, toggle } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import { textReport } from '../output/report.ts';
import { saveSnapshot } from '../snapshot/save-snapshot.ts';

const FORMATS = { native: SnapshotFormat.NATIVE, logical: SnapshotFormat.LOGICAL };
const NANOS_PER_SECOND = 1_000_000_000n;

export const snapshotSaveVerb = defineVerb({
  name: 'snapshot save',
  group: 'Snapshots',
  summary: "save the coordinator's state to a file",
  details: [
    'Takes as long as it needs: --timeout does not apply. The file is a tar with meta.json first; it',
    'appears when it is complete and checked, never in part. native restores fastest, logical also',
    'into another store engine.',
  ],
  words: [{ name: 'file' }],
  flags: { format: oneOf('native', ['native', 'logical'], 'of the state in it') },
  examples: ['snapshot save /backup/bigfleet.tar', 'snapshot save fleet.tar --format=logical'],
  report: async ({ links, values, words: [file = ''], context }) => {
    const format = FORMATS[values.format];
    const nowUnixSeconds = Number(context.runtime.clock.unixNanos() / NANOS_PER_SECOND);
    const { index, term } = await links.coordinator.ask(
      'save snapshots',
      (api, call) =>
        saveSnapshot({
          target: file,
          frames: api.coordinator.snapshotSave({ format }, call),
          nowUnixSeconds,
        }),
      { isUnbounded: true },
    );
    const line = `saved snapshot index=${index} term=${term} to ${file}`;
    return textReport([line], { index, term, file, format: values.format });
  },
});

export const snapshotRestoreVerb = defineVerb({
  name: 'snapshot restore',
  group: 'Snapshots',
  summary: 'restore a snapshot into the data directory of one replica, offline',
  details: [
    'Dials nothing. Stop every replica first: scale to 0, restore into the volume of ordinal 0,',
    'delete the volumes of the others, scale up. If only one replica of several lost its volume, do',
    'not restore: start it empty and let it join. From SQLite to etcd: save with --format=logical,',
    'restore with --store=etcd into the volume of ordinal 0, start the replicas.',
  ],
  words: [{ name: 'file-or-dir' }],
  flags: {
    'data-dir': text('', 'data directory of the replica that starts first', '<dir>'),
    'node-id': text('', 'its --id', '<id>'),
    'raft-advertise': text('', 'its --raft-advertise', '<addr>'),
    store: oneOf('auto', ['auto', 'sqlite', 'etcd'], 'engine to restore into; auto is its own'),
    'etcd-binary': text('etcd', 'etcd: the server, for a logical snapshot', '<file>'),
    etcdutl: text('etcdutl', "etcd: its own tool, of the server's version", '<file>'),
    'etcd-prefix': text('/bigfleet/', 'etcd: --etcd-prefix of the replicas', '<prefix>'),
    'peer-tls': toggle(false, 'etcd: the replicas run with TLS files'),
  },
  required: ['data-dir', 'node-id', 'raft-advertise'],
  examples: [
    'snapshot restore fleet.tar --data-dir=./coord-data --node-id=node-1 ' +
      '--raft-advertise=127.0.0.1:7791',
    'snapshot restore fleet.tar --store=etcd --data-dir=/var/lib/bigfleet ' +
      '--node-id=bigfleet-coordinator-0 --raft-advertise=bigfleet-coordinator-0.coordinators:7791',
  ],
  problem: ({ 'etcd-prefix': prefix }) =>
    prefix.length > 1 && prefix.endsWith('/') ? undefined : '--etcd-prefix ends in /',
  needsNoFleet: true,
  report: async ({ values, words: [source = ''], context: { runtime } }) => {
    const { 'data-dir': dataDir, 'node-id': nodeId, 'raft-advertise': raftAdvertise } = values;
    const { store, 'etcd-binary': etcd, etcdutl, 'etcd-prefix': prefix } = values;
    const sink = stderrSink({ timers: runtime.timers, registry: createRegistry() });
    // Loaded here: no other verb needs a coordinator.
    const { restoreSnapshot } = await import('@bigfleet/coordinator');
    const { etcdRestore } = await import('@bigfleet/coordinator/etcd');
    const hasPeerTls = values['peer-tls'];
    const { index, term, engine, rejected } = await restoreSnapshot({
      source,
      dataDir,
      nodeId,
      raftAdvertise,
      store,
      log: createLogger({ clock: runtime.clock, sink }),
      etcd: etcdRestore({ runtime, etcd, etcdutl, hasPeerTls, prefix }),
    });
    return textReport(
      [
        `restored snapshot index=${index} term=${term} into ${dataDir} as single-voter ${nodeId}`,
        'start this replica first; every other replica must start with an empty data directory',
      ],
      { index, term, dataDir, nodeId, engine, rejectedRows: rejected },
      {
        problems: rejected.map(({ at, reason }) => `warning: row ${at} was left out: ${reason}`),
        exitCode: 0,
      },
    );
  },
});
