// Proves that doctor names the verb that ends each wait of a recovery, in the coordinator's own words.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RecoveryWait, waitText } from '@bigfleet/coordinator';
import { parseRecovery, recoveryFix } from './recovery-fix.ts';

function disputed(subject: string): RecoveryWait {
  const claim = { kind: 'home', shardId: 's0', address: 'p:1' } as const;
  const claimants = ['s0', 's1'];
  return { kind: 'dispute', dispute: { subject, claim, claimants, addresses: new Set(['p:1']) } };
}

const waits: readonly (readonly [RecoveryWait, RegExp])[] = [
  [{ kind: 'silent', shardId: 'shard-2' }, /Start it; .* remove-shard --shard=shard-2$/],
  [
    { kind: 'unknown', shardId: 'shard-9', namedBy: ['s0', 's1'] },
    /stopped for good: bigfleetctl remove-shard --shard=shard-9 --yes$/,
  ],
  [disputed('machine i-0'), /settle --machine=i-0 --shard=<id>$/],
  [disputed('home p:1'), /settle --home=p:1 --shard=<id>$/],
  [disputed('domain x/zone=a'), /assign-domain --key=x\/zone --value=a --shard=<id>$/],
  [disputed('provider lab'), /register-provider --name=lab/],
];

describe('what ends a wait', () => {
  for (const [wait, fix] of waits) {
    it(waitText(wait), () => {
      const { provider, waitsFor } = parseRecovery(`10.0.0.7:9000: ${waitText(wait)}`);
      assert.equal(provider, '10.0.0.7:9000');
      assert.match(recoveryFix(waitsFor).fix, fix);
    });
  }

  for (const line of ['*', '10.0.0.7:9000', 'unix:/run/p: waits for something new']) {
    it(`${line}: only time`, () => {
      const { provider, waitsFor } = parseRecovery(line);
      assert.equal(provider, line.split(': ')[0]);
      assert.match(recoveryFix(waitsFor).fix, /Wait until every shard/);
    });
  }
});
