// `bigfleet diff`: what another build of bigfleet decides otherwise over the same recorded inputs, on
// the traces of a records directory. The other build runs as a process of its own and says what it
// decides; this one decides in step with it. Exit 0 only when every cycle came out the same.

import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BigFleetError } from '@bigfleet/base';
import { createEngineLike, diffRuns, type ReplayMode } from '@bigfleet/engine';
import { directorySegments, type SegmentFiles } from '@bigfleet/shard';
import { duration, text } from '@bigfleet/process/flags';
import { type Command, EXIT } from '../../command.ts';
import {
  directoryCommand,
  directoryFlags,
  type ComparedTrace,
  noTraceText,
  printCompared,
  replayModeFlag,
  traceNames,
} from '../directory-command.ts';
import { DecisionFile } from './decision-file.ts';
import { runOtherBuild } from './run-other-build.ts';
import { toldEngine } from './told-engine.ts';

const SHARDS_NAME = /^\d{12}-\d{8}\.trace$/;
const RENAMED = `${'0'.repeat(12)}-${'0'.repeat(8)}.trace`;

const flags = {
  ...directoryFlags,
  against: text('', 'The build to compare with: its main file, or its checkout.', '<path>'),
  mode: replayModeFlag,
  timeout: duration('30m', 'How long the other build may take.'),
} as const;

export const diffCommand: Command = directoryCommand({
  name: 'diff',
  summary: 'what another build of bigfleet decides otherwise over the same recorded inputs',
  flags,
  problem: ({ against }) => (against === '' ? 'give --against' : undefined),
  run: async (files, values, { port, runtime }, place) => {
    const { against, mode, output, timeout } = values;
    const names = await traceNames(files);
    if (names.length === 0) {
      port.writeError(noTraceText('diff', place));
      return EXIT.failed;
    }
    const folder = mkdtempSync(path.join(tmpdir(), 'bigfleet-diff-'));
    try {
      const traces = path.join(folder, 'traces');
      const copies = await copyTraces(files, names, traces);
      const outputFile = path.join(folder, 'decisions');
      const argv = ['replay', traces, '--decisions', `--mode=${mode}`];
      await runOtherBuild({ runtime, build: against, argv, outputFile, timeoutMs: timeout });
      const compared = await compare(copies, outputFile, mode);
      if (!printCompared('diff', output, compared, port)) return EXIT.failed;
      const isSame = compared.every(({ report }) => report.outcome === 'identical');
      return isSame ? EXIT.ok : EXIT.failed;
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      port.writeError(`bigfleet diff: ${error.code}: ${error.message}\n`);
      return EXIT.failed;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

/** A shard may go on writing: both builds must see the same bytes. */
async function copyTraces(
  files: SegmentFiles,
  names: readonly string[],
  folder: string,
): Promise<SegmentFiles> {
  await mkdir(folder);
  for (const name of names) {
    // The other build lists the folder: a file that was renamed gets a shard's name again.
    const copy = SHARDS_NAME.test(name) ? name : RENAMED;
    await writeFile(path.join(folder, copy), await files.read(name));
  }
  return directorySegments(folder);
}

async function compare(
  files: SegmentFiles,
  outputFile: string,
  mode: ReplayMode,
): Promise<readonly ComparedTrace[]> {
  using decisions = new DecisionFile(outputFile);
  const compared: ComparedTrace[] = [];
  for (const { name } of await files.list()) {
    const bytes = await files.read(name);
    decisions.enter(name);
    const report = diffRuns(bytes, toldEngine(decisions), createEngineLike, { mode });
    compared.push({ trace: name, report });
  }
  return compared;
}
