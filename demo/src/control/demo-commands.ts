// What a person may do to the running demo: each command is carried out here, told in the view, and
// remembered, because a run that somebody disturbed is not judged.

import { BigFleetError, type Runtime, sleep } from '@bigfleet/base';
import { DISTURBANCE_LIMITS, type ProviderName, PROVIDERS, ZONES } from '../places.ts';
import { callCommand, type Commands, type Fields, numberField, textField } from './commands.ts';

export interface KillableShard {
  readonly name: string;
  kill(): { readonly pid: number | undefined };
}

export interface DemoCommandsOptions {
  readonly runtime: Runtime;
  readonly shards: readonly KillableShard[];
  readonly socketOf: (provider: ProviderName) => string;
  readonly tell: (line: string) => void;
  /** The end of the demo. */
  readonly signal: AbortSignal;
}

const MAX_NOTE = 200;

export class DemoCommands {
  readonly #options: DemoCommandsOptions;
  readonly #tried: string[] = [];

  constructor(options: DemoCommandsOptions) {
    this.#options = options;
  }

  /** Names of what was done, in order. */
  get tried(): readonly string[] {
    return this.#tried;
  }

  get commands(): Commands {
    return {
      'lose-zone': (fields) => this.#loseZone(fields),
      'spike-spot': (fields) => this.#spikeSpot(fields),
      'kill-shard': (fields) => this.#killShard(fields),
      note: (fields) => this.#note(fields),
    };
  }

  async #loseZone(fields: Fields): Promise<object> {
    const zone = textField(fields, 'zone', ZONES);
    const forMs = numberField(fields, 'forMs', DISTURBANCE_LIMITS.forMs);
    const answers = await this.#toProviders('lose-zone', { zone, forMs });
    const lostCount = sum(answers, 'lostCount');
    this.#done(
      'zone',
      `${zone} lost its power: ${lostCount} machines are gone, nothing is sold there`,
    );
    this.#later(forMs, `${zone} is back`);
    return { lostCount };
  }

  async #spikeSpot(fields: Fields): Promise<object> {
    const factor = numberField(fields, 'factor', DISTURBANCE_LIMITS.spotFactor);
    const forMs = numberField(fields, 'forMs', DISTURBANCE_LIMITS.forMs);
    const answers = await this.#toProviders('spike-spot', { factor, forMs });
    const refreshedCount = sum(answers, 'refreshedCount');
    this.#done(
      'spot',
      `spot machines cost ${factor} times as much, ${refreshedCount} prices changed`,
    );
    this.#later(forMs, 'spot machines cost what they did before');
    return { refreshedCount };
  }

  async #killShard(fields: Fields): Promise<object> {
    const { shards } = this.#options;
    const names = shards.map(({ name }) => name);
    const name = textField(fields, 'shard', names);
    const { pid } = shards[names.indexOf(name)]?.kill() ?? {};
    this.#tried.push('shard');
    return { pid };
  }

  /** Something that was done elsewhere, through an API server. */
  async #note(fields: Fields): Promise<object> {
    const { what, line } = fields;
    if (typeof what !== 'string' || typeof line !== 'string' || line.length > MAX_NOTE) {
      throw new BigFleetError(
        'flag_invalid',
        `note: what and line, at most ${MAX_NOTE} characters`,
      );
    }
    this.#done(what, line);
    return {};
  }

  #done(what: string, line: string): void {
    this.#tried.push(what);
    this.#options.tell(line);
  }

  #toProviders(command: string, fields: Fields): Promise<readonly Fields[]> {
    const { socketOf } = this.#options;
    return Promise.all(PROVIDERS.map((name) => callCommand(socketOf(name), command, fields)));
  }

  #later(afterMs: number, line: string): void {
    const { runtime, signal, tell } = this.#options;
    sleep(runtime, afterMs, signal).then(
      () => tell(line),
      (error: unknown) => {
        if (!signal.aborted) throw error;
      },
    );
  }
}

function sum(answers: readonly Fields[], name: string): number {
  return answers.reduce((total, answer) => total + Number(answer[name] ?? 0), 0);
}
