// The blob with which a machine joins this cluster: the owner's template, rendered from memory alone
// (kubernetes §4.1). The shard's executor waits for the answer, so there is no I/O here; a refusal is a
// shortfall, never a failed machine. The blob holds a join secret and leaves wrapped.

import { Secret } from '@bigfleet/telemetry';
import { type BootstrapRequest, type NodeSelectorRequirement, Operator } from '@bigfleet/wire';
import type { BootstrapResult } from '../session/cluster-port.ts';
import { compileTemplate, Struct, TemplateError, TemplateRefusal } from '../template/index.ts';
import { machineIdLabel } from './names.ts';

export interface BootstrapOptions {
  readonly clusterId: string;
  /** Empty: the stub, which names the cluster and joins nothing. */
  readonly template: string;
  /** Requirement keys that the template can serve; empty: all. */
  readonly allowedKeys: ReadonlySet<string>;
  readonly facts: ClusterFacts;
  /** Undefined: no token pool; a token that is undefined: the pool is empty. */
  readonly token?: (() => JoinToken | undefined) | undefined;
}

/** What a joining machine must know of the cluster; empty where the operator cannot know it. */
export interface ClusterFacts {
  readonly apiServerEndpoint: string;
  readonly caCertBase64: string;
  readonly caCertHash: string;
  readonly kubernetesVersion: string;
}

export interface JoinToken {
  readonly token: Secret<string>;
  readonly expiry: string;
  /** Of a blob that holds it. */
  readonly ttlSeconds: number;
}

const STUB =
  '#cloud-config\n# bigfleet: no bootstrap template configured for cluster {{ .ClusterID }}\n';
const STUB_TTL_SECONDS = 600;

const OPERATORS: Readonly<Record<number, string>> = {
  [Operator.IN]: 'In',
  [Operator.NOT_IN]: 'NotIn',
  [Operator.EXISTS]: 'Exists',
  [Operator.DOES_NOT_EXIST]: 'DoesNotExist',
  [Operator.SAME]: 'Same',
};

/** Throws TemplateSyntaxError for a template that does not parse. */
export function bootstrapRenderer(
  options: BootstrapOptions,
): (request: BootstrapRequest) => BootstrapResult {
  const isStub = options.template === '';
  const run = compileTemplate(isStub ? STUB : options.template);
  return (request) => {
    const refused = request.requirements.find(({ key }) => !isAllowed(options, key));
    if (refused !== undefined) return unsatisfiable(`unsupported requirement key: ${refused.key}`);
    const token = options.token?.();
    if (options.token !== undefined && token === undefined) {
      return unsatisfiable('no valid bootstrap token');
    }
    try {
      const text = run(contextOf(request, options, token));
      return {
        kind: 'rendered',
        userData: new Secret(new TextEncoder().encode(text)),
        ttlSeconds: token?.ttlSeconds ?? (isStub ? STUB_TTL_SECONDS : 0),
      };
    } catch (error) {
      if (error instanceof TemplateRefusal) return unsatisfiable(error.message);
      // Go's wording quotes the template, never its data, so that no secret can be in it.
      if (error instanceof TemplateError)
        return unsatisfiable(`bootstrap template: ${error.message}`);
      throw error;
    }
  };
}

function isAllowed({ allowedKeys }: BootstrapOptions, key: string): boolean {
  return allowedKeys.size === 0 || allowedKeys.has(key);
}

function unsatisfiable(error: string): BootstrapResult {
  return { kind: 'unsatisfiable', error };
}

function contextOf(
  { requirements, machineId }: BootstrapRequest,
  { clusterId, facts }: BootstrapOptions,
  token: JoinToken | undefined,
): Struct {
  return new Struct('operator.BootstrapContext', {
    ClusterID: clusterId,
    Requirements: requirements.map(requirementOf),
    MachineID: machineId,
    MachineIDLabel: machineId === '' ? '' : machineIdLabel(machineId),
    BootstrapToken: token?.token.reveal() ?? '',
    BootstrapTokenExpiry: token?.expiry ?? '',
    APIServerEndpoint: facts.apiServerEndpoint,
    CACertBase64: facts.caCertBase64,
    CACertHash: facts.caCertHash,
    KubernetesVersion: facts.kubernetesVersion,
  });
}

function requirementOf({ key, operator, values }: NodeSelectorRequirement): Struct {
  return new Struct('operator.Requirement', {
    Key: key,
    Operator: OPERATORS[operator] ?? String(operator),
    Values: values,
  });
}
