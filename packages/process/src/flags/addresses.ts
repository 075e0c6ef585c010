// What the address of a flag leads to, as far as its text says. A name is taken to lead elsewhere: who
// may resolve it to what is not known here.

import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const UNSPECIFIED: ReadonlySet<string> = new Set(['', '0.0.0.0', '::', '*']);

/** `:7780`, `0.0.0.0:7780`, `[::]:7780`: every address of a host, and none to dial. */
export function isUnspecified(address: string): boolean {
  return UNSPECIFIED.has(hostOf(address));
}

/** Leads to the own host only. */
export function isLoopback(address: string): boolean {
  const host = hostOf(address);
  const version = isIP(host);
  if (version === 0) return host === 'localhost' || address.startsWith('unix:');
  return LOOPBACK.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** A host with a port, or a socket file. Without a port a client would dial 443 and never say so. */
export function isDialable(address: string): boolean {
  if (address.startsWith('unix:')) return address.length > 'unix:'.length;
  const port = /:(\d{1,5})$/.exec(address)?.[1];
  return port !== undefined && hostOf(address) !== '' && Number(port) > 0 && Number(port) < 65_536;
}

/** Everything that passes between us and it can be read and changed on the way. */
export function isPlainEndpoint(url: string): boolean {
  return !url.startsWith('https://') && !url.startsWith('unix:');
}

function hostOf(address: string): string {
  const at = address.lastIndexOf(':');
  return (at < 0 ? address : address.slice(0, at)).replace(/^\[(.*)\]$/, '$1');
}
