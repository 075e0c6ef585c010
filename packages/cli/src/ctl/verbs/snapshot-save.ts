// `snapshot save <file>`: the coordinator's state as one file.

import { SnapshotFormat } from '@bigfleet/wire';
import { oneOf } from '@bigfleet/process/flags';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';
import { saveSnapshot } from '../snapshot/save-snapshot.ts';
import { nowOf } from './now.ts';

const FORMATS = { native: SnapshotFormat.NATIVE, logical: SnapshotFormat.LOGICAL };
const NANOS_PER_SECOND = 1_000_000_000n;

export const snapshotSaveVerb: Verb = defineVerb({
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
  does: {
    kind: 'report',
    isWatchable: false,
    report: async ({ links, values, words: [file = ''], context }) => {
      const format = FORMATS[values.format];
      const nowUnixSeconds = Number(nowOf(context) / NANOS_PER_SECOND);
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
  },
});
