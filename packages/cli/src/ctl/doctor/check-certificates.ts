// Certificates: this client's, and what every server presents.

import { type Finding, finding, type FleetFacts } from './facts.ts';

const WARN_DAYS = 7;
const SECONDS_PER_HOUR = 3_600;
const SECONDS_PER_DAY = 86_400;
const NANOS_PER_SECOND = 1_000_000_000n;
const CHECK = 'certificate';
const FIX = 'Issue a new certificate to the same files; processes load it within ten seconds.';

export function checkCertificates(facts: FleetFacts): Finding[] {
  const now = Number(facts.nowUnixNanos / NANOS_PER_SECOND);
  const own = facts.clientCertificateExpiresUnixSeconds;
  if (own === undefined) {
    const message = 'the connection is plaintext: nobody is who they say they are';
    const fix =
      'Outside of a laptop, give all three TLS files to every process and to this client.';
    return [finding('info', CHECK, 'bigfleetctl', message, fix)];
  }
  const subjects: (readonly [string, number | undefined])[] = [
    ['bigfleetctl', own],
    ...facts.replicas.map(
      ({ address, certificateExpiresUnixSeconds: expires }) =>
        [`coordinator ${address}`, expires] as const,
    ),
    ...facts.shards.map(
      ({ entry, certificateExpiresUnixSeconds: expires }) =>
        [`shard ${entry.shardId}`, expires] as const,
    ),
  ];
  return subjects.flatMap(([subject, expires]) => {
    if (expires === undefined) return [];
    const days = Math.floor((expires - now) / SECONDS_PER_DAY);
    if (expires <= now) return [finding('error', CHECK, subject, 'has expired', FIX)];
    if (days >= WARN_DAYS) return [];
    const hours = Math.floor((expires - now) / SECONDS_PER_HOUR);
    const left = days < 2 ? `${hours} hours` : `${days} days`;
    return [finding('warning', CHECK, subject, `expires in ${left}`, FIX)];
  });
}
