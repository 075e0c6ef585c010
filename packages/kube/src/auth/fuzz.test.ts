// Proves that no kubeconfig, no output of a plugin and no credential ends the process: each gives access
// or an error of ours with a code, and what a plugin printed is not repeated.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { BigFleetError, createVirtualRuntime } from '@bigfleet/base';
import { Secret } from '@bigfleet/telemetry';
import fc from 'fast-check';
import { HttpsTransport } from '../transport/https-transport.ts';
import type { Credentials } from './access.ts';
import { readExecCredential } from './exec-plugin.ts';
import { clusterAccess } from './kubeconfig.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);
const { signal } = new AbortController();

const CONFIG = `apiVersion: v1
current-context: one
contexts:
- {name: one, context: {cluster: c, user: u}}
clusters:
- {name: c, cluster: {server: "https://127.0.0.1:1", certificate-authority-data: QQ==}}
users:
- {name: u, user: {token: x, username: y, client-certificate-data: QQ==, client-key-data: QQ==}}
`;

/** Replaces part of the text; without the letters of `exec`, so that no program is started. */
const piece = fc.oneof(
  fc.constantFrom('', '\n', '- ', '{', '}', '[', ']', ':', '&a ', '*a', '!!map ', '"', '\t', '0'),
  fc.constantFrom(
    'null',
    'true',
    '!!binary QQ==',
    '? a',
    '<<: *a',
    '---\n',
    '%TAG',
    '\u0000',
    '😀',
  ),
  fc.string({ maxLength: 6 }),
);
const edit = fc.record({ from: fc.nat(), length: fc.nat(30), text: piece });

function edited(text: string, edits: readonly { from: number; length: number; text: string }[]) {
  return edits.reduce((current, { from, length, text: put }) => {
    const at = from % (current.length + 1);
    return current.slice(0, at) + put + current.slice(at + length);
  }, text);
}

test(`a kubeconfig of any text gives access or kubeconfig_invalid (seed ${seed})`, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'kubeconfig-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'config');
  const { clock } = createVirtualRuntime({ seed: '1', drain: async () => {} }).runtime;
  let refusedCount = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async (edits) => {
      writeFileSync(file, edited(CONFIG, edits));
      try {
        const access = await clusterAccess({ kubeconfig: file, env: {}, clock });
        await access.credentials.read(signal);
        assert.match(access.server.protocol, /^https?:$/);
      } catch (error) {
        assert.ok(
          error instanceof BigFleetError && error.code === 'kubeconfig_invalid',
          String(error),
        );
        refusedCount++;
      }
    }),
    { seed, numRuns: 1_500 },
  );
  assert.ok(refusedCount > 300 && refusedCount < 1_490, `${refusedCount} refused`);
});

test(`any output of a plugin gives credentials or a reason without the output (seed ${seed})`, () => {
  const status = fc.record(
    {
      token: fc.oneof(fc.string(), fc.jsonValue()),
      clientCertificateData: fc.oneof(fc.string(), fc.jsonValue()),
      clientKeyData: fc.oneof(fc.string(), fc.jsonValue()),
      expirationTimestamp: fc.oneof(
        fc.string(),
        fc.jsonValue(),
        fc.constant('2030-01-01T00:00:00Z'),
      ),
    },
    { requiredKeys: [] },
  );
  const output = fc.oneof(
    fc.string(),
    fc.json(),
    fc.record({ status: fc.oneof(status, fc.jsonValue()) }).map((value) => JSON.stringify(value)),
  );
  let readCount = 0;
  fc.assert(
    fc.property(output, (text) => {
      const read = readExecCredential(text);
      if (!read.ok) {
        assert.match(
          read.error,
          /^(it printed no ExecCredential in JSON|its ExecCredential holds)/,
        );
        return;
      }
      readCount++;
      const { credentials, untilUnixMs } = read.value;
      assert.ok(credentials.bearerToken !== undefined || credentials.certificate !== undefined);
      assert.ok(!Number.isNaN(untilUnixMs));
    }),
    { seed, numRuns: 5_000 },
  );
  assert.ok(readCount > 200, `${readCount} read`);
});

test('credentials that no connection can carry are an error with a code, and stay secret', async () => {
  const cases: readonly Credentials[] = [
    { bearerToken: new Secret('two\nlines') },
    { bearerToken: new Secret('☃') },
    { certificate: { certPem: 'no certificate', keyPem: new Secret('no key') } },
  ];
  for (const credentials of cases) {
    const transport = new HttpsTransport({
      userAgent: 'test',
      access: {
        server: new URL('https://127.0.0.1:1'),
        tls: { rejectUnauthorized: true },
        credentials: { read: async () => credentials, forget: () => {} },
        namespace: 'default',
      },
    });
    await assert.rejects(
      transport.send({ method: 'GET', path: '/', signal }),
      (error) =>
        error instanceof BigFleetError &&
        error.code === 'kubeconfig_invalid' &&
        !/lines|☃|no key/.test(error.message),
    );
    transport.close();
  }
});
