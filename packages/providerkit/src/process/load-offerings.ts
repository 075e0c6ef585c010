// The offerings of this process: the file when there is one, else the built-in mix.

import { readFile } from 'node:fs/promises';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { ProviderDefinition, Settings } from './definition.ts';
import type { FlagTable } from '@bigfleet/process/flags';
import { defaultMix } from './offerings/default-mix.ts';
import type { Offering } from './offerings/offering.ts';
import { parseOfferings } from './offerings/parse-offerings.ts';

/** Throws `offerings_invalid`. */
export async function loadOfferings<Own extends FlagTable>(
  definition: ProviderDefinition<Own>,
  { flags }: Settings<Own>,
): Promise<readonly Offering[]> {
  const file = flags.offerings;
  if (file !== '') return parseOfferings(await contentOf(file), file, definition.offerings);
  const mix = defaultMix(definition.defaultMix, flags['seed-count']);
  if (mix.length > 0) return mix;
  throw new BigFleetError(
    'offerings_invalid',
    'there is nothing to offer: --seed-count is 0 and no --offerings file is given',
  );
}

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new BigFleetError('offerings_invalid', `offerings file: ${describeThrown(cause)}`, {
      fields: { file },
      cause,
    });
  }
}
