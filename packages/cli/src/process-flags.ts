// The flags that every process of BigFleet takes, under one name and with one meaning.

import { type FlagValues, oneOf, text, toggle } from '@bigfleet/process/flags';
import { LOG_FORMATS, LOG_LEVELS } from '@bigfleet/telemetry';

export const ADDRESS = '<host:port>';

export const logFlags = {
  'log-format': oneOf('text', LOG_FORMATS, 'of the log on stderr'),
  'log-level': oneOf('info', LOG_LEVELS, 'least level that is logged'),
};

export type LogFlags = typeof logFlags;

export const tlsFlags = {
  'tls-cert': text('', 'certificate chain; all three or none', '<file>'),
  'tls-key': text('', 'its key', '<file>'),
  'tls-ca': text('', 'the one trust root', '<file>'),
};

export const processFlags = {
  ...tlsFlags,
  'require-tls': toggle(false, 'refuse to start without mTLS; also BIGFLEET_REQUIRE_TLS=1'),
  ...logFlags,
  'trace-samples': text('', 'write raw cycle durations to this file', '<file>'),
  'debug-endpoints': toggle(false, 'profiles on the HTTP port'),
  reflection: toggle(false, 'gRPC server reflection'),
};

export type ProcessFlags = typeof processFlags;

export function tlsSettings(values: FlagValues<ProcessFlags>) {
  return {
    cert: values['tls-cert'],
    key: values['tls-key'],
    ca: values['tls-ca'],
    requireTls: values['require-tls'],
  };
}
