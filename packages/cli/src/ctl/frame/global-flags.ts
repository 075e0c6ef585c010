// The flags that every verb takes (coordinator §12.2), and those of the verbs that list.

import { duration, type Flag, oneOf, text, toggle } from '@bigfleet/process/flags';

export const OUTPUT_FORMS = ['table', 'wide', 'json', 'yaml'] as const;

export type OutputForm = (typeof OUTPUT_FORMS)[number];

export type GlobalFlags = {
  readonly coordinator: Flag<string>;
  readonly timeout: Flag<number>;
  readonly 'tls-cert': Flag<string>;
  readonly 'tls-key': Flag<string>;
  readonly 'tls-ca': Flag<string>;
  readonly context: Flag<string>;
  readonly config: Flag<string>;
  readonly output: Flag<OutputForm>;
};

export const globalFlags: GlobalFlags = {
  coordinator: text('127.0.0.1:7790', 'address of the coordinator; several with commas', '<addr>'),
  timeout: duration('10s', 'for each call; snapshot save takes as long as it needs'),
  'tls-cert': text('', 'certificate chain; all three or none', '<file>'),
  'tls-key': text('', 'its key', '<file>'),
  'tls-ca': text('', 'the one trust root', '<file>'),
  context: text('', 'context of the config file; empty is the current one', '<name>'),
  config: text('', 'config file; empty is ~/.config/bigfleetctl/config.yaml', '<file>'),
  output: { ...oneOf('table', OUTPUT_FORMS, 'how to print'), short: 'o' },
};

export type WatchFlags = {
  readonly watch: Flag<boolean>;
  readonly interval: Flag<number>;
};

export const watchFlags: WatchFlags = {
  watch: { ...toggle(false, 'print again and again until Ctrl-C'), short: 'w' },
  interval: duration('2s', 'between two prints of --watch'),
};
