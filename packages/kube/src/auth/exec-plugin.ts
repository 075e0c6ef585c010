// Exec plugins of `client.authentication.k8s.io`: a program prints an ExecCredential, which counts
// until its expiry, or until the server answers 401. One run at a time: a burst of requests after an
// expiry must not start a burst of processes.

import { execFile } from 'node:child_process';
import { BigFleetError, type Clock, describeThrown, err, ok, type Result } from '@bigfleet/base';
import { Secret } from '@bigfleet/telemetry';
import type { Credentials, CredentialSource } from './access.ts';

export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string;
}

export interface ExecOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1 << 20;
/** A credential is renewed this long before its end: the request that carries it takes time. */
const EXPIRY_MARGIN_MS = 10_000;

export class ExecCredentials implements CredentialSource {
  readonly #plugin: ExecPlugin;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #clock: Clock;
  #held: HeldCredentials | undefined;
  #running: Promise<Credentials> | undefined;

  constructor(plugin: ExecPlugin, options: ExecOptions) {
    this.#plugin = plugin;
    this.#env = options.env;
    this.#clock = options.clock;
  }

  async read(): Promise<Credentials> {
    if (
      this.#held !== undefined &&
      Number(this.#clock.unixNanos() / 1_000_000n) < this.#held.untilUnixMs
    ) {
      return this.#held.credentials;
    }
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  forget(): void {
    this.#held = undefined;
  }

  async #run(): Promise<Credentials> {
    const { apiVersion, command, args, env } = this.#plugin;
    const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
    const output = await new Promise<string>((resolve, reject) => {
      const options = {
        timeout: TIMEOUT_MS,
        maxBuffer: MAX_OUTPUT_BYTES,
        env: { ...this.#env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      };
      execFile(command, [...args], options, (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(this.#failure(describeThrown(error)));
      });
    });
    return this.#keep(output);
  }

  #keep(output: string): Credentials {
    const read = readExecCredential(output);
    if (!read.ok) throw this.#failure(read.error);
    this.#held = read.value;
    return read.value.credentials;
  }

  #failure(problem: string): BigFleetError {
    const { command, installHint } = this.#plugin;
    const hint = installHint === '' ? '' : `; ${installHint}`;
    return new BigFleetError('kubeconfig_invalid', `exec plugin ${command}: ${problem}${hint}`);
  }
}

interface HeldCredentials {
  readonly credentials: Credentials;
  readonly untilUnixMs: number;
}

/** What a plugin printed; the error says what it is not, and never repeats it: it may hold a secret. */
export function readExecCredential(output: string): Result<HeldCredentials, string> {
  const status = statusIn(output);
  if (status === undefined) return err('it printed no ExecCredential in JSON');
  const { token, clientCertificateData: certPem, clientKeyData: key } = status;
  const credentials: Credentials = {
    bearerToken: typeof token === 'string' && token !== '' ? new Secret(token) : undefined,
    certificate:
      typeof certPem === 'string' && typeof key === 'string'
        ? { certPem, keyPem: new Secret(key) }
        : undefined,
  };
  if (credentials.bearerToken === undefined && credentials.certificate === undefined) {
    return err('its ExecCredential holds neither a token nor a certificate');
  }
  const expiry = Date.parse(String(status['expirationTimestamp']));
  const untilUnixMs = Number.isNaN(expiry) ? Infinity : expiry - EXPIRY_MARGIN_MS;
  return ok({ credentials, untilUnixMs });
}

function statusIn(output: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed = JSON.parse(output) as { readonly status?: unknown } | null;
    const status = parsed?.status;
    return typeof status === 'object' && status !== null ? { ...status } : undefined;
  } catch {
    return undefined;
  }
}
