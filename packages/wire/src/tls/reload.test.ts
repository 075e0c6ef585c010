// Proves that a leaf can be rotated under a running process: whatever state the files are in, the
// last coherent pair stays, and the poll that finds a good new one swaps it in (security §1.3).

import assert from 'node:assert/strict';
import { chmodSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { BigFleetError, createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks, realRuntime } from '@bigfleet/base/real';
import {
  createPki,
  type Leaf,
  type MaterialFiles,
  type Pki,
  writeMaterial,
} from '../testing/pki.ts';
import { tlsFromFlags } from './flags.ts';
import { TlsMaterial } from './material.ts';
import { startTlsReload, type TlsReload } from './reload.ts';

interface Scene {
  readonly pki: Pki;
  readonly files: MaterialFiles;
  readonly material: TlsMaterial;
  readonly time: VirtualRuntime;
  readonly reload: TlsReload;
  readonly log: string[];
  readonly next: Leaf;
}

const hour = 3_600;

async function scene(t: TestContext, validToSeconds = 30 * 24 * hour): Promise<Scene> {
  const pki = await createPki();
  const files = writeMaterial(await pki.leaf({ validToSeconds }), pki.caPem);
  t.after(() => files.remove());
  const material = tlsFromFlags({ ...files, env: {} });
  assert.ok(material instanceof TlsMaterial);
  const startUnixNanos = realRuntime().clock.unixNanos();
  const time = createVirtualRuntime({ seed: 'reload', drain: drainMicrotasks, startUnixNanos });
  const log: string[] = [];
  const reload = startTlsReload({
    runtime: time.runtime,
    material,
    onReloaded: () => log.push('reloaded'),
    onReloadFailed: (error) => log.push(error instanceof BigFleetError ? error.code : 'unreadable'),
    onExpiringSoon: () => log.push('expiring'),
  });
  t.after(() => reload.stop());
  const next = await pki.leaf({ validToSeconds: 60 * 24 * hour });
  return { pki, files, material, time, reload, log, next };
}

/** Days that the leaf in use is valid, rounded: 30 for the first, 60 for the next one. */
function days({ material, time }: Scene): number {
  const now = Number(time.runtime.clock.unixNanos() / 1_000_000_000n);
  return Math.round((material.expiresAtUnixSeconds() - now) / (24 * hour));
}

describe('leaf reload', () => {
  it('takes a new pair at the next poll, at most ten seconds later', async (t) => {
    const now = await scene(t);
    writeFileSync(now.files.cert, now.next.certPem);
    writeFileSync(now.files.key, now.next.keyPem);
    await now.time.runFor(9_999);
    assert.equal(days(now), 30);
    await now.time.runFor(1);
    await now.reload.check();
    assert.deepEqual([days(now), now.log], [60, ['reloaded']]);
  });

  it('keeps polling', async (t) => {
    const now = await scene(t);
    for (let poll = 0; poll < 5; poll += 1) {
      await now.time.runFor(10_000);
      await now.reload.check();
    }
    writeFileSync(now.files.cert, now.next.certPem);
    writeFileSync(now.files.key, now.next.keyPem);
    await drainMicrotasks();
    await now.time.runFor(10_000);
    await now.reload.check();
    assert.deepEqual([days(now), now.log], [60, ['reloaded']]);
  });

  const halves = ['cert', 'key'] as const;
  for (const first of halves) {
    it(`keeps the old pair while only the ${first} is new, then takes the new one`, async (t) => {
      const now = await scene(t);
      const content = { cert: now.next.certPem, key: now.next.keyPem };
      writeFileSync(now.files[first], content[first]);
      await now.reload.check();
      await now.reload.check();
      assert.deepEqual([days(now), now.log], [30, ['tls_bad_material']]);
      const second = first === 'cert' ? 'key' : 'cert';
      writeFileSync(now.files[second], content[second]);
      await now.reload.check();
      assert.deepEqual([days(now), now.log], [60, ['tls_bad_material', 'reloaded']]);
    });
  }

  for (const missing of halves) {
    it(`keeps the old pair while the ${missing} file is missing`, async (t) => {
      const now = await scene(t);
      renameSync(now.files[missing], `${now.files[missing]}.away`);
      await now.reload.check();
      assert.deepEqual([days(now), now.log], [30, ['unreadable']]);
      writeFileSync(now.files.cert, now.next.certPem);
      writeFileSync(now.files.key, now.next.keyPem);
      await now.reload.check();
      assert.deepEqual([days(now), now.log], [60, ['unreadable', 'reloaded']]);
    });
  }

  for (const [name, content] of [
    ['empty', ''],
    ['garbage', 'not PEM'],
    ['cut off', '-----BEGIN CERTIFICATE-----\nMIIB'],
  ] as const) {
    it(`keeps the old pair while the certificate file is ${name}`, async (t) => {
      const now = await scene(t);
      writeFileSync(now.files.cert, content);
      await now.reload.check();
      assert.deepEqual([days(now), now.log], [30, ['tls_bad_material']]);
    });
  }

  it('follows a Secret mount, whose files are swapped through a symlink', async (t) => {
    const now = await scene(t);
    const other = writeMaterial(now.next, now.pki.caPem);
    t.after(() => other.remove());
    for (const which of halves) {
      rmSync(now.files[which]);
      symlinkSync(other[which], now.files[which]);
    }
    await now.reload.check();
    assert.deepEqual([days(now), now.log], [60, ['reloaded']]);
  });

  it('is not disturbed by a touch', async (t) => {
    const now = await scene(t);
    utimesSync(now.files.cert, 1_000_000_000, 1_000_000_000);
    chmodSync(now.files.key, 0o400);
    await now.reload.check();
    assert.deepEqual([days(now), now.log], [30, []]);
  });

  it('stops', async (t) => {
    const now = await scene(t);
    now.reload.stop();
    assert.equal(now.time.pendingTimers, 0);
  });
});

describe('expiry', () => {
  it('warns once per certificate below seven days', async (t) => {
    const near = await scene(t, 7 * 24 * hour - 60);
    assert.deepEqual(near.log, ['expiring']);
    await near.reload.check();
    assert.deepEqual(near.log, ['expiring']);
    writeFileSync(near.files.cert, near.next.certPem);
    writeFileSync(near.files.key, near.next.keyPem);
    await near.reload.check();
    assert.deepEqual(near.log, ['expiring', 'reloaded']);
  });

  it('does not warn above it, until the time comes', async (t) => {
    const far = await scene(t, 7 * 24 * hour + 60);
    await far.reload.check();
    assert.deepEqual(far.log, []);
    far.time.wallJump(120_000);
    await far.reload.check();
    assert.deepEqual(far.log, ['expiring']);
  });
});
