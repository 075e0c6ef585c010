// The provider set of a real process: one client, cursor, removal scope and failure domain each,
// one source of fencing tokens for all. Dialling is lazy: a provider that is down at start is a
// failed List, never a failed start.

import type { Runtime } from '@bigfleet/base';
import { type Logger, stableMessages } from '@bigfleet/telemetry';
import { type TlsMaterial, TokenSource } from '@bigfleet/wire';
import { dialProvider } from '../provider/dial.ts';
import { ProviderSet } from '../provider/provider-set.ts';
import { ProviderSource } from '../provider/provider-source.ts';
import type { DurableFile } from '../rails/durable-file.ts';
import { createFakeFleet } from './fake-fleet.ts';
import type { FakeSettings, ProcessSettings } from './process-settings.ts';
import { type ProviderTarget, readProvidersFile } from './provider-targets.ts';

export interface DialProvidersOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly settings: ProcessSettings;
  readonly epoch: bigint;
  readonly tls: TlsMaterial | undefined;
  readonly providersFile: DurableFile;
}

export interface DialledProviders {
  readonly providers: ProviderSet;
  /** For ShardStatus: where a provider is, and who said so. */
  readonly facts: ReadonlyMap<string, ProviderFacts>;
  close(): void;
}

export interface ProviderFacts {
  readonly address: string;
  readonly source: 'flag' | 'registry' | 'fake';
  readonly shared: boolean;
}

export async function dialProviders(options: DialProvidersOptions): Promise<DialledProviders> {
  const { settings, providersFile } = options;
  const { providers: source } = settings;
  switch (source.kind) {
    case 'fake':
      return fakeProviders(options, source.fake);
    case 'flags':
      return dialAll(options, source.targets, 'flag');
    case 'stored':
      return dialAll(options, await readProvidersFile(providersFile), 'registry');
  }
}

function dialAll(
  options: DialProvidersOptions,
  targets: readonly ProviderTarget[],
  source: ProviderFacts['source'],
): DialledProviders {
  const { runtime, logger, tls, settings, epoch } = options;
  const fencing = tokensOf(options);
  const dialled = targets.map(({ name, address }) => {
    logger.log(stableMessages.dialingProvider.level, stableMessages.dialingProvider.text, {
      addr: address,
      shard_id: settings.shardId,
      epoch: String(epoch),
      provider: name,
    });
    const client = dialProvider({
      runtime,
      address,
      fencing,
      ...(tls === undefined ? {} : { tls }),
    });
    return { name, ...client };
  });
  const mode = listMode(settings);
  return {
    providers: new ProviderSet(
      dialled.map(({ name, provider }) => new ProviderSource({ name, provider, mode })),
    ),
    facts: new Map(targets.map(({ name, address }) => [name, { address, source, shared: false }])),
    close: () => {
      for (const client of dialled) client.close();
    },
  };
}

async function fakeProviders(
  options: DialProvidersOptions,
  fake: FakeSettings,
): Promise<DialledProviders> {
  const { runtime, logger, settings } = options;
  const tokens = tokensOf(options);
  const fleet = await createFakeFleet({ runtime, logger, tokens, settings: fake });
  const { provider } = fleet;
  return {
    providers: new ProviderSet([
      new ProviderSource({ name: 'fake', provider, mode: listMode(settings) }),
    ]),
    facts: new Map([['fake', { address: '', source: 'fake', shared: false }]]),
    close: () => fleet.close(),
  };
}

function tokensOf({ settings, epoch }: DialProvidersOptions): TokenSource {
  return new TokenSource(settings.shardId, epoch);
}

function listMode({ shard }: ProcessSettings): 'full' | 'incremental' {
  return shard.isIncremental ? 'incremental' : 'full';
}
