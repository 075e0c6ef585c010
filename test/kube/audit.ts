// What a real API server answered the two accounts of BigFleet, from its own audit log.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SYSTEM_NAMESPACE } from './world/rights.ts';

export const ACCOUNTS = {
  operator: 'bigfleet-operator',
  podController: 'bigfleet-unschedulable-pod-controller',
} as const;
export type Account = keyof typeof ACCOUNTS;

export interface Audited {
  readonly account: Account;
  /** `patch upcomingnodes/status`; the group is told by the resource. */
  readonly act: string;
  readonly path: string;
  readonly code: number;
}

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code?: number };
}

export class AuditLog {
  readonly #log: string;
  readonly #policy: string;

  constructor(folder: string) {
    this.#log = join(folder, 'audit.log');
    this.#policy = join(folder, 'audit-policy.yaml');
    writeFileSync(
      this.#policy,
      JSON.stringify({
        apiVersion: 'audit.k8s.io/v1',
        kind: 'Policy',
        omitStages: ['RequestReceived', 'ResponseStarted'],
        rules: [
          { level: 'Metadata', users: Object.values(ACCOUNTS).map(userName) },
          { level: 'None' },
        ],
      }),
    );
  }

  get apiserverArgs(): readonly string[] {
    return [`--audit-policy-file=${this.#policy}`, `--audit-log-path=${this.#log}`];
  }

  /** Every request that is over. */
  read(): readonly Audited[] {
    const lines = readFileSync(this.#log, 'utf8').split('\n');
    // The last line may be half written.
    return lines.slice(0, -1).map((line) => audited(JSON.parse(line) as AuditEvent));
  }
}

function audited({ verb, requestURI, user, objectRef, responseStatus }: AuditEvent): Audited {
  const { resource = '', subresource = '' } = objectRef ?? {};
  return {
    account: user.username === userName(ACCOUNTS.operator) ? 'operator' : 'podController',
    act: `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`.trim(),
    path: requestURI,
    code: responseStatus?.code ?? 0,
  };
}

function userName(account: string): string {
  return `system:serviceaccount:${SYSTEM_NAMESPACE}:${account}`;
}
