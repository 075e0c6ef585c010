// One etcd endpoint as flags give it: `http://host:port`, `https://host:port`, `host:port` or
// `unix:/path`. User info, other paths and schemes are refused: a password in a URL ends up in logs.

import { BigFleetError } from '@bigfleet/base';

export interface Endpoint {
  /** What gRPC dials. */
  readonly target: string;
  readonly isTls: boolean;
}

const maxEndpointCount = 16;

export function parseEndpoints(texts: readonly string[]): readonly Endpoint[] {
  if (texts.length === 0 || texts.length > maxEndpointCount) {
    throw badEndpoint(texts.join(','), `1 to ${maxEndpointCount} endpoints are needed`);
  }
  return texts.map(parseEndpoint);
}

function parseEndpoint(text: string): Endpoint {
  if (text.startsWith('unix:/')) return { target: text, isTls: false };
  const url = text.includes('://') ? text : `http://${text}`;
  const parsed = URL.parse(url);
  if (parsed === null) throw badEndpoint(text, 'it is not a URL');
  const { protocol, hostname, port, username, password, pathname, search, hash } = parsed;
  if (protocol !== 'http:' && protocol !== 'https:') throw badEndpoint(text, 'http or https only');
  if (username !== '' || password !== '') throw badEndpoint('***', 'it carries a user or password');
  if (port === '' || hostname === '') throw badEndpoint(text, 'host and port are needed');
  if (!['', '/'].includes(pathname) || search !== '' || hash !== '') {
    throw badEndpoint(text, 'nothing may follow the port');
  }
  return { target: `${hostname}:${port}`, isTls: protocol === 'https:' };
}

function badEndpoint(text: string, detail: string): BigFleetError {
  return new BigFleetError('etcd_bad_endpoint', `etcd endpoint "${text}": ${detail}`);
}
