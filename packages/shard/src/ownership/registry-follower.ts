// The provider set of a shard that takes it from the coordinator's registry (shard §13), or compares
// it with its flags. The set is durable in providers.json before anything is dialled, so that a
// restart during a coordinator outage finds its providers.
//
// A provider that left the registry retires: nothing is acquired from it, and its client stays until
// its last machine is gone, because machines that nobody dials are machines that nobody can drain.

import { type Logger, type MetricRegistry, stableMessages } from '@bigfleet/telemetry';
import { formatProvidersFile, type ProviderTarget, targetsProblem } from './provider-targets.ts';
import type { ProviderSet } from '../provider/provider-set.ts';
import type { ProviderSource } from '../provider/provider-source.ts';
import { type DurableFile, writeDurably } from '../rails/durable-file.ts';
import type { RegistryTarget } from './assignment.ts';
import type { ProviderDirectory } from './provider-directory.ts';

export interface ConnectedProvider {
  /** Fresh: no cursor, so that its first List is a full one. */
  readonly source: ProviderSource;
  /** Idempotent. */
  close(): void;
}

/** Connects lazily: a provider that is down is a failed List. */
export type ConnectProvider = (
  target: Pick<ProviderTarget, 'name' | 'address'>,
) => ConnectedProvider;

export interface RegistryFollowerOptions {
  readonly providers: ProviderSet;
  readonly directory: ProviderDirectory;
  readonly file: DurableFile;
  /** Undefined when flags, or a fake, are the whole set. */
  readonly connect: ConnectProvider | undefined;
  /** Of the providers that the set already holds. */
  readonly connected: Iterable<readonly [string, Pick<ConnectedProvider, 'close'>]>;
  /** Of every provider, by the flag --provider-shared. */
  readonly isSharedByFlag: boolean;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly machineCountOf: (provider: string) => number;
}

export class RegistryFollower {
  readonly #options: RegistryFollowerOptions;
  readonly #clients: Map<string, Pick<ConnectedProvider, 'close'>>;
  readonly #difference: { set(value: number): void };
  #differing = '';

  constructor(options: RegistryFollowerOptions) {
    this.#options = options;
    this.#clients = new Map(options.connected);
    this.#difference = options.registry.gauge({
      name: 'bigfleet_shard_provider_registry_difference',
      help: 'Registry entries for this shard that its local flags leave out or contradict.',
    });
    this.#difference.set(0);
  }

  /** Registry entries that this shard holds, without those that retire. */
  targets(): readonly RegistryTarget[] {
    return this.#stored().filter(({ isRetiring }) => !isRetiring);
  }

  /** Durable when it resolves; nothing is dialled yet. False: the set cannot be used at all. */
  async store(targets: readonly RegistryTarget[], isWhole: boolean): Promise<boolean> {
    const { connect, file, logger } = this.#options;
    if (connect === undefined) return true;
    const next = this.#next(targets, isWhole);
    const problem = targetsProblem(next);
    if (problem !== undefined) {
      logger.error('provider set of the registry is refused', { err: problem });
      return false;
    }
    const text = formatProvidersFile(next);
    const isCurrent = text === formatProvidersFile(this.#stored());
    if (!isCurrent) await writeDurably(file, 'ownership_unwritable', text);
    return true;
  }

  /** After `store`: what is new is dialled, what changed its address dialled anew. */
  install(targets: readonly RegistryTarget[], isWhole: boolean): void {
    const { connect, directory, logger } = this.#options;
    if (connect === undefined) return this.#compare(targets);
    const added: string[] = [];
    const retiring: string[] = [];
    for (const target of this.#next(targets, isWhole)) {
      const { name, address } = target;
      const before = directory.get(name);
      if (before?.address !== address) {
        this.#connect(target, connect);
        added.push(name);
      }
      if (target.isRetiring === true && before?.isRetiring !== true) retiring.push(name);
      this.#describe(target);
    }
    if (added.length + retiring.length > 0) {
      logger.event(stableMessages.providerSetChanged, {
        added: added.join(','),
        removed: '',
        retiring: retiring.join(','),
        source: 'registry',
      });
    }
  }

  /** Closes retiring providers whose last machine is gone. Once a cycle. */
  async tend(): Promise<void> {
    const { directory, providers, file, logger, machineCountOf } = this.#options;
    const empty = this.#stored()
      .filter(({ name, isRetiring }) => isRetiring && machineCountOf(name) === 0)
      .map(({ name }) => name);
    if (empty.length === 0) return;
    for (const name of empty) {
      providers.remove(name);
      directory.delete(name);
      this.#clients.get(name)?.close();
      this.#clients.delete(name);
    }
    logger.event(stableMessages.providerSetChanged, {
      added: '',
      removed: empty.join(','),
      retiring: '',
      source: 'registry',
    });
    await writeDurably(file, 'ownership_unwritable', formatProvidersFile(this.#stored()));
  }

  /** Also for a new address: the inventory stays until the first full List from there. */
  #connect(target: ProviderTarget, connect: ConnectProvider): void {
    const { providers } = this.#options;
    const { name } = target;
    const client = connect(target);
    providers.remove(name);
    this.#clients.get(name)?.close();
    this.#clients.set(name, client);
    providers.add(client.source);
  }

  #describe({
    name,
    address,
    region = '',
    isShared = false,
    isRetiring = false,
  }: ProviderTarget): void {
    const { directory, isSharedByFlag } = this.#options;
    directory.set(name, {
      address,
      region,
      source: 'registry',
      isShared: isShared || isSharedByFlag,
      isRetiring,
    });
  }

  /** The entries of the registry, and what retires; only a whole assignment makes one retire. */
  #next(targets: readonly RegistryTarget[], isWhole: boolean): readonly ProviderTarget[] {
    const named = new Set(targets.map(({ name }) => name));
    const dropped = this.#stored().filter(({ name }) => !named.has(name));
    const left = dropped.map((target) => (isWhole ? { ...target, isRetiring: true } : target));
    return [...targets, ...left];
  }

  #stored(): readonly (RegistryTarget & { readonly isRetiring: boolean })[] {
    return [...this.#options.directory.entries()]
      .filter(([, { source }]) => source === 'registry')
      .map(([name, { source: _, ...entry }]) => ({ name, ...entry }));
  }

  /** Local flags win; an operator of the fleet is told where they differ. */
  #compare(targets: readonly RegistryTarget[]): void {
    const { directory, logger } = this.#options;
    const differing = targets
      .filter(({ name, address }) => directory.get(name)?.address !== address)
      .map(({ name }) => name);
    this.#difference.set(differing.length);
    const names = differing.join(',');
    if (names !== this.#differing && names !== '') {
      logger.event(stableMessages.providerRegistryDiffers, { names });
    }
    this.#differing = names;
  }
}
