// The forms of `--metrics-addr`: `:8780` (every interface), `host:8780`, `[::1]:0` (port 0: any free
// one), and `""` or `"0"` for off. Anything else is refused with the forms in the message: a typo
// that listened somewhere else, or nowhere, would be found by the first failed scrape.

import { err, ok, type Result } from '@bigfleet/base';

export type ListenAddress =
  | { readonly kind: 'disabled' }
  | {
      readonly kind: 'listen';
      /** Undefined: every interface. */
      readonly host: string | undefined;
      readonly port: number;
    };

const FORMS = 'write :8780, host:8780 or [::1]:8780; "" or "0" turns it off';
const BRACKETED = /^\[([0-9a-fA-F:.]+(?:%[\w.-]+)?)\]:(\d{1,5})$/;
const PLAIN = /^([^\s:[\]/@]*):(\d{1,5})$/;
const MAX_PORT = 65_535;

export function parseListenAddress(text: string): Result<ListenAddress, string> {
  if (text === '' || text === '0') return ok({ kind: 'disabled' });
  const match = BRACKETED.exec(text) ?? PLAIN.exec(text);
  const port = Number(match?.[2] ?? Number.NaN);
  if (match === null || port > MAX_PORT) {
    return err(`listen address ${JSON.stringify(text)} is not understood: ${FORMS}`);
  }
  const host = match[1] === '' ? undefined : match[1];
  return ok({ kind: 'listen', host, port });
}

/** The form that a client can use, brackets included. */
export function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
