// The real helm, and what it renders as objects. Values go in through standard input, so that every test says
// them as data.

import { execFile, type ExecFileException } from 'node:child_process';
import path from 'node:path';
import { parseYaml } from '@bigfleet/process';
import { createTempDir, HANG_MS } from '../../toolkit/index.ts';
import { kubePrograms } from '../binaries.ts';

export const ROOT: string = path.join(import.meta.dirname, '../../..');

/** The oldest Kubernetes that charts are for. */
const KUBE_VERSION = '1.31.0';

export type Values = Readonly<Record<string, unknown>>;

export interface Ran {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface HelmOptions {
  readonly kubeconfig?: string | undefined;
  readonly input?: string;
  readonly cwd?: string;
}

export class Helm implements AsyncDisposable {
  readonly #home = createTempDir('helm');
  readonly #program = kubePrograms('helm').helm;
  readonly #kubeconfig: string;
  readonly #rendered = new Map<string, Promise<KubeObject[]>>();

  /** Without a kubeconfig it reaches no cluster, whatever this machine has. */
  constructor(kubeconfig?: string) {
    this.#kubeconfig = kubeconfig ?? path.join(this.#home.path, 'no-cluster');
  }

  get folder(): string {
    return this.#home.path;
  }

  run(args: readonly string[], options: HelmOptions = {}): Promise<Ran> {
    const { kubeconfig = this.#kubeconfig, input = '', cwd = ROOT } = options;
    const env = {
      ...process.env,
      KUBECONFIG: kubeconfig,
      HELM_CACHE_HOME: path.join(this.#home.path, 'cache'),
      HELM_CONFIG_HOME: path.join(this.#home.path, 'config'),
      HELM_DATA_HOME: path.join(this.#home.path, 'data'),
    };
    return new Promise((resolve) => {
      const done = (error: ExecFileException | null, output: string, errors: string): void => {
        const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : 1;
        resolve({ code, output, errors });
      };
      const settings = { env, cwd, timeout: HANG_MS, maxBuffer: 64 * 1024 * 1024 };
      const { stdin } = execFile(this.#program, [...args], settings, done);
      // As with kubectl: a helm that refuses its arguments never reads.
      stdin?.on('error', () => undefined).end(input);
    });
  }

  /** Rendered without a cluster, as `helm template` does. */
  template(chart: string, values: Values, ...args: readonly string[]): Promise<Ran> {
    const rest = ['--kube-version', KUBE_VERSION, '--values', '-', ...args];
    return this.run(['template', 'release', chart, '--namespace', 'bigfleet-system', ...rest], {
      input: JSON.stringify(values),
    });
  }

  /** The same question is asked once: charts do not change while a test runs. */
  objects(chart: string, values: Values, ...args: readonly string[]): Promise<KubeObject[]> {
    const key = JSON.stringify([chart, values, args]);
    const known = this.#rendered.get(key) ?? this.#render(chart, values, args);
    this.#rendered.set(key, known);
    return known;
  }

  async #render(chart: string, values: Values, args: readonly string[]): Promise<KubeObject[]> {
    const { code, output, errors } = await this.template(chart, values, ...args);
    if (code !== 0) throw new Error(`helm template ${chart}: ${errors}`);
    return objectsOf(output);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#home.remove();
  }
}

/** The documents of a rendered text. */
function objectsOf(text: string): KubeObject[] {
  return text
    .split(/^---$/m)
    .map((document) => {
      const parsed = parseYaml(document);
      if (!parsed.ok) throw new Error(`${parsed.error}\n${document}`);
      return parsed.value as KubeObject | null;
    })
    .filter((object) => object !== null);
}

/** `{'a.b': 1}` as `{a: {b: 1}}`. */
export function nested(flat: Values): Values {
  const values: Record<string, unknown> = {};
  for (const [dotted, value] of Object.entries(flat)) {
    const keys = dotted.split('.');
    const last = keys.pop() ?? dotted;
    let at = values;
    for (const key of keys) at = (at[key] ??= {}) as Record<string, unknown>;
    at[last] = value;
  }
  return values;
}

export function isMapping(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Container {
  readonly name: string;
  readonly args?: readonly string[];
}

/** Containers of everything that runs Pods, by name. */
export function containersOf(objects: readonly KubeObject[]): ReadonlyMap<string, Container> {
  const found = new Map<string, Container>();
  for (const object of objects) {
    if (object.kind !== 'Deployment' && object.kind !== 'StatefulSet') continue;
    const spec = object['spec'] as {
      readonly template: { readonly spec: { readonly containers: readonly Container[] } };
    };
    for (const container of spec.template.spec.containers) found.set(container.name, container);
  }
  return found;
}
