// A cluster on the test API server with the production controller, under virtual time.

import { PODS_PATH, REQUESTS_PATH, type StoredObject, TestWorld } from '@bigfleet/kube/testing';
import { type Outcome, PodController } from '../controller.ts';
import type { PodRules } from '../records.ts';

export class World extends TestWorld {
  readonly outcomes: Map<Outcome, number> = new Map();
  readonly failures: string[] = [];
  readonly rules: PodRules;
  #running: Promise<void> | undefined;

  constructor(seed: string, rules: Partial<PodRules> = {}) {
    super(seed);
    this.rules = {
      classes: new Map(),
      daemonSetPods: 'count',
      excludedNamespaces: new Set(),
      ...rules,
    };
  }

  pod(name: string, more: { spec?: object; metadata?: object } = {}): void {
    this.ask('POST', PODS_PATH, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, ...more.metadata },
      spec: {
        containers: [{ name: 'c', image: 'a', resources: { requests: { cpu: '1' } } }],
        ...more.spec,
      },
    });
  }

  bind(pod: string, node: string): void {
    this.ask('POST', `${PODS_PATH}/${pod}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: pod },
      target: { kind: 'Node', name: node },
    });
  }

  node(name: string, labels: Readonly<Record<string, string>> = {}): void {
    this.ask('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
    });
  }

  finish(pod: string, phase: 'Succeeded' | 'Failed' = 'Succeeded'): void {
    this.merge(`${PODS_PATH}/${pod}/status`, { status: { phase } });
  }

  requests(): readonly StoredObject[] {
    return this.list(REQUESTS_PATH);
  }

  /** Another process with the same rules, after the one before was killed. */
  restart(): void {
    const { runtime } = this.time;
    const client = this.restarted('bigfleet-upc');
    const controller = new PodController({
      runtime,
      client,
      rules: this.rules,
      hooks: {
        performed: () => undefined,
        reconciled: (outcome) => this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1),
        created: () => {},
        pendingFailed: (request, problem) => this.failures.push(`${request}: ${problem}`),
        failed: (pod, problem) => this.failures.push(`${pod}: ${problem}`),
        reflectorFailed: () => {},
      },
    });
    this.#running = controller.run(this.signal);
  }

  async stop(): Promise<void> {
    this.kill();
    await this.#running;
  }
}
