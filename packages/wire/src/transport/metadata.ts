// What metadata both transports carry: text entries of the application, nothing of the
// transport's own headers, nothing that HTTP/2 could not carry. Refused at the sender, so that
// a component cannot work in simulation and fail in production.

import { RpcError } from './status.ts';

const legalKey = /^[0-9a-z_.-]+$/;
const legalValue = /^[ -~]*$/;
const transportKeys: ReadonlySet<string> = new Set([
  'user-agent',
  'content-type',
  'te',
  'date',
  'accept-encoding',
]);

export function checkMetadataEntry(key: string, value: string): void {
  if (!legalKey.test(key) || isTransportKey(key) || !legalValue.test(value)) {
    throw new RpcError('INVALID_ARGUMENT', `metadata ${JSON.stringify(key)} cannot be sent`);
  }
}

export function isTransportKey(key: string): boolean {
  return key.startsWith('grpc-') || key.endsWith('-bin') || transportKeys.has(key);
}
