// Listen addresses as the flags spell them: ':7780', 'host:7780', '[::1]:7780',
// 'unix:/path.sock'. Anything else is refused at start, not resolved into a surprise.

import { BigFleetError } from '@bigfleet/base';

export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string | undefined; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

const tcpPattern = /^(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]/]*)):([0-9]{1,5})$/;

export function parseListenAddress(text: string): ListenAddress {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
    if (path.length === 0 || path.includes('\0')) throw malformed(text);
    return { kind: 'unix', path };
  }
  const match = tcpPattern.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) throw malformed(text);
  const host = match[1] ?? match[2];
  return { kind: 'tcp', host: host === undefined || host === '' ? undefined : host, port };
}

/** The form that a client dials; an address without a host is reachable on loopback. */
export function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The host of a 'host:port' target. */
export function hostOf(target: string): string {
  const address = parseListenAddress(target);
  if (address.kind === 'unix' || address.host === undefined) throw malformed(target);
  return address.host;
}

export function isUnixTarget(target: string): boolean {
  return target.startsWith('unix:');
}

function malformed(text: string): BigFleetError {
  return new BigFleetError(
    'listen_failed',
    `listen address ${JSON.stringify(text)}: write :port, host:port, [ipv6]:port or unix:/path`,
    { fields: { address: text } },
  );
}
