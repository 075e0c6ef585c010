// The install steps that the operator guide prints, taken from the page and run as a person would paste them.

import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from '../../template/command.ts';
import { HANG_MS } from '../../toolkit/index.ts';
import { kubePrograms } from '../binaries.ts';
import { ROOT } from './helm.ts';

function section(): string {
  const page = readFileSync(path.join(ROOT, 'docs/operator-guide.md'), 'utf8');
  return page.split('\n## Install on Kubernetes\n')[1]?.split('\n## ')[0] ?? '';
}

/** The blocks of the guide's section, in order. */
export function installSteps(): string[] {
  return [...section().matchAll(/^```sh kube\n(.*?)^```$/gms)].map(([, text = '']) => text);
}

/** Step 5, typed where the guide says. */
export function registration(): string {
  const [, command = ''] = /`(bigfleetctl register-provider [^`]+)`/.exec(section()) ?? [];
  const [, place = ''] = /`(kubectl [^`]+) bigfleetctl …`/.exec(section()) ?? [];
  return `${place} ${command}`;
}

/** A shell with helm, kubectl and a cluster. */
export class Shell {
  readonly #env: Readonly<Record<string, string>>;

  /** The folder is its home. */
  constructor(folder: string, kubeconfig: string) {
    const bin = path.join(folder, 'bin');
    mkdirSync(bin);
    symlinkSync(kubePrograms('helm').helm, path.join(bin, 'helm'));
    symlinkSync(kubePrograms('controlPlane').kubectl, path.join(bin, 'kubectl'));
    this.#env = {
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      KUBECONFIG: kubeconfig,
      HOME: folder,
    };
  }

  /** In the root of the repository; its output. */
  run(text: string, withinMs: number = HANG_MS): Promise<string> {
    const options = { cwd: ROOT, env: this.#env, withinMs };
    return runCommand('bash', ['-euo', 'pipefail', '-c', text], options);
  }
}
