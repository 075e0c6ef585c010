// Proves the way of a snapshot with a real coordinator at both ends: state is written by verbs,
// saved over gRPC, restored offline into an empty directory, and read again; a directory in use and
// a damaged file are refused with the reason.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { type RunningCoordinator, startCoordinatorProcess } from '@bigfleet/coordinator';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import { parseFlags } from '@bigfleet/process/flags';
import { coordinatorFlags } from '../../coordinator/flags.ts';
import { coordinatorSettings } from '../../coordinator/settings.ts';
import { runCtl } from '../testing/run-ctl.ts';

const runtime = realRuntime();

async function startCoordinator(dataDir: string): Promise<RunningCoordinator> {
  const argv = ['--listen=127.0.0.1:0', '--metrics-addr=0', `--data-dir=${dataDir}`, '--bootstrap'];
  const parsed = parseFlags(coordinatorFlags, argv);
  assert.ok(parsed.ok);
  const command = coordinatorSettings(parsed.value, {});
  assert.ok(command.ok);
  const settings = command.value;
  const logger = createLogger({ clock: runtime.clock, sink: captureSink() });
  return startCoordinatorProcess({
    runtime,
    logger,
    registry: createRegistry(),
    settings,
    env: {},
  });
}

test('saved from a real coordinator, restored, and read again', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ctl-restore-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const at = (name: string): string => path.join(folder, name);
  const restore = (file: string, directory: string) =>
    runCtl([
      'snapshot',
      'restore',
      file,
      `--data-dir=${directory}`,
      '--node-id=node-1',
      '--raft-advertise=127.0.0.1:7791',
    ]);

  const first = await startCoordinator(at('first'));
  const ctl = (address: string, line: string) =>
    runCtl([`--coordinator=${address}`, ...line.split(' ')], { runtime });
  const registered = await ctl(
    first.address,
    'register-provider --name=lab --address=10.0.0.7:9000 --region=lab --declared-quota=50',
  );
  assert.equal(registered.error, '');
  const saved = await ctl(first.address, `snapshot save ${at('fleet.tar')} --format=logical`);
  assert.match(saved.output, /^saved snapshot index=\d+ term=\d+ to /);
  const native = await ctl(first.address, `snapshot save ${at('native.tar')}`);
  assert.equal(native.code, 0, native.error);
  const inUse = await restore(at('fleet.tar'), at('first'));
  assert.equal(inUse.code, 1);
  assert.match(inUse.error, /data dir is in use|data_dir/);
  const before = await ctl(first.address, 'list-providers');
  await first.stop();

  for (const archive of ['fleet.tar', 'native.tar']) {
    const restored = await restore(at(archive), at(`of-${archive}`));
    assert.equal(restored.error, '');
    assert.match(
      restored.output,
      /^restored snapshot index=\d+ term=\d+ into .* as single-voter node-1\nstart this replica first/,
    );
    const second = await startCoordinator(at(`of-${archive}`));
    assert.equal((await ctl(second.address, 'list-providers')).output, before.output);
    const status = await ctl(second.address, 'status -o json');
    assert.ok(Number((JSON.parse(status.output) as { term: string }).term) > 1_000, status.output);
    await second.stop();
  }

  const bytes = readFileSync(at('fleet.tar'));
  bytes[bytes.length - 1_200] = (bytes[bytes.length - 1_200] ?? 0) ^ 1;
  writeFileSync(at('damaged.tar'), bytes);
  const damaged = await restore(at('damaged.tar'), at('third'));
  assert.equal(damaged.code, 1);
  assert.match(damaged.error, /^bigfleetctl: snapshot_\w+: /);
});
