// Credentials that stand in files and change there: the kubelet rotates a Pod's token, cert-manager a
// client certificate. Files are read again when their modification time moves, and at once after the
// server answered 401; a half-written pair keeps the previous one.

import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { Secret } from '@bigfleet/telemetry';
import type { ClientCertificate, Credentials, CredentialSource } from './access.ts';

export function fixedCredentials(credentials: Credentials): CredentialSource {
  return { read: async () => credentials, forget: () => {} };
}

export class TokenFile implements CredentialSource {
  readonly #file: string;
  #seen: { readonly stamp: string; readonly credentials: Credentials } | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  async read(): Promise<Credentials> {
    try {
      const stamp = await stampOf(this.#file);
      if (this.#seen?.stamp === stamp) return this.#seen.credentials;
      const token = (await readFile(this.#file, 'utf8')).trim();
      if (token === '') throw new Error('the file is empty');
      this.#seen = { stamp, credentials: { bearerToken: new Secret(token) } };
      return this.#seen.credentials;
    } catch (error) {
      if (this.#seen !== undefined) return this.#seen.credentials;
      throw unreadable(this.#file, error);
    }
  }

  forget(): void {
    if (this.#seen !== undefined) this.#seen = { ...this.#seen, stamp: '' };
  }
}

export function certificateFiles(certFile: string, keyFile: string): CredentialSource {
  let stamp = '';
  let certificate: ClientCertificate | undefined;
  return {
    read: async () => {
      try {
        const now = `${await stampOf(certFile)} ${await stampOf(keyFile)}`;
        if (now !== stamp) {
          certificate = await readPair(certFile, keyFile);
          stamp = now;
        }
      } catch (error) {
        if (certificate === undefined) throw unreadable(certFile, error);
      }
      return { certificate };
    },
    forget: () => {
      stamp = '';
    },
  };
}

async function readPair(certFile: string, keyFile: string): Promise<ClientCertificate> {
  const certPem = await readFile(certFile, 'utf8');
  const key = await readFile(keyFile, 'utf8');
  // Throws when the two do not belong together, as in the middle of a rotation.
  createSecureContext({ cert: certPem, key });
  return { certPem, keyPem: new Secret(key) };
}

/** A Pod's token is a symbolic link that the kubelet swaps; `stat` follows it. */
async function stampOf(file: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(file);
  return `${mtimeMs} ${size} ${ino}`;
}

function unreadable(file: string, error: unknown): BigFleetError {
  return new BigFleetError('kubeconfig_invalid', `${file}: ${describeThrown(error)}`, {
    cause: error,
  });
}
