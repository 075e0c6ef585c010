// Third-party packages are imported in one adapter each, and substrate SDKs by providers only.

import { ADAPTERS, SUBSTRATE_SDKS } from '../policy.ts';
import type { Finding, Rule } from '../rule.ts';
import { isSource, type TreeFile } from '../tree.ts';

export const adapters: Rule = {
  id: 'adapters',
  forbids: 'a third-party package imported outside its adapter, or one without a row',
  instead: 'use our interface over it; rows: ADAPTERS in tools/walls/policy.ts',
  scope: (path) => isSource(path) && /^(?:packages|demo|bench|test|tools)\//.test(path),
  inspect: inspectAdapters,
};

export const substrateSdk: Rule = {
  id: 'substrate-sdk',
  forbids: 'a substrate SDK imported or declared outside providers/',
  instead: "keep it in the provider's own workspace; core reaches providers over gRPC",
  scope: (path) =>
    !path.startsWith('providers/') &&
    (isSource(path) || path === 'package.json' || path.endsWith('/package.json')),
  inspect: inspectSdks,
};

function inspectAdapters(file: TreeFile): Finding[] {
  return (file.source?.edges ?? []).flatMap(({ ref, to }) => {
    if (to.kind !== 'npm') return [];
    const places = ADAPTERS[to.name];
    if (places === undefined) {
      return [{ line: ref.line, message: `${to.name} has no row in ADAPTERS` }];
    }
    if (places.some((place) => place.test(file.path))) return [];
    return [{ line: ref.line, message: `${to.name} is imported outside its adapter` }];
  });
}

function inspectSdks(file: TreeFile): Finding[] {
  if (file.source !== undefined) {
    return file.source.edges.flatMap(({ ref, to }) =>
      to.kind === 'npm' && isSdk(to.name)
        ? [{ line: ref.line, message: `imports ${to.name}` }]
        : [],
    );
  }
  const lines = file.text.split('\n');
  return lines.flatMap((text, i) => {
    const name = /^\s*"([^"]+)"\s*:\s*"/.exec(text)?.[1];
    if (name === undefined || !isSdk(name)) return [];
    return [{ line: i + 1, message: `declares ${name}` }];
  });
}

function isSdk(name: string): boolean {
  return SUBSTRATE_SDKS.some((pattern) => pattern.test(name));
}
